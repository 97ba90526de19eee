"""Models of `torch.distributed`: the backend of the default process group, and the collectives that run on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from devlint.domain.device import is_host
from devlint.domain.path_conditions import NO_CONDITION, Literal, PathCondition, assume, conjoin
from devlint.domain.placement import PlacementCase, StepKind, placement_cases
from devlint.domain.record import replace
from devlint.domain.value import NONE, UNKNOWN, ConditionalValue, Const, LibraryName, Ref, Tensor, Tuple, Value
from devlint.interpreter.state.abstract_state import ProcessGroup
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.events import HostTensorInCollective, Operand
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

COLLECTIVES: Final = {
    "all_gather": ("tensor_list", "tensor"),
    "all_gather_into_tensor": ("output_tensor", "input_tensor"),
    "all_reduce": ("tensor",),
    "all_to_all": ("output_tensor_list", "input_tensor_list"),
    "all_to_all_single": ("output", "input"),
    "broadcast": ("tensor",),
    "gather": ("tensor", "gather_list"),
    "irecv": ("tensor",),
    "isend": ("tensor",),
    "recv": ("tensor",),
    "reduce": ("tensor",),
    "reduce_scatter": ("output", "input_list"),
    "reduce_scatter_tensor": ("output", "input"),
    "scatter": ("tensor", "scatter_list"),
    "send": ("tensor",),
}
"""The collectives and messages, each with its parameters for tensors and for lists of them, which come first."""
GROUP_POSITIONS: Final = {
    "all_gather": 2,
    "all_gather_into_tensor": 2,
    "all_reduce": 2,
    "all_to_all": 2,
    "all_to_all_single": 4,
    "gather": 3,
    "reduce": 3,
    "reduce_scatter": 3,
    "reduce_scatter_tensor": 3,
    "scatter": 3,
}
"""The positions of the parameter `group`; it is the third one of the other functions."""
WORLD: Final = LibraryName("torch.distributed.group.WORLD")
"""The default process group."""
ACCELERATOR_ONLY: Final = {"nccl": "nccl", "cuda:nccl": "nccl"}
"""The backends that only take accelerator tensors, by the strings that name them alone."""


@models_call("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group")
def init_process_group(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.distributed.init_process_group(backend)`, which makes the default process group."""
    backend = call.arguments.value("backend", 0)
    step = frame.step(StepKind.CREATED, "the process group is made", call.node)
    known = backend if backend is not None and call.arguments.complete else UNKNOWN
    frame.set_torch_state({"process_group": ProcessGroup(known, step)})
    return NONE


@models_call("torch.distributed.destroy_process_group")
def destroy_process_group(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.distributed.destroy_process_group()`: there is no default process group any more."""
    frame.set_torch_state({"process_group": None})
    return NONE


@models_call(*(f"torch.distributed.{name}" for name in COLLECTIVES))
def collective(frame: Frame, call: LibraryCall) -> Value:
    """Model the collectives: their tensors must be on the accelerator where the group's backend takes no others."""
    group = frame.state.torch_state.process_group
    name = call.name.rpartition(".")[2]
    given = call.arguments.value("group", GROUP_POSITIONS.get(name, 2))
    if group is None or not call.arguments.complete or given not in (None, NONE, WORLD):
        return UNKNOWN
    for when, named in _names(group.backend):
        refusing = ACCELERATOR_ONLY.get(named)
        for operand in _operands(frame, call, COLLECTIVES[name]) if refusing is not None else ():
            case = _host_case(frame, operand.tensor, when)
            if case is not None and refusing is not None:
                context = frame.event_context(call.node)
                found = replace(operand, case=case)
                frame.emit(HostTensorInCollective(context, call.name, found, refusing, group.made, when))
                return UNKNOWN
    return UNKNOWN


def _names(backend: Value, when: PathCondition = NO_CONDITION) -> Iterator[tuple[PathCondition, str]]:
    """Yield the backends that a value may name, in lower case as torch reads them, each with its conditions."""
    match backend:
        case Const(value=str(name)):
            yield when, name.lower()
        case LibraryName(name=name) if name.startswith("torch.distributed."):
            yield when, name.rpartition(".")[2].lower()
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            for literal, one in ((test, yes), (~test, no)):
                deeper = assume(when, literal)
                if deeper is not None:
                    yield from _names(one, deeper)


def _operands(frame: Frame, call: LibraryCall, parameters: tuple[str, ...]) -> Iterator[Operand]:
    """Yield the tensors among the arguments of a collective, and those in its lists of tensors."""
    for position, name in enumerate(parameters):
        argument = call.arguments.get(name, position)
        if argument is None:
            continue
        value, place = frame.as_single_tensor(argument.value), frame.place(argument.node)
        if isinstance(value, Tensor):
            yield Operand(name, place, frame.resolve(value))
        elif isinstance(value, (Ref, Tuple)):
            found = frame.iterate(value, argument.node)
            for one in found.items if found.items is not None else (found.element,):
                if isinstance(one, Tensor):
                    yield Operand(name, place, frame.resolve(one), inside=True)


def _host_case(frame: Frame, tensor: Tensor, when: PathCondition) -> PlacementCase | None:
    """Return the placement of a tensor that is surely on the host under some conditions; None for any other."""
    together = conjoin(frame.state.path_condition, when)
    if together is None:
        return None
    cases = [leaf for _, leaf in placement_cases(tensor.placement, together)]
    return cases[0] if cases and all(is_host(leaf.device) for leaf in cases) else None
