"""The statements at the top of a file that one function or class of it needs, so that the others need not run.

A file often imports packages that most of its functions do not use.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator


def needed_rows(tree: ast.Module, name: str) -> tuple[int, ...]:
    """Return the rows on which the statements begin that define a name, and what these use, and so on.

    Where nothing defines a name that is used, `from module import *` may.
    """
    kept: dict[int, ast.stmt] = {}
    wanted, seen = {name}, set[str]()
    while wanted:
        seen |= wanted
        left = [node for node in tree.body if node.lineno not in kept and not is_main_block(node)]
        new = [node for node in left if not wanted.isdisjoint(_defined(node))]
        kept |= {node.lineno: node for node in new}
        wanted = set[str]().union(*map(_used, new)) - seen
    if seen - {one for node in kept.values() for one in _defined(node)} - set(dir(builtins)):
        kept |= {node.lineno: node for node in tree.body if _imports_all(node)}
    future = [node.lineno for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return tuple(sorted({*future, *kept}))


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a file defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.alias):
            yield one.asname or one.name.partition(".")[0]
        elif isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield one.name


def _imports_all(node: ast.stmt) -> bool:
    """Return whether a statement is `from module import *`, which may define any name."""
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _used(node: ast.AST) -> set[str]:
    """Return the names that a statement or expression uses and that are not local to a function in it."""
    used: set[str] = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    for child in ast.iter_child_nodes(node):
        used |= _used(child)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inside = list(ast.walk(node))
        local = {one.arg for one in inside if isinstance(one, ast.arg)}
        local |= {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        used -= local - {name for one in inside if isinstance(one, ast.Global) for name in one.names}
    return used


def is_main_block(node: ast.stmt) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and ast.unparse(node.test).replace('"', "'") == "__name__ == '__main__'"
