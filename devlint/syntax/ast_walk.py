"""A walk over a tree of Python's own parser that looks at fewer fields than `ast.walk`, and takes half of its time."""

from __future__ import annotations

import ast
from typing import Any, Final

_WITHOUT_NODES: Final = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "names", "op", "ops"}
    | {"simple", "tag", "type_comment"}
)
"""The fields that hold names, numbers, contexts or operators in all classes that have them."""


class _NodeFields(dict[type, tuple[str, ...]]):
    """A mapping from each `ast` node class to its fields that can hold nodes, computed when it is first used."""

    def __missing__(self, cls: type[ast.AST]) -> tuple[str, ...]:
        names = () if cls is ast.Constant else cls._fields
        self[cls] = tuple(name for name in names if name not in _WITHOUT_NODES)
        return self[cls]


_FIELDS: Final = _NodeFields()


def walk_ast(node: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes below it in the order of `ast.walk`, without contexts, operators and import names."""
    found = [node]
    push = found.append
    for one in found:
        for name in _FIELDS[one.__class__]:
            value: Any = getattr(one, name, None)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                push(value)
    return found
