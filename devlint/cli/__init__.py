"""The command line: `devlint PATH...` and its other commands."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from devlint.cli.group import devlint
from devlint.cli.status import CLEAN, FAILED, INTERRUPTED


def main() -> None:
    """The entry point of the console script."""
    # The process ends with its command, and what that makes lives as long: the commands that go on turn it on again.
    gc.disable()
    status = invoke(sys.argv[1:])
    if "devlint.runtime" in sys.modules:
        # The user's program ran here; it may have threads to wait for and exit handlers to call.
        sys.exit(status)
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once: taking millions of syntax nodes apart first would take seconds."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def invoke(arguments: Sequence[str]) -> int:
    """Run devlint with these arguments and return its exit status."""
    try:
        status = devlint.main(list(arguments), prog_name="devlint", standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("devlint: interrupted", err=True)
        return INTERRUPTED
    except Exception:
        # Python's own status for this is 1, which would say that something was found.
        traceback.print_exc()
        click.echo("devlint: internal error; please report it with the lines above", err=True)
        return FAILED
    return status if isinstance(status, int) else CLEAN
