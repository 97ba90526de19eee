"""Objects that hold tensors all in one place (a tokenizer's encoding, a batch of graphs): they are moved in place."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.value import UNKNOWN, Ref, Text, Tuple, Value
from devlint.interpreter.objects.tensor_containers import held
from devlint.interpreter.operations.transfer_methods import METHODS, transfer_module
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model(*(f"Holder.{name}" for name in METHODS))
def transfer(run: Run, call: Invocation) -> Value:
    """`encoding.to(...)`: in place, and handed back."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(run, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@model("Holder.items", "Holder.keys", "Holder.values")
def views(run: Run, call: Invocation) -> Value:
    """What it holds, one standing for all."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is None:
        return UNKNOWN
    element = held(thing)
    one = Text() if call.name == "keys" else Tuple((Text(), element)) if call.name == "items" else element
    return run.allocate(call.node, Sequence(None, one, "iterator"))
