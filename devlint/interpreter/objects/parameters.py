"""Parameters of modules as values: groups of parameters, their `requires_grad` flag and their data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype
from devlint.domain.join import join_dtypes
from devlint.domain.objects import Instance, ParameterCell, ParameterGroup, Registration
from devlint.domain.placement import Placement
from devlint.domain.placement_lattice import join_under
from devlint.domain.value import AllocationSite, Rank, Ref, Tensor, Value
from devlint.interpreter.objects.every_iteration import is_in_every_iteration
from devlint.interpreter.objects.module_state import ANY_PART, library_class_name, module_tensors
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


def replace_parameter_data(
    frame: Frame, address: AllocationSite, placement: Placement, dtype: Dtype, *, perhaps: bool = False
) -> None:
    """Give a parameter the placement and dtype of an assigned tensor: `parameter.data = tensor`.

    The parameter keeps its identity. A loop over a group changes each member. With `perhaps`, the parameter may also
    stay as it is, as any member of a group does of which only some are changed.
    """
    match frame.get(address):
        case ParameterCell() as cell:
            frame.put(address, _with_data(cell, placement, dtype, perhaps=perhaps))
        case Instance(cell=ParameterCell() as cell) as thing:
            # The cell stands for the buffers of the module too, which stay where they are.
            perhaps = perhaps or _has_buffers(frame, thing)
            frame.put(address, replace(thing, cell=_with_data(cell, placement, dtype, perhaps=perhaps)))
        case ParameterGroup(members=members):
            perhaps = perhaps or not is_in_every_iteration(frame)
            for member in members:
                replace_parameter_data(frame, member, placement, dtype, perhaps=perhaps)


def _with_data(cell: ParameterCell, placement: Placement, dtype: Dtype, *, perhaps: bool) -> ParameterCell:
    """Return a parameter cell with another placement and dtype; with `perhaps`, it may also have kept its own."""
    if perhaps:
        placement, dtype = join_under(None, cell.placement, placement), join_dtypes(cell.dtype, dtype)
    return replace(cell, placement=placement, dtype=dtype)


def _has_buffers(frame: Frame, thing: Instance) -> bool:
    """Return whether a library module, such as a normalization, has buffers beside its parameters."""
    row = frame.analysis.table.find(library_class_name(frame, thing))
    return (
        row is not None
        and row.module is not None
        and any(kind.startswith("buffer") for kind in row.module.attributes.values())
    )


def surely_has_parameters(frame: Frame, module: Value, seen: frozenset[AllocationSite] = frozenset()) -> bool:
    """Return whether a module or one of its submodules has a parameter on every path."""
    thing = frame.instance(module)
    if thing is None or not isinstance(module, Ref) or module.address in seen:
        return False
    if thing.cell is not None:
        row = frame.analysis.table.find(library_class_name(frame, thing))
        if row is not None and row.module is not None and row.module.parameters == "always":
            return True
    for name, kind in thing.registered.items():
        part = thing.attributes.get(name)
        if part is None or name in thing.optional or name.startswith(ANY_PART):
            continue
        if kind is Registration.PARAMETER and isinstance(part, Tensor):
            return True
        if kind is Registration.MODULE and surely_has_parameters(frame, part, seen | {module.address}):
            return True
    return False
