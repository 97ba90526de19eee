"""The execution of a module's top level, in part deferred until a name is read.

Definitions are bound by name without being parsed. Statements that can place a tensor, and those with other effects
than binding names, run in order when the module is first needed. Plain bindings and imports wait until code reads their
name. Most constants of a library are never read, so a file is checked without reading the whole package around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import libcst as cst

from devlint.domain.heat import Heat
from devlint.domain.join import join
from devlint.domain.path_conditions import NO_CONDITION
from devlint.domain.placement import Scope
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    DeviceValue,
    LibraryName,
    OpaqueData,
    ProgramDefinition,
    Ref,
    Tensor,
    Unknown,
    Value,
)
from devlint.interpreter.driver.assembly import Interpreter
from devlint.interpreter.driver.deferred_registrations import (
    defer_registering_call,
    defer_registration,
    register_pending,
    run_registering_files,
)
from devlint.interpreter.language.import_bindings import imported_value
from devlint.interpreter.operations.accelerator_names import report_imported_accelerator_names
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.function_roles import holds_tests
from devlint.interpreter.program.placing_statements import EAGER_NAMES, may_place_tensors
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.analysis_state import AnalysisState
from devlint.interpreter.state.base_heap import write_to_base_heap
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.heap import Heap
from devlint.syntax.index import Binding, Statement

EFFECT_STATEMENTS: Final = ("for ", "while ", "with ", "async ")
"""The first words of statements that are run for their effects, whatever names they bind."""


COMPOUND_STATEMENTS: Final = (*EFFECT_STATEMENTS, "if ", "try")
"""The first words of statements of several lines, which may store something besides what they bind."""


def module_frame(analysis: AnalysisState, module: ModuleInfo) -> Frame:
    """Return the frame of a module's top level; the first call runs the top level, as a Python import would."""
    known: Frame | None = analysis.module_frames.get(module)
    if known is not None:
        return known
    unit = module.index.statements[0] if module.index.statements else None
    heat = Heat.OPEN if module.source.cells is None else Heat.CELL
    if holds_tests(module.path):
        heat = Heat.ONCE
    scope = Scope("module", module.filename, entry=True, heat=heat)
    frame = Interpreter(analysis, module, unit, scope, State({}, Heap(analysis.base_heap)))  # type: ignore[arg-type]
    analysis.module_frames[module] = frame
    defaults = analysis.torch_defaults.set_by_imports(module)
    if defaults is not None:
        frame.state.torch_state = replace(
            frame.state.torch_state, default_device=defaults.device, default_dtype=defaults.dtype
        )
    frame.state.names["__name__"] = Const(module.name)
    frame.state.names["__file__"] = Unknown(("file", module.filename), "__file__")
    waiting = frame.pending_statements
    tainted = set(EAGER_NAMES)
    undecided: set[str] = set()
    ended: Statement | None = None
    for unit in module.index.statements:
        frame.unit = unit
        is_related = not unit.mentions.isdisjoint(tainted)
        if unit.kind in ("function", "class") and unit.name is not None:
            waiting.pop(unit.name, None)
            if may_place_tensors(unit):
                tainted.add(unit.name)
            frame.state.names[unit.name] = define_unparsed(analysis, module, unit)
            defer_registration(frame, unit)
        elif unit.kind == "import":
            report_imported_accelerator_names(frame, unit)
            for binding in unit.imports:
                bound = binding.name in frame.state.names
                if _is_for_its_effect(module, binding):
                    _import(frame, binding)
                    _run_imported(frame, binding)
                elif bound or binding.name == "*":
                    _import(frame, binding)
                else:
                    waiting[binding.name] = [binding]
                    undecided.add(binding.name)
        elif ended is not None and _in_one_run(module, ended, unit):
            continue
        elif "__name__" in unit.mentions and unit.starts_with("if"):
            frame.main_guards.append(unit)
        elif not is_related and (
            _defer_with_its_data(frame, unit) or defer_registering_call(frame, unit, partial(_execute, frame, unit))
        ):
            continue
        elif (
            is_related
            or not unit.binds
            or unit.starts_with(*EFFECT_STATEMENTS)
            or not unit.binds.isdisjoint(frame.state.names)
            or _taint_imports(frame, unit, tainted, undecided)
        ):
            tainted |= unit.binds
            for name in unit.binds & waiting.keys():
                global_name(analysis, module, name)
            ended = None if _execute(frame, unit) else unit
            if is_related and (not unit.binds or unit.starts_with(*COMPOUND_STATEMENTS)):
                tainted |= _names_of_containers(frame, unit)
        else:
            for name in unit.binds:
                waiting.setdefault(name, []).append(unit)
    return frame


def _defer_with_its_data(frame: Frame, unit: Statement) -> bool:
    """Defer a loop that only reads and changes data for which nobody has asked so far; return False for other code.

    Such a loop calls no function of the program, and nothing of torch. It waits together with the statements that make
    its data: who asks for one of the names runs them all.
    """
    waiting, known = frame.pending_statements, frame.state.names
    if not unit.starts_with("for ") or not unit.mentions.isdisjoint(known.keys() - unit.binds):
        return False
    data = {name for name in unit.mentions & waiting.keys() if not _are_foreign_imports(frame, waiting[name])}
    names, group = set(unit.binds), {unit}
    while data:
        names |= data
        found = {one for name in data for one in waiting.get(name, ())}
        if not all(isinstance(one, Statement) and one.kind == "other" for one in found):
            return False
        group |= {one for one in found if isinstance(one, Statement)}
        data = {name for one in group for name in one.binds} - names
    if len(group) == 1:
        return False
    shared: list[Statement | Binding] = [*sorted(group, key=lambda one: one.first_row)]
    waiting.update(dict.fromkeys(names, shared))
    return True


def _are_foreign_imports(frame: Frame, units: Iterable[Statement | Binding]) -> bool:
    """Return whether deferred statements only import from outside of the program."""
    return all(
        isinstance(one, Binding) and frame.analysis.program.find(frame.module, one.module, one.level) is None
        for one in units
    )


def _in_one_run(module: ModuleInfo, ended: Statement, unit: Statement) -> bool:
    """Return whether a statement is not run where an earlier one raises.

    Who runs the cells of a notebook goes on behind one that raises.
    """
    cells = module.source.cells
    return cells is None or cells.in_one_cell(ended.last_row, unit.first_row)


def _names_of_containers(frame: Frame, unit: Statement) -> set[str]:
    """Return the names of lists, dicts and objects that a statement mentions: it may store tensors in them."""
    names = frame.state.names
    return {name for name in unit.mentions if isinstance(names.get(name), Ref)}


def _is_for_its_effect(module: ModuleInfo, binding: Binding) -> bool:
    """Return whether an import statement serves only to run the imported module.

    That is so if no other code of the file mentions the name that the import binds.
    """
    code = (unit for unit in module.index.statements if unit.kind != "import")
    return binding.attribute is None and not any(binding.name in unit.mentions for unit in code)


def _run_imported(frame: Frame, binding: Binding) -> None:
    """Run the module that an import names, if it is one of the program."""
    found = frame.analysis.program.find(frame.module, binding.module, binding.level)
    if found is not None:
        module_frame(frame.analysis, found)


def _taint_imports(frame: Frame, unit: Statement, tainted: set[str], undecided: set[str]) -> bool:
    """Add those imported names that a statement uses, and that can affect tensors, to the set `tainted`.

    Return whether there are any. A class that is neither called nor asked for an attribute is only handed on. All names
    that are judged are removed from `undecided`, the set of names that are still to be judged.
    """
    names = unit.mentions & undecided
    handed_on = {name for name in names if _is_class(frame, name) and not unit.uses(name)}
    names -= handed_on
    undecided -= names
    found = {name for name in names if _is_tensor_related(frame, name)}
    tainted |= found
    return bool(found)


def _is_class(frame: Frame, name: str) -> bool:
    """Return whether a global name is bound to a class of the program."""
    value = global_name(frame.analysis, frame.module, name)
    return isinstance(value, ProgramDefinition) and isinstance(value.definition, ClassInfo)


def _is_tensor_related(frame: Frame, name: str) -> bool:
    """Return whether an imported name can make, hold or move tensors.

    This holds for names of torch, for tensors, for files and definitions of the program that mention tensor-related
    names, and for names of libraries that one of devlint's model files describes.
    """
    value = global_name(frame.analysis, frame.module, name)
    if isinstance(value, LibraryName):
        return value.name.startswith("torch.") or frame.analysis.table.models.describe(value.name)
    if isinstance(value, (Tensor, Array, OpaqueData, Ref)):
        return True
    definition = value.definition if isinstance(value, ProgramDefinition) else None
    if isinstance(definition, ModuleInfo):
        return any(unit.mentions & EAGER_NAMES for unit in definition.index.statements)
    return isinstance(definition, (FunctionInfo, ClassInfo)) and may_place_tensors(definition.unit)


def run_main_guard(analysis: AnalysisState, module: ModuleInfo) -> None:
    """Run a file's `if __name__ == "__main__":` blocks."""
    frame = module_frame(analysis, module)
    if not any(analysis.facts.tensor_reach.reaches_tensors(module, unit) for unit in frame.main_guards):
        return
    before = frame.state.names["__name__"]
    frame.state.names["__name__"] = Const("__main__")
    for unit in frame.main_guards:
        _execute(frame, unit)
    frame.main_guards.clear()
    frame.state.names["__name__"] = before


def _execute(frame: Frame, unit: Statement) -> bool:
    """Execute a statement of a module's top level; what it writes to the heap is visible on all paths.

    Return whether the statements behind it may run: it does not surely raise, nor end the process.
    """
    before, frame.unit = frame.unit, unit
    with write_to_base_heap(frame), frame.analysis.contain_errors(frame.module.filename, "module"):
        frame.execute(frame.analysis.tree(unit))
    goes_on = frame.state.live
    frame.state.revive()
    frame.unit = before
    return goes_on


def define_unparsed(analysis: AnalysisState, module: ModuleInfo, unit: Statement) -> Value:
    """Return the function or class that a top-level statement defines, without parsing its body.

    For a statement that is nested too deeply to be parsed, the result is an unknown value.
    """
    if unit.too_deep:
        return Unknown(("unread", module.filename, unit.first_row), unit.name or "")
    if unit.kind == "function":
        return ProgramDefinition(
            analysis.function_definition(
                unit, lambda: FunctionInfo(unit.name or "", module, unit, lambda: _parse_function(analysis, unit))
            )
        )
    return ProgramDefinition(
        analysis.class_definition(
            unit, lambda: ClassInfo(unit.name or "", module, unit, lambda: _parse_class(analysis, unit))
        )
    )


def _parse_function(analysis: AnalysisState, unit: Statement) -> cst.FunctionDef:
    """Parse the top-level statement that defines a function, and return its syntax node."""
    tree = analysis.tree(unit)
    assert isinstance(tree, cst.FunctionDef)
    return tree


def _parse_class(analysis: AnalysisState, unit: Statement) -> cst.ClassDef:
    """Parse the top-level statement that defines a class, and return its syntax node."""
    tree = analysis.tree(unit)
    assert isinstance(tree, cst.ClassDef)
    return tree


def global_name(analysis: AnalysisState, module: ModuleInfo, name: str) -> Value | None:
    """Return the value of a module's global name or of a builtin; None if there is none.

    Deferred top-level statements that bind the name are run first. A constant that a function of the file replaces, or
    a flag that another file sets, may have been replaced before an outside caller's call.
    """
    frame = module_frame(analysis, module)
    # This runs for every global name that code reads: most calls below would do nothing.
    if (module, name) not in analysis.filled_registries:
        run_registering_files(analysis, module, name)
    if analysis.pending_registrations.registrars_by_name:
        register_pending(analysis, module, name)
    if name in frame.pending_statements:
        for unit in _take_pending(frame, name):
            _run_earlier(frame, unit, name)
            _bind_late(frame, unit)
    value = frame.state.names.get(name)
    if value is None:
        value = frame.late_bindings.get(name)
    if value is None and (name in BUILTINS or name == "reveal_placement"):
        return LibraryName(f"builtins.{name}")
    if value is None and name in OWN_NAMES and frame.star_imports:
        return LibraryName(name)
    if isinstance(value, Tensor) and value.empty_sizes is not None and analysis.symbolic:
        # Whoever calls the module's functions from outside may have put another tensor under the name by then.
        return replace(value, empty_sizes=None)
    if analysis.symbolic and isinstance(value, (Const, DeviceValue)) and _is_replaced(analysis, module, name, value):
        replaced = Unknown(("global", module.filename, name), name)
        return join(NONE, replaced) if value == NONE else replaced
    return value


def _is_replaced(analysis: AnalysisState, module: ModuleInfo, name: str, value: Const | DeviceValue) -> bool:
    """Return whether a function of a module replaces a constant of it, or another file sets a flag by the device.

    What is made where the name is still None (`if _cache is None:`) is what the code that makes it tells.
    """
    if name in module.rebound_globals:
        return value != NONE or name not in module.lazy_globals
    return (
        isinstance(value, Const)
        and isinstance(value.value, bool)
        and analysis.facts.outside_moves.may_replace(name, module, inside=False)
    )


def _take_pending(frame: Frame, name: str) -> Sequence[Statement | Binding]:
    """Return the deferred statements that bind or change a name, which wait no longer, whatever names they wait for."""
    waiting = frame.pending_statements
    taken = waiting.pop(name, ())
    if len(taken) > 1:
        for other in [other for other, units in waiting.items() if units is taken]:
            del waiting[other]
    return taken


def _run_earlier(frame: Frame, unit: Statement | Binding, name: str) -> None:
    """Run what binds the other names of a deferred statement before it, since the statement may read these names.

    The statement itself is then deferred no longer under the other names: it runs once for all of them.
    """
    for other in sorted(unit.binds) if isinstance(unit, Statement) else ():
        waiting = frame.pending_statements.get(other, [])
        if other == name or unit not in waiting:
            continue
        position = waiting.index(unit)
        frame.pending_statements[other] = waiting[:position]
        global_name(frame.analysis, frame.module, other)
        if waiting[position + 1 :]:
            frame.pending_statements[other] = waiting[position + 1 :]


def _bind_late(frame: Frame, unit: Statement | Binding) -> None:
    """Run a deferred top-level statement or import of a module, because code reads the name that it binds.

    It runs in a frame without path condition, so that the binding holds on every path.
    """
    late_frame = Interpreter(
        frame.analysis,
        frame.module,
        frame.unit,
        frame.scope,
        State({}, frame.state.heap, NO_CONDITION, frame.state.torch_state),
    )
    if isinstance(unit, Binding):
        _import(late_frame, unit)
    else:
        _execute(late_frame, unit)
    frame.state.heap, frame.state.torch_state = late_frame.state.heap, late_frame.state.torch_state
    frame.late_bindings.update(late_frame.state.names)
    frame.state.names.update(late_frame.state.names)


def known_names(analysis: AnalysisState, module: ModuleInfo) -> set[str]:
    """Return the global names that a module has bound so far, and those that its deferred imports will bind."""
    frame: Frame | None = analysis.module_frames.get(module)
    if frame is None:
        return set()
    waiting = frame.pending_statements
    imported = {name for name, units in waiting.items() if all(isinstance(unit, Binding) for unit in units)}
    return imported | frame.state.names.keys()


def module_member(analysis: AnalysisState, module: ModuleInfo, name: str) -> Value | None:
    """Return the value that `from module import name` binds: a global name or a submodule; None if there is neither."""
    value = global_name(analysis, module, name)
    if value is not None and not (isinstance(value, LibraryName) and value.name.startswith("builtins.")):
        return value
    child = analysis.program.find(module, name, 1) if module.is_package else None
    return ProgramDefinition(child) if child is not None else None


def _import(frame: Frame, binding: Binding) -> None:
    """Bind the one name that an import binds, such as `c` of `from a import b as c`."""
    if binding.name == "*":
        _import_star(frame, binding)
    else:
        frame.bind(binding.name, imported_value(frame, binding.module, binding.attribute, binding.level, binding.name))


def _import_star(frame: Frame, binding: Binding) -> None:
    """Execute `from module import *`: bind the exported names of a module of the program.

    If the module is not part of the program, its dotted name is recorded: it may have brought any name (`OWN_NAMES`).
    """
    found = frame.analysis.program.find(frame.module, binding.module, binding.level)
    if found is None:
        frame.star_imports.append(binding.module)
        return
    names = found.index.exports
    if "__all__" not in found.index.bound:
        # What the module has got by star imports of its own is not in its text.
        frame.analysis.module_frame(found)
        names |= {name for name in known_names(frame.analysis, found) if not name.startswith("_")}
    for name in names:
        value = module_member(frame.analysis, found, name)
        frame.bind(name, value if value is not None else UNKNOWN)


BUILTINS: Final = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
"""The names of Python's builtins."""

OWN_NAMES: Final = frozenset({"torch", "torchvision", "torchaudio", "numpy"})
"""The libraries that programs bind to their own names, so that such a name is the library, whoever has imported it."""
