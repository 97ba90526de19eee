"""Models of data parallelism: the wrappers of a module that torch and OpenMMLab have, such as `DataParallel`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.availability import is_available
from devlint.domain.device import is_host
from devlint.domain.objects import Instance, Registration
from devlint.domain.path_conditions import entails
from devlint.domain.placement import Placement, placement_cases
from devlint.domain.value import NONE, UNKNOWN, OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.havoc import havoc
from devlint.interpreter.objects.library_objects import move_value
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

DATA_PARALLEL: Final = "torch.nn.DataParallel"
"""The class of the objects that stand for all wrappers, which differ only in whether they move their inputs."""
_SCATTERING: Final = (DATA_PARALLEL, "mmcv.parallel.MMDataParallel", "mmcv.parallel.data_parallel.MMDataParallel")
"""The wrappers that move their inputs in any case."""


@models_call(
    *_SCATTERING,
    "torch.nn.parallel.DistributedDataParallel",
    "mmcv.parallel.MMDistributedDataParallel",
    "mmcv.parallel.distributed.MMDistributedDataParallel",
    "mmengine.model.MMDistributedDataParallel",
    "mmengine.model.wrappers.MMDistributedDataParallel",
    "mmengine.model.wrappers.distributed.MMDistributedDataParallel",
)
def wrap(frame: Frame, call: LibraryCall) -> Value:
    """Model `DataParallel(module)` and `DistributedDataParallel(module)`: a module that holds the wrapped one.

    `DistributedDataParallel` moves its inputs only where it is given the devices.
    """
    module = call.arguments.value("module", 0) or UNKNOWN
    devices = call.arguments.value("device_ids", 1)
    moves = call.name in _SCATTERING or devices not in (None, NONE) or not call.arguments.complete
    mark_as_registered(frame, module)
    attributes = {"module": module, **({"device_ids": devices or UNKNOWN} if moves else {})}
    return frame.allocate(call.node, Instance(DATA_PARALLEL, attributes, {"module": Registration.MODULE}))


@models_call(f"{DATA_PARALLEL}.__call__", f"{DATA_PARALLEL}.forward")
def call_wrapped(frame: Frame, call: LibraryCall) -> Value:
    """Model a call of the wrapper: move the inputs to the device of the wrapped module, and call that module.

    Where a module on the host meets CUDA, torch refuses it or moves it, which depends on the number of devices: the
    result is unknown.
    """
    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    module, arguments = thing.attributes.get("module"), call.arguments
    if not isinstance(module, Ref):
        return UNKNOWN
    if "device_ids" in thing.attributes:
        placement = placement_of_module(frame, module)
        if _may_meet_cuda_on_host(frame, placement):
            havoc(frame, arguments)
            return UNKNOWN
        arguments = replace(
            arguments,
            positional=[_moved(frame, one, placement) for one in arguments.positional],
            keywords={name: _moved(frame, one, placement) for name, one in arguments.keywords.items()},
        )
    return frame.call(module, arguments, call.node)


def _may_meet_cuda_on_host(frame: Frame, placement: Placement) -> bool:
    """Return whether a module is on the host in a case in which CUDA may be available."""
    path_condition = frame.state.path_condition
    return any(
        is_host(leaf.device) and entails(path_condition | when, is_available("cuda")) is not False
        for when, leaf in placement_cases(placement, path_condition)
    )


def _moved(frame: Frame, argument: Argument, placement: Placement) -> Argument:
    """Return an argument as the wrapped module receives it; the copies of containers are unknown."""
    match argument.value:
        case Tensor() | OpaqueData() | Tuple():
            return replace(argument, value=move_value(frame, argument.value, placement))
        case Ref():
            return replace(argument, value=UNKNOWN)
    return argument
