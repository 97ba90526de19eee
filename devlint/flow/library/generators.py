"""Random number generators."""

from __future__ import annotations

from devlint.flow.path.arguments import Invocation
from devlint.flow.path.models import model
from devlint.flow.path.run import Run
from devlint.values.heap import Instance
from devlint.values.value import Const, Value


@model("torch.Generator")
def generator(run: Run, call: Invocation) -> Value:
    """A generator and the device it was made for."""
    device = call.arguments.value("device", 0)
    return run.allocate(
        call.node, Instance("torch.Generator", {"device": device if device is not None else Const("cpu")})
    )
