"""Deferred registration: decorators that put definitions into a registry, applied when the registry is first read.

Decorators of other kinds are applied when the decorated definition is called. Most runs never read a registry.
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
"""The pattern of the beginning of a definition with a registering decorator."""

REGISTRAR: Final = re.compile(r"@(\w+)\s*(\(|\n)")
"""The pattern of a decorator that is a function or is made by one."""

MAX_REGISTERED: Final = 16
"""The number of definitions up to which a registry is filled one by one.

Programs rarely read a larger registry (a catalogue) by a constant key, so its contents are left unknown.
"""


def defer_registration(frame: Frame, unit: Statement) -> None:
    """Defer the registration of a function or class by its decorator until the decorator's registry is read.

    If the decorator is no function of the program, but a method of an object for example, it is applied at once.
    """
    if unit.name is None or not REGISTERED.match(unit.text):
        return
    registrar = _registrar(frame, unit)
    if registrar is None:
        _register(frame, unit.name)
        return
    registries = frame.analysis.pending_registrations
    if registrar not in registries.definitions_by_registrar:
        registries.definitions_by_registrar[registrar] = []
        for name in registrar.unit.mentions & _assigned_names(registrar.module):
            registries.registrars_by_name.setdefault((registrar.module, name), set()).add(registrar)
    registries.definitions_by_registrar[registrar].append((frame, unit.name))


def register_pending(analysis: AnalysisState, module: ModuleInfo, name: str) -> None:
    """Apply the deferred registrations that may write to a global name, because code is about to read that name.

    Nothing is done if the registering decorator itself is what reads the name.
    """
    registries = analysis.pending_registrations
    found = registries.registrars_by_name.get((module, name)) if registries.registrars_by_name else None
    if found is None or not {one.unit for one in found}.isdisjoint(one.unit for one in analysis.active_functions):
        return
    del registries.registrars_by_name[module, name]
    for registrar in found:
        waiting = registries.definitions_by_registrar.pop(registrar, [])
        if len(waiting) > MAX_REGISTERED:
            _mark_contents_unknown(analysis, registrar)
            continue
        for frame, registered in waiting:
            _register(frame, registered)


def _registrar(frame: Frame, unit: Statement) -> FunctionInfo | None:
    """Return the registrar of a definition: the program's function that is, or returns, its only decorator.

    The result is None for a definition without such a decorator.
    """
    dotted = REGISTRAR.match(unit.text)
    if dotted is None or sum(line.startswith("@") for line in unit.text.splitlines()) > 1:
        return None
    value = frame.analysis.global_name(frame.module, dotted[1])
    definition = value.definition if isinstance(value, ProgramDefinition) else None
    return definition if isinstance(definition, FunctionInfo) else None


def _assigned_names(module: ModuleInfo) -> frozenset[str]:
    """Return the names at a module's top level that are bound by statements other than definitions and imports."""
    return frozenset().union(*(unit.binds for unit in module.index.statements if unit.kind == "other"))


def _register(frame: Frame, name: str) -> None:
    """Apply the decorators of a definition, so that they put the definition into their registry."""
    defined = frame.state.names[name]
    with write_to_base_heap(frame), frame.analysis.contain_errors(frame.module.filename, name):
        match defined:
            case ProgramDefinition(definition=FunctionInfo() as function):
                decorated_function(frame, function)
            case ProgramDefinition(definition=ClassInfo() as info):
                decorated_class(frame, info)


def _mark_contents_unknown(analysis: AnalysisState, registrar: FunctionInfo) -> None:
    """Mark the global registries (dicts and lists) that a registering decorator mentions as holding unknown entries."""
    frame: Frame = analysis.module_frame(registrar.module)
    with write_to_base_heap(frame):
        for name in registrar.unit.mentions & _assigned_names(registrar.module):
            value = frame.state.names.get(name)
            thing = frame.object_of(value)
            if isinstance(value, Ref) and isinstance(thing, Dict):
                frame.put(value.address, replace(thing, element=UNKNOWN))
            elif isinstance(value, Ref) and isinstance(thing, Sequence):
                frame.put(value.address, replace(thing, items=None, element=UNKNOWN, filled=None, prefix=()))
