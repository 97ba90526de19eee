"""`python -m devlint` is `devlint`."""

from __future__ import annotations

from devlint.cli import main

if __name__ == "__main__":
    main()
