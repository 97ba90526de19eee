"""The dict and the list that are made of a call's arguments."""

from __future__ import annotations

from dataclasses import replace

from devlint.flow.path.arguments import Arguments
from devlint.flow.path.run import Run
from devlint.values.heap import Dict, Sequence
from devlint.values.join import join
from devlint.values.value import UNKNOWN, Const, Ref, Tuple, Value


def dict_of(run: Run, arguments: Arguments) -> Dict:
    """What `dict(...)` makes of its arguments: of another mapping, of pairs, and of keywords."""
    entries: dict[object, Value] = {}
    element: Value | None = None if arguments.complete else UNKNOWN
    key: Value = UNKNOWN
    for argument in arguments.positional:
        mapping = run.contents(argument.value)
        thing = run.get(mapping.address) if isinstance(mapping, Ref) else None
        if isinstance(thing, Dict):
            entries.update(thing.entries)
            element, key = thing.element, thing.key
            continue
        found = run.iterate(argument.value, argument.node)
        for pair in found.items if found.items is not None else (found.element,):
            match pair:
                case Tuple(items=(Const(value=name), value)) if found.items is not None:
                    entries[name] = value
                case Tuple(items=(name, value)):
                    element, key = value if element is None else join(element, value), name
                case _:
                    element = UNKNOWN
    entries.update({name: one.value for name, one in arguments.keywords.items()})
    return Dict(entries, element, key)


def list_of(run: Run, arguments: Arguments) -> Sequence:
    """What `list(...)` makes of its argument."""
    given = next(iter(arguments), None)
    if given is None:
        return Sequence(())
    return replace(run.iterate(given.value, given.node), kind="list", owner=None, first=None)
