"""The names of libraries as a file knows them, and imports of what it does not know."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.names import bound_in
from devlint.fixes.sheet import FixContext, NodeRegion
from devlint.syntax.index import Binding
from devlint.syntax.tree_walk import dotted_name


def spell(part: NodeRegion, node: cst.CSTNode, dotted: str) -> tuple[str, tuple[Edit, ...]]:
    """How to write a library's thing where `node` stands, and the edit that imports its package if nothing has."""
    function = part.function(node)
    hidden = part.told(bound_in, function) if function is not None else frozenset[str]()
    known = [
        (len(whole), binding.name + dotted.removeprefix(whole))
        for binding in part.sheet.imports
        if (whole := _whole(binding)) and f"{dotted}.".startswith(f"{whole}.") and binding.name not in hidden
    ]
    if known:
        return max(known)[1], ()
    return dotted, (_import(part.sheet, dotted.partition(".")[0]),)


def full_name(part: NodeRegion, node: cst.BaseExpression) -> str:
    """The dotted name of a library's thing, as the file's imports tell it; the name as written where they do not."""
    name = dotted_name(node) or ""
    root = name.partition(".")[0]
    bindings = (one for one in part.sheet.imports if one.name == root)
    whole = next((found for one in bindings if (found := _whole(one))), root)
    return whole + name.removeprefix(root)


def _whole(binding: Binding) -> str:
    """The full name of what an import binds; empty for what is not a library's."""
    if binding.level or binding.name == "*":
        return ""
    return binding.module if binding.attribute is None else f"{binding.module}.{binding.attribute}"


def _import(sheet: FixContext, package: str) -> Edit:
    """The import of a package, in front of the first import that is not from the future."""
    statements = sheet.index.statements
    first = next(
        (one for one in statements if one.imports and all(each.module != "__future__" for each in one.imports)), None
    )
    if first is None:
        first = next((one for one in statements if one.first_row > _prelude(sheet)), statements[0])
    return sheet.edit(first.start, first.start, f"import {package}{sheet.newline(first.start)}")


def _prelude(sheet: FixContext) -> int:
    """The last row of the docstring and of imports from the future."""
    rows = [0]
    for statement in sheet.index.statements:
        future = any(each.module == "__future__" for each in statement.imports)
        if future or (not statement.mentions and not statement.binds and sheet.index.docstring is not None):
            rows.append(statement.last_row)
        else:
            break
    return rows[-1]
