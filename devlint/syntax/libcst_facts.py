"""Collection of the names that a top-level statement binds and mentions from its libcst tree.

libcst is used for files with grammar that the `ast` module of the running Python does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import normalize

import libcst as cst

from devlint.syntax.statement import Binding, StatementFacts, StatementKind, import_binding
from devlint.syntax.tree_walk import children, descend, dotted_name

# libcst has had lazy imports since a version newer than the oldest one supported here.
_PLAIN_IMPORTS = tuple(vars(cst)[name] for name in ("Import", "LazyImport") if name in vars(cst))
_FROM_IMPORTS = tuple(vars(cst)[name] for name in ("ImportFrom", "LazyImportFrom") if name in vars(cst))
_IMPORTS = _PLAIN_IMPORTS + _FROM_IMPORTS
# libcst parses these constants as names.
_CONSTANTS = frozenset({"None", "True", "False"})
# The field of each node type whose code runs, or binds names, in a scope of its own.
_INNER_FIELDS: dict[type[cst.CSTNode], str] = {
    cst.FunctionDef: "body",
    cst.ClassDef: "body",
    cst.Lambda: "body",
    cst.CompFor: "target",
}


def facts_from_libcst(tree: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> StatementFacts:
    """Return facts about a top-level statement, collected from its libcst tree.

    The facts are which names the statement binds at module level and which identifiers it mentions.
    """
    binds: set[str] = set()
    imports: list[Binding] = []
    for node in _module_scope(tree):
        binds.update(_bound_names(node))
        imports.extend(_bindings(node))
    binds.update(binding.name for binding in imports if binding.name != "*")
    names = [node for node in descend(tree) if isinstance(node, (cst.Name, cst.Global))]
    return StatementFacts(
        kind=_kind(tree),
        name=_normal(tree.name) if isinstance(tree, (cst.FunctionDef, cst.ClassDef)) else None,
        binds=frozenset(binds),
        mentions=frozenset(_normal(node) for node in names if isinstance(node, cst.Name)) - _CONSTANTS,
        imports=tuple(imports),
        globals=frozenset(_normal(item.name) for node in names if isinstance(node, cst.Global) for item in node.names),
        bases=tuple(map(_base, tree.bases)) if isinstance(tree, cst.ClassDef) else (),
        depth=0,
    )


def _kind(tree: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> StatementKind:
    """Return the kind of a top-level statement: "function", "class", "import" or "other"."""
    match tree:
        case cst.FunctionDef():
            return "function"
        case cst.ClassDef():
            return "class"
        case cst.SimpleStatementLine(body=body) if all(isinstance(small, _IMPORTS) for small in body):
            return "import"
        case _:
            return "other"


def _module_scope(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a syntax node and those of its descendants that are evaluated in the module's scope.

    The nodes come in the order of the text.
    """
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        inner = _INNER_FIELDS.get(type(node))
        below = children(node)
        if inner is not None:
            hidden = getattr(node, inner)
            below = (child for child in below if child is not hidden)
        if not isinstance(node, _IMPORTS):
            pending += [*below][::-1]


def _bound_names(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that a syntax node binds itself, not through nodes inside it; imports are left out."""
    match node:
        case cst.AssignTarget() | cst.AnnAssign() | cst.AugAssign() | cst.For() | cst.Del() | cst.NamedExpr():
            yield from _targets(node.target)
        case cst.AsName() | cst.FunctionDef() | cst.ClassDef() | cst.TypeAlias():
            yield from _targets(node.name)
        case cst.MatchAs(name=cst.Name() as name) | cst.MatchStar(name=cst.Name() as name):
            yield _normal(name)
        case cst.MatchMapping(rest=cst.Name() as name):
            yield _normal(name)


def _targets(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the names that an assignment target binds; a tuple or list may bind several."""
    match node:
        case cst.Name():
            yield _normal(node)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _targets(element.value)
        case cst.StarredElement():
            yield from _targets(node.value)


def _bindings(node: cst.CSTNode) -> Iterator[Binding]:
    """Yield a `Binding` (the name and what it refers to) for each name that an import statement binds."""
    if isinstance(node, _PLAIN_IMPORTS):
        for alias in node.names:
            yield import_binding(_dotted(alias.name), alias.evaluated_alias)
    elif isinstance(node, _FROM_IMPORTS):
        module, level = _dotted(node.module), len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            yield Binding("*", module, "*", level, module)
        else:
            for alias in node.names:
                name = _dotted(alias.name)
                yield Binding(alias.evaluated_alias or name, module, name, level, module)


def _base(argument: cst.Arg) -> str:
    """Return a base of a class definition as text, such as "nn.Module", or "" if the base is not a dotted name."""
    return "" if argument.star else _dotted(argument.value)


def _dotted(node: cst.BaseExpression | None) -> str:
    """Return a dotted name as text, normalised to NFKC as Python does; "" for any other expression."""
    return normalize("NFKC", dotted_name(node) or "") if node is not None else ""


def _normal(name: cst.Name) -> str:
    """Return an identifier in the Unicode normal form NFKC, in which Python compares identifiers."""
    return name.value if name.value.isascii() else normalize("NFKC", name.value)
