"""The keywords that functions of NumPy and scikit-learn take: a call with another one raises TypeError.

The data (`keywords.json`) has, for each function, what `inspect.signature` says under NumPy 1.23, 1.26 and 2.4 with
scikit-learn 1.2, 1.5 and 1.9: a keyword that any of these releases takes is listed. Functions that pass keywords on,
and those without a signature, are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_LIBRARIES: Final = ("numpy.", "sklearn.metrics.")
"""The libraries of which the data file has functions."""


def taken_keywords(name: str) -> frozenset[str] | None:
    """Return the keywords that a library function with a qualified name takes; None if they are not known."""
    return _keywords().get(name) if name.startswith(_LIBRARIES) else None


@cache
def _keywords() -> Mapping[str, frozenset[str]]:
    """Return the keywords by function, as the data file has them."""
    data: dict[str, str] = json.loads(Path(__file__).with_name("keywords.json").read_bytes())
    return {name: frozenset(keywords.split()) for name, keywords in data.items()}
