"""Comparisons of devices with the host on which nothing depends: what they decide matters where there is CUDA only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from devlint.domain.availability import is_available
from devlint.domain.device import KnownDevice, is_accelerator
from devlint.domain.path_conditions import PathCondition, entails
from devlint.domain.placement import Place, Placement, placement_cases
from devlint.interpreter.program.cuda_conditions import CUDA, asks_for_cuda
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name

_SWITCHES: Final = ("cudnn", "torch.backends.cudnn", "torch.backends.cuda")
"""The objects that hold the switches of CUDA's libraries, such as `cudnn.benchmark`."""


def decides_only_for_cuda(place: Place, operator: str, device: Placement, path_condition: PathCondition) -> bool:
    """Return whether a comparison of a device with the host, `device != "cpu"`, does no harm where it is always true.

    It only decides on switches of CUDA's libraries, which nothing reads on the host. Or the test also asks whether
    there is CUDA, and the device is the host only where there is none: then the other part decides.
    """
    tree = place.unit.tree if isinstance(place.unit, Statement) else None
    node = place.node
    if tree is None or not isinstance(node, cst.Comparison) or not _is_with_host(node):
        return False
    path = path_to(tree, node)
    return _decides_on_switches(path) or (
        operator in ("!=", "is not")
        and any(map(_needs_cuda, _joined_by_and(path)))
        and _is_host_only_without_cuda(device, path_condition)
    )


def _is_with_host(node: cst.Comparison) -> bool:
    """Return whether a comparison is one with the text "cpu"."""
    match node:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return any(isinstance(one, cst.SimpleString) and one.raw_value == "cpu" for one in (left, right))
    return False


def _decides_on_switches(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the last node of a path is in the test of an `if` that only sets switches of CUDA's libraries."""
    above = [one for one in path[:-1] if not isinstance(one, (cst.BooleanOperation, cst.UnaryOperation))]
    match above[-1:]:
        case [cst.If(test=test, body=body, orelse=None | cst.Else() as other)] if any(one is test for one in path):
            blocks = [body] if other is None else [body, other.body]
            return all(_sets_switch(one) for block in blocks for one in _statements(block))
    return False


def _statements(block: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """Yield the statements of a block, those of one line one by one."""
    for line in block.body:
        yield from line.body if isinstance(line, cst.SimpleStatementLine) else (line,)


def _sets_switch(statement: cst.CSTNode) -> bool:
    """Return whether a statement only sets a switch of a library of CUDA: `cudnn.benchmark = True`."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=value):
            name = (dotted_name(target) or "").rpartition(".")[0]
            is_switch = any(name == one or name.startswith(f"{one}.") for one in _SWITCHES)
            return is_switch and not any(isinstance(one, cst.Call) for one in (value, *descend(value)))
    return False


def _joined_by_and(path: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Yield what the `and` around the last node of a path joins with it."""
    for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
        match above:
            case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
                yield from _operands(right if left is below else left)
            case _:
                return


def _operands(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the parts that `and` joins in a test."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            yield from _operands(left)
            yield from _operands(right)
        case _:
            yield test


def _needs_cuda(test: cst.CSTNode) -> bool:
    """Return whether a test holds only where there is CUDA: `torch.cuda.is_available()`, or a number of devices."""
    match test:
        case cst.Comparison(
            left=cst.Call(func=cst.Attribute(attr=cst.Name(value="device_count")) as counted, args=[]),
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.GreaterThan() | cst.GreaterThanEqual() as sign, comparator=cst.Integer(value=number)
                )
            ],
        ):
            is_some = isinstance(sign, cst.GreaterThan) or number != "0"
            return is_some and CUDA in (dotted_name(counted) or "").split(".")
    return isinstance(test, cst.Call) and asks_for_cuda(test)


def _is_host_only_without_cuda(device: Placement, path_condition: PathCondition) -> bool:
    """Return whether a device is an accelerator wherever there is CUDA."""
    for when, leaf in placement_cases(device, path_condition):
        is_other = isinstance(leaf.device, KnownDevice) and is_accelerator(leaf.device)
        if not is_other and entails(path_condition | when, is_available(CUDA)) is not False:
            return False
    return True
