"""Optimizers, generators, streams and events."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.flow.events import MovedLeaf, Synchronize
from devlint.flow.language.iteration import iterate
from devlint.flow.library.registry import Invocation, model
from devlint.flow.path.run import Run
from devlint.flow.tensors.devices import DEVICE_FIRST
from devlint.flow.tensors.sharing import note_write
from devlint.flow.tensors.transfer import moved_leaf
from devlint.values.heap import Dict, Instance
from devlint.values.trace import Kind
from devlint.values.value import NONE, UNKNOWN, Const, Ref, Tensor, Tuple, Value

OPTIMIZERS = tuple(
    f"torch.optim.{name}"
    for name in (
        "Adadelta",
        "Adafactor",
        "Adagrad",
        "Adam",
        "AdamW",
        "Adamax",
        "ASGD",
        "LBFGS",
        "NAdam",
        "RAdam",
        "RMSprop",
        "Rprop",
        "SGD",
        "SparseAdam",
        "Muon",
    )
)


HELD: Final = "the parameters held"


@model(*OPTIMIZERS)
def optimizer(run: Run, call: Invocation) -> Value:
    """An optimizer holds its parameters; it refuses what is no leaf."""
    given = call.arguments.get("params", 0)
    held: list[Value] = []
    if given is not None and not isinstance(given.value, Tensor):
        found = iterate(run, given.value, given.node)
        for value in found.items if found.items is not None else (found.element,):
            group = run.get(value.address) if isinstance(value, Ref) else None
            values = (
                [value]
                if not isinstance(group, Dict)
                else list(iterate(run, group.entries.get("params", UNKNOWN), given.node).items or ())
            )
            held += values
            for one in values:
                moved = moved_leaf(one) if isinstance(one, Tensor) else None
                if moved is not None:
                    run.emit(MovedLeaf(run.context_at(given.node), moved, False, "it is given to an optimizer"))
    return run.allocate(call.node, Instance(call.name, {HELD: Tuple(tuple(held))}))


@model("torch.optim.*.step")
def step(run: Run, call: Invocation) -> Value:
    """A step writes to the parameters in place."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    held = thing.attributes.get(HELD) if thing is not None else None
    for one in held.items if isinstance(held, Tuple) else ():
        note_write(run, one, call.receiver_node, call.node, "param_groups")
    return UNKNOWN


@model(*(f"torch.optim.*.{name}" for name in ("zero_grad", "state_dict", "load_state_dict", "add_param_group")))
def optimizer_method(run: Run, call: Invocation) -> Value:
    """What an optimizer does moves nothing."""
    return UNKNOWN


@model(
    "torch.cuda.synchronize",
    "torch.accelerator.synchronize",
    "torch.mps.synchronize",
    "torch.xpu.synchronize",
    "torch.cuda.Event.synchronize",
    "torch.cuda.Stream.synchronize",
    "torch.Event.synchronize",
)
def synchronize(run: Run, call: Invocation) -> Value:
    """The host waits for the accelerator."""
    ambient = run.state.ambient
    run.engine.repeats.mark_moment()
    run.emit(Synchronize(run.context_at(call.node), ambient.waited if ambient.unsynchronized is None else None))
    run.synchronize(run.step(Kind.PASSED, "waits for the accelerator", call.node))
    return NONE


@model(
    "torch.cuda.Event",
    "torch.Event",
    "torch.cuda.Stream",
    "torch.no_grad",
    "torch.inference_mode",
    "torch.enable_grad",
    "torch.set_grad_enabled",
    "torch.cuda.device",
    "torch.cuda.stream",
    "torch.autograd.no_grad",
    "torch.autograd.enable_grad",
    "torch.cuda.CUDAGraph",
    "contextlib.nullcontext",
)
def plain_object(run: Run, call: Invocation) -> Value:
    """Objects that matter by their class only."""
    name = call.name
    if name == "torch.set_grad_enabled":
        known = call.arguments.constant("mode", 0) is True
        if run.discarded is call.node:
            run.state.ambient = replace(run.state.ambient, grad=known)
        name = "torch.enable_grad" if known else "torch.no_grad"
    return run.allocate(call.node, Instance(name, {}))


@model("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def autocast(run: Run, call: Invocation) -> Value:
    """Autocast under any of its names; switched off, it does nothing."""
    position = 2 if call.name in DEVICE_FIRST else 0
    disabled = call.arguments.constant("enabled", position) is False
    return run.allocate(call.node, Instance("contextlib.nullcontext" if disabled else "torch.autocast", {}))


@model(
    "torch.cuda.Event.query",
    "torch.cuda.Event.elapsed_time",
    "torch.cuda.Event.record",
    "torch.cuda.Event.wait",
    "torch.cuda.Stream.wait_event",
    "torch.cuda.Stream.wait_stream",
    "torch.cuda.Stream.record_event",
)
def event_method(run: Run, call: Invocation) -> Value:
    """Events and streams: who waits on them is not followed further than `synchronize`."""
    from devlint.flow.outside.opaque import wait

    if call.name != "record":
        wait(run)
    return UNKNOWN


@model("torch.Generator")
def generator(run: Run, call: Invocation) -> Value:
    """A generator and the device it was made for."""
    device = call.arguments.value("device", 0)
    return run.allocate(
        call.node, Instance("torch.Generator", {"device": device if device is not None else Const("cpu")})
    )
