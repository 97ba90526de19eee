"""Models of methods of data with unknown structure, such as a batch or a loaded checkpoint.

Most of these methods are those of a dict, because loaders mostly yield dicts; some are those of a module, because the
data may be a module as well.
"""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.join import any_opaque_part
from devlint.domain.objects import Dict, Sequence
from devlint.domain.torch_names import SELF_RETURNING_MODULE_METHODS
from devlint.domain.value import NONE, UNKNOWN, OpaqueData, StringPrefix, Tuple, Value
from devlint.interpreter.language.opaque_data import opaque_item, update_opaque_data
from devlint.interpreter.objects.collections import merge_dicts
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.interpreter.state.rebinding import rebind


@models_call("OpaqueData.items", "OpaqueData.values")
def items_or_values(frame: Frame, call: LibraryCall) -> Value:
    """Model `batch.items()` and `batch.values()` on data of unknown structure: an iterable over all entries.

    One abstract element stands for every entry.
    """
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    value = any_opaque_part(batch)
    return frame.allocate(call.node, Sequence(None, value if call.name == "values" else Tuple((StringPrefix(), value))))


@models_call("OpaqueData.get", "OpaqueData.pop", "OpaqueData.setdefault")
def get(frame: Frame, call: LibraryCall) -> Value:
    """Model `batch.get(key, default)`, `pop` and `setdefault` on data of unknown structure: the value under the key.

    The default is ignored.
    """
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    return opaque_item(batch, call.first.value if call.first is not None else None)


@models_call(*(f"OpaqueData.{name}" for name in SELF_RETURNING_MODULE_METHODS))
def self_returning_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `data.eval()` and the like on data of unknown structure: the data itself, marked as mixed.

    Mixed data may hold numbers and settings besides tensors. The mark is due because only a module has such methods; it
    stays on what the receiver names.
    """
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    module = replace(batch, mixed=True, may_move_inputs=False)
    rebind(frame, call.receiver_node, batch, module)
    return module


@models_call("OpaqueData.copy")
def copy(frame: Frame, call: LibraryCall) -> Value:
    """Model `batch.copy()` on data of unknown structure: new data with the same entries."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    return replace(batch)


@models_call("OpaqueData.update")
def update_opaque(frame: Frame, call: LibraryCall) -> Value:
    """Model `batch.update(more, key=...)` on data of unknown structure: add the entries to the known entries."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    given = call.first.value if call.first is not None else None
    thing = frame.object_of(given)
    more = thing if isinstance(thing, Dict) else Dict({}, None if given is None else UNKNOWN)
    named = Dict({key: argument.value for key, argument in call.arguments.keywords.items()})
    update_opaque_data(frame, call.receiver_node, batch, merge_dicts(more, named))
    return NONE
