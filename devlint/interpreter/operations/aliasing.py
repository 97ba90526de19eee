"""Memory that several names share: operations that do not copy, and in-place writes that show under other names.

The memory of a tensor or array is described by a `Storage`. An alias step is an operation, such as `x.view(...)`, that
passed its input's memory on to its result.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from typing import Final

import libcst as cst

from devlint.domain.device import UNKNOWN_DEVICE, DeviceRelation, relate_devices
from devlint.domain.dtype import Dtype, equals_surely
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import NO_CONDITION, PathCondition, conjoin
from devlint.domain.placement import Placement, StepKind, placement_cases
from devlint.domain.storage import AliasStep, Storage, alias_steps_between, views_overlap
from devlint.domain.value import Array, Const, Ref, Tensor, Tuple, Unknown, Value, as_tensor, is_from_caller
from devlint.interpreter.operations.copies_in_flight import report_overwritten_copy
from devlint.interpreter.state.events import SharedWrite
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row
from devlint.syntax.tree_walk import dotted_name

REARRANGING: Final = frozenset(
    "T H mT mH t transpose permute swapaxes swapdims movedim moveaxis expand expand_as broadcast_to flip fliplr flipud"
    " rot90 unfold as_strided diagonal".split()
)
"""Views that order the memory differently, so that they are not contiguous."""

MAX_DEPTH: Final = 2
"""Levels of containers searched for shared memory; programs keep results in a dict of lists, not deeper."""


def storage_of(value: Value) -> Storage | None:
    """Return the description (`Storage`) of the memory in which a tensor or an array lies; None if it is not known."""
    match value:
        case Tensor(memory=None, cell=cell) if cell is not None:
            return Storage(cell)
        case Tensor(memory=memory) | Array(memory=memory):
            return memory
        case Unknown():
            tensor = as_tensor(value)
            return tensor.memory if tensor is not None else None
    return None


def parameter_storage(module: Ref) -> Storage:
    """Return one description of memory (`Storage`) that stands for the memory of all parameters of a module."""
    return Storage(("parameters", module.address))


def alias_storage(
    frame: Frame,
    memory: Storage | None,
    how: str,
    node: cst.CSTNode,
    *,
    surely: bool = True,
    when: PathCondition = NO_CONDITION,
) -> Storage | None:
    """Return the memory of the result of an operation that passes its input's memory on; None for unknown memory.

    `how` names the operation in the message of the alias step. `surely` is false for an operation that copies unless it
    has nothing to do, and `when` holds the conditions under which it has nothing to do, as far as they are known.
    """
    if memory is None:
        return None
    frame.analysis.aliased_storages.add(memory.root)
    message = f"{how} hands out the same memory" + ("" if surely else " where it has nothing to do")
    return memory.with_alias_step(AliasStep(frame.step(StepKind.PASSED, message, node), surely, when))


def view_storage(frame: Frame, row: Row, tensor: Tensor, node: cst.CSTNode) -> Storage | None:
    """Return the memory of an operation's result that is, or may be, a view of the operation's tensor argument."""
    return storage_of_view(frame, row.name.rpartition(".")[2], storage_of(tensor), node)


def storage_of_view(frame: Frame, name: str, memory: Storage | None, node: cst.CSTNode) -> Storage | None:
    """Return the memory of a method's result that may be a view, given the method's name and its input's memory."""
    if memory is None:
        return None
    if name in ("contiguous", "ascontiguousarray"):
        return alias_storage(frame, memory, f"`{name}`", node, surely=False) if memory.is_contiguous else Storage()
    return memory.rearranged() if name in REARRANGING else memory


def storage_after_transfer(
    frame: Frame,
    before: Tensor,
    placement: Placement | None,
    dtype: Dtype | None,
    how: str,
    node: cst.CSTNode,
    *,
    copies: bool,
) -> Storage | None:
    """Return the memory of a tensor after a transfer: its own if the transfer has nothing to do, else new memory.

    The result is None when the memory is not known. `placement` and `dtype` are the requested ones; None leaves that
    property as it is. `copies` is true for a transfer that always copies.
    """
    same_dtype = dtype is None or equals_surely(dtype, before.dtype)
    if copies or not (same_dtype or dtype is None or None in (dtype.name, before.dtype.name)):
        return Storage()
    surely, when = same_dtype, NO_CONDITION
    if placement is not None:
        cases = [
            (needed | more, one.device, relate_devices(one.device, other.device))
            for needed, one in placement_cases(before.placement, frame.state.path_condition)
            for more, other in placement_cases(placement, frame.state.path_condition | needed)
        ]
        unmoved = [needed for needed, device, relation in cases if relation is not DeviceRelation.DIFFERENT]
        if any(device == UNKNOWN_DEVICE for _, device, _ in cases):
            return None
        if not unmoved:
            return Storage()
        surely = surely and all(relation is DeviceRelation.SAME for _, _, relation in cases)
        when = NO_CONDITION if len(unmoved) == len(cases) else unmoved[0]
    return alias_storage(frame, storage_of(before), how, node, surely=surely, when=when)


def item_storage(memory: Storage | None, node: cst.Subscript, keys: Sequence_[Value]) -> Storage | None:
    """Return the part of a tensor's memory that an index selects, so that writes to other parts do not conflict.

    For an index that is not constant, the part is unknown; an unknown part is unequal to any other part.
    """
    if memory is None:
        return None
    slices = [one.slice for one in node.slice if isinstance(one.slice, cst.Slice)]
    constants = [key.value for key in keys if isinstance(key, Const)]
    if len(constants) < len(keys) or any(one.lower is not None or one.upper is not None for one in slices):
        return memory.part(object())
    selects = any(value is not ... and value is not None for value in constants)
    return memory.part(tuple(constants)) if selects else memory


def report_shared_write(
    frame: Frame,
    written: Value,
    target: cst.BaseExpression,
    node: cst.CSTNode,
    attribute: str | None = None,
    *,
    queued: bool = False,
) -> None:
    """Report an in-place write to memory that is in use under another name, or out of which a copy may be running.

    A write that the accelerator makes, `queued` behind its copies, does not disturb them.
    With `attribute`, the memory is that of an attribute of the object written to. A write to a temporary, such as that
    in `x.numpy()[:] = 0`, is not reported, because its purpose is to change the shared memory.
    """
    name = _written_name(target)
    memory = storage_of(written)
    if not queued:
        report_overwritten_copy(frame, written, memory, target, node)
    if name is None or memory is None or memory.root not in frame.analysis.aliased_storages:
        return
    name = f"{name}.{attribute}" if attribute is not None else name
    for other, alias_steps in _other_holders(frame, name, memory, node):
        when = conjoin(NO_CONDITION, [test for step in alias_steps for test in step.when])
        if when is None or conjoin(frame.state.path_condition, when) is None:
            continue
        doubtful = [step for step in alias_steps if not step.is_certain]
        newest = (doubtful or list(alias_steps))[-1].step
        frame.emit(
            SharedWrite(frame.event_context(node), name, other, newest, when - frame.state.path_condition, not doubtful)
        )
        return


def _written_name(target: cst.BaseExpression) -> str | None:
    """Return the dotted name that an expression writes to, such as `x` for `x[0]` and for `x.sub_(m).div_(s)`.

    None for an expression that writes to a temporary.
    """
    while True:
        match target:
            case cst.Subscript(value=inner):
                target = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=method))) if method.endswith("_"):
                target = inner
            case _:
                return dotted_name(target)


def _other_holders(
    frame: Frame, name: str, memory: Storage, node: cst.CSTNode
) -> Iterator[tuple[str | None, tuple[AliasStep, ...]]]:
    """Yield the other names that hold a tensor's memory and may be read after an in-place write.

    Each name comes with the operations that passed the memory on. The search goes through the functions on the call
    stack, from the innermost. The name is None for an unknown caller and for a caller's variable of the same name. Two
    attributes that always share their memory are left out, because that is intended.
    """
    holder, at = frame, node
    while True:
        for other, value in holder.state.names.items():
            for text, held in _held_storages(frame, other, value, 0):
                alias_steps = alias_steps_between(memory, held)
                if not alias_steps or not views_overlap(memory, held):
                    continue
                if "." in text and "." in name and all(step.is_certain for step in alias_steps):
                    continue
                if (
                    other == "self"
                    or _is_unchanged_argument(held)
                    or frame.analysis.use_def.read_later(holder, at, other)
                ):
                    yield None if text == name else text, alias_steps
        if holder.caller is None:
            break
        holder, at = holder.caller
    if is_from_caller(memory.root) and memory.alias_steps:
        yield None, memory.alias_steps


def _is_unchanged_argument(memory: Storage) -> bool:
    """Return whether memory is that of an unknown caller's argument itself, not of a view made of the argument."""
    return is_from_caller(memory.root) and not memory.alias_steps


def _held_storages(frame: Frame, name: str, value: Value, depth: int) -> Iterator[tuple[str, Storage]]:
    """Yield the memory of a value and of the values inside it, each with its expression, such as `x.a` or `x[...]`."""
    for one in alternatives(value):
        memory = storage_of(one)
        if memory is not None:
            yield name, memory
        elif isinstance(one, Tuple) and depth < MAX_DEPTH:
            for item in one.items:
                yield from _held_storages(frame, f"{name}[...]", item, depth + 1)
        elif isinstance(one, Ref) and depth < MAX_DEPTH:
            for text, item in _named_contents(frame, name, one):
                yield from _held_storages(frame, text, item, depth + 1)


def _named_contents(frame: Frame, name: str, container: Ref) -> Iterator[tuple[str, Value]]:
    """Yield the values directly inside a heap object, each with its expression, such as `x.a` or `x[...]`."""
    thing = frame.get(container.address)
    match thing:
        case Instance(attributes=attributes):
            yield from ((f"{name}.{attribute}", value) for attribute, value in attributes.items())
        case Sequence():
            items = thing.items if thing.items is not None else (thing.element,)
            yield from ((f"{name}[...]", value) for value in items)
        case Dict():
            yield from ((f"{name}[{key!r}]", value) for key, value in thing.entries.items())
            if thing.element is not None:
                yield f"{name}[...]", thing.element
