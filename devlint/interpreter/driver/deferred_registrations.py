"""Registries: definitions that a decorator puts where the program looks for them later.

A decorator waits until its definition is called, but for those that register: they are applied when somebody looks
where they put things, which most runs never do.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devlint.domain.objects import Dict, Sequence
from devlint.domain.value import UNKNOWN, ProgramDefinition, Ref
from devlint.interpreter.calls.decorators import decorated_class, decorated_function
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.state.analysis_state import AnalysisState
from devlint.interpreter.state.base_heap import write_to_base_heap
from devlint.interpreter.state.frame import Frame
from devlint.syntax.index import Statement

REGISTERED: Final = re.compile(r"(@[^\n]*\n)*?@([\w.]*\.)?_?register", re.IGNORECASE)
"""How a definition begins whose decorators keep it in a registry."""

REGISTRAR: Final = re.compile(r"@(\w+)\s*(\(|\n)")
"""A decorator that is a function, or is made by one."""

MAX_REGISTERED: Final = 16
"""Definitions that are put into a registry one by one. Of a larger one, a catalogue, programs rarely say which they ask
for by a name that is written down: nothing is known of what it holds."""


def defer_registration(frame: Frame, unit: Statement) -> None:
    """A function or class is defined, and may have to be registered. A method of an object does so at once."""
    if unit.name is None or not REGISTERED.match(unit.text):
        return
    registrar = _registrar(frame, unit)
    if registrar is None:
        _register(frame, unit.name)
        return
    registries = frame.analysis.pending_registrations
    if registrar not in registries.waiting:
        registries.waiting[registrar] = []
        for name in registrar.unit.mentions & _kept_names(registrar.module):
            registries.places.setdefault((registrar.module, name), set()).add(registrar)
    registries.waiting[registrar].append((frame, unit.name))


def register_pending(analysis: AnalysisState, module: ModuleInfo, name: str) -> None:
    """A name of a module is read: what will be found there is registered now. Registrars themselves do not count as
    readers."""
    registries = analysis.pending_registrations
    found = registries.places.get((module, name)) if registries.places else None
    if found is None or not {one.unit for one in found}.isdisjoint(one.unit for one in analysis.active_functions):
        return
    del registries.places[module, name]
    for registrar in found:
        waiting = registries.waiting.pop(registrar, [])
        if len(waiting) > MAX_REGISTERED:
            _leave_open(registrar)
            continue
        for frame, registered in waiting:
            _register(frame, registered)


def _registrar(frame: Frame, unit: Statement) -> FunctionInfo | None:
    """The function of the program that is the one decorator of a definition, or makes it."""
    dotted = REGISTRAR.match(unit.text)
    if dotted is None or sum(line.startswith("@") for line in unit.text.splitlines()) > 1:
        return None
    value = frame.analysis.global_name(frame.module, dotted[1])
    definition = value.definition if isinstance(value, ProgramDefinition) else None
    return definition if isinstance(definition, FunctionInfo) else None


def _kept_names(module: ModuleInfo) -> frozenset[str]:
    """The names of a module's top level that are no definitions."""
    return frozenset().union(*(unit.binds for unit in module.index.statements if unit.kind == "other"))


def _register(frame: Frame, name: str) -> None:
    """Let the decorators of a definition do what they do."""
    defined = frame.state.names[name]
    with write_to_base_heap(frame), frame.analysis.contain_errors(frame.module.filename, name):
        match defined:
            case ProgramDefinition(definition=FunctionInfo() as function):
                decorated_function(frame, function)
            case ProgramDefinition(definition=ClassInfo() as info):
                decorated_class(frame, info)


def _leave_open(registrar: FunctionInfo) -> None:
    """There is more in the registry than is known."""
    frame = registrar.module.frame
    assert frame is not None
    with write_to_base_heap(frame):
        for name in registrar.unit.mentions & _kept_names(registrar.module):
            value = frame.state.names.get(name)
            thing = frame.object_of(value)
            if isinstance(value, Ref) and isinstance(thing, Dict):
                frame.put(value.address, replace(thing, element=UNKNOWN))
            elif isinstance(value, Ref) and isinstance(thing, Sequence):
                frame.put(value.address, replace(thing, items=None, element=UNKNOWN))
