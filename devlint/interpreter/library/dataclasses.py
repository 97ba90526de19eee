"""Models of `dataclasses`, `collections.namedtuple` and `types.SimpleNamespace`: records, their copies and fields."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from devlint.domain.objects import Dict, Instance
from devlint.domain.value import UNKNOWN, Const, LibraryName, Partial, Ref, Tuple, Value
from devlint.interpreter.language.attributes import instance_dict
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method
from devlint.interpreter.state.arguments import Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("dataclasses.replace", "copy.replace")
def replace_fields(frame: Frame, call: LibraryCall) -> Value:
    """Model `dataclasses.replace(record, x=...)`: a copy of the record with some fields changed.

    The class's `__post_init__` runs on the copy.
    """
    given = {name: one.value for name, one in call.arguments.keywords.items()}
    record = call.first.value if call.first is not None else UNKNOWN
    if isinstance(record, Tuple):
        return _with_items(record, given)
    thing = frame.instance(record)
    if thing is None or not call.arguments.complete:
        return UNKNOWN
    reference = frame.allocate(call.node, replace(thing, attributes={**thing.attributes, **given}))
    info = defined_class(thing.cls)
    after = find_method(frame, info, "__post_init__") if info is not None else None
    if after is not None:
        frame.call_function(after, reference, Arguments(call.node))
    return reference


@models_call("dataclasses.field", "attr.ib", "attr.field", "attrs.field", "pydantic.Field", "pydantic.fields.Field")
def field_default(frame: Frame, call: LibraryCall) -> Value:
    """Model `dataclasses.field(default_factory=list)`: the field's default value, or unknown."""
    factory = call.arguments.value("default_factory") or call.arguments.value("factory")
    if factory is not None:
        return frame.call(factory, Arguments(call.node), call.node)
    return call.arguments.value("default", 0) or UNKNOWN


@models_call("dataclasses.fields")
def fields(frame: Frame, call: LibraryCall) -> Value:
    """Model `dataclasses.fields(record)`: a tuple of `Field` objects, which know the names of the fields."""
    thing = frame.instance(call.first.value) if call.first is not None else None
    if thing is None:
        return UNKNOWN
    described = [
        frame.allocate(call.node, Instance("dataclasses.Field", {"name": Const(name)}), name)
        for name in thing.attributes
    ]
    return Tuple(tuple(described))


@models_call("dataclasses.asdict", "builtins.vars")
def as_dict(frame: Frame, call: LibraryCall) -> Value:
    """Model `dataclasses.asdict(record)` and `vars(x)`: the fields as a new dict, or the object's own dict."""
    value = call.first.value if call.first is not None else UNKNOWN
    thing = frame.instance(value)
    if thing is None or not isinstance(value, Ref):
        return UNKNOWN
    if call.name == "builtins.vars":
        return instance_dict(frame, value, thing, call.node)
    entries: dict[Hashable, Value] = {}
    entries.update(thing.attributes)
    return frame.allocate(call.node, Dict(entries))


@models_call("types.SimpleNamespace", "argparse.Namespace")
def simple_namespace(frame: Frame, call: LibraryCall) -> Value:
    """Model `SimpleNamespace(x=...)`: an object with these attributes."""
    given = {name: one.value for name, one in call.arguments.keywords.items()}
    return frame.allocate(call.node, Instance(call.name, given)) if call.arguments.complete else UNKNOWN


# Named tuples

NAMEDTUPLE_CONSTRUCTOR = LibraryName("collections.namedtuple.__new__")
"""The function that stands for the constructor of a `namedtuple` class; its first argument holds the field names."""


@models_call("collections.namedtuple")
def namedtuple(frame: Frame, call: LibraryCall) -> Value:
    """Model `namedtuple("T", "a b")`: a class of tuples with these field names."""
    given = call.arguments.get("field_names", 1)
    if given is None:
        return UNKNOWN
    if isinstance(given.value, Const) and isinstance(given.value.value, str):
        return Partial(NAMEDTUPLE_CONSTRUCTOR, (Tuple(tuple(map(Const, given.value.value.replace(",", " ").split()))),))
    found = frame.iterate(given.value, given.node)
    if found.items is None or not all(isinstance(one, Const) for one in found.items):
        return UNKNOWN
    return Partial(NAMEDTUPLE_CONSTRUCTOR, (Tuple(found.items),))


@models_call(NAMEDTUPLE_CONSTRUCTOR.name)
def make_namedtuple(frame: Frame, call: LibraryCall) -> Value:
    """Model a call of a class made by `namedtuple`: a tuple with named items.

    More arguments than fields raise TypeError, and end the path.
    """
    names = call.first.value if call.first is not None else UNKNOWN
    if not isinstance(names, Tuple):
        return UNKNOWN
    rest = call.arguments.rest.value if call.arguments.rest is not None else UNKNOWN
    fields = tuple(str(one.value) for one in names.items if isinstance(one, Const))
    if len(call.arguments.positional) - 1 > len(fields):
        frame.fail()
        return UNKNOWN
    given = [call.arguments.value(name, position + 1) for position, name in enumerate(fields)]
    return Tuple(tuple(rest if one is None else one for one in given), fields)


@models_call("class._make", f"{NAMEDTUPLE_CONSTRUCTOR.name}._make")
def make_from_iterable(frame: Frame, call: LibraryCall) -> Value:
    """Model `T._make(iterable)`: call the class with the elements of the iterable."""
    if call.first is None or call.receiver is None:
        return UNKNOWN
    found = frame.iterate(call.first.value, call.first.node)
    if found.items is None:
        rest = replace(call.first, value=found.element)
        return frame.call(call.receiver, Arguments(call.node, complete=False, rest=rest), call.node)
    given = [replace(call.first, value=one) for one in found.items]
    return frame.call(call.receiver, Arguments(call.node, given), call.node)


@models_call("tuple._replace")
def replace_items(frame: Frame, call: LibraryCall) -> Value:
    """Model `t._replace(a=...)`: a copy of the named tuple with some items changed."""
    given = {name: one.value for name, one in call.arguments.keywords.items()}
    if not isinstance(call.receiver, Tuple) or not call.arguments.complete:
        return UNKNOWN
    return _with_items(call.receiver, given)


@models_call("tuple._asdict")
def items_as_dict(frame: Frame, call: LibraryCall) -> Value:
    """Model `t._asdict()`: a dict of the named tuple's items."""
    if not isinstance(call.receiver, Tuple) or not call.receiver.names:
        return UNKNOWN
    return frame.allocate(call.node, Dict(dict(zip(call.receiver.names, call.receiver.items, strict=True))))


def _with_items(record: Tuple, given: Mapping[str, Value]) -> Value:
    """Return a copy of a named tuple with new values for some of its names; unknown for a tuple without names."""
    if not record.names:
        return UNKNOWN
    items = tuple(given.get(name, item) for name, item in zip(record.names, record.items, strict=True))
    return replace(record, items=items)
