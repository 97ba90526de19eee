"""Abstract dict and list objects: adding an entry, merging two dicts, and construction from a call's arguments."""

from __future__ import annotations

from collections.abc import Hashable

from devlint.domain.join import join
from devlint.domain.objects import Dict, Sequence, entry_key, several_keys
from devlint.domain.path_conditions import Literal
from devlint.domain.record import replace
from devlint.domain.value import UNKNOWN, Const, Tensor, Tuple, Value
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame


def dict_with_entry(thing: Dict, key: Value, value: Value) -> Dict:
    """Return a dict object with one more entry; under an unknown key, any existing entry may have become `value`."""
    known = entry_key(key)
    if known is not None:
        perhaps = {name: test for name, test in thing.optional.items() if name != known[0]}
        return replace(thing, entries={**thing.entries, known[0]: value}, optional=perhaps)
    entries = {name: join(before, value) for name, before in thing.entries.items()}
    keys = key if thing.element is None or key is thing.key else several_keys(thing.key, key)
    return replace(thing, entries=entries, element=join_optional(thing.element, value), key=keys, is_filled=True)


def dict_with_every_entry(thing: Dict, value: Value) -> Dict:
    """Return a dict object of which each entry has become `value`, by a loop that stores one under each key."""
    return replace(thing, entries=dict.fromkeys(thing.entries, value), element=value)


def list_with_every_element(thing: Sequence, value: Value) -> Sequence:
    """Return a list object of which each element has become `value`, by a loop that stores one at each position."""
    one = replace(value, memory=None) if isinstance(value, Tensor) else value
    return replace(thing, element=one, prefix=(one,) * len(thing.prefix), optional=())


def without_entry(thing: Dict, key: Hashable) -> Dict:
    """Return a dict object without the entry under a key."""
    rest = {name: one for name, one in thing.entries.items() if name != key}
    perhaps = {name: test for name, test in thing.optional.items() if name != key}
    return replace(thing, entries=rest, optional=perhaps, is_filled=False)


def without_some_entry(thing: Dict) -> Dict:
    """Return a dict object of which an unknown entry has been removed: each of them may be gone."""
    return replace(thing, optional=dict.fromkeys(thing.entries), is_filled=False)


def merge_dicts(left: Dict, right: Dict) -> Dict:
    """Return the dict object of `{**left, **right}`: the entries of both, with the right entry under a common key."""
    entries = {**left.entries, **right.entries}
    if right.element is not None:
        # The right dict's entries under unknown keys may overwrite any entry of the left one.
        entries |= {key: join(value, right.element) for key, value in left.entries.items() if key not in right.entries}
    if right.optional:
        # Where the right dict may lack a key, the left dict's entry may remain.
        entries |= {
            key: join(entries[key], left.entries[key], test)
            for key, test in right.optional.items()
            if key in left.entries
        }
    perhaps = {
        key: test
        for one, other in ((left, right), (right, left))
        for key, test in one.optional.items()
        if key not in other.entries or key in other.optional
    }
    element, key = join_optional(left.element, right.element), several_keys(left.key, right.key)
    is_open = left.is_open or right.is_open
    return replace(left, entries=entries, element=element, key=key, optional=perhaps, is_open=is_open)


def join_optional(left: Value | None, right: Value | None) -> Value | None:
    """Join two values, either of which may be missing (None); None when both are missing."""
    if left is None or right is None:
        return left if right is None else right
    return join(left, right)


def dict_from_arguments(frame: Frame, arguments: Arguments) -> Dict:
    """Return the dict object that `dict(...)` builds from another mapping, from pairs and from keywords."""
    entries: dict[object, Value] = {}
    perhaps: dict[Hashable, Literal | None] = {}
    is_open = False
    element: Value | None = None if arguments.complete else UNKNOWN
    key: Value = UNKNOWN
    for argument in arguments.positional:
        mapping = frame.contents(argument.value)
        thing = frame.object_of(mapping)
        if isinstance(thing, Dict):
            entries.update(thing.entries)
            perhaps.update(thing.optional)
            element, key, is_open = thing.element, thing.key, thing.is_open
            continue
        found = frame.iterate(argument.value, argument.node)
        for pair in found.items if found.items is not None else (found.element,):
            match pair:
                case Tuple(items=(Const(value=name), value)) if found.items is not None:
                    entries[name] = value
                case Tuple(items=(name, value)):
                    element, key = value if element is None else join(element, value), name
                case _:
                    element = UNKNOWN
    entries.update({name: one.value for name, one in arguments.keywords.items()})
    perhaps = {name: test for name, test in perhaps.items() if name not in arguments.keywords}
    return Dict(entries, element, key, optional=perhaps, is_open=is_open)


def list_from_arguments(frame: Frame, arguments: Arguments) -> Sequence:
    """Return the list object that `list(...)` builds from its argument."""
    given = next(iter(arguments), None)
    if given is None:
        return Sequence(())
    return replace(frame.iterate(given.value, given.node), kind="list", owner=None, mapping=None)
