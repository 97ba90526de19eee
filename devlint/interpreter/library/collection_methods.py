"""Models of the methods of lists, dicts, tuples and strings."""

from __future__ import annotations

from collections.abc import Callable

from devlint.domain.join import join
from devlint.domain.objects import (
    Dict,
    Sequence,
    entry_key,
    filled_by_either,
    key_value,
    with_fewer_items,
)
from devlint.domain.optional_items import more_items
from devlint.domain.record import replace
from devlint.domain.value import (
    NONE,
    RESPELLING_METHODS,
    UNKNOWN,
    Const,
    DeviceString,
    DeviceType,
    Number,
    Ref,
    StringPrefix,
    Tuple,
    Value,
)
from devlint.interpreter.conditions.device_equality import device_type_condition
from devlint.interpreter.conditions.narrowing import report_host_read
from devlint.interpreter.language.iteration_protocol import items_of, keys_of, values_of
from devlint.interpreter.objects.collections import dict_with_entry, merge_dicts, without_entry, without_some_entry
from devlint.interpreter.objects.plain_attributes import mark_as_contained
from devlint.interpreter.objects.sequence_lengths import assume_filled
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


def _receiver_sequence(frame: Frame, call: LibraryCall) -> Sequence | None:
    """Return the list, set or other sequence on which a library method is called; None for any other receiver."""
    thing = frame.object_of(call.receiver)
    return thing if isinstance(thing, Sequence) else None


def _receiver_dict(frame: Frame, call: LibraryCall) -> Dict | None:
    """Return the dict on which a library method is called; None if the receiver of the method is no dict."""
    thing = frame.object_of(call.receiver)
    return thing if isinstance(thing, Dict) else None


@models_call("list.append", "list.add", "list.appendleft", "list.insert")
def append(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.append(x)`, `insert`, `appendleft` and `set.add`: add an element.

    Inside a loop that runs an unknown number of times, the length becomes unknown.
    """
    thing = _receiver_sequence(frame, call)
    if thing is None or not call.arguments.positional or not isinstance(call.receiver, Ref):
        return NONE
    value = mark_as_contained(frame, call.arguments.positional[-1].value, thing.owner)
    position = _element_position(call, thing)
    if thing.items is not None and position is not None and not frame.in_repeated_loop:
        items = (*thing.items[:position], value, *thing.items[position:])
        frame.put(call.receiver.address, replace(thing, items=items))
    else:
        element = value if thing.items == () else join(thing.any, value)
        prefix = thing.beginning if call.name in ("append", "add") else ()
        once = call.name in ("append", "add") and not frame.in_repeated_loop
        optional = more_items(thing.conditional_items, [value]) if once else ()
        frame.put(
            call.receiver.address,
            replace(thing, items=None, element=element, filled=True, prefix=prefix, optional=optional),
        )
    return NONE


def _element_position(call: LibraryCall, thing: Sequence) -> int | None:
    """Return the index at which a call adds or removes an element of a list; None if unknown."""
    if call.name in ("appendleft", "popleft"):
        return 0
    if call.name in ("append", "add") or (call.name == "pop" and not call.arguments.positional):
        return len(thing.items or ())
    index = call.arguments.positional[0].value
    return index.value if isinstance(index, Const) and type(index.value) is int else None


@models_call("list.extend", "list.update")
def extend(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.extend(xs)` and `set.update(xs)`: add the elements of another collection."""
    thing = _receiver_sequence(frame, call)
    if thing is None or not call.arguments.positional or not isinstance(call.receiver, Ref):
        return NONE
    more = frame.iterate(call.arguments.positional[0].value, call.arguments.positional[0].node)
    more = replace(
        more,
        items=tuple(mark_as_contained(frame, one, thing.owner) for one in more.items)
        if more.items is not None
        else None,
        element=mark_as_contained(frame, more.element, thing.owner),
    )
    if thing.items is not None and more.items is not None and not frame.in_repeated_loop:
        frame.put(call.receiver.address, replace(thing, items=(*thing.items, *more.items)))
    else:
        element = more.any if thing.items == () else join(thing.any, more.any)
        filled = filled_by_either(thing, more)
        once = more.items is not None and not frame.in_repeated_loop
        optional = more_items(thing.conditional_items, more.items or ()) if once else ()
        after = replace(thing, items=None, element=element, filled=filled, prefix=thing.beginning, optional=optional)
        frame.put(call.receiver.address, after)
    return NONE


@models_call("list.pop", "list.popleft")
def pop(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.pop(i)` and `deque.popleft()`: remove an element and return it."""
    thing = _receiver_sequence(frame, call)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    assume_filled(frame, call.receiver)
    value = thing.any
    position = _element_position(call, thing)
    if thing.items and position is not None and not frame.in_repeated_loop:
        items = list(thing.items)
        value = items.pop(min(position, len(items) - 1)) if -len(items) <= position else UNKNOWN
        frame.put(call.receiver.address, replace(thing, items=tuple(items)))
    elif thing.items is not None or thing.filled is not None or thing.prefix or thing.optional:
        frame.put(call.receiver.address, with_fewer_items(thing))
    return value


@models_call("list.clear", "dict.clear")
def clear(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.clear()` and `dict.clear()`: remove all elements."""
    if isinstance(call.receiver, Ref):
        thing = frame.get(call.receiver.address)
        if isinstance(thing, Sequence):
            frame.put(call.receiver.address, replace(thing, items=(), prefix=()))
        elif isinstance(thing, Dict):
            frame.put(call.receiver.address, Dict({}, owner=thing.owner, factory=thing.factory))
    return NONE


@models_call("list.copy", "dict.copy")
def copy(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.copy()` and `dict.copy()`: a shallow copy."""
    thing = frame.object_of(call.receiver)
    return frame.allocate(call.node, replace(thing, owner=None)) if isinstance(thing, (Sequence, Dict)) else UNKNOWN


@models_call("list.reverse", "list.sort", "list.remove", "list.discard")
def reorder_or_remove(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.reverse()`, `sort`, `remove` and `set.discard`: the same elements in another order, or fewer."""
    thing = _receiver_sequence(frame, call)
    if thing is None or not isinstance(call.receiver, Ref):
        return NONE
    filled = thing.has_elements if call.name in ("reverse", "sort") else None
    if call.name == "reverse" and thing.items is not None:
        frame.put(call.receiver.address, replace(thing, items=thing.items[::-1]))
    elif thing.items is not None or filled != thing.filled or thing.prefix or thing.optional:
        frame.put(call.receiver.address, replace(with_fewer_items(thing), filled=filled))
    return NONE


@models_call("list.index", "list.count", "tuple.index", "tuple.count", "tuple.numel")
def integer_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `list.index(x)`, `list.count(x)` and the like: an unknown integer."""
    return Number("int")


@models_call("dict.items")
def items(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.items()`: the pairs of a key and its value."""
    return _view(frame, call, items_of)


@models_call("dict.values")
def values(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.values()`: the values of the dict's entries."""
    return _view(frame, call, values_of)


def _view(frame: Frame, call: LibraryCall, view: Callable[[Ref, Dict], Sequence]) -> Value:
    """Return the elements of a view of a dict, as `view` makes them from the dict; unknown for another receiver."""
    thing = _receiver_dict(frame, call)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    return frame.allocate(call.node, view(call.receiver, thing))


@models_call("dict.keys")
def keys(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.keys()`: the keys, constants where all of them are known."""
    return _view(frame, call, _all_keys)


def _all_keys(reference: Ref, thing: Dict) -> Sequence:
    """Return the keys of a dict, each of them however many they are, with a value that stands for any of them."""
    found = keys_of(reference, thing)
    return replace(found, element=found.any, filled=thing.filled)


@models_call("dict.get", "dict.pop", "dict.setdefault")
def get(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.get(key, default)`, `pop` and `setdefault`: the value under the key, or the default."""
    thing = _receiver_dict(frame, call)
    if thing is None or not call.arguments.positional or not isinstance(call.receiver, Ref):
        return UNKNOWN
    key = call.arguments.positional[0].value
    default = call.arguments.positional[1].value if len(call.arguments.positional) > 1 else NONE
    known = entry_key(key)
    if known is not None and known[0] in thing.entries:
        value = thing.entries[known[0]]
        if known[0] in thing.optional and (call.name != "pop" or len(call.arguments.positional) > 1):
            value = join(value, default, thing.optional[known[0]])
        if call.name == "setdefault":
            frame.put(call.receiver.address, dict_with_entry(thing, key, value))
        if call.name == "pop":
            frame.put(call.receiver.address, without_entry(thing, known[0]))
        return value
    if thing.element is None and isinstance(key, Const):
        if call.name == "setdefault":
            frame.put(call.receiver.address, dict_with_entry(thing, key, default))
        return default
    if call.name == "setdefault":
        thing = replace(thing, element=default if thing.element is None else join(thing.element, default), key=key)
        frame.put(call.receiver.address, thing)
        return thing.any
    if call.name == "pop":
        frame.put(call.receiver.address, without_some_entry(thing))
    return UNKNOWN if not thing.entries and thing.element is None else join(thing.any, default)


@models_call("builtins.dict.fromkeys", "dict.fromkeys")
def fromkeys(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.fromkeys(keys, value)`: a dict with the same value under each key."""
    if call.first is None:
        return UNKNOWN
    value = call.arguments.value("value", 1) or NONE
    keys = frame.iterate(call.first.value, call.first.node)
    if keys.items is not None and all(isinstance(one, Const) for one in keys.items):
        return frame.allocate(call.node, Dict({one.value: value for one in keys.items if isinstance(one, Const)}))
    return frame.allocate(call.node, Dict({}, value, keys.any))


@models_call("dict.popitem")
def popitem(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.popitem()`: remove the last key and its value and return them; unknown where an entry is unknown."""
    thing = _receiver_dict(frame, call)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    if thing.element is not None or not thing.entries:
        frame.put(call.receiver.address, without_some_entry(thing))
        return UNKNOWN
    if frame.in_repeated_loop or thing.optional:
        frame.put(call.receiver.address, without_some_entry(thing))
        return Tuple((UNKNOWN, thing.any))
    key, value = list(thing.entries.items())[-1]
    rest = {name: one for name, one in thing.entries.items() if name != key}
    frame.put(call.receiver.address, replace(thing, entries=rest))
    return Tuple((key_value(key), value))


@models_call("dict.update")
def update_dict(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.update(other, key=...)`: add the entries to the dict.

    If the dict is an object's `__dict__`, the object's attributes change too.
    """
    thing = _receiver_dict(frame, call)
    if thing is None or not isinstance(call.receiver, Ref):
        return NONE
    for argument in call.arguments.positional:
        more = frame.object_of(argument.value)
        thing = merge_dicts(thing, more if isinstance(more, Dict) else Dict({}, UNKNOWN))
    thing = merge_dicts(thing, Dict({key: argument.value for key, argument in call.arguments.keywords.items()}))
    frame.put(call.receiver.address, thing)
    owner = frame.instance(thing.object) if thing.object is not None else None
    if owner is not None and thing.object is not None and all(isinstance(key, str) for key in thing.entries):
        attributes = {str(key): value for key, value in thing.entries.items()}
        frame.put(thing.object.address, replace(owner, attributes=attributes, optional=thing.optional))
    return NONE


@models_call(
    "str.format", "str.join", "str.replace", "str.removeprefix", "str.removesuffix",
    *(f"str.{one}" for one in sorted(RESPELLING_METHODS)),
)  # fmt: skip
def string_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `str.format`, `join`, `replace`, `lower`, `upper`, `strip`: run the method on known strings.

    The type of a device has no capitals and no spaces. Otherwise the result is a string of which at most a prefix is
    known. `format` reads the tensors that it shows.
    """
    receiver = call.receiver
    if call.name == "format":
        for argument in call.arguments:
            report_host_read(frame, argument.value, argument.node, "format()")
    if (
        isinstance(receiver, DeviceType | DeviceString)
        and call.name in RESPELLING_METHODS - {"upper"}
        and call.arguments.is_empty
    ):
        return receiver
    given = [argument.value for argument in call.arguments.positional]
    constants = [one.value for one in given if isinstance(one, Const)]
    if (
        isinstance(receiver, Const)
        and isinstance(receiver.value, str)
        and len(constants) == len(given)
        and not call.arguments.keywords
    ):
        try:
            result = getattr(receiver.value, call.name)(*constants)
        except Exception:  # the program would raise the same exception
            return StringPrefix()
        return Const(result) if isinstance(result, str) and len(result) < 200 else StringPrefix()
    if call.name == "format" and isinstance(receiver, Const) and isinstance(receiver.value, str):
        return StringPrefix(receiver.value.partition("{")[0])
    return StringPrefix()


@models_call("str.split", "str.rsplit")
def split(frame: Frame, call: LibraryCall) -> Value:
    """Model `str.split()` and `str.rsplit()`: a list of unknown strings."""
    return frame.allocate(call.node, Sequence(None, StringPrefix()))


@models_call("str.startswith", "str.endswith", "str.isdigit")
def string_predicate(frame: Frame, call: LibraryCall) -> Value:
    """Model `str.startswith`, `endswith` and `isdigit`: a constant if both strings are known, else an unknown bool.

    `startswith` on the type of a device, as in `device.type.startswith("cuda")`, gives a condition on the device.
    """
    receiver, given = call.receiver, call.arguments.value("prefix", 0)
    if (
        isinstance(receiver, Const)
        and isinstance(given, Const)
        and isinstance(receiver.value, str)
        and isinstance(given.value, str)
    ):
        return Const(
            receiver.value.startswith(given.value)
            if call.name == "startswith"
            else receiver.value.endswith(given.value)
        )
    if isinstance(receiver, DeviceType) and isinstance(given, Const) and call.name == "startswith":
        return device_type_condition(frame, receiver.placement, str(given.value), call.node)
    return Number("bool")
