"""Objects that hold tensors all in one place (a tokenizer's encoding, a batch of graphs): they are moved in place."""

from __future__ import annotations

from devlint.flow.outside.holders import held
from devlint.flow.path.arguments import Invocation
from devlint.flow.path.models import model
from devlint.flow.path.run import Run
from devlint.flow.tensors.transfer import METHODS, transfer_module
from devlint.values.heap import Sequence
from devlint.values.value import UNKNOWN, Ref, Text, Tuple, Value


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
