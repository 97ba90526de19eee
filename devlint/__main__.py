"""The entry point of `python -m devlint`, which runs the command line of devlint."""

from __future__ import annotations

from devlint.cli import main

if __name__ == "__main__":
    main()
