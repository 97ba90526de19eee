"""The command `devlint server`, with which an editor starts devlint's language server."""

from __future__ import annotations

import logging
import sys

import click

from devlint.installation import install_command


@click.command()
@click.option("--stdio", is_flag=True, help="Talk over the standard streams (the default).")
@click.option("--tcp", is_flag=True, help="Listen on a port instead.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --tcp.")
@click.option("--port", default=8888, show_default=True, help="The port, with --tcp.")
@click.option("-v", "--verbose", is_flag=True, help="Write a log to the standard error stream.")
def server(stdio: bool, tcp: bool, host: str, port: int, verbose: bool) -> None:
    """Run the language server, for editors to start.

    The server shows findings, placements and fixes while you write code. It needs the extra `lsp`.
    """
    try:
        # Imported here since pygls is an optional dependency, and to keep `--help` fast.
        from devlint.server.app import create_server
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.UsageError(f"the language server needs pygls: {install_command('lsp')}") from None
    if stdio and tcp:
        raise click.UsageError("--stdio and --tcp exclude each other")
    logging.basicConfig(level=logging.CRITICAL)
    logging.getLogger("devlint").setLevel(logging.INFO if verbose else logging.CRITICAL)
    # Switch threads often, so that a hover request is answered while the analysis thread runs.
    sys.setswitchinterval(0.001)
    if tcp:
        create_server().start_tcp(host, port)
    else:
        create_server().start_io()
