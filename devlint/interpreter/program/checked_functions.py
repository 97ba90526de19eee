"""Code that runs only where there is CUDA: functions and classes by what their users ask, files that refuse to run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from devlint.interpreter.program.cuda_conditions import CUDA, is_told_around, mentions_cuda, raises, refuses
from devlint.interpreter.program.cuda_flags import is_under_cuda_flag
from devlint.interpreter.program.cuda_kernels import CudaKernels, is_with_cuda_kernels
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.functions_by_uses import FunctionsByUses
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.kernel_wrappers import KernelWrappers
from devlint.interpreter.program.library_flags import is_under_library_flag
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.required_cuda import is_required, requires_cuda
from devlint.syntax.statement import Statement


class CheckedFunctions(FunctionsByUses):
    """The functions and classes of a program's files that are named only in code that runs with CUDA alone.

    The program has asked for CUDA there, or it needs CUDA kernels.
    """

    def __init__(self, program: Program, imports: ImportGraph, kernels: CudaKernels, wrappers: KernelWrappers) -> None:
        def holds(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
            if is_checked(module, path) or is_with_cuda_kernels(path):
                return True
            return kernels.needed_by(module) or wrappers.is_wrapped(module, path)

        super().__init__(program, imports, CUDA, holds)


def is_checked(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a check for CUDA, or a decorator that requires it, decides whether the code at a node runs."""
    return (
        is_told_around(path, mentions_cuda)
        or is_under_cuda_flag(module, path)
        or is_under_library_flag(module, path)
        or _is_after_refusal(module, path)
        or is_required(module, path)
    )


def refuses_at_top(statements: Sequence[Statement]) -> bool:
    """Return whether a file ends the program, or raises an error, as soon as it is run without CUDA.

    The tests of a file may require CUDA together.
    """
    return any(one.kind == "other" and CUDA in one.mentions and _refuses_all(one) for one in statements)


def _refuses_all(unit: Statement) -> bool:
    """Return whether a top-level statement refuses to run without CUDA, or marks all tests of its file so."""
    tree = unit.tree_or_none
    match tree:
        case cst.SimpleStatementLine(body=[cst.Assign(value=cst.List(elements=marks) | cst.Tuple(elements=marks))]):
            return "pytestmark" in unit.binds and any(requires_cuda(one.value, is_test=True) for one in marks)
        case cst.SimpleStatementLine(body=[cst.Assign(value=value)]):
            return "pytestmark" in unit.binds and requires_cuda(value, is_test=True)
    return tree is not None and refuses(tree)


def _is_after_refusal(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a statement before a node, in a block around it, leaves that block where there is no CUDA."""
    for above, below in pairwise(path):
        if isinstance(above, cst.IndentedBlock):
            before = above.body[: next(i for i, one in enumerate(above.body) if one is below)]
            if any(refuses(one) or _calls_refusing(module, one) for one in before):
                return True
    return False


def _calls_refusing(module: ModuleInfo, statement: cst.CSTNode) -> bool:
    """Return whether a statement is a call of a function of the same file that raises an error without CUDA."""
    match statement:
        case cst.SimpleStatementLine(
            body=[
                cst.Expr(value=cst.Call(func=cst.Name(value=name)))
                | cst.Assign(value=cst.Call(func=cst.Name(value=name)))
            ]
        ):
            found = (one.tree_or_none for one in module.index.statements if one.kind == "function" and one.name == name)
            return any(isinstance(one, cst.FunctionDef) and any(map(raises, one.body.body)) for one in found)
    return False
