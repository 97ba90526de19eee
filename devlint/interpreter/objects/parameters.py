"""Parameters taken out of their modules: several as one, and whether they collect a gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype
from devlint.domain.objects import Cell, Group, Instance
from devlint.domain.placement import Placement
from devlint.domain.value import Address, Rank, Tensor, Value
from devlint.interpreter.objects.module_state import tensors_of
from devlint.interpreter.state.frame import Run

MAX_MEMBERS: Final = 64
"""Parameters that one value stands for; those of a larger model beyond that are taken to be like the rest."""


def as_one(run: Run, tensors: Iterable[Tensor], node: cst.CSTNode) -> Tensor:
    """One parameter that stands for all of these."""
    members = list(dict.fromkeys(one.cell for one in tensors if one.cell is not None))[:MAX_MEMBERS]
    address = members[0] if len(members) == 1 else run.allocate(node, Group(tuple(members)), "parameters").address
    return Tensor(rank=Rank.SOME, leaf=True, cell=address)


def require_grad(run: Run, address: Address, grad: bool | None) -> None:
    """Say of a parameter, or of each of a group, whether it collects a gradient."""
    match run.get(address):
        case Cell() as cell:
            run.put(address, replace(cell, grad=grad))
        case Instance(cell=Cell() as cell) as thing:
            run.put(address, replace(thing, cell=replace(cell, grad=grad)))
        case Group(members=members):
            for member in members:
                require_grad(run, member, grad)


def require_grad_of_all(run: Run, module: Value, grad: bool | None) -> None:
    """`module.requires_grad_(grad)`: every parameter, submodules' included."""
    for _, tensor in tensors_of(run, module):
        if tensor.cell is not None:
            require_grad(run, tensor.cell, grad)


def replace_data(run: Run, address: Address, placement: Placement, dtype: Dtype) -> None:
    """`parameter.data = tensor`: the parameter is itself, but where the tensor is."""
    match run.get(address):
        case Cell() as cell:
            run.put(address, replace(cell, placement=placement, dtype=dtype))
        case Instance(cell=Cell() as cell) as thing:
            run.put(address, replace(thing, cell=replace(cell, placement=placement, dtype=dtype)))
        case Group(members=members):
            for member in members:
                replace_data(run, member, placement, dtype)
