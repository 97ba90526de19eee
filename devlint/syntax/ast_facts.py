"""Collection of the names that a top-level statement binds and mentions, with Python's own parser `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from devlint.syntax.statement import Binding, StatementFacts, StatementKind, import_binding

# Fields that hold neither an identifier nor a node with identifiers below it.
_BARREN = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "conversion", "is_async", "level", "simple", "str", "tag"}
)
_DEFINITIONS: dict[type[ast.AST], StatementKind] = {
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "function",
    ast.ClassDef: "class",
    ast.Import: "import",
    ast.ImportFrom: "import",
}


class _NamedFields(dict[type, tuple[str, ...]]):
    """A mapping from each `ast` node class to those of its fields that can hold identifiers or nodes.

    The entry of a class is computed when it is first used.
    """

    def __missing__(self, cls: type) -> tuple[str, ...]:
        # A constant is no identifier, even if its value is a string. A list of nodes may hold None.
        names = cls._fields if issubclass(cls, ast.AST) and cls is not ast.Constant else ()
        self[cls] = tuple(name for name in names if name not in _BARREN)
        return self[cls]


_FIELDS = _NamedFields()


def facts_from_ast(nodes: Sequence[ast.stmt]) -> StatementFacts:
    """Return facts about the top-level statements on one logical line, collected from their `ast` nodes.

    The facts are which names the statements bind at module level and which identifiers they mention.
    """
    first = nodes[0]
    binds, imports = _module_scope(nodes)
    mentions, declared, depth = _mentions(nodes)
    kind = _DEFINITIONS.get(type(first), "other")
    if any(_DEFINITIONS.get(type(node), "other") != kind for node in nodes):
        kind = "other"
    return StatementFacts(
        kind=kind,
        name=first.name if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None,
        binds=frozenset(binds),
        mentions=frozenset(mentions),
        imports=imports,
        globals=frozenset(declared),
        bases=tuple(map(_dotted, first.bases)) if isinstance(first, ast.ClassDef) else (),
        depth=depth,
    )


def _mentions(nodes: Iterable[ast.stmt]) -> tuple[set[str], set[str], int]:
    """Return all identifiers in syntax trees, the names that they declare `global`, and the depth of the deepest tree.

    The loop runs once for every node of every file. It visits the trees level by level, so that counting the levels
    gives the depth.
    """
    names: set[str] = set()
    declared: set[str] = set()
    depth = chain = 0
    level: list[Any] = list(nodes)
    name, attribute, text, boolean, global_ = ast.Name, ast.Attribute, str, ast.BoolOp, ast.Global
    fields, add = _FIELDS, names.add
    while level:
        depth += 1
        below: list[Any] = []
        push, extend = below.append, below.extend
        for node in level:
            cls = node.__class__
            if cls is name:
                add(node.id)
            elif cls is attribute:
                add(node.attr)
                push(node.value)
            elif cls is text:
                add(node)
            else:
                for field in fields[cls]:
                    value = getattr(node, field)
                    if value.__class__ is list:
                        extend(value)
                    else:
                        push(value)
                if cls is boolean:
                    # libcst parses `a and b and c` as nested nodes, `ast` as one node.
                    chain = max(chain, len(node.values))
                elif cls is global_:
                    declared.update(node.names)
        level = below
    for dotted in [name for name in names if "." in name]:
        names.remove(dotted)
        names.update(dotted.split("."))
    names.discard("*")
    return names, declared, depth + chain


def _module_scope(nodes: Iterable[ast.stmt]) -> tuple[set[str], tuple[Binding, ...]]:
    """Return the names that statements bind at module level, and a `Binding` for each of their imported names.

    The imports are in the order of the text. Names bound in the scopes of functions, classes, lambdas and
    comprehensions inside the statements are left out.
    """
    binds: set[str] = set()
    imports: list[ast.Import | ast.ImportFrom] = []
    pending: list[Any] = list(nodes)
    while pending:
        node = pending.pop()
        match node:
            case ast.Name():
                if not isinstance(node.ctx, ast.Load):
                    binds.add(node.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                binds.add(node.name)
                pending += [*node.decorator_list, node.args, node.returns]
            case ast.Lambda():
                pending.append(node.args)
            case ast.ClassDef():
                binds.add(node.name)
                pending += [*node.decorator_list, *node.bases, *node.keywords]
            case ast.comprehension():
                pending += [node.iter, *node.ifs]
            case ast.Import() | ast.ImportFrom():
                imports.append(node)
            case ast.AST():
                if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
                    binds.add(node.name)
                elif isinstance(node, ast.MatchMapping) and node.rest:
                    binds.add(node.rest)
                for field in _FIELDS[node.__class__]:
                    value = getattr(node, field)
                    pending.extend(value) if isinstance(value, list) else pending.append(value)
    imports.sort(key=lambda node: (node.lineno, node.col_offset))
    bindings = tuple(binding for node in imports for binding in _bindings(node))
    return binds | {binding.name for binding in bindings if binding.name != "*"}, bindings


def _bindings(node: ast.Import | ast.ImportFrom) -> Iterable[Binding]:
    """Yield a `Binding` (the name and what it refers to) for each name that an import statement binds."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield import_binding(alias.name, alias.asname)
        else:
            yield Binding(alias.asname or alias.name, node.module or "", alias.name, node.level, node.module or "")


def _dotted(node: ast.expr) -> str:
    """Return a chain of attributes that starts at a name as text, such as "nn.Module".

    Return "" for any other expression.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
