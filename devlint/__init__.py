"""Finds device-placement and dtype bugs in PyTorch code, without running it."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"

# In a checkout `rules/` stands beside this package; an installation has it inside, as `devlint.rules`.
# The checkout is a place to look for subpackages too, so that `python -m devlint` works from its root.
_checkout = Path(__file__).parent.parent
if (_checkout / "rules").is_dir() and not (_checkout / "devlint" / "rules").exists():
    __path__.append(str(_checkout))
del _checkout
