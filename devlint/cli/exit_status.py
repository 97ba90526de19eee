"""The exit statuses of the `devlint` command."""

from __future__ import annotations

from typing import Final

CLEAN: Final = 0
"""Nothing was reported."""
FOUND: Final = 1
"""Something was reported."""
FAILED: Final = 2
"""devlint could not do its work, or not all of it."""
INTERRUPTED: Final = 130
"""The user interrupted devlint: 128 + SIGINT, as in shells."""
