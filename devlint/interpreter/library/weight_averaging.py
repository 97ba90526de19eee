"""Averaged weights: a copy of a module that is kept beside it."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.placement import Kind
from devlint.domain.value import NONE, UNKNOWN, Ref, Tuple, Value
from devlint.interpreter.library.copying import deep_copy
from devlint.interpreter.objects.library_objects import moved_to
from devlint.interpreter.objects.module_state import is_module, relocate
from devlint.interpreter.operations.device_arguments import is_none, placement_from
from devlint.interpreter.state.arguments import Argument, Arguments, Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model("torch.optim.swa_utils.AveragedModel")
def averaged(run: Run, call: Invocation) -> Value:
    """`AveragedModel(model)`: computes as the model does, with weights of its own where the model's are now."""
    given = call.arguments.value("model", 0)
    if given is None or not is_module(run, given):
        return UNKNOWN
    copy = deep_copy(run, given, call.node)
    device = call.arguments.get("device", 1)
    if device is not None and not is_none(device.value) and isinstance(copy, Ref):
        step = run.step(Kind.MOVED, "kept there by AveragedModel", call.node)
        placement = placement_from(run, device.value, device.node, step)
        relocate(run, copy, lambda before, dtype: (placement, dtype))
    return copy


@model("Module.update_parameters")
def update_parameters(run: Run, call: Invocation) -> Value:
    """`averaged.update_parameters(model)`: the values are copied, from wherever they are."""
    return NONE


@model("torch.optim.swa_utils.update_bn")
def update_bn(run: Run, call: Invocation) -> Value:
    """`update_bn(loader, model)`: runs the model on the first part of each batch, moved only where it is told to."""
    loader, swept = call.arguments.get("loader", 0), call.arguments.get("model", 1)
    device = call.arguments.get("device", 2)
    if loader is None or swept is None:
        return NONE
    batch = run.iterate(loader.value, loader.node).any
    thing = run.get(batch.address) if isinstance(batch, Ref) else None
    if isinstance(batch, Tuple) and batch.items:
        batch = batch.items[0]
    elif isinstance(thing, Sequence):
        batch = thing.items[0] if thing.items else thing.any
    if device is not None and not is_none(device.value):
        step = run.step(Kind.MOVED, "moved by update_bn", call.node)
        batch = moved_to(run, batch, placement_from(run, device.value, device.node, step))
    run.call(swept.value, Arguments(swept.node, [Argument(batch, loader.node)]), swept.node)
    return NONE
