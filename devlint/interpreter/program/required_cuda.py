"""Decorators by which tests, and functions beside them, require CUDA: without it they are skipped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.cuda_conditions import mentions_cuda, tells
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import dotted_name

_SKIPPING: Final = {"skipif": False, "skipIf": False, "skipUnless": True}
"""The last names of decorators that skip by a condition, with its outcome where the code runs."""
_REQUIRING: Final = re.compile(r"requir|need|only|\bmark\b|skip", re.IGNORECASE)
"""A part of the name of a decorator that says when it lets code run."""
_WITHOUT: Final = re.compile(r"(?:no|not|non|without|skip|if|unless|except)_?cuda", re.IGNORECASE)
"""A part of a name that says that something is done without CUDA, or is left out with it."""
_UNLESS: Final = re.compile(r"skip_?(?:if_?no|unless|without|if_?not)_?cuda", re.IGNORECASE)
"""A part of a name that says that something is left out without CUDA."""
_OTHERS: Final = frozenset({"cpu", "mps", "xpu", "hpu", "npu", "meta"})
"""The names of other devices, in small letters."""


def is_required(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a decorator of a function or class around a node requires CUDA.

    A decorator may be a name that the file gives to one. `path` are the nodes from the top-level statement down to the
    node, which may stand in another decorator.
    """
    for above, below in pairwise(path):
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            for one in above.decorators:
                is_test = above.name.value.lower().startswith("test")
                if one is not below and any(
                    requires_cuda(each, is_test=is_test) for each in _meanings(module, one.decorator)
                ):
                    return True
    return False


def requires_cuda(decorator: cst.BaseExpression, *, is_test: bool) -> bool:
    """Return whether a decorator skips what it decorates without CUDA, or runs it, a test, for CUDA devices only."""
    name = dotted_name(decorator.func if isinstance(decorator, cst.Call) else decorator) or ""
    last = name.rpartition(".")[2]
    if last in _SKIPPING:
        asked = decorator.args[:1] if isinstance(decorator, cst.Call) else ()
        return any(tells(one.value, _SKIPPING[last], mentions_cuda) for one in asked)
    if name.startswith("torch.") or "patch" in name:
        return False
    if "cuda" in last.lower():
        return _REQUIRING.search(name) is not None and (
            _WITHOUT.search(last) is None or _UNLESS.search(last) is not None
        )
    words = {one.strip("\"'").lower() for one in words_in(decorator)}
    return is_test and mentions_cuda(decorator) and _OTHERS.isdisjoint(words)


def _meanings(module: ModuleInfo, decorator: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return a decorator, and what the file binds to its name at the top."""
    found = [decorator]
    if isinstance(decorator, cst.Name):
        for unit in module.index.statements:
            match unit.tree_or_none if unit.kind == "other" and decorator.value in unit.binds else None:
                case cst.SimpleStatementLine(body=[cst.Assign(value=value)]):
                    found.append(value)
    return found
