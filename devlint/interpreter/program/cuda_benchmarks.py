"""Benchmarks of CUDA: code that times what it computes from made-up data on a CUDA device that it writes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from devlint.interpreter.program.device_counts import scope_of
from devlint.interpreter.program.written_guards import texts_in
from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend, dotted_name

_TIMING: Final = frozenset(
    f"torch.cuda.{name}" for name in ("Event", "Stream", "current_stream", "max_memory_allocated", "synchronize")
)
"""The names by which code measures."""
_MADE_UP: Final = frozenset({"rand", "randint", "randn"})
"""The functions of torch that make data of random numbers."""
_CUDA_DEVICE: Final = re.compile(r"cuda(:\d+)?")
"""A text that names a device of CUDA."""
_TRAINING: Final = frozenset({"DataLoader", "dataloader", "loader", "train_loader"})
"""Words of code that has other data."""


def is_benchmark_of_cuda(name: str, path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> bool:
    """Return whether a use of a member of `torch.cuda`, a node, measures made-up data on a CUDA device.

    `name` is the qualified name of the member, `path` are the nodes from the top-level statement down to the node.
    `statements` are the top-level statements of its file.
    """
    if name not in _TIMING or not path:
        return False
    scope = scope_of(path, statements)
    made = any(_is_made_up(one) for root in scope for one in (root, *descend(root)))
    return made and not any(word in _TRAINING for root in scope for word in words_in(root))


def _is_made_up(node: cst.CSTNode) -> bool:
    """Return whether an expression makes data of random numbers on a CUDA device that it writes out."""
    match node:
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value="cuda"))):
            return _makes_numbers(made)
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value="to")), args=[first, *_]):
            return _makes_numbers(made) and _is_cuda(first)
        case cst.Call(args=arguments) if _makes_numbers(node):
            devices = (one for one in arguments if one.keyword is not None and one.keyword.value == "device")
            return any(map(_is_cuda, devices))
    return False


def _makes_numbers(node: cst.CSTNode) -> bool:
    """Return whether an expression is a call of a function of torch that makes random numbers."""
    if not isinstance(node, cst.Call):
        return False
    module, _, name = (dotted_name(node.func) or "").rpartition(".")
    return name in _MADE_UP and module != "" and "numpy" not in module and module not in ("np", "random", "np.random")


def _is_cuda(argument: cst.Arg) -> bool:
    """Return whether an argument is a text that names a CUDA device."""
    return any(_CUDA_DEVICE.fullmatch(text) for text in texts_in(argument.value))
