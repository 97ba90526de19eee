"""Objects that hold tensors all in one place (a tokenizer's encoding, a batch of graphs): they are moved in place."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.domain.value import UNKNOWN, Ref, StringPrefix, Tuple, Value
from devlint.interpreter.objects.tensor_containers import tensor_container_item
from devlint.interpreter.operations.tensor_transfers import transfer_module
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(*(f"TensorContainer.{name}" for name in TRANSFER_METHODS))
def transfer(frame: Frame, call: LibraryCall) -> Value:
    """`encoding.to(...)`: in place, and handed back."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(frame, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@models_call("TensorContainer.items", "TensorContainer.keys", "TensorContainer.values")
def views(frame: Frame, call: LibraryCall) -> Value:
    """What it holds, one standing for all."""
    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    element = tensor_container_item(thing)
    one = (
        StringPrefix() if call.name == "keys" else Tuple((StringPrefix(), element)) if call.name == "items" else element
    )
    return frame.allocate(call.node, Sequence(None, one, "iterator"))
