"""Deferred registration: decorators and calls that fill a registry, run when the registry is first read.

Decorators of other kinds are applied when the decorated definition is called. Most runs never read a registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from functools import partial
from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence, with_fewer_items
from devlint.domain.value import UNKNOWN, ProgramDefinition, Ref, Value
from devlint.interpreter.calls.decorators import decorated_class, decorated_function
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.registering_files import MAX_REGISTERED, REGISTERED
from devlint.interpreter.program.registry_fillers import GlobalName
from devlint.interpreter.state.analysis_state import AnalysisState
from devlint.interpreter.state.base_heap import write_to_base_heap
from devlint.interpreter.state.frame import Frame
from devlint.syntax.index import Statement

REGISTRAR: Final = re.compile(r"@(\w+)\s*(\(|\n)")
"""The pattern of a decorator that is a function or is made by one."""

CALL: Final = re.compile(r"(\w+)\(")
"""The pattern of a statement that calls a function by its name."""


def defer_registration(frame: Frame, unit: Statement) -> None:
    """Defer the registration of a function or class by its decorator until the decorator's registry is read.

    If the decorator is no function of the program, but a method of an object for example, it is applied at once.
    """
    if unit.name is None or not unit.starts_with("@") or not REGISTERED.match(unit.text):
        return
    registrar = _registrar(frame, unit)
    if registrar is None:
        _register(frame, unit.name)
        return
    filled = [(registrar.module, name) for name in registrar.unit.mentions & registrar.module.assigned_names]
    _defer(frame.analysis, registrar, filled, partial(_register, frame, unit.name))


def defer_registering_call(frame: Frame, unit: Statement, run: Callable[[], object]) -> bool:
    """Defer a call that only fills registries, with texts and numbers; return False for other code.

    `run` executes the statement, once code reads one of the registries.
    """
    called = CALL.match(unit.text)
    if unit.binds or called is None or not unit.mentions <= {called[1], "__name__"}:
        return False
    value = frame.analysis.global_name(frame.module, called[1])
    definition = value.definition if isinstance(value, ProgramDefinition) else None
    if not isinstance(definition, FunctionInfo):
        return False
    filled = frame.analysis.facts.registry_fillers.registries_of(definition.module, definition.unit)
    if filled:
        _defer(frame.analysis, definition, filled, run)
    return bool(filled)


def _defer(
    analysis: AnalysisState, registrar: FunctionInfo, filled: Iterable[GlobalName], run: Callable[[], object]
) -> None:
    """Let what a function puts into registries wait until code reads one of the global names that it fills."""
    registries = analysis.pending_registrations
    registries.work_by_registrar.setdefault(registrar, []).append(run)
    for registry in filled:
        registries.registrars_by_name.setdefault(registry, set()).add(registrar)


def run_registering_files(analysis: AnalysisState, module: ModuleInfo, name: str) -> None:
    """Run the files that fill a registry, because code is about to read its global name for the first time.

    Only files that the analysed file imports count. Where they hold too many definitions, the contents of the registry
    become unknown.
    """
    entry = analysis.torch_defaults.entry_module
    if entry is None:
        return
    analysis.filled_registries.add((module, name))
    found = analysis.facts.registering_files.imported_by(entry, (module.path, name))
    if sum(count for _, count in found) > MAX_REGISTERED:
        _mark_contents_unknown(analysis, module, {name})
        return
    for file, _ in found:
        analysis.module_frame(file)


def register_pending(analysis: AnalysisState, module: ModuleInfo, name: str) -> None:
    """Apply the deferred registrations that may write to a global name, because code is about to read that name.

    Nothing is done if the registering decorator itself is what reads the name.
    """
    registries = analysis.pending_registrations
    found = registries.registrars_by_name.get((module, name))
    if found is None or not {one.unit for one in found}.isdisjoint(one.unit for one in analysis.active_functions):
        return
    del registries.registrars_by_name[module, name]
    for registrar in found:
        waiting = registries.work_by_registrar.pop(registrar, [])
        if len(waiting) > MAX_REGISTERED:
            _mark_contents_unknown(
                analysis, registrar.module, registrar.unit.mentions & registrar.module.assigned_names
            )
            continue
        for run in waiting:
            run()


def _registrar(frame: Frame, unit: Statement) -> FunctionInfo | None:
    """Return the registrar of a definition: the program's function that is, or returns, its only decorator.

    The result is None for a definition without such a decorator.
    """
    text = unit.text
    dotted = REGISTRAR.match(text)
    if dotted is None or (text.count("@") > 1 and sum(line.startswith("@") for line in text.splitlines()) > 1):
        return None
    value = frame.analysis.global_name(frame.module, dotted[1])
    definition = value.definition if isinstance(value, ProgramDefinition) else None
    return definition if isinstance(definition, FunctionInfo) else None


def _register(frame: Frame, name: str) -> None:
    """Apply the decorators of a definition, so that they put the definition into their registry."""
    defined = frame.state.names[name]
    with write_to_base_heap(frame), frame.analysis.contain_errors(frame.module.filename, name):
        match defined:
            case ProgramDefinition(definition=FunctionInfo() as function):
                decorated_function(frame, function)
            case ProgramDefinition(definition=ClassInfo() as info):
                decorated_class(frame, info)


def _mark_contents_unknown(analysis: AnalysisState, module: ModuleInfo, names: Set[str]) -> None:
    """Mark the registries (dicts, lists, and objects that hold some) under global names as holding unknown entries."""
    frame: Frame = analysis.module_frame(module)
    with write_to_base_heap(frame):
        for name in names:
            value = frame.state.names.get(name)
            thing = frame.object_of(value)
            held = thing.attributes.values() if isinstance(thing, Instance) else ()
            for one in (value, *held):
                _forget_entries(frame, one)


def _forget_entries(frame: Frame, value: Value | None) -> None:
    """Make the entries of a dict or list unknown; any other value is left as it is."""
    thing = frame.object_of(value)
    if isinstance(value, Ref) and isinstance(thing, Dict):
        frame.put(value.address, replace(thing, element=UNKNOWN))
    elif isinstance(value, Ref) and isinstance(thing, Sequence):
        frame.put(value.address, replace(with_fewer_items(thing), element=UNKNOWN))
