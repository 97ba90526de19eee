"""The entry point of the command `devlint`: it says the version at once, and starts the command line for all else."""

from __future__ import annotations

import sys

from devlint.version import __version__


def main() -> None:
    """Run devlint with the arguments of the process, and end the process."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # click would say the same, but takes several times as long to import as Python to start.
        print(f"devlint {__version__}")
        return
    from devlint.cli import main as start

    start()
