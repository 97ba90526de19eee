"""The two kinds of entry into a file: running it as a program, and calling its definitions with symbolic arguments.

Running it as a program means its top level and its `if __name__ == "__main__":` blocks. Any of its definitions may be
called by code outside the analysed program.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Final

from devlint.diagnostic import AssumptionKind
from devlint.domain.dtype import COMPLEX, UNKNOWN_DTYPE, Dtype, DtypeSymbol, is_floating, promotion_category
from devlint.domain.join import alternatives
from devlint.domain.path_conditions import NO_CONDITION, Literal, entails
from devlint.domain.placement import UNKNOWN_PLACEMENT, Assumption, Placement, Scope, StepKind
from devlint.domain.value import Array, ProgramDefinition, Ref, Tensor, Value, named_placement
from devlint.interpreter.calls.construction import construct
from devlint.interpreter.conditions.narrowing import truth_condition
from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.assembly import Interpreter
from devlint.interpreter.driver.idle_methods import idle_methods
from devlint.interpreter.driver.module_execution import global_name, known_names, module_frame, run_main_guard
from devlint.interpreter.driver.returned_functions import returned_functions
from devlint.interpreter.driver.symbolic_arguments import symbolic_arguments, symbolic_fields
from devlint.interpreter.modules.library_methods import framework_arguments, runs_without_autograd
from devlint.interpreter.objects.builtin_bases import forget_contents
from devlint.interpreter.objects.class_hierarchy import (
    ancestors,
    defined_class,
    find_method,
    has_unknown_base,
    is_module_class,
)
from devlint.interpreter.objects.data_classes import data_fields
from devlint.interpreter.objects.module_state import module_tensors, move_registered_tensors, overrides_apply
from devlint.interpreter.objects.moved_modules import forget_moved_modules, forget_plain_placements
from devlint.interpreter.objects.placeholders import (
    empty_placeholders,
    forget_attributes,
    forget_placeholders,
    forget_placeholders_of_submodules,
    forget_sizes_of_placeholders,
    forget_tensors_replaced_from_outside,
)
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.function_roles import is_test
from devlint.interpreter.program.guarded_calls import guards_of_calls
from devlint.interpreter.program.private_definitions import callers_first, is_private_name
from devlint.interpreter.program.relevance import Relevance
from devlint.interpreter.state.abstract_state import State, TorchState
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.heap import Heap
from devlint.interpreter.state.private_call_sites import PrivateCallSites
from devlint.syntax.index import Statement
from devlint.syntax.text_words import has_word

NARROW_FLOATS: Final = frozenset({"float32", "float16", "bfloat16"})
"""The dtypes of the weights of nearly all modules."""

MAX_MAKERS: Final = 2
"""The number of functions up to which a function made by a function made by a function is followed."""


def analyse_file(analysis: Analysis, module: ModuleInfo, *, even_irrelevant: bool = False) -> None:
    """Run a file as a program, then analyse each of its definitions as called from outside, callers before callees.

    A file whose import fails runs nowhere: nothing is done. With `even_irrelevant`, the definitions that can hold no
    finding are not skipped.
    """
    if analysis.facts.failing_imports.stop(module):
        return
    run_as_program(analysis, module)
    for unit in callers_first(module.index.statements):
        analyse_definition(analysis, module, unit, even_irrelevant=even_irrelevant)


def run_as_program(analysis: Analysis, module: ModuleInfo) -> None:
    """Run a file's top level and then its `if __name__ == "__main__":` blocks."""
    analysis.private_call_sites, analysis.torch_defaults.entry_module = PrivateCallSites(module), module
    with analysis.new_entry(symbolic=False):
        for imported in analysis.facts.default_setters.imported_by(module):
            module_frame(analysis, imported)
        module_frame(analysis, module)
        run_main_guard(analysis, module)


def analyse_definition(
    analysis: Analysis, module: ModuleInfo, unit: Statement, *, even_irrelevant: bool = False
) -> bool:
    """Analyse a top-level function or class as called from outside the program, with symbolic arguments.

    A definition that cannot reach code which makes, moves, casts or reads a tensor is skipped, unless
    `even_irrelevant` asks for it. Return False if it is skipped for the names that it mentions itself, whatever is
    behind them.
    """
    if unit.kind not in ("function", "class"):
        return False
    if not even_irrelevant:
        if not _is_relevant(analysis, module, unit):
            return False
        if not analysis.facts.tensor_reach.reaches_tensors(module, unit):
            return True
    analysis.torch_defaults.entry_module = module
    definition = _definition_of(analysis, module, unit.name)
    if unit.kind == "function":
        _analyse_function(analysis, module, definition)
    else:
        _analyse_class(analysis, module, definition, even_irrelevant=even_irrelevant)
    return True


def _is_relevant(analysis: Analysis, module: ModuleInfo, unit: Statement) -> bool:
    """Return whether a definition can make, move, cast or read a tensor, so that it is worth analysing.

    It can if it mentions a tensor-related name, or a global name that holds a tensor. A class also can if it mentions
    such a function of its module, because methods pass on their module's placement. A function also can if it calls
    two definitions that can, or their attributes, because it may hand what one of them makes to the other. One that
    only names a class, as an annotation or a setting of the one function that it calls, makes nothing of it: a library
    of models has thousands of those.
    """
    relevance = analysis.facts.relevance
    if relevance.works_on_tensors(unit) or (unit.kind == "class" and relevance.keeps_modules_in_containers(unit)):
        return True
    wanted = 1 if unit.kind == "class" else 2
    for name in unit.mentions & known_names(analysis, module):
        value = global_name(analysis, module, name)
        wanted -= _counts(relevance, unit, name, value)
        if wanted == 0 or isinstance(value, Tensor):
            return True
    return False


def _giving_names(analysis: Analysis, info: ClassInfo) -> Iterator[str]:
    """Yield the global names that a class mentions and that are tensors, or code that may give or change some."""
    relevance = analysis.facts.relevance
    for name in info.unit.mentions & known_names(analysis, info.module):
        value = global_name(analysis, info.module, name)
        helper = value.definition if isinstance(value, ProgramDefinition) else None
        if isinstance(helper, FunctionInfo):
            # It may work on the object, too.
            counts = relevance.touches_tensors(helper.unit)
        else:
            counts = _counts(relevance, info.unit, name, value)
        if counts:
            yield name


def _counts(relevance: Relevance, unit: Statement, name: str, value: Value | None) -> bool:
    """Return whether what a name in a definition stands for makes the definition worth analysing.

    A class uses what its base class holds, and the tensors that the classes of its parts make and give away. What it
    calls a part with shows whether the modules that the part keeps in a container have to be moved.
    """
    if isinstance(value, Tensor):
        return True
    helper = value.definition if isinstance(value, ProgramDefinition) else None
    if not isinstance(helper, (FunctionInfo, ClassInfo)) or (unit.kind == "function" and not unit.uses(name)):
        return False
    if isinstance(helper, FunctionInfo):
        if relevance.gives_tensors(helper.unit):
            return True
        return (
            unit.kind == "class" and _keeps_result(unit, name) and relevance.returns_modules_in_containers(helper.unit)
        )
    if unit.kind == "function" or name in unit.bases:
        return relevance.works_on_tensors(helper.unit)
    if relevance.gives_made_tensors(helper.unit):
        return True
    return relevance.keeps_modules_in_containers(helper.unit) and _keeps_result(unit, name)


def _keeps_result(unit: Statement, name: str) -> bool:
    """Return whether a class assigns what a function or class of this name makes to an attribute of `self`."""
    # To make a pattern of every name takes longer than to look for the name.
    return unit.uses(name) and re.search(rf"self\.\w+\s*(?::[^=\n]+)?=\s*{name}\s*\(", unit.text) is not None


def _definition_of(analysis: Analysis, module: ModuleInfo, name: str | None) -> object:
    """Return the function or class of the program that a global name is bound to; None for any other value."""
    frame = module_frame(analysis, module)
    value = frame.state.names.get(name or "")
    return value.definition if isinstance(value, ProgramDefinition) else None


def _outside_frame(analysis: Analysis, module: ModuleInfo, info: FunctionInfo | ClassInfo) -> Frame:
    """Return a frame that stands for the unknown caller outside the program."""
    scope = Scope("", module.filename, entry=True)
    defaults = analysis.torch_defaults.defaults_for(module)
    torch_state = TorchState(default_device=defaults.device, default_dtype=defaults.dtype)
    state = State({}, Heap(analysis.base_heap), NO_CONDITION, torch_state)
    return Interpreter(analysis, module, info.unit, scope, state)


def _analyse_function(analysis: Analysis, module: ModuleInfo, info: object) -> None:
    """Call a function with symbolic arguments, as code outside the program may do.

    A function without parameters is skipped if it has been run already.
    """
    if not isinstance(info, FunctionInfo):
        return
    with analysis.contain_errors(module.filename, info.name), analysis.new_entry(symbolic=bool(info.parameters)):
        if info.node in analysis.executed_nodes and not info.parameters:
            return
        frame = _outside_frame(analysis, module, info)
        made = frame.call_function(info, None, symbolic_arguments(frame, info, skip_first=False), entry=True)
        if not is_test(info):
            _analyse_returned_functions(frame, made)


def _analyse_returned_functions(frame: Frame, made: Value, levels: int = MAX_MAKERS) -> None:
    """Call the inner functions in a returned value `made` with symbolic arguments, as whoever gets them may do.

    They may make functions in turn; `levels` is the number of such makers that are followed.
    """
    after = frame.state
    if not after.live or levels == 0:
        return
    for inner in returned_functions(frame, made):
        with frame.analysis.new_entry(symbolic=True):
            frame.state = after.fork()
            arguments = symbolic_arguments(frame, inner, skip_first=False)
            _analyse_returned_functions(frame, frame.call_function(inner, None, arguments, entry=True), levels - 1)
    frame.state = after


def _analyse_class(analysis: Analysis, module: ModuleInfo, info: object, *, even_irrelevant: bool) -> None:
    """Analyse a class as code outside the program may use it: construct an object and call its methods."""
    if not isinstance(info, ClassInfo):
        return
    with analysis.contain_errors(module.filename, info.name), analysis.new_entry(symbolic=True):
        _construct_and_call(analysis, module, info, even_irrelevant=even_irrelevant)


def _construct_and_call(analysis: Analysis, module: ModuleInfo, info: ClassInfo, *, even_irrelevant: bool) -> None:
    """Make an object of a class from symbolic arguments, move it to an unknown device, and call each of its methods.

    Each method call starts from the abstract state after construction. A method that replaces a tensor without elements
    is called a second time, with whatever an earlier call has left there. Methods that can hold no finding are left
    out, unless `even_irrelevant` asks for them.
    """
    frame = _outside_frame(analysis, module, info)
    initializer = find_method(frame, info, "__init__")
    analysis.run_in_constructors.clear()
    fields = data_fields(frame, info)
    if initializer is not None:
        # An inherited constructor has its parameters in the text of another class.
        around = _outside_frame(analysis, initializer.module, initializer)
        around.state = frame.state
        arguments = symbolic_arguments(around, initializer, skip_first=True)
    else:
        arguments = symbolic_fields(frame, info, fields) if fields is not None else Arguments(info.node)
    before = frame.state.heap.fork()
    reference = construct(frame, info, arguments, info.node)
    # Whatever stops its constructor here, other code makes objects of the class.
    frame.state.revive()
    if not isinstance(reference, Ref):
        return
    analysis.symbolic_instances.add(reference.address)
    analysis.symbolic_parts.update(address for address, _ in frame.state.heap.written_since(before))
    built = set(analysis.run_in_constructors)
    forget_contents(frame, reference)
    is_module = is_module_class(frame, info)
    if is_module and not analysis.private_call_sites.are_modules_on_host(info):
        _move_to_symbolic_device(frame, reference, info)
    elif not is_module and has_unknown_base(frame, info):
        _forget_placements_of_modules(frame, reference)
    if not is_module:
        given = [one.name for one in fields or () if one.is_argument]
        forget_tensors_replaced_from_outside(frame, reference, info, given)
    forget_placeholders_of_submodules(frame, reference, built)
    forget_sizes_of_placeholders(frame, reference)
    earlier, analysis.executed_nodes = analysis.executed_nodes, set()
    left: dict[str, FunctionInfo] = {}
    idle = frozenset() if even_irrelevant else idle_methods(frame, reference, info, _giving_names(analysis, info))
    try:
        for name, method in info.methods.items():
            found = analysis.method_definition(method)
            if name == "__init__" or name in idle or found in built or "overload" in found.decorator_names:
                continue
            if _is_called_from_outside(info, name):
                _call_first_and_later(frame, reference, info, name, found, built)
            elif name not in info.module.construction_functions:
                left[name] = found
        for name, found in left.items():
            # The class calls it only where calls are not followed any more, or never.
            if found.node not in analysis.executed_nodes:
                _call_first_and_later(frame, reference, info, name, found, built)
        if is_module:
            for name, method in _inherited_callers(frame, info).items():
                if name in idle:
                    continue
                found = analysis.method_definition(method)
                around = _outside_frame(analysis, found.module, found)
                around.state = frame.state
                _call_first_and_later(around, reference, info, name, found, built)
    finally:
        analysis.executed_nodes |= earlier


def _inherited_callers(frame: Frame, info: ClassInfo) -> dict[str, FunctionInfo]:
    """Return the inherited methods that call methods of the class itself, by name.

    With the methods of another class they do something else. Private ones run where the others call them.
    """
    inherited: dict[str, FunctionInfo] = {}
    for one in ancestors(frame, info)[1:]:
        base = defined_class(one)
        if base is not None:
            inherited = {**base.methods, **inherited}
    called = {f"self.{name}" for name in info.methods if name != "__init__"}
    callers: dict[str, FunctionInfo] = {}
    while True:
        more = {
            name: method
            for name, method in inherited.items()
            if name not in info.methods and name not in callers and not called.isdisjoint(method.evidence.modules)
        }
        if not more:
            break
        callers |= more
        called |= {f"self.{name}" for name in more}
    return {name: method for name, method in callers.items() if not is_private_name(name) and name != "__init__"}


def _call_first_and_later(
    frame: Frame, reference: Ref, info: ClassInfo, name: str, method: FunctionInfo, built: set[FunctionInfo]
) -> None:
    """Call a method of an object as code outside the program may do; the state stays as it is.

    A method that replaces a tensor without elements is called a second time, with whatever the first call left there.
    """
    before = frame.state
    frame.state = before.fork()
    _call_method(frame, reference, info, name, method, built)
    frame.state = before
    replaced = empty_placeholders(frame, reference, method)
    if replaced:
        frame.state = before.fork()
        forget_attributes(frame, reference, replaced)
        _call_method(frame, reference, info, name, method, built)
        frame.state = before


def _call_method(
    frame: Frame, reference: Ref, info: ClassInfo, name: str, method: FunctionInfo, built: set[FunctionInfo]
) -> None:
    """Call a method of an object with symbolic arguments, and what it returns, as code outside the program may do."""
    with frame.analysis.new_entry(symbolic=True):
        forget_placeholders(frame, reference, info, method, built)
        if not is_module_class(frame, info):
            forget_moved_modules(frame, reference, info, method, built)
        receiver: Value | None = reference
        if "staticmethod" in method.decorator_names:
            receiver = None
        elif "classmethod" in method.decorator_names:
            receiver = ProgramDefinition(info)
        arguments = symbolic_arguments(frame, method, skip_first=receiver is not None)
        arguments = framework_arguments(frame, reference, name, arguments)
        forward = name == "forward" and is_module_class(frame, info)
        if runs_without_autograd(frame, reference, method):
            frame.set_torch_state({"grad": False})
        _assume_guards(frame, reference, info, method)
        made = frame.call_function(method, receiver, arguments, is_module=forward, entry=True)
        _analyse_returned_functions(frame, made)


def _assume_guards(frame: Frame, reference: Ref, info: ClassInfo, method: FunctionInfo) -> None:
    """Assume what all calls of a method ask of its object first, where the class alone calls the method."""
    name = method.name.rpartition(".")[2]
    if name == "forward" or has_unknown_base(frame, info) or method not in info.methods.values():
        return
    guards = guards_of_calls(info, name)
    if not guards or _is_named_by_importers(frame, info.module, name):
        return
    for guard in guards:
        value = frame.get_attribute(reference, guard.attribute, guard.node)
        test = None if isinstance(value, Tensor | Array) else truth_condition(frame, value, guard.node)
        if isinstance(test, Literal) and entails(frame.state.path_condition, test) is None:
            frame.state.assume(test if guard.holds else ~test)


def _is_named_by_importers(frame: Frame, module: ModuleInfo, name: str) -> bool:
    """Return whether a file that imports another one has a name in its text."""
    facts = frame.analysis.facts
    found = (facts.program.load(path) for path in facts.imports.importers_of(module.path) if path != module.path)
    return any(one is not None and has_word(one.source.text, name) for one in found)


def _is_called_from_outside(info: ClassInfo, name: str) -> bool:
    """Return whether code outside the program may call a method of a class.

    It does not call private methods that the class itself calls, nor methods that only serve to construct objects: the
    analysis runs both kinds where the class calls them, and a private method on its own if no call was followed so far.
    """
    kept = (
        is_private_name(name) and f"self.{name}" in info.evidence.modules
    ) or name in info.module.construction_functions
    return not kept


def _move_to_symbolic_device(frame: Frame, reference: Ref, info: ClassInfo) -> None:
    """Move a module's registered tensors to a symbolic device, in a symbolic dtype, as an outside caller may do.

    A module that holds float64 beside other floating dtypes keeps them, on the assumption that nobody casts it: most
    often it is a table of NumPy's that nobody meant to be float64.
    """
    tensors = [one for buffers in (False, True) for _, one in module_tensors(frame, reference, buffers=buffers)]
    dtypes = {frame.resolve(one).dtype.name for one in tensors}
    mixes_float64 = "float64" in dtypes and not dtypes.isdisjoint(NARROW_FLOATS)
    own = named_placement(
        ("param", info, "self"),
        "the module",
        frame.step(StepKind.CALLER, "whoever uses the module chooses its device", info.node.name),
    )

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        if not mixes_float64:
            return own, _dtype_after_outside_cast(dtype, ("param", info, "self"))
        if dtype.provenance is None:
            return own, dtype
        uncast = Assumption(AssumptionKind.UNCAST, "nobody casts the module", dtype.provenance.place)
        return own, replace(dtype, provenance=replace(dtype.provenance, assumption=uncast))

    move_registered_tensors(frame, reference, change)
    thing = frame.instance(reference)
    if thing is not None and overrides_apply(frame, thing):
        forget_plain_placements(frame, reference)


def _dtype_after_outside_cast(dtype: Dtype, module: Hashable) -> Dtype:
    """Return the dtype of a module's tensor once an outside caller may have cast the module to another dtype.

    A cast of a module changes its floating tensors, all of which then have one dtype, and no integers.
    """
    if dtype.name is None or dtype.name in COMPLEX:
        return UNKNOWN_DTYPE
    if not is_floating(dtype.name):
        return dtype
    return Dtype(symbol=DtypeSymbol(module, "the module", promotion_category(dtype.name)))


def _forget_placements_of_modules(frame: Frame, reference: Ref) -> None:
    """Set the placements of the modules held by an object to unknown.

    It is used for an object whose class may itself be an nn.Module, since one of its base classes is unknown: an
    outside caller may have moved it, with the modules that it holds.
    """
    thing = frame.instance(reference)
    for value in thing.attributes.values() if thing is not None else ():
        for one in alternatives(value):
            move_registered_tensors(frame, one, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))
