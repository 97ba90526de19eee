"""The libcst expression and statement types that the interpreter deliberately has no handler for.

An expression of such a type has an unknown value; a statement of such a type has no effect. A test checks that every
libcst type either has a handler or is listed in this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

UNKNOWN_NODES: Final[Mapping[str, str]] = {
    "LazyImport": "newer than the oldest supported libcst; the file index binds lazy imports at module level",
    "LazyImportFrom": "newer than the oldest supported libcst; the file index binds lazy imports at module level",
    "Pass": "has no effect",
    "StarredDictComp": "newer than the oldest supported libcst; a dict comprehension that unpacks has an unknown value",
    "StarredElement": "no expression by itself: handlers of displays, calls and assignment targets unpack it",
    "TemplatedString": "a template string is no tensor; its parts are not evaluated",
    "TypeAlias": "Python evaluates the alias lazily, and types hold no tensors",
}
"""The libcst node types that the interpreter has no handler for, by name, each with the reason."""
