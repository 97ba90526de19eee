"""Code that runs only where there is CUDA: functions and classes by what their users ask, files that refuse to run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.cuda_conditions import (
    CUDA,
    is_told_around,
    leaves,
    mentions_cuda,
    raises,
    refuses,
)
from devlint.interpreter.program.cuda_flags import is_under_cuda_flag
from devlint.interpreter.program.cuda_kernels import CudaKernels, is_with_cuda_kernels
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.functions_by_uses import FunctionsByUses
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.kernel_wrappers import KernelWrappers
from devlint.interpreter.program.library_flags import is_under_library_flag
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.required_cuda import is_required, requires_cuda
from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import dotted_name

_MOST_FILES: Final = 3
"""How many files a name is followed through, each of which imports it from the next."""


class CheckedFunctions(FunctionsByUses):
    """The functions and classes of a program's files that are named only in code that runs with CUDA alone.

    The program has asked for CUDA there, or it needs CUDA kernels.
    """

    def __init__(self, program: Program, imports: ImportGraph, kernels: CudaKernels, wrappers: KernelWrappers) -> None:
        def holds(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
            if is_checked(program, module, path) or is_with_cuda_kernels(path):
                return True
            return kernels.needed_by(module) or wrappers.is_wrapped(module, path)

        super().__init__(program, imports, CUDA, holds)


def is_checked(program: Program, module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a check for CUDA, or a decorator that requires it, decides whether the code at a node runs."""
    return (
        is_told_around(path, mentions_cuda)
        or is_under_cuda_flag(module, path)
        or is_under_library_flag(module, path)
        or _is_after_refusal(program, module, path)
        or is_required(module, path)
    )


def refuses_at_top(statements: Sequence[Statement]) -> bool:
    """Return whether a file ends the program, or raises an error, as soon as it is run without CUDA.

    The tests of a file may require CUDA together.
    """
    return any(one.kind == "other" and CUDA in one.mentions and _refuses_all(one) for one in statements)


def leaves_before_work(statements: Sequence[Statement], words: Collection[str]) -> bool:
    """Return whether the part of a file that runs as a script leaves on a test with a part of some words in it."""
    guards = (one.tree_or_none for one in statements if one.kind == "other" and "__name__" in one.mentions)
    return any(
        isinstance(one, cst.If)
        and one.orelse is None
        and leaves(one.body)
        and any(part in word.lower() for word in words_in(one.test) for part in words)
        for guard in guards
        if isinstance(guard, cst.If)
        for one in guard.body.body
    )


def _refuses_all(unit: Statement) -> bool:
    """Return whether a top-level statement refuses to run without CUDA, or marks all tests of its file so."""
    tree = unit.tree_or_none
    match tree:
        case cst.SimpleStatementLine(body=[cst.Assign(value=cst.List(elements=marks) | cst.Tuple(elements=marks))]):
            return "pytestmark" in unit.binds and any(requires_cuda(one.value, is_test=True) for one in marks)
        case cst.SimpleStatementLine(body=[cst.Assign(value=value)]):
            return "pytestmark" in unit.binds and requires_cuda(value, is_test=True)
    return tree is not None and refuses(tree)


def _is_after_refusal(program: Program, module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a statement before a node, in a block around it, leaves that block where there is no CUDA."""
    for above, below in pairwise(path):
        if isinstance(above, cst.IndentedBlock):
            before = above.body[: next(i for i, one in enumerate(above.body) if one is below)]
            if any(refuses(one) or _calls_refusing(program, module, one) for one in before):
                return True
    return False


def _calls_refusing(program: Program, module: ModuleInfo, statement: cst.CSTNode) -> bool:
    """Return whether a statement is a call of a function of the program that raises an error without CUDA."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.Call(func=function)) | cst.Assign(value=cst.Call(func=function))]
        ):
            name = dotted_name(function)
            return name is not None and any(
                any(map(raises, one.body.body)) for one in _functions_named(program, module, name)
            )
    return False


def _functions_named(program: Program, module: ModuleInfo, name: str, depth: int = 0) -> Iterator[cst.FunctionDef]:
    """Yield the functions that a dotted name means in a file, as it defines them or imports them from other files."""
    root, _, rest = name.partition(".")
    for unit in module.index.statements:
        if unit.kind == "function" and unit.name == name:
            tree = unit.tree_or_none
            if isinstance(tree, cst.FunctionDef):
                yield tree
        for one in unit.imports if depth < _MOST_FILES else ():
            dotted = f"{one.module}.{one.attribute}".strip(".") if rest and one.attribute else one.module
            wanted = rest or one.attribute
            if one.name != root or wanted is None or "." in wanted:
                continue
            path = program.resolve(module, dotted, one.level)
            home = program.load(path) if path is not None else None
            if home is not None and home is not module:
                yield from _functions_named(program, home, wanted, depth + 1)
