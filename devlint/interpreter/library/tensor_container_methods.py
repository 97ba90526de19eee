"""Models of methods of library objects whose tensors are all on one device.

Examples are a tokenizer's encoding and a batch of graphs. A transfer moves such an object in place.
"""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.domain.value import UNKNOWN, Ref, StringPrefix, Tuple, Value
from devlint.interpreter.objects.tensor_containers import tensor_container_item
from devlint.interpreter.operations.module_transfers import transfer_module
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(*(f"TensorContainer.{name}" for name in TRANSFER_METHODS))
def transfer_container(frame: Frame, call: LibraryCall) -> Value:
    """Model `encoding.to(...)`: move the tensors of an object such as a tokenizer's encoding in place and return it."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(frame, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@models_call("TensorContainer.items", "TensorContainer.keys", "TensorContainer.values")
def tensor_container_views(frame: Frame, call: LibraryCall) -> Value:
    """Model `encoding.items()`, `keys()` and `values()` of a tensor container: an iterator over all entries.

    One abstract element stands for every entry.
    """
    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    element = tensor_container_item(thing)
    one = (
        StringPrefix() if call.name == "keys" else Tuple((StringPrefix(), element)) if call.name == "items" else element
    )
    return frame.allocate(call.node, Sequence(None, one, "iterator"))
