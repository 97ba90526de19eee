"""torch's containers of modules, and the program's classes that are built on one: what they hold, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import libcst as cst

from devlint.flow.classes.ancestors import find_method, library_base
from devlint.flow.code.definitions import ClassInfo
from devlint.flow.nn.lifecycle import ANY, CONTAINERS
from devlint.flow.path.run import Run
from devlint.values.heap import Instance, Registration, Sequence, join_all
from devlint.values.value import Callable_, Const, Ref, Text, Value


def container_of(run: Run, thing: Instance, method: str) -> str | None:
    """The container of torch whose `method` answers for the object."""
    if isinstance(thing.cls, str):
        return thing.cls if thing.cls in CONTAINERS else None
    info = thing.cls.definition if isinstance(thing.cls, Callable_) else None
    if not isinstance(info, ClassInfo) or find_method(run, info, method) is not None:
        return None
    base = library_base(run, info)
    return base if base in CONTAINERS else None


def parts_of(thing: Instance) -> Mapping[str, Value]:
    """The parts of a container, by name, in order: of a class of the program, not the tensors that it registers
    besides."""
    own = isinstance(thing.cls, Callable_)
    return {
        name: thing.attributes[name]
        for name in thing.attributes
        if name in thing.registered and not (own and thing.registered[name] is not Registration.MODULE)
    }


def part_at(thing: Instance, key: Value | None) -> Value:
    """The part under a key or a position; any of them where that is not known."""
    parts = parts_of(thing)
    children = list(parts.values())
    if isinstance(key, Const):
        if str(key.value) in parts:
            return parts[str(key.value)]
        if isinstance(key.value, int) and ANY not in parts and -len(children) <= key.value < len(children):
            return children[key.value]
    return join_all(children)


def iterated(run: Run, thing: Instance) -> Sequence:
    """What a loop over a container goes through: its parts, or the keys that it has for them."""
    parts = parts_of(thing)
    if (container_of(run, thing, "__iter__") or "").endswith("Dict"):
        return Sequence(None, Text()) if ANY in parts else Sequence(tuple(map(Const, parts)))
    return Sequence(None, join_all(list(parts.values()))) if ANY in parts else Sequence(tuple(parts.values()))


def sliced(run: Run, container: str, parts: Iterable[Value] | None, every: Value, node: cst.CSTNode) -> Ref:
    """The container of the same kind that a slice makes."""
    chosen = {ANY: every} if parts is None else {str(i): one for i, one in enumerate(parts)}
    return run.allocate(node, Instance(container, chosen, dict.fromkeys(chosen, Registration.MODULE)))
