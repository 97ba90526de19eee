"""Operands: the tensors among a library call's arguments, which are checked for device and dtype conflicts."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.record import replace
from devlint.domain.value import UNKNOWN, OpaqueData, Rank, Tensor, Unknown, Value, as_tensor
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.objects.sequence_lengths import assume_filled
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def operands_of(frame: Frame, row: Row, bound: BoundArguments) -> list[Operand]:
    """Return the tensors among a library call's arguments as operands, including those inside sequences."""
    found: list[Operand] = []
    for name in row.tensors:
        given = bound.get(name, ())
        for argument in given:
            if name in row.sequences and not isinstance(argument.value, (Tensor, Unknown)):
                found.extend(_operands_inside(frame, name, argument))
                continue
            alone = name in row.sequences and (len(given) == 1 or f"*{name}" not in row.params)
            value = frame.as_single_tensor(argument.value)
            value = _tensor_of_forward(frame, value) if name in row.numbers else value
            if isinstance(value, OpaqueData) and value.mixed and _takes_python_values(row, name):
                continue
            tensor = as_tensor(value) if not alone or isinstance(value, Tensor) else None
            if tensor is not None:
                if _is_collated(value) and name not in row.numbers and not _is_operator(row):
                    tensor = replace(tensor, rank=Rank.SOME)
                found.append(Operand(name, frame.place(argument.node), frame.resolve(tensor)))
    return found


def _is_collated(value: Value) -> bool:
    """Return whether a value that must be a tensor is a part of a loader's batch, whose samples are one dimension."""
    return isinstance(value, OpaqueData) and value.of_loader and not value.parts


def _is_operator(row: Row) -> bool:
    """Return whether a row is of an operator of tensors, such as `==`, which takes a Python number as well."""
    return row.name.rpartition(".")[2].startswith("__")


def _takes_python_values(row: Row, name: str) -> bool:
    """Return whether a parameter for a tensor takes a Python number or list as well.

    What must lie on the host (lengths, sections) may be a list, unless it is the object of a method.
    """
    return name in row.numbers or (name in row.host and name != "self")


def _tensor_of_forward(frame: Frame, value: Value) -> Value:
    """Return an unknown argument of an operation as a tensor if it is an argument of the running `forward` method.

    Any other unknown argument is returned as unknown. Used for parameters that also take a Python number.
    """
    known = as_forward_operand(frame, value, Tensor())
    return UNKNOWN if isinstance(known, Unknown) and not known.of_host_tensors else known


def _operands_inside(frame: Frame, name: str, argument: Argument) -> list[Operand]:
    """Return the tensors inside a sequence argument as operands.

    If the sequence is written out as a list or tuple, each operand has the syntax node of its own element; else all
    have the node of the argument.
    """
    elements = frame.iterate(argument.value, argument.node)
    assume_filled(frame, argument.value)
    values = elements.items if elements.items is not None else (elements.element,)
    nodes: Sequence[cst.BaseExpression] = [argument.node] * len(values)
    if isinstance(argument.node, (cst.List, cst.Tuple)) and len(argument.node.elements) == len(values):
        nodes = [element.value for element in argument.node.elements]
    found = []
    for value, node in zip(values, nodes, strict=True):
        tensor = as_tensor(frame.as_single_tensor(value))
        if tensor is not None:
            found.append(Operand(name, frame.place(node), frame.resolve(tensor), inside=node is argument.node))
    return found


def as_operand(frame: Frame, name: str, argument: Argument) -> Operand | None:
    """Return an argument as an operand if it is a tensor; None for other values."""
    tensor = as_tensor(frame.as_single_tensor(argument.value))
    return Operand(name, frame.place(argument.node), frame.resolve(tensor)) if tensor is not None else None
