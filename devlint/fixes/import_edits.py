"""The names under which a file can refer to objects of libraries, and the imports that a fix has to add for them."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.name_queries import names_bound_in_function
from devlint.syntax.index import Binding
from devlint.syntax.tree_walk import dotted_name


def write_library_name(region: NodeRegion, node: cst.CSTNode, dotted: str) -> tuple[str, tuple[Edit, ...]]:
    """Return the source text by which the code at `node` can refer to a library object, given by its full dotted name.

    An import of the file that binds the object or a package around it is used, unless a local name hides it. Otherwise
    the full name is returned, with the edit that imports the package.
    """
    function = region.enclosing_function(node)
    hidden = region.cached(names_bound_in_function, function) if function is not None else frozenset[str]()
    known = [
        (len(imported), binding.name + dotted.removeprefix(imported))
        for binding in region.context.imports
        if (imported := _imported_name(binding))
        and f"{dotted}.".startswith(f"{imported}.")
        and binding.name not in hidden
    ]
    if known:
        return max(known)[1], ()
    return dotted, (_import_edit(region.context, dotted.partition(".")[0]),)


def full_name(region: NodeRegion, node: cst.BaseExpression) -> str:
    """Return the full dotted name of a library object that code refers to: `torch.nn.Linear` for `nn.Linear`.

    The imports of the file decide. A name that no import binds is returned unchanged.
    """
    name = dotted_name(node) or ""
    root = name.partition(".")[0]
    bindings = (one for one in region.context.imports if one.name == root)
    imported = next((found for one in bindings if (found := _imported_name(one))), root)
    return imported + name.removeprefix(root)


def _imported_name(binding: Binding) -> str:
    """Return the full dotted name of the object that an import binds: `torch.nn` for `from torch import nn`.

    Returns an empty string for relative imports and star imports.
    """
    if binding.level or binding.name == "*":
        return ""
    return binding.module if binding.attribute is None else f"{binding.module}.{binding.attribute}"


def _import_edit(context: FixContext, package: str) -> Edit:
    """Return the edit that imports a package, before the file's first import that is no `__future__` import."""
    statements = context.index.statements
    first = next(
        (one for one in statements if one.imports and all(each.module != "__future__" for each in one.imports)), None
    )
    if first is None:
        first = next((one for one in statements if one.first_row > _last_prelude_row(context)), statements[0])
    return context.edit(first.start, first.start, f"import {package}{context.newline(first.start)}")


def _last_prelude_row(context: FixContext) -> int:
    """Return the last row of the docstring and the `__future__` imports at the start of a file.

    0 if the file has neither.
    """
    rows = [0]
    for statement in context.index.statements:
        future = any(each.module == "__future__" for each in statement.imports)
        if future or (not statement.mentions and not statement.binds and context.index.docstring is not None):
            rows.append(statement.last_row)
        else:
            break
    return rows[-1]
