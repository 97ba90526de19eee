"""The assumptions of a finding, read from its event and its tensors' histories, and the confidence that they leave."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator
from typing import Final

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import DeviceSymbol, is_host
from devlint.domain.dtype import Dtype
from devlint.domain.path_conditions import NO_CONDITION, Atom, Conjunction, Literal, PathCondition, is_raised
from devlint.domain.placement import Assumption, Basis, Place, PlacementCase, Scope, Step, StepKind, history
from devlint.domain.questions import Question
from devlint.domain.record import replace
from devlint.domain.torch_names import ACCELERATOR_METHODS
from devlint.explain.device_texts import BACKEND_NAMES, literal_text, quoted_if_code
from devlint.explain.place_texts import place_text
from devlint.explain.value_guards import kind_guards_by_rank, rank_guards, size_guards, value_guards
from devlint.interpreter.conditions.condition_texts import ConditionText
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.function_roles import is_call_of_module
from devlint.interpreter.program.parameter_defaults import holds_with_defaults
from devlint.interpreter.state.events import DeviceConflict, Event, ModuleInputConflict, OperandConflict

_REQUESTS: Final = frozenset({StepKind.CREATED, StepKind.MOVED})
"""The kinds of steps in which the program itself asks for the device of a value, as in `device=x.device`."""


def assumptions(
    event: Event, *cases: PlacementCase | Dtype, when: PathCondition = NO_CONDITION
) -> tuple[Assumption, ...]:
    """Return what a finding on an event takes for granted about the placements and dtypes `cases` of its tensors.

    `when` are the conditions, besides the event's own, under which the tensors have them. Conditions that
    hold wherever the code is reached are no assumptions, as the code is wrong wherever it is reached.
    """
    passed = {
        case.device.origin
        for case in cases
        if isinstance(case, PlacementCase) and isinstance(case.device, DeviceSymbol) and case.basis is Basis.CALLER
    }
    tests = when | getattr(event, "when", NO_CONDITION) | event.context.supposed
    if passed:
        # A caller that sets no such flag has its tensors on the host.
        tests |= frozenset(filter(_turns_accelerator_off, event.context.path_condition))
    tests |= frozenset(value_guards(event))
    if any(_is_from_constructor(event, step) for case in cases for step in history(case.provenance)):
        tests |= frozenset(size_guards(event))
    if any(isinstance(case, Dtype) for case in cases):
        tests |= frozenset((*rank_guards(event), *kind_guards_by_rank(event)))
    beside_batch = bool(supposed_batches(*(case for case in cases if isinstance(case, PlacementCase))))
    found = [
        # A batch is on the host whatever the flag says that has moved what it meets.
        replace(one, kind=AssumptionKind.OPTION) if beside_batch and _flag(test) is True else one
        for test, one in _of_conditions(frozenset(one for one in tests if not _is_implied(one, passed)))
    ]
    for case in cases:
        found += _of_case(event, case)
    return tuple(dict.fromkeys(found))


def conflict_assumptions(event: DeviceConflict) -> tuple[Assumption, ...]:
    """Return what the claim that the two operands of a device conflict are on two devices takes for granted."""
    found = assumptions(event, event.misplaced.case, event.reference.case)
    if event.unseen:
        given = event.misplaced if event.reference.of_module is not None else event.reference
        clause = f"the module computes with `{place_text(given.place)}`, its code is not known"
        found = (*found, Assumption(AssumptionKind.UNSEEN_MODULE, clause, given.place))
    if isinstance(event, OperandConflict) and event.supposes_dimension:
        place = event.misplaced.place
        found = (*found, Assumption(AssumptionKind.DIMENSIONS, f"`{place_text(place)}` is not 0-dim", place))
    named = event.reference.case.placing_step
    if (
        named is None
        or not isinstance(event, (OperandConflict, ModuleInputConflict))
        or not (_is_of_module(named.scope) and _names_accelerator(named.place))
        or not _is_unmoved_parameter(event.misplaced.case)
    ):
        return found
    clause = "the module is run on the host, though its own code asks for the accelerator by name"
    return (*found, Assumption(AssumptionKind.HOST_MODULE, clause, named.place))


def _is_of_module(scope: Scope | None) -> bool:
    """Return whether the code of a module runs in a scope: a method, or what builds the module."""
    return scope is not None and (scope.method_of_module or scope.construction)


def _names_accelerator(place: Place) -> bool:
    """Return whether a call says `.cuda()`, or gives a device as a text, so that it asks for the same one always."""
    match place.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=args):
            return name in ACCELERATOR_METHODS or any(isinstance(one.value, cst.SimpleString) for one in args)
    return False


def _is_unmoved_parameter(case: PlacementCase) -> bool:
    """Return whether a tensor is on the host because it is, or comes from, a module's parameter that nobody moved."""
    first = next(reversed(list(history(case.provenance))), None)
    made_in_module = first is not None and first.scope is not None and first.scope.construction
    return made_in_module and case.basis is Basis.DEFAULT and is_host(case.device)


def supposed_types(*cases: PlacementCase) -> tuple[Assumption, ...]:
    """Return the suppositions that a value is a tensor, which rest on what the code does with it and calls things."""
    made = (step.assumption for case in cases for step in history(case.provenance))
    return tuple(one for one in made if one is not None and one.kind is AssumptionKind.TENSOR)


def supposed_batches(*cases: PlacementCase) -> tuple[Assumption, ...]:
    """Return the suppositions that a loader yields host tensors, for what a message says of the device of a batch."""
    made = (step.assumption for case in cases for step in history(case.provenance))
    return tuple(one for one in made if one is not None and one.kind is AssumptionKind.LOADER)


def _of_conditions(tests: PathCondition) -> Iterator[tuple[Literal, Assumption]]:
    """Yield each literal with its assumption, in the order of their texts; none for an accelerator that is available.

    Of several conditions that must hold together, each is an assumption of its own.
    """
    for test in sorted(frozenset(part for one in tests for part in _parts(one)), key=str):
        if not _says_available(test):
            text = quoted_if_code(literal_text(test))
            clause = _missing(test) or (f"{text} holds" if text.startswith("`") else text)
            yield test, Assumption(_kind_of_condition(test), clause, _place_of(test))


def _parts(test: Literal) -> Iterator[Literal]:
    """Yield the literals that must hold for a literal to hold: those of a conjunction, or the literal itself."""
    match test:
        case Literal(formula=Conjunction(tests=parts), holds=True):
            for part in parts:
                yield from _parts(part)
        case _:
            yield test


def _missing(test: Literal) -> str | None:
    """Return the clause for a literal which says that an accelerator is not available; None for any other literal."""
    match test.formula:
        case Atom(key=("available", str(type_))) if not test.holds:
            return f"there is no {BACKEND_NAMES.get(type_, 'accelerator')}"
    return None


def _kind_of_condition(test: Literal) -> AssumptionKind:
    """Return what sort of thing a finding takes for granted that only holds under a condition."""
    if is_about_option(test):
        return AssumptionKind.OPTION
    if is_raised(test):
        return AssumptionKind.CONDITION if test.holds else AssumptionKind.NO_EXCEPTION
    match test.formula:
        case Atom(key=("available", _)):
            return AssumptionKind.NO_ACCELERATOR
    return AssumptionKind.DEFAULT if holds_with_defaults(test) else AssumptionKind.CONDITION


def _is_implied(test: Literal, origins: Collection[Hashable]) -> bool:
    """Return whether a condition says no more than that there is a value which a finding supposes on an accelerator.

    `origins` are the identities of such values.
    """
    match test.formula:
        case Atom(question=Question(subject=subject, kind="Is", constant=None)):
            return not test.holds and subject in origins
        case Atom(question=Question(subject=subject, kind="true")):
            return test.holds and subject in origins
    return False


_FLAG: Final = re.compile(r"(?P<off>no_|disable_)?(?:\w*_)?(?:cuda|gpu)")
"""The names of flags that say whether a program is to use an accelerator, or is not to."""


def _turns_accelerator_off(test: Literal) -> bool:
    """Return whether a literal says that a flag, an argument or an attribute, asks for no accelerator."""
    return _flag(test) is False


def _flag(test: Literal) -> bool | None:
    """Return whether a literal says that a flag asks for an accelerator; None for a literal that is about no flag."""
    match test.formula:
        case Atom(question=Question(subject=("param" | "attr", _, str(name)), kind="true")):
            flag = _FLAG.fullmatch(name)
            return None if flag is None else test.holds is not (flag["off"] is not None)
    return None


def _place_of(test: Literal) -> Place | None:
    """Return the source location at which the program asks for a condition; None if no single place does."""
    match test.formula:
        case Atom(text=ConditionText() as text):
            return text.place
        case Conjunction(tests=tests):
            return next((place for one in sorted(tests, key=str) if (place := _place_of(one)) is not None), None)
    return None


def chooses_device(test: Literal) -> bool:
    """Return whether a literal says no more than that a program may use an accelerator, and is asked to."""
    match test.formula:
        case Conjunction(tests=tests):
            return test.holds and all(map(chooses_device, tests))
    return _says_available(test) or is_about_option(test)


def _says_available(test: Literal) -> bool:
    """Return whether a literal says no more than that an accelerator is available."""
    match test.formula:
        case Atom(key=("available", _)):
            return test.holds
        case Conjunction(tests=tests):
            return test.holds and all(map(_says_available, tests))
    return False


def is_about_option(test: Literal) -> bool:
    """Return whether a literal asks for the value of a command-line option."""
    match test.formula:
        case Atom(key=("default", _) | (_, ("option", *_), *_) | ("compare", _, ("option", *_), _)):
            return True
    return False


def _of_case(event: Event, case: PlacementCase | Dtype) -> Iterator[Assumption]:
    """Yield what a placement or dtype takes for granted: about the caller, and in the steps of its history."""
    for step in reversed(list(history(case.provenance))):
        if step.assumption is not None:
            yield step.assumption
        elif event.context.symbolic and _is_from_constructor(event, step):
            yield Assumption(AssumptionKind.CONSTRUCTED, "nothing has replaced what the constructor made", step.place)
    if isinstance(case, PlacementCase) and isinstance(case.device, DeviceSymbol) and case.basis is Basis.CALLER:
        message = f"{_owner(case.device)} {'is' if _is_device(case.device) else 'is on'} an accelerator"
        yield Assumption(_kind_of_caller(case, case.device), message, _introduction(case), case.device.origin)


def _kind_of_caller(case: PlacementCase, device: DeviceSymbol) -> AssumptionKind:
    """Return what sort of thing makes a device that code outside the program chooses an accelerator."""
    step = case.placing_step
    if _is_device(device) or (step is not None and step.kind in _REQUESTS) or _gives_device(device.origin):
        return AssumptionKind.DEVICE_ARGUMENT
    return AssumptionKind.MOVED_MODULE if _comes_with_module(device.origin) else AssumptionKind.CALLER


def _gives_device(origin: Hashable) -> bool:
    """Return whether a function places other tensors on the device of its argument: it may be anywhere."""
    match origin:
        case ("param", FunctionInfo() as info, str(name)):
            return name in info.evidence.device_givers
    return False


def _is_device(device: DeviceSymbol) -> bool:
    """Return whether a symbol stands for a device that has a name of its own, such as `self.device`."""
    return "device" in device.text.rpartition(".")[2]


def _comes_with_module(origin: Hashable) -> bool:
    """Return whether whoever moves a module decides on the device of an object: a module, or what it is called with.

    Other functions are as often called with host tensors, so that a caller with accelerator tensors is one more guess.
    """
    match origin:
        case ("own", _) | ("param", ClassInfo(), "self"):
            return True
        case ("param", FunctionInfo() as info, _):
            return is_call_of_module(info)
        case ("attr", ("param", ClassInfo(), "self"), _):
            # A field of a record, which whoever makes the record gives it.
            return False
        case ("attr" | "element" | "item", owner, *_):
            return _comes_with_module(owner)
    return False


def _owner(device: DeviceSymbol) -> str:
    """Return a phrase for the object whose device a symbol stands for: a quoted name, or words such as "the module"."""
    return device.text if device.text.startswith(("`", "the ")) else f"`{device.text}`"


def _introduction(case: PlacementCase) -> Place | None:
    """Return the source location at which the program takes a caller's tensor or module over; None if unknown."""
    step = case.placing_step
    return step.place if step is not None else None


def _is_from_constructor(event: Event, step: Step) -> bool:
    """Return whether a step happened while a module was built, and the event happens after that."""
    return step.scope is not None and step.scope.construction and not event.context.scope.construction
