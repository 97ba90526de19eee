"""Parameters taken out of their modules: several as one, and whether they collect a gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype
from devlint.domain.objects import Instance, ParameterCell, ParameterGroup
from devlint.domain.placement import Placement
from devlint.domain.value import AllocationSite, Rank, Tensor, Value
from devlint.interpreter.objects.module_state import module_tensors
from devlint.interpreter.state.frame import Frame

MAX_MEMBERS: Final = 64
"""Parameters that one value stands for; those of a larger model beyond that are taken to be like the rest."""


def group_parameters(frame: Frame, tensors: Iterable[Tensor], node: cst.CSTNode) -> Tensor:
    """One parameter that stands for all of these."""
    members = list(dict.fromkeys(one.cell for one in tensors if one.cell is not None))[:MAX_MEMBERS]
    address = (
        members[0] if len(members) == 1 else frame.allocate(node, ParameterGroup(tuple(members)), "parameters").address
    )
    return Tensor(rank=Rank.SOME, leaf=True, cell=address)


def set_requires_grad(frame: Frame, address: AllocationSite, grad: bool | None) -> None:
    """Say of a parameter, or of each of a group, whether it collects a gradient."""
    match frame.get(address):
        case ParameterCell() as cell:
            frame.put(address, replace(cell, grad=grad))
        case Instance(cell=ParameterCell() as cell) as thing:
            frame.put(address, replace(thing, cell=replace(cell, grad=grad)))
        case ParameterGroup(members=members):
            for member in members:
                set_requires_grad(frame, member, grad)


def set_requires_grad_of_module(frame: Frame, module: Value, grad: bool | None) -> None:
    """`module.requires_grad_(grad)`: every parameter, submodules' included."""
    for _, tensor in module_tensors(frame, module):
        if tensor.cell is not None:
            set_requires_grad(frame, tensor.cell, grad)


def replace_parameter_data(frame: Frame, address: AllocationSite, placement: Placement, dtype: Dtype) -> None:
    """`parameter.data = tensor`: the parameter is itself, but where the tensor is."""
    match frame.get(address):
        case ParameterCell() as cell:
            frame.put(address, replace(cell, placement=placement, dtype=dtype))
        case Instance(cell=ParameterCell() as cell) as thing:
            frame.put(address, replace(thing, cell=replace(cell, placement=placement, dtype=dtype)))
        case ParameterGroup(members=members):
            for member in members:
                replace_parameter_data(frame, member, placement, dtype)
