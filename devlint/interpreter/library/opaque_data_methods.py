"""The methods of the dicts that loaders mostly hand out, on data of unknown structure, and those of modules that may be
behind it as well."""

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


@models_call("OpaqueData.items", "OpaqueData.values")
def parts(frame: Frame, call: LibraryCall) -> Value:
    """`batch.items()`, `batch.values()`."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    value = any_opaque_part(batch)
    return frame.allocate(call.node, Sequence(None, value if call.name == "values" else Tuple((StringPrefix(), value))))


@models_call("OpaqueData.get", "OpaqueData.pop", "OpaqueData.setdefault")
def get(frame: Frame, call: LibraryCall) -> Value:
    """`batch.get(key)`: the part, whatever would stand in for it."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    return opaque_item(batch, call.first.value if call.first is not None else None)


@models_call(*(f"OpaqueData.{name}" for name in SELF_RETURNING_MODULE_METHODS))
def itself(frame: Frame, call: LibraryCall) -> Value:
    """`moved.eval()`: what was moved is a module, and hands back itself."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    return replace(batch, mixed=True)


@models_call("OpaqueData.copy")
def copy(frame: Frame, call: LibraryCall) -> Value:
    """`batch.copy()`: the same parts, in a batch of its own."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    return replace(batch)


@models_call("OpaqueData.update")
def updated(frame: Frame, call: LibraryCall) -> Value:
    """`batch.update(more)`."""
    batch = call.receiver
    assert isinstance(batch, OpaqueData)
    given = call.first.value if call.first is not None else None
    thing = frame.object_of(given)
    more = thing if isinstance(thing, Dict) else Dict({}, None if given is None else UNKNOWN)
    named = Dict({key: argument.value for key, argument in call.arguments.keywords.items()})
    update_opaque_data(frame, call.receiver_node, batch, merge_dicts(more, named))
    return NONE
