"""Model of `torch.Generator`."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import Const, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.Generator")
def generator(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.Generator(device)`: an object that knows the device; the CPU if none is passed."""
    device = call.arguments.value("device", 0)
    return frame.allocate(
        call.node, Instance("torch.Generator", {"device": device if device is not None else Const("cpu")})
    )
