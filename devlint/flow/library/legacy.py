"""What programs from before torch 0.4 are written in: typed constructors, and `Variable`."""

from __future__ import annotations

from dataclasses import replace

from devlint.flow.devices import default_placement
from devlint.flow.legacy import ACCELERATORS, legacy_names, legacy_type
from devlint.flow.library.registry import Invocation, model
from devlint.flow.run import Run
from devlint.values.device import CPU
from devlint.values.dtype import Dtype, Source
from devlint.values.trace import Kind
from devlint.values.value import UNKNOWN, Rank, Tensor, Value, as_tensor


@model("torch.Tensor", *legacy_names(), *(name for kind in ACCELERATORS for name in legacy_names(f"torch.{kind}")))
def constructor(run: Run, call: Invocation) -> Value:
    """`torch.Tensor(...)`, `torch.LongTensor(...)`, `torch.cuda.FloatTensor(...)`."""
    if any(isinstance(argument.value, Tensor) for argument in call.arguments):
        return Tensor()
    found = legacy_type(run, call.name, run.step(Kind.CREATED, f"created by {call.name}", call.node))
    dtype = found[1] if found is not None else Dtype("float32", Source.EXPLICIT)
    if found is not None and found[0].device != CPU:
        return Tensor(found[0], dtype, Rank.SOME, grad=False, leaf=True)
    return Tensor(default_placement(run, call.name, call.node), dtype, Rank.SOME, grad=False, leaf=True)


@model("torch.autograd.Variable", "torch.autograd.variable.Variable")
def variable(run: Run, call: Invocation) -> Value:
    """`Variable(x)`: x itself, today."""
    given = call.arguments.value("data", 0)
    tensor = as_tensor(given) if given is not None else None
    requires = call.arguments.constant("requires_grad", 1, False)
    if tensor is None or requires is False:
        return given if given is not None else UNKNOWN
    return replace(tensor, grad=requires if isinstance(requires, bool) else None, leaf=True)
