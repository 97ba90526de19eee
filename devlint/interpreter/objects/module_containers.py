"""What modules hold, in order: torch's containers, the program's classes built on one, and any module's submodules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Instance, Registration, Sequence, join_all
from devlint.domain.value import NONE, Const, ProgramDefinition, Ref, StringPrefix, Tensor, Value
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method, has_unknown_base, library_base
from devlint.interpreter.objects.module_state import ANY_PART, CONTAINERS, is_module, registration_of
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.state.frame import Frame

COMPOSED: Final = ("torch.nn.MultiheadAttention", "torch.nn.Transformer", "torch.nn.AdaptiveLogSoftmax")
"""Modules of torch that are made of modules, which are not followed one by one."""


class UnknownSubmodules(Exception):
    """The submodules of a module cannot all be told."""


def container_class(frame: Frame, thing: Instance, method: str) -> str | None:
    """The container of torch whose `method` answers for the object."""
    if isinstance(thing.cls, str):
        return thing.cls if thing.cls in CONTAINERS else None
    info = defined_class(thing.cls)
    if info is None or find_method(frame, info, method) is not None:
        return None
    base = library_base(frame, info)
    return base if base in CONTAINERS else None


def container_parts(thing: Instance) -> Mapping[str, Value]:
    """The parts of a container, by name, in order: of a class of the program, not the tensors that it registers
    besides."""
    own = isinstance(thing.cls, ProgramDefinition)
    return {
        name: thing.attributes[name]
        for name in thing.attributes
        if name in thing.registered and not (own and thing.registered[name] is not Registration.MODULE)
    }


def container_part(thing: Instance, key: Value | None) -> Value:
    """The part under a key or a position; any of them where that is not known."""
    parts = container_parts(thing)
    children = list(parts.values())
    if isinstance(key, Const):
        if str(key.value) in parts:
            return parts[str(key.value)]
        if isinstance(key.value, int) and ANY_PART not in parts and -len(children) <= key.value < len(children):
            return children[key.value]
    return join_all(children)


def iterate_container(frame: Frame, thing: Instance) -> Sequence:
    """What a loop over a container goes through: its parts, or the keys that it has for them."""
    parts = container_parts(thing)
    if (container_class(frame, thing, "__iter__") or "").endswith("Dict"):
        return Sequence(None, StringPrefix()) if ANY_PART in parts else Sequence(tuple(map(Const, parts)))
    return Sequence(None, join_all(list(parts.values()))) if ANY_PART in parts else Sequence(tuple(parts.values()))


MAX_DEPTH: Final = 16
"""Levels of submodules that are listed: the names of such as refer back to themselves have no end."""


def named_modules(frame: Frame, value: Value, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """A module and all under it, each with its name; fails with `UnknownSubmodules` where some cannot be told."""
    thing = frame.instance(value)
    if thing is None or not is_module(frame, value) or prefix.count(".") > MAX_DEPTH:
        raise UnknownSubmodules
    if isinstance(thing.cls, str):
        if thing.cls.startswith(COMPOSED):
            raise UnknownSubmodules
    elif (info := defined_class(thing.cls)) is None or has_unknown_base(frame, info):
        raise UnknownSubmodules
    yield prefix, value
    for name, part in named_children(thing):
        yield from named_modules(frame, part, f"{prefix}.{name}" if prefix else name)


def named_children(thing: Instance) -> Iterator[tuple[str, Value]]:
    """The submodules of a module, each with its name; fails with `UnknownSubmodules` where some cannot be told."""
    for name, kind in thing.registered.items():
        if kind is Registration.MODULE and thing.attributes.get(name, NONE) != NONE:
            if name.startswith(ANY_PART):
                raise UnknownSubmodules
            yield name, thing.attributes[name]


def slice_container(
    frame: Frame, container: str, parts: Iterable[Value] | None, every: Value, node: cst.CSTNode
) -> Ref:
    """The container of the same kind that a slice makes."""
    chosen = {ANY_PART: every} if parts is None else {str(i): one for i, one in enumerate(parts)}
    return frame.allocate(node, Instance(container, chosen, dict.fromkeys(chosen, Registration.MODULE)))


def _with_part(frame: Frame, thing: Instance, key: str, value: Value) -> Instance:
    if isinstance(value, Tensor) and value.cell is None:
        reference = frame.allocate_cell(value)
        value = replace(value, cell=reference, leaf=True, grad=True)
    kind = registration_of(frame, thing, key, value)
    mark_as_registered(frame, value)
    if key == ANY_PART and key in thing.attributes:
        value = join(thing.attributes[key], value)
    return thing.with_attribute(key, value, kind if kind is not Registration.PLAIN else Registration.MODULE)


def set_container_part(frame: Frame, owner: Ref, thing: Instance, key: Value | None, value: Value) -> None:
    """`modules[key] = module`."""
    name = str(key.value) if isinstance(key, Const) else ANY_PART
    frame.put(owner.address, _with_part(frame, thing, name, value))
