"""The command line: `devlint PATH...` and its other commands."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import click

from devlint.cli.group import devlint
from devlint.cli.status import CLEAN, FAILED, INTERRUPTED


def main() -> None:
    """The entry point of the console script."""
    sys.exit(invoke(sys.argv[1:]))


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
