"""Values of literals, and of displays of constants such as a table of names, which are computed once.

The top level of a file is run again for each file that imports it. A table of thousands of names is read only once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Final

import libcst as cst

from devlint.domain.objects import Dict, Sequence, entry_key
from devlint.domain.value import NONE, Const, Tuple, Value
from devlint.syntax.string_literals import string_value

Display = cst.Dict | cst.List | cst.Set | cst.Tuple
Contents = Dict | Sequence | Tuple

_MIN_ELEMENTS: Final = 8
"""Shorter displays are evaluated as quickly as they are looked up."""

MAX_LITERALS: Final = 1000
"""The size of the cache of integer literals' values: programs repeat a few literals many times."""

KEYWORDS: Final = {"None": NONE, "True": Const(True), "False": Const(False)}
"""The values of the constants that Python writes as names."""


def constant_contents(node: Display) -> Contents | None:
    """Return what a display of at least eight constants holds; None for another display."""
    if len(node.elements) < _MIN_ELEMENTS:
        return None
    return _computed(node)


@lru_cache(maxsize=1024)
def _computed(node: Display) -> Contents | None:
    """Return what a display of constants holds; None for another display."""
    return _dict_of(node) if isinstance(node, cst.Dict) else _items_of(node)


def _dict_of(node: cst.Dict) -> Dict | None:
    """Return the dict that a display of constants makes; None if a key or a value is no constant."""
    entries: dict[Hashable, Value] = {}
    for element in node.elements:
        key = _constant(element.key) if isinstance(element, cst.DictElement) else None
        value, known = _constant(element.value), entry_key(key) if key is not None else None
        if known is None or value is None:
            return None
        entries[known[0]] = value
    return Dict(entries)


def _items_of(node: cst.List | cst.Set | cst.Tuple) -> Sequence | Tuple | None:
    """Return the list, set or tuple that a display of constants makes; None if an element is no constant."""
    items = _items(node.elements)
    if items is None or isinstance(node, cst.Tuple):
        return Tuple(items) if items is not None else None
    return Sequence(items, kind="list" if isinstance(node, cst.List) else "set")


def _items(elements: Iterable[cst.BaseElement]) -> tuple[Value, ...] | None:
    """Return the values of elements that are constants; None if one is not."""
    items = []
    for element in elements:
        value = _constant(element.value) if isinstance(element, cst.Element) else None
        if value is None:
            return None
        items.append(value)
    return tuple(items)


def _constant(node: cst.BaseExpression) -> Value | None:
    """Return the value of a literal or of a tuple of literals; None for any other expression."""
    match node:
        case cst.SimpleString() | cst.ConcatenatedString():
            text = string_value(node)
            return Const(text) if text is not None else None
        case cst.Integer() | cst.Float() | cst.Imaginary():
            return number_value(node)
        case cst.Name(value=name):
            return KEYWORDS.get(name)
        case cst.Tuple(elements=elements):
            items = _items(elements)
            return Tuple(items) if items is not None else None
    return None


def number_value(node: cst.Integer | cst.Float | cst.Imaginary) -> Const:
    """Return the constant of a literal that is a number."""
    if isinstance(node, cst.Integer):
        return _integer(node.value)
    return Const(float(node.value) if isinstance(node, cst.Float) else complex(node.value))


@lru_cache(MAX_LITERALS)
def _integer(text: str) -> Const:
    """Return the abstract constant for the text of an integer literal, such as `0x10`; computed once for each text."""
    return Const(int(text, 0))
