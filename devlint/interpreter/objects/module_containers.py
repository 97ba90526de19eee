"""Parts of modules in order: entries of torch's module containers and of classes derived from one, and submodules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Instance, Registration, Sequence, join_all
from devlint.domain.value import (
    NONE,
    SUBMODULES,
    AllocationSite,
    Const,
    ProgramDefinition,
    Ref,
    StringPrefix,
    Tensor,
    Unknown,
    Value,
)
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method, has_unknown_base, library_base
from devlint.interpreter.objects.module_state import ANY_PART, CONTAINERS, is_module, registration_of
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.state.frame import Frame

COMPOSITE_MODULES: Final = ("torch.nn.MultiheadAttention", "torch.nn.Transformer", "torch.nn.AdaptiveLogSoftmax")
"""Beginnings of the names of torch's modules that consist of modules, which are not modelled one by one."""


PARTS_OF_MODULE: Final = "torch.nn.Module"
"""The class of the object that stands for some submodules of a library's module; its one part is that module."""


class UnknownSubmodules(Exception):
    """Raised when the submodules of a module cannot all be determined."""


def container_class(frame: Frame, thing: Instance, method: str) -> str | None:
    """Return the torch container class, such as `nn.ModuleList`, from which an object has a method of a given name.

    None for objects of other classes, and for a method that the program overrides.
    """
    if isinstance(thing.cls, str):
        return thing.cls if thing.cls in CONTAINERS else None
    info = defined_class(thing.cls)
    if info is None or find_method(frame, info, method) is not None:
        return None
    base = library_base(frame, info)
    return base if base in CONTAINERS else None


def container_parts(thing: Instance) -> Mapping[str, Value]:
    """Return the entries of a module container by name, in order.

    For a container class of the program, only submodules count, not the tensors that it registers besides.
    """
    own = isinstance(thing.cls, ProgramDefinition)
    return {
        name: thing.attributes[name]
        for name in thing.attributes
        if name in thing.registered and not (own and thing.registered[name] is not Registration.MODULE)
    }


def container_part(thing: Instance, key: Value | None) -> Value:
    """Return the entry of a module container under a key or index; the join of all entries when the key is unknown."""
    parts = container_parts(thing)
    children = list(parts.values())
    if isinstance(key, Const):
        if str(key.value) in parts:
            return parts[str(key.value)]
        if isinstance(key.value, int) and ANY_PART not in parts and -len(children) <= key.value < len(children):
            return children[key.value]
    return join_all(children)


def iterate_container(frame: Frame, thing: Instance) -> Sequence:
    """Return the sequence that a loop over a module container visits: its modules, or an `nn.ModuleDict`'s keys."""
    parts = container_parts(thing)
    if (container_class(frame, thing, "__iter__") or "").endswith("Dict"):
        return Sequence(None, StringPrefix()) if ANY_PART in parts else Sequence(tuple(map(Const, parts)))
    return Sequence(None, join_all(list(parts.values()))) if ANY_PART in parts else Sequence(tuple(parts.values()))


MAX_DEPTH: Final = 16
"""Levels of submodules that are listed; the dotted names inside a module that contains itself have no end."""


def named_modules(frame: Frame, value: Value, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Yield a module and all its submodules with their dotted names, as `nn.Module.named_modules` does.

    Raises UnknownSubmodules when some submodules cannot be determined.
    """
    thing = frame.instance(value)
    if thing is None or not is_module(frame, value) or prefix.count(".") > MAX_DEPTH:
        raise UnknownSubmodules
    yield prefix, value
    for name, part in named_children(frame, thing):
        yield from named_modules(frame, part, f"{prefix}.{name}" if prefix else name)


def _has_unlisted_parts(frame: Frame, thing: Instance) -> bool:
    """Return whether a module has submodules that a library has made; a layer of `torch.nn` has none of its own."""
    info = defined_class(thing.cls)
    if info is not None and has_unknown_base(frame, info):
        return True
    name = thing.cls if info is None else library_base(frame, info)
    if not isinstance(name, str):
        return info is None
    return name not in CONTAINERS and (not name.startswith("torch.nn.") or name.startswith(COMPOSITE_MODULES))


def named_children(frame: Frame, thing: Instance) -> Iterator[tuple[str, Value]]:
    """Yield the direct submodules of a module with their names.

    Raises UnknownSubmodules when some submodules cannot be determined.
    """
    if _has_unlisted_parts(frame, thing):
        raise UnknownSubmodules
    for name, kind in thing.registered.items():
        if kind is Registration.MODULE and thing.attributes.get(name, NONE) != NONE:
            if name.startswith(ANY_PART):
                raise UnknownSubmodules
            yield name, thing.attributes[name]


_REGISTERED: Final = "registered"
"""The key under which the origin of a module of unknown class says that a container of modules holds it."""


def is_registered_part(value: Unknown) -> bool:
    """Return whether a value of unknown class was taken from a container of modules, which moves it with itself."""
    match value.origin:
        case ("item", _, key):
            return bool(key == _REGISTERED)
    return False


def any_submodule(module: Ref) -> Unknown:
    """Return the value that stands for each of the submodules of a module that are not known one by one."""
    return Unknown(("element", (SUBMODULES, module.address)), "a submodule")


def module_of_part(value: Value) -> Ref | None:
    """Return the module of which a value is a part, or a part of a part, that cannot be seen; None for other values."""
    if not isinstance(value, Unknown):
        return None
    origin = value.origin
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        origin = origin[1]
    match origin:
        case (kind, AllocationSite() as address) if kind == SUBMODULES:
            return Ref(address)
    return None


def whole_of_parts(thing: Instance) -> Ref | None:
    """Return the module some of whose submodules an object stands for; None for any other object."""
    whole = thing.attributes.get(ANY_PART) if thing.cls == PARTS_OF_MODULE else None
    return whole if isinstance(whole, Ref) else None


def _as_parts_of_module(frame: Frame, value: Value) -> Value:
    """Return the submodules of a library's module as a module, where a container gets them: `net.children()`.

    They lie where the whole module lies, which is a part of the new object, so that they move with each other. Any
    other value is returned unchanged, and so are the submodules that another container gets: a program that deals them
    out may move each container to a device of its own.
    """
    whole = module_of_part(value)
    thing = frame.instance(whole)
    if whole is None or thing is None or thing.cell is None or value != any_submodule(whole):
        return value
    address = AllocationSite((PARTS_OF_MODULE, whole.address), frame.context)
    if frame.get(address) is not None:
        return value
    frame.put(address, Instance(PARTS_OF_MODULE, {ANY_PART: whole}, {ANY_PART: Registration.MODULE}))
    return Ref(address)


def slice_container(
    frame: Frame, container: str, parts: Iterable[Value] | None, every: Value, node: cst.CSTNode
) -> Ref:
    """Allocate the container that slicing a module container returns, such as an `nn.Sequential` for `layers[1:]`.

    `parts` are the selected modules. None means that they are unknown; the value `every` then describes each of them.
    """
    chosen = {ANY_PART: every} if parts is None else {str(i): one for i, one in enumerate(parts)}
    return frame.allocate(node, Instance(container, chosen, dict.fromkeys(chosen, Registration.MODULE)))


def with_part(frame: Frame, thing: Instance, key: str, value: Value) -> Instance:
    """Return a module container with one entry set, registered as parameter, buffer or module.

    A plain tensor becomes a parameter. Entries of unknown key are joined into one.
    """
    if isinstance(value, Tensor) and value.cell is None:
        reference = frame.allocate_cell(value)
        value = replace(value, cell=reference, leaf=True, grad=True)
    value = _as_parts_of_module(frame, value)
    if isinstance(value, Unknown) and value.origin is not None and module_of_part(value) is None:
        value = replace(value, origin=("item", value.origin, _REGISTERED))
    kind = registration_of(frame, thing, key, value)
    mark_as_registered(frame, value)
    if key == ANY_PART and key in thing.attributes:
        value = join(thing.attributes[key], value)
    return thing.with_attribute(key, value, kind if kind is not Registration.PLAIN else Registration.MODULE)


def set_container_part(frame: Frame, owner: Ref, thing: Instance, key: Value | None, value: Value) -> None:
    """Set an entry of a module container, as `modules[key] = module` does.

    Under an unknown key, the entry is joined with the other entries of unknown key.
    """
    name = str(key.value) if isinstance(key, Const) else ANY_PART
    frame.put(owner.address, with_part(frame, thing, name, value))
