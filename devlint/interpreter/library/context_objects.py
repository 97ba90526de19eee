"""Objects that change what surrounds operations, or matter by their class only."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Instance
from devlint.domain.value import Value
from devlint.interpreter.operations.device_arguments import DEVICE_FIRST
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
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
def plain_object(frame: Frame, call: LibraryCall) -> Value:
    """Objects that matter by their class only."""
    name = call.name
    if name == "torch.set_grad_enabled":
        known = call.arguments.constant("mode", 0) is True
        if frame.discarded_expression is call.node:
            frame.state.torch_state = replace(frame.state.torch_state, grad=known)
        name = "torch.enable_grad" if known else "torch.no_grad"
    return frame.allocate(call.node, Instance(name, {}))


@models_call("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def autocast(frame: Frame, call: LibraryCall) -> Value:
    """Autocast under any of its names; switched off, it does nothing."""
    position = 2 if call.name in DEVICE_FIRST else 0
    disabled = call.arguments.constant("enabled", position) is False
    return frame.allocate(call.node, Instance("contextlib.nullcontext" if disabled else "torch.autocast", {}))
