"""The full names of the library objects that code refers to, with the imports inside functions taken into account."""

from __future__ import annotations

import libcst as cst

from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.name_queries import names_bound_in_function
from devlint.syntax.index import Binding
from devlint.syntax.statement import import_binding
from devlint.syntax.tree_walk import descend, dotted_name


class TorchNames:
    """The full dotted names of what the code of one file refers to: `torch.nn.Linear` for `nn.Linear`."""

    def __init__(self, context: FixContext) -> None:
        self._top: dict[str, str] = {}
        for one in context.imports:
            self._top.setdefault(one.name, _imported(one))

    def full_name(self, region: NodeRegion, node: cst.CSTNode) -> str:
        """Return the full dotted name of what an expression refers to; empty for what no import binds."""
        name = dotted_name(node)
        if name is None:
            return ""
        root, _, rest = name.partition(".")
        imported = self._imported_as(region, node, root)
        return f"{imported}.{rest}" if imported and rest else imported

    def _imported_as(self, region: NodeRegion, node: cst.CSTNode, name: str) -> str:
        """Return the full name of what a simple name at a node refers to; empty if that is no import."""
        for above in region.ancestors(node):
            if isinstance(above, cst.FunctionDef) and name in region.cached(names_bound_in_function, above):
                return region.cached(_imports_in, above).get(name, "")
        return self._top.get(name, "")


def _imports_in(function: cst.FunctionDef) -> dict[str, str]:
    """Return the full names that the imports in a function's own body bind, by the names that they bind."""
    found: dict[str, str] = {}
    for node in descend(function.body, into_functions=False):
        for one in import_bindings(node):
            found.setdefault(one.name, _imported(one))
    return found


def import_bindings(node: cst.CSTNode) -> list[Binding]:
    """Return the names that an import statement binds; none for any other node, or a star import."""
    match node:
        case cst.Import(names=names):
            return [import_binding(dotted_name(one.name) or "", _alias(one)) for one in names]
        case cst.ImportFrom(names=names, relative=()) if not isinstance(names, cst.ImportStar):
            module = dotted_name(node.module) if node.module is not None else ""
            plain = [(dotted_name(one.name) or "", _alias(one)) for one in names]
            return [Binding(alias or name, module or "", name) for name, alias in plain]
    return []


def _alias(one: cst.ImportAlias) -> str | None:
    """Return the name that an import gives to what it imports by `as`; None without that."""
    return one.asname.name.value if one.asname is not None and isinstance(one.asname.name, cst.Name) else None


def _imported(binding: Binding) -> str:
    """Return the full name of what an import binds; empty for relative imports and star imports."""
    if binding.level or binding.name == "*":
        return ""
    return binding.module if binding.attribute is None else f"{binding.module}.{binding.attribute}"
