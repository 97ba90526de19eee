"""Benchmarks of CUDA: code that times what it computes from made-up data on a CUDA device that it writes out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import libcst as cst

from devlint.interpreter.program.device_counts import assigned_in, scope_of
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
_CALL: Final = re.compile(r"[\w.]+\(")
"""The start of a top-level statement that calls something."""
_TRAINING: Final = frozenset({"DataLoader", "dataloader", "loader", "train_loader"})
"""Words of code that has other data."""


def is_benchmark_of_cuda(name: str, path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> bool:
    """Return whether a use of a member of `torch.cuda`, a node, measures made-up data on a CUDA device.

    `name` is the qualified name of the member, `path` are the nodes from the top-level statement down to the node.
    `statements` are the top-level statements of its file.
    """
    if name not in _TIMING or not path:
        return False
    if _measures_made_up(scope_of(path, statements)):
        return True
    return isinstance(path[0], cst.FunctionDef) and _is_helper_of_benchmarks(path[0].name.value, statements)


def _is_helper_of_benchmarks(function: str, statements: Sequence[Statement]) -> bool:
    """Return whether a function of a script is named only by its functions that measure made-up data on CUDA.

    A function that says that it is a benchmark may write out the device at the top of the file.
    """
    if not any("__name__" in one.mentions or _CALL.match(one.text) for one in statements):
        return False
    top = [one.tree_or_none for one in statements if one.kind == "other"]
    devices = _names_of_cuda([one for one in top if one is not None])
    callers = [one.tree_or_none for one in statements if function in one.mentions and one.name != function]
    return bool(callers) and all(
        isinstance(one, cst.FunctionDef) and _measures_made_up([one], devices if _is_benchmark(one) else set())
        for one in callers
    )


def _is_benchmark(function: cst.FunctionDef) -> bool:
    """Return whether a function says that it is a benchmark, by its name or a decorator."""
    words = [function.name.value, *(word for one in function.decorators for word in words_in(one))]
    return any("benchmark" in one.lower() for one in words)


def _measures_made_up(scope: Sequence[cst.CSTNode], outer: Collection[str] = ()) -> bool:
    """Return whether code makes data of random numbers on a CUDA device that it writes out, and has no other data.

    `outer` are the names of such devices that are bound around the code.
    """
    devices = {*_names_of_cuda(scope), *outer}
    made = any(_is_made_up(one, devices) for root in scope for one in (root, *descend(root)))
    return made and not any(word in _TRAINING for root in scope for word in words_in(root))


def _names_of_cuda(scope: Sequence[cst.CSTNode]) -> set[str]:
    """Return the names that code binds to a CUDA device that it writes out, and to no other value."""
    values = defaultdict(list)
    for name, value in assigned_in(scope):
        values[name].append(value)
    return {name for name, found in values.items() if all(map(_writes_cuda, found))}


def _is_made_up(node: cst.CSTNode, devices: Collection[str]) -> bool:
    """Return whether an expression makes data of random numbers on a CUDA device that it writes out.

    `devices` are the names of such devices.
    """
    match node:
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value="cuda"))):
            return _makes_numbers(made)
        case cst.Call(func=cst.Attribute(value=made, attr=cst.Name(value="to")), args=[first, *_]):
            return _makes_numbers(made) and _is_cuda(first, devices)
        case cst.Call(args=arguments) if _makes_numbers(node):
            given = (one for one in arguments if one.keyword is not None and one.keyword.value == "device")
            return any(_is_cuda(one, devices) for one in given)
    return False


def _makes_numbers(node: cst.CSTNode) -> bool:
    """Return whether an expression is a call of a function of torch that makes random numbers."""
    if not isinstance(node, cst.Call):
        return False
    module, _, name = (dotted_name(node.func) or "").rpartition(".")
    return name in _MADE_UP and module != "" and "numpy" not in module and module not in ("np", "random", "np.random")


def _is_cuda(argument: cst.Arg, devices: Collection[str]) -> bool:
    """Return whether an argument writes out a CUDA device, or is the name of one."""
    return dotted_name(argument.value) in devices or any(map(_CUDA_DEVICE.fullmatch, texts_in(argument.value)))


def _writes_cuda(value: cst.BaseExpression) -> bool:
    """Return whether an expression is a CUDA device that is written out, or its name."""
    match value:
        case cst.Call(func=called, args=[cst.Arg(value=cst.SimpleString() as text), *_]):
            return (dotted_name(called) or "").rpartition(".")[2] == "device" and _is_cuda(cst.Arg(text), ())
        case cst.SimpleString():
            return _is_cuda(cst.Arg(value), ())
    return False
