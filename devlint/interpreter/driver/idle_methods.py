"""The methods of a module that only hand on what they are given, to parts that move with the module.

They are not analysed on their own: neither they nor what they call can bring tensors of two places together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from devlint.domain.device import KnownDevice
from devlint.domain.join import alternatives
from devlint.domain.objects import Instance, Registration
from devlint.domain.placement import placement_cases
from devlint.domain.value import AllocationSite, Array, ProgramDefinition, Ref, Tensor, Value
from devlint.interpreter.objects.class_hierarchy import ancestors, defined_class, is_module_class
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.frame import Frame


def idle_methods(frame: Frame, reference: Ref, info: ClassInfo, giving: Iterable[str]) -> Set[str]:
    """Return the names of the methods of a constructed module that need no analysis of their own.

    `giving` are the global names that the class mentions and that stand for a tensor, or for code that gives one.
    """
    relevance = frame.analysis.facts.relevance
    if not is_module_class(frame, info) or relevance.keeps_modules_in_containers(info.unit):
        return frozenset()
    methods = [
        (name, method)
        for base in map(defined_class, ancestors(frame, info))
        if base is not None
        for name, method in relevance.methods(base.unit).items()
    ]
    # What a method imports itself is unknown here.
    suspects = {"import", *_suspect_attributes(frame, reference), *giving}
    working = {name for name, method in methods if method.works_on_tensors or not method.words.isdisjoint(suspects)}
    while True:
        # What a method is given shows where it is called.
        callers = {name for name, method in methods if not method.words.isdisjoint(working)} - working
        if not callers:
            return {name for name, _ in methods} - working
        working |= callers


def _suspect_attributes(frame: Frame, reference: Ref) -> Iterator[str]:
    """Yield the attributes of a module that hold data which may not move with it, or parts that give such data."""
    thing = frame.instance(reference)
    for name, value in thing.attributes.items() if thing is not None else ():
        registration = thing.registered.get(name) if thing is not None else None
        if any(_is_suspect(frame, one, registration) for one in alternatives(value)):
            yield name


def _is_suspect(frame: Frame, value: Value, registration: Registration | None) -> bool:
    """Return whether a value of an attribute may not move with the module, is float64, or gives tensors of its own."""
    if registration is Registration.MODULE:
        return _gives_tensors(frame, value, set())
    if registration in (Registration.PARAMETER, Registration.BUFFER):
        return isinstance(value, Tensor) and _stays_different(frame.resolve(value))
    return isinstance(value, Array) or any(True for _ in contained_tensors(frame, [value]))


def _stays_different(tensor: Tensor) -> bool:
    """Return whether a registered tensor has a device or a wide dtype of its own, once the module has been moved."""
    devices = (case.device for _, case in placement_cases(tensor.placement))
    return tensor.dtype.name == "float64" or any(isinstance(one, KnownDevice) for one in devices)


def _gives_tensors(frame: Frame, value: Value, seen: set[AllocationSite]) -> bool:
    """Return whether a module, or one of its parts, gives tensors that it has made to who calls it.

    A part that keeps modules in a container counts, too: what it is called with shows that they have to be moved.
    """
    thing = frame.instance(value)
    if thing is None or not isinstance(value, Ref) or value.address in seen:
        return False
    seen.add(value.address)
    made_by = thing.cls.definition if isinstance(thing.cls, ProgramDefinition) else None
    bases = map(defined_class, ancestors(frame, made_by)) if isinstance(made_by, ClassInfo) else ()
    relevance = frame.analysis.facts.relevance
    units = [base.unit for base in bases if base is not None]
    if any(relevance.gives_made_tensors(unit) or relevance.keeps_modules_in_containers(unit) for unit in units):
        return True
    return any(_gives_tensors(frame, part, seen) for part in _parts(thing))


def _parts(thing: Instance) -> Iterator[Value]:
    """Yield the modules that a module registers."""
    for name, registration in thing.registered.items():
        if registration is Registration.MODULE and name in thing.attributes:
            yield from alternatives(thing.attributes[name])
