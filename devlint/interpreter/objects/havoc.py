"""Havoc: what code unknown to devlint may do to its arguments and to the unfinished work of the accelerator."""

from __future__ import annotations

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.record import replace
from devlint.domain.value import UNKNOWN, ConditionalValue, ProgramDefinition, Ref, Tensor, Unknown, Value
from devlint.interpreter.objects.absent_attributes import OPTIONS_CLASSES
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method
from devlint.interpreter.objects.module_containers import module_of_part
from devlint.interpreter.objects.module_state import ANY_PART, is_module, move_registered_tensors
from devlint.interpreter.objects.moved_modules import forget_held_modules
from devlint.interpreter.objects.optimizer_state import forget_state
from devlint.interpreter.objects.unseen_parts import as_unseen_part, forget_inside
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.unknown_records import unknown_object_site, unknown_object_state


def havoc(frame: Frame, arguments: Arguments) -> None:
    """Make the placements of modules and unknown objects unknown after unknown code has received them as arguments.

    The same holds for the modules that a container or a plain object holds, and for the tensors in plain attributes of
    a module, and in a container that such an attribute keeps. The code may also have added entries to a dict or options
    to a parser, and called the functions among its arguments.
    """
    for argument in arguments:
        value = argument.value
        forget_state(frame, value)
        if isinstance(value, Ref) and not frame.analysis.construction_depth:
            _forget_plain_tensors(frame, value)
        thing = frame.object_of(value)
        if isinstance(value, Ref) and isinstance(thing, Dict):
            frame.put(value.address, replace(thing, is_open=True))
        if isinstance(value, Ref) and isinstance(thing, Instance) and thing.cls in OPTIONS_CLASSES:
            frame.put(value.address, thing.with_attribute(ANY_PART, UNKNOWN))
        if isinstance(value, Ref) and is_module(frame, value):
            move_registered_tensors(frame, value, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))
        elif (module := module_of_part(as_unseen_part(frame, value))) is not None:
            forget_inside(frame, module)
        elif isinstance(value, Unknown) and value.origin is not None:
            record = unknown_object_state(frame, value)
            if record is not None and record.cell is not None:
                frame.put(unknown_object_site(value), replace(record, cell=None))
        else:
            forget_held_modules(frame, value)
    may_call_back(frame, arguments)


def forget_changed_attributes(frame: Frame, receiver: Value | None, method: FunctionInfo) -> None:
    """Make unknown the placements of the plain tensors of an object that a method changes, where it is not followed.

    Those are in attributes that the method binds or stores into, itself or by other methods of the object.
    """
    thing = frame.instance(receiver)
    if thing is None or not isinstance(receiver, Ref) or frame.analysis.construction_depth:
        return
    plain = {name: one for name, one in thing.attributes.items() if name not in thing.registered}
    held = {name for name, one in plain.items() if isinstance(one, (Tensor, ConditionalValue, Ref))}
    changed = _changed_attributes(frame, thing, method) & held if held else ()
    if changed:
        frame.put(
            receiver.address,
            replace(thing, attributes={**thing.attributes, **{name: _unplaced(plain[name]) for name in changed}}),
        )
    for name in changed:
        if isinstance(container := plain[name], Ref) and not is_module(frame, container):
            _forget_plain_tensors(frame, container)


def _changed_attributes(frame: Frame, thing: Instance, method: FunctionInfo) -> set[str]:
    """Return the attributes of an object that a method binds or stores into, itself or by other methods it calls."""
    info = defined_class(thing.cls)
    found: set[str] = set()
    seen, waiting = {method}, [method]
    while waiting:
        one = waiting.pop()
        found |= one.bound_attributes | one.item_stores.stored
        for name in one.read_attributes - thing.attributes.keys():
            other = find_method(frame, info, name) if info is not None else None
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


def may_call_back(frame: Frame, arguments: Arguments) -> None:
    """Apply what the functions among some arguments change in the code around their definition, if they are called.

    Only nested functions and lambdas that capture a list or dict, or bind names of the enclosing function, are run.
    """
    for argument in arguments:
        match argument.value:
            case ProgramDefinition(definition=FunctionInfo() as info) if _changes_captured_values(frame, info):
                run_perhaps(frame, argument)


def _changes_captured_values(frame: Frame, info: FunctionInfo) -> bool:
    """Return whether a function may change a list, a dict or a name of the function in which it is defined."""
    if not isinstance(info.closure, Frame):
        return False
    captured = info.mentioned_names - info.locals
    names = info.closure.state.names
    return not captured.isdisjoint(info.bound_names) or any(
        isinstance(names.get(name), Ref) and isinstance(frame.object_of(names[name]), (Sequence, Dict))
        for name in captured
    )


def run_perhaps(frame: Frame, function: Argument) -> None:
    """Call a function with unknown arguments, and join the state afterwards with the state before the call."""

    def run() -> None:
        frame.call(
            function.value,
            Arguments(function.node, complete=False, rest=Argument(UNKNOWN, function.node)),
            function.node,
        )

    (end,) = frame.branch(run)
    if end.live:
        frame.state = join_states(frame.state, end)


def _forget_plain_tensors(frame: Frame, reference: Ref) -> None:
    """Make unknown the placements of the tensors in a module's plain attributes, or in a container kept in one."""
    match frame.get(reference.address):
        case Instance() as thing if is_module(frame, reference):
            changed = {name: _unplaced(one) for name, one in thing.attributes.items() if name not in thing.registered}
            frame.put(reference.address, replace(thing, attributes={**thing.attributes, **changed}))
        case Sequence(owner=owner) as thing if owner is not None:
            items = tuple(map(_unplaced, thing.items)) if thing.items is not None else None
            prefix = tuple(map(_unplaced, thing.prefix))
            frame.put(reference.address, replace(thing, items=items, element=_unplaced(thing.element), prefix=prefix))
        case Dict(owner=owner) as thing if owner is not None:
            entries = {key: _unplaced(one) for key, one in thing.entries.items()}
            rest = _unplaced(thing.element) if thing.element is not None else None
            frame.put(reference.address, replace(thing, entries=entries, element=rest))


def _unplaced(value: Value) -> Value:
    """Return a tensor that is no parameter with unknown placement and dtype; any other value unchanged.

    A value that is one of several is changed as each of them is.
    """
    match value:
        case Tensor(cell=None):
            return replace(value, placement=UNKNOWN_PLACEMENT, dtype=UNKNOWN_DTYPE, empty_sizes=None)
        case ConditionalValue(yes=yes, no=no):
            return replace(value, yes=_unplaced(yes), no=_unplaced(no))
    return value


def assume_synchronized(frame: Frame) -> None:
    """Assume that unknown code has waited for the accelerator, so that no earlier work counts as unfinished."""
    frame.synchronize()
