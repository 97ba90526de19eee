"""The entry point of `python -m devlint`, which runs the same command line as the command `devlint`."""

from __future__ import annotations

from devlint.start import main

if __name__ == "__main__":
    main()
