"""`devlint server`: how an editor starts the language server."""

from __future__ import annotations

import logging
import sys

import click


@click.command()
@click.option("--stdio", is_flag=True, help="Speak over the standard streams, which is the default.")
@click.option("--tcp", is_flag=True, help="Wait for a client on a port instead.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to wait, with --tcp.")
@click.option("--port", default=8888, show_default=True, help="The port, with --tcp.")
@click.option("-v", "--verbose", is_flag=True, help="Write a log to the standard error.")
def server(stdio: bool, tcp: bool, host: str, port: int, verbose: bool) -> None:
    """Run the language server, for editors to start.

    It shows findings, placements and fixes while code is written. Needs the extra `lsp`.
    """
    try:
        from devlint.server.app import create_server
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.UsageError("the language server needs pygls: pip install 'devlint[lsp]'") from None
    if stdio and tcp:
        raise click.UsageError("--stdio and --tcp exclude each other")
    logging.basicConfig(level=logging.CRITICAL)
    logging.getLogger("devlint").setLevel(logging.INFO if verbose else logging.CRITICAL)
    # Who hovers does not want to wait for the analysis, which is another thread.
    sys.setswitchinterval(0.001)
    if tcp:
        create_server().start_tcp(host, port)
    else:
        create_server().start_io()
