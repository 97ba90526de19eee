"""The two ways into code: as it runs (a file's top level and its main guard), and as anyone may call it (symbolic
arguments)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.join import alternatives
from devlint.domain.path_conditions import NO_CONDITION
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement, Scope, StepKind
from devlint.domain.value import DeviceValue, ProgramDefinition, Ref, Tensor, Value, named_placement
from devlint.interpreter.calls.construction import construct
from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.assembly import Interpreter
from devlint.interpreter.driver.module_execution import global_name, known_names, module_frame, run_main_guard
from devlint.interpreter.driver.symbolic_arguments import symbolic_arguments, symbolic_fields
from devlint.interpreter.modules.library_methods import framework_arguments
from devlint.interpreter.objects.builtin_bases import forget_contents
from devlint.interpreter.objects.class_hierarchy import find_method, has_unknown_base, is_module_class
from devlint.interpreter.objects.data_classes import data_fields
from devlint.interpreter.objects.module_state import move_registered_tensors, overrides_apply
from devlint.interpreter.objects.placeholders import forget_placeholders, forget_placeholders_of_submodules
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.private_definitions import callers_first, is_private_name
from devlint.interpreter.program.relevance import TENSOR_RELATED_NAMES
from devlint.interpreter.state.abstract_state import State, TorchState
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.heap import Heap
from devlint.interpreter.state.private_call_sites import PrivateCallSites
from devlint.syntax.index import Statement

CONTAINER_ATTRIBUTE: Final = re.compile(r"self\.\w+\s*(?::[^=\n]+)?=\s*[\[{(]")
"""A list, dict or tuple made an attribute, which hides modules from `.to()`."""


def analyse_file(analysis: Analysis, module: ModuleInfo) -> None:
    """Run one file in both ways."""
    run_as_program(analysis, module)
    for unit in callers_first(module.index.statements):
        analyse_definition(analysis, module, unit)


def run_as_program(analysis: Analysis, module: ModuleInfo) -> None:
    """The first way: the file as it runs."""
    analysis.private_call_sites, analysis.torch_defaults.entered = PrivateCallSites(module), module
    with analysis.new_entry(symbolic=False):
        module_frame(analysis, module)
        run_main_guard(analysis, module)


def analyse_definition(analysis: Analysis, module: ModuleInfo, unit: Statement) -> bool:
    """The second way: what a statement of the file's top level defines, if it matters, as anyone may call it.

    Whether it does matter.
    """
    if unit.kind not in ("function", "class") or not _matters(analysis, module, unit):
        return False
    analysis.torch_defaults.entered = module
    definition = _definition(analysis, module, unit.name)
    if unit.kind == "function":
        _analyse_function(analysis, module, definition)
    else:
        _analyse_class(analysis, module, definition)
    return True


def _matters(analysis: Analysis, module: ModuleInfo, unit: Statement) -> bool:
    """Whether a definition can make, move, cast or read a tensor; by a name of the module, too, that holds a tensor or
    (in the methods of a class, which hand on where they are) a function that can."""
    if unit.mentions & TENSOR_RELATED_NAMES or ("forward" in unit.mentions and CONTAINER_ATTRIBUTE.search(unit.text)):
        return True
    for name in unit.mentions & known_names(module):
        match global_name(analysis, module, name):
            case Tensor():
                return True
            case ProgramDefinition(definition=FunctionInfo() as helper) if unit.kind == "class":
                if helper.unit.mentions & TENSOR_RELATED_NAMES:
                    return True
    return False


def _definition(analysis: Analysis, module: ModuleInfo, name: str | None) -> object:
    frame = module_frame(analysis, module)
    value = frame.state.names.get(name or "")
    return value.definition if isinstance(value, ProgramDefinition) else None


def _outside(analysis: Analysis, module: ModuleInfo, info: FunctionInfo | ClassInfo) -> Frame:
    """The caller nobody knows."""
    scope = Scope("", module.filename, entry=True)
    defaults = analysis.torch_defaults.holding_in(analysis.program, module)
    torch_state = TorchState(default_device=defaults.device, default_dtype=defaults.dtype)
    state = State({}, Heap(analysis.base_heap), NO_CONDITION, torch_state)
    return Interpreter(analysis, module, info.unit, scope, state)


def _analyse_function(analysis: Analysis, module: ModuleInfo, info: object) -> None:
    if not isinstance(info, FunctionInfo):
        return
    with analysis.contain_errors(module.filename, info.name), analysis.new_entry(symbolic=bool(info.parameters)):
        if info.node in analysis.executed_nodes and not info.parameters:
            return
        frame = _outside(analysis, module, info)
        frame.call_function(info, None, symbolic_arguments(frame, info, skip_first=False), entry=True)


def _analyse_class(analysis: Analysis, module: ModuleInfo, info: object) -> None:
    if not isinstance(info, ClassInfo):
        return
    with analysis.contain_errors(module.filename, info.name), analysis.new_entry(symbolic=True):
        _construct_and_call(analysis, module, info)


def _construct_and_call(analysis: Analysis, module: ModuleInfo, info: ClassInfo) -> None:
    """Build the object from symbolic arguments, let somebody move it, and call each method on it as it then is."""
    frame = _outside(analysis, module, info)
    initializer = find_method(frame, info, "__init__")
    analysis.run_in_constructors.clear()
    fields = data_fields(frame, info)
    if initializer is not None:
        arguments = symbolic_arguments(frame, initializer, skip_first=True)
    else:
        arguments = symbolic_fields(frame, info, fields) if fields is not None else Arguments(info.node)
    reference = construct(frame, info, arguments, info.node)
    if not isinstance(reference, Ref):
        return
    built = set(analysis.run_in_constructors)
    forget_contents(frame, reference)
    is_module = is_module_class(frame, info)
    if is_module and not analysis.private_call_sites.keeps(info):
        _settle_anywhere(frame, reference, info)
    elif not is_module and has_unknown_base(frame, info):
        _lose_modules(frame, reference)
    forget_placeholders_of_submodules(frame, reference, built)
    after = frame.state
    for name, method in info.methods.items():
        found = analysis.method(method)
        if name == "__init__" or found in built or not _is_called_from_outside(info, name, found):
            continue
        with analysis.new_entry(symbolic=True):
            frame.state = after.fork()
            forget_placeholders(frame, reference, info, found, built)
            receiver: Value | None = reference
            if "staticmethod" in found.decorator_names:
                receiver = None
            elif "classmethod" in found.decorator_names:
                receiver = ProgramDefinition(info)
            arguments = symbolic_arguments(frame, found, skip_first=receiver is not None)
            arguments = framework_arguments(frame, reference, name, arguments)
            frame.call_function(found, receiver, arguments, is_module=is_module and name == "forward", entry=True)


def _is_called_from_outside(info: ClassInfo, name: str, method: FunctionInfo) -> bool:
    """Whether the method is one that others call; what a class keeps to itself is run where it calls it, and what only
    serves to make objects while they are made, before anybody can move them."""
    kept = (is_private_name(name) and f"self.{name}" in info.evidence.modules) or name in info.module.building
    return "overload" not in method.decorator_names and not kept


def _settle_anywhere(frame: Frame, reference: Ref, info: ClassInfo) -> None:
    """A module that somebody may have moved: what is registered is where they chose, in the precision they chose."""
    own = named_placement(
        ("param", info, "self"),
        "the module",
        frame.step(StepKind.CALLER, "the module may be on any device", info.node.name),
    )

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        return own, UNKNOWN_DTYPE

    move_registered_tensors(frame, reference, change)
    thing = frame.instance(reference)
    if thing is not None and overrides_apply(frame, thing):
        # The class moves its plain tensors itself, and keeps its own account of its device.
        frame.put(
            reference.address,
            replace(thing, attributes={name: _lost(value) for name, value in thing.attributes.items()}),
        )


def _lose_modules(frame: Frame, reference: Ref) -> None:
    """An object whose class may be a module for all that is known: somebody may have moved the modules it holds."""
    thing = frame.instance(reference)
    for value in thing.attributes.values() if thing is not None else ():
        for one in alternatives(value):
            move_registered_tensors(frame, one, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))


def _lost(value: Value) -> Value:
    if isinstance(value, DeviceValue):
        return DeviceValue()
    return replace(value, placement=UNKNOWN_PLACEMENT) if isinstance(value, Tensor) and value.cell is None else value
