"""Models of `torch.optim.swa_utils`: copies of a module that hold averaged weights."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.placement import StepKind
from devlint.domain.value import NONE, UNKNOWN, Ref, Tuple, Value
from devlint.interpreter.library.copying import deep_copy
from devlint.interpreter.objects.library_objects import move_value
from devlint.interpreter.objects.module_state import is_module, move_registered_tensors
from devlint.interpreter.operations.device_arguments import is_absent_or_none, requested_placement
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.optim.swa_utils.AveragedModel")
def averaged_model(frame: Frame, call: LibraryCall) -> Value:
    """Model `AveragedModel(model, device)`: a deep copy of the model, with weights on the model's current device.

    With a device argument, the weights of the copy are moved to that device.
    """
    given = call.arguments.value("model", 0)
    if given is None or not is_module(frame, given):
        return UNKNOWN
    copy = deep_copy(frame, given, call.node)
    device = call.arguments.get("device", 1)
    if device is not None and not is_absent_or_none(device.value) and isinstance(copy, Ref):
        step = frame.step(StepKind.MOVED, "moved by `AveragedModel`", call.node)
        placement = requested_placement(frame, device.value, device.node, step)
        move_registered_tensors(frame, copy, lambda before, dtype: (placement, dtype))
    return copy


@models_call("Module.update_parameters")
def update_parameters(frame: Frame, call: LibraryCall) -> Value:
    """Model `averaged.update_parameters(model)`: copy the model's weights from any device; the placements stay."""
    return NONE


@models_call("torch.optim.swa_utils.update_bn")
def update_bn(frame: Frame, call: LibraryCall) -> Value:
    """Model `update_bn(loader, model, device)`: call the model with a batch of the loader.

    Of a batch that is a tuple or list, the model receives the first item. It is moved only if a device is passed.
    """
    loader, swept = call.arguments.get("loader", 0), call.arguments.get("model", 1)
    device = call.arguments.get("device", 2)
    if loader is None or swept is None:
        return NONE
    batch = frame.iterate(loader.value, loader.node).any
    thing = frame.object_of(batch)
    if isinstance(batch, Tuple) and batch.items:
        batch = batch.items[0]
    elif isinstance(thing, Sequence):
        batch = thing.items[0] if thing.items else thing.any
    if device is not None and not is_absent_or_none(device.value):
        step = frame.step(StepKind.MOVED, "moved by `update_bn`", call.node)
        batch = move_value(frame, batch, requested_placement(frame, device.value, device.node, step))
    frame.call(swept.value, Arguments(swept.node, [Argument(batch, loader.node)]), swept.node)
    return NONE
