"""Parameters of modules as values: groups of parameters, their `requires_grad` flag and their data."""

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
"""The largest number of parameters in one group; further parameters of a larger model are taken to be like these."""


def group_parameters(frame: Frame, tensors: Iterable[Tensor], node: cst.CSTNode) -> Tensor:
    """Return one tensor that stands for all given parameters, as `for p in module.parameters()` binds it."""
    members = list(dict.fromkeys(one.cell for one in tensors if one.cell is not None))[:MAX_MEMBERS]
    address = (
        members[0] if len(members) == 1 else frame.allocate(node, ParameterGroup(tuple(members)), "parameters").address
    )
    return Tensor(rank=Rank.SOME, leaf=True, cell=address)


def set_requires_grad(frame: Frame, address: AllocationSite, grad: bool | None) -> None:
    """Set whether a parameter, or each parameter of a group, requires a gradient.

    The flag None means that this is not known.
    """
    match frame.get(address):
        case ParameterCell() as cell:
            frame.put(address, replace(cell, grad=grad))
        case Instance(cell=ParameterCell() as cell) as thing:
            frame.put(address, replace(thing, cell=replace(cell, grad=grad)))
        case ParameterGroup(members=members):
            for member in members:
                set_requires_grad(frame, member, grad)


def set_requires_grad_of_module(frame: Frame, module: Value, grad: bool | None) -> None:
    """Set whether the parameters of a module and its submodules require gradients: `module.requires_grad_(grad)`."""
    for _, tensor in module_tensors(frame, module):
        if tensor.cell is not None:
            set_requires_grad(frame, tensor.cell, grad)


def replace_parameter_data(frame: Frame, address: AllocationSite, placement: Placement, dtype: Dtype) -> None:
    """Give a parameter the placement and dtype of an assigned tensor: `parameter.data = tensor`.

    The parameter keeps its identity. For a group, each member changes.
    """
    match frame.get(address):
        case ParameterCell() as cell:
            frame.put(address, replace(cell, placement=placement, dtype=dtype))
        case Instance(cell=ParameterCell() as cell) as thing:
            frame.put(address, replace(thing, cell=replace(cell, placement=placement, dtype=dtype)))
        case ParameterGroup(members=members):
            for member in members:
                replace_parameter_data(frame, member, placement, dtype)
