"""The version number of the installed devlint."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # `typing` takes longer to import than all else that `devlint --version` needs.
    from typing import Final

__version__: Final = "0.1.0"
