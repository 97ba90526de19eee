"""devlint's command line: `devlint PATH...`, which checks files, and the other commands."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED, INTERRUPTED
from devlint.cli.group import devlint
from devlint.cli.late_methods import compile_methods_late


def main() -> None:
    """Run devlint's command line and end the process: the entry point of the console script `devlint`."""
    # The process ends with its command, so that collecting garbage is wasted time. Commands that keep running turn the
    # garbage collector on again.
    gc.disable()
    compile_methods_late()
    status = invoke(sys.argv[1:])
    if "devlint.runtime" in sys.modules:
        # The user's program ran in this process: wait for its threads and call its exit handlers.
        sys.exit(status)
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once with an exit status.

    Ending it normally would first free millions of syntax nodes, which takes seconds.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def invoke(arguments: Sequence[str]) -> int:
    """Run devlint's command line with the given arguments and return the exit status."""
    try:
        status = devlint.main(list(arguments), prog_name="devlint", standalone_mode=False)
    except click.ClickException as problem:
        terminal.show_problem(problem)
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("devlint: interrupted", err=True)
        return INTERRUPTED
    except Exception:
        # Imported here to keep the start of every command fast.
        import traceback

        # Python's own exit status for an exception is 1, but that status means that something was found.
        traceback.print_exc()
        click.echo("devlint: internal error; please report it with the lines above", err=True)
        return FAILED
    return status if isinstance(status, int) else CLEAN
