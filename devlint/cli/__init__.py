"""The command line: `devlint PATH...` and its other commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from devlint.cli.group import devlint

INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
FAILED = 2
"""devlint could not do its work."""


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
    return status if isinstance(status, int) else 0
