"""The methods of the dicts that loaders mostly hand out, on data of unknown structure, and those of modules that may be
behind it as well."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.join import any_part_of
from devlint.domain.objects import Dict, Sequence
from devlint.domain.value import NONE, UNKNOWN, Batch, Ref, Text, Tuple, Value
from devlint.interpreter.language.attributes import ITSELF
from devlint.interpreter.language.opaque_data import taken, update
from devlint.interpreter.objects.collections import united
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model("Batch.items", "Batch.values")
def parts(run: Run, call: Invocation) -> Value:
    """`batch.items()`, `batch.values()`."""
    batch = call.receiver
    assert isinstance(batch, Batch)
    value = any_part_of(batch)
    return run.allocate(call.node, Sequence(None, value if call.name == "values" else Tuple((Text(), value))))


@model("Batch.get", "Batch.pop", "Batch.setdefault")
def get(run: Run, call: Invocation) -> Value:
    """`batch.get(key)`: the part, whatever would stand in for it."""
    batch = call.receiver
    assert isinstance(batch, Batch)
    return taken(batch, call.first.value if call.first is not None else None)


@model(*(f"Batch.{name}" for name in ITSELF))
def itself(run: Run, call: Invocation) -> Value:
    """`moved.eval()`: what was moved is a module, and hands back itself."""
    batch = call.receiver
    assert isinstance(batch, Batch)
    return replace(batch, mixed=True)


@model("Batch.copy")
def copy(run: Run, call: Invocation) -> Value:
    """`batch.copy()`: the same parts, in a batch of its own."""
    batch = call.receiver
    assert isinstance(batch, Batch)
    return replace(batch)


@model("Batch.update")
def updated(run: Run, call: Invocation) -> Value:
    """`batch.update(more)`."""
    batch = call.receiver
    assert isinstance(batch, Batch)
    given = call.first.value if call.first is not None else None
    thing = run.get(given.address) if isinstance(given, Ref) else None
    more = thing if isinstance(thing, Dict) else Dict({}, None if given is None else UNKNOWN)
    named = Dict({key: argument.value for key, argument in call.arguments.keywords.items()})
    update(run, call.receiver_node, batch, united(more, named))
    return NONE
