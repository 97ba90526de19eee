"""Memory that several names share: which steps hand it on, and who else looks at what is written in place."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from typing import Final

import libcst as cst

from devlint.domain.device import UNKNOWN_DEVICE, DeviceRelation, relate_devices
from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import NO_CONDITION, PathCondition, conjoin
from devlint.domain.placement import Placement, StepKind, placement_cases
from devlint.domain.storage import AliasStep, Storage, alias_steps_between, views_overlap
from devlint.domain.value import Array, Const, Ref, Tensor, Tuple, Unknown, Value, as_tensor, is_from_caller
from devlint.interpreter.state.events import SharedWrite
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row
from devlint.syntax.tree_walk import dotted_name

REARRANGING: Final = frozenset(
    "T H mT mH t transpose permute swapaxes swapdims movedim moveaxis expand expand_as broadcast_to flip fliplr flipud"
    " rot90 unfold as_strided diagonal".split()
)
"""Views that see the memory in another order."""

MAX_DEPTH: Final = 2
"""How deep a name's containers are searched for shared memory: people keep results in a dict of lists, no deeper."""


def storage_of(value: Value) -> Storage | None:
    """The memory a tensor or an array lies in, as far as it is known."""
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
    """The memory of a module's parameters, taken as one."""
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
    """The memory of what `basis` returns without copying, or without copying where it has nothing to do."""
    if memory is None:
        return None
    frame.analysis.aliased_storages.add(memory.root)
    message = f"{how} hands out the same memory" + ("" if surely else " where it has nothing to do")
    return memory.with_alias_step(AliasStep(frame.step(StepKind.PASSED, message, node), surely, when))


def view_storage(frame: Frame, row: Row, tensor: Tensor, node: cst.CSTNode) -> Storage | None:
    """The memory of an operation's result that is, or may be, a view of the tensor."""
    return storage_seen_by(frame, row.name.rpartition(".")[2], storage_of(tensor), node)


def storage_seen_by(frame: Frame, name: str, memory: Storage | None, node: cst.CSTNode) -> Storage | None:
    """The memory that a method of this name, which may return a view, sees of the memory it is given."""
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
    """The memory of a tensor that was asked to go somewhere, and to have some dtype: its own where it is so already."""
    same_dtype = dtype is None or (dtype.name == before.dtype.name and dtype.name is not None)
    if copies or not (same_dtype or dtype is None or None in (dtype.name, before.dtype.name)):
        return Storage()
    surely, when = same_dtype, NO_CONDITION
    if placement is not None:
        ways = [
            (needed | more, one.device, relate_devices(one.device, other.device))
            for needed, one in placement_cases(before.placement, frame.state.path_condition)
            for more, other in placement_cases(placement, frame.state.path_condition | needed)
        ]
        stays = [needed for needed, device, relation in ways if relation is not DeviceRelation.DIFFERENT]
        if any(device == UNKNOWN_DEVICE for _, device, _ in ways):
            return None
        if not stays:
            return Storage()
        surely = surely and all(relation is DeviceRelation.SAME for _, _, relation in ways)
        when = NO_CONDITION if len(stays) == len(ways) else stays[0]
    return alias_storage(frame, storage_of(before), how, node, surely=surely, when=when)


def item_storage(memory: Storage | None, node: cst.Subscript, keys: Sequence_[Value]) -> Storage | None:
    """The part of some memory that an index selects; a part that is not known equals no other."""
    if memory is None:
        return None
    slices = [one.slice for one in node.slice if isinstance(one.slice, cst.Slice)]
    constants = [key.value for key in keys if isinstance(key, Const)]
    if len(constants) < len(keys) or any(one.lower is not None or one.upper is not None for one in slices):
        return memory.part(object())
    selects = any(value is not ... and value is not None for value in constants)
    return memory.part(tuple(constants)) if selects else memory


def report_shared_write(
    frame: Frame, written: Value, target: cst.BaseExpression, node: cst.CSTNode, attribute: str | None = None
) -> None:
    """Tell when memory is written in place under one name while it is in use under another; `attribute` is where the
    target holds it.

    A temporary (`x.numpy()[:] = 0`) is written to in order to change what it shares, and is not told.
    """
    name = _name_of(target)
    memory = storage_of(written)
    if name is None or memory is None or memory.root not in frame.analysis.aliased_storages:
        return
    name = f"{name}.{attribute}" if attribute is not None else name
    for other, shares in _others(frame, name, memory, node):
        when = conjoin(NO_CONDITION, [test for share in shares for test in share.when])
        if when is None or conjoin(frame.state.path_condition, when) is None:
            continue
        doubtful = [share for share in shares if not share.surely]
        shared = (doubtful or list(shares))[-1].step
        frame.emit(
            SharedWrite(frame.event_context(node), name, other, shared, when - frame.state.path_condition, not doubtful)
        )
        return


def _name_of(target: cst.BaseExpression) -> str | None:
    """The variable that an expression writes to: `x` in `x[0]` and in `x.sub_(m).div_(s)`."""
    while True:
        match target:
            case cst.Subscript(value=inner):
                target = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=method))) if method.endswith("_"):
                target = inner
            case _:
                return dotted_name(target)


def _others(
    frame: Frame, name: str, memory: Storage, node: cst.CSTNode
) -> Iterator[tuple[str | None, tuple[AliasStep, ...]]]:
    """Who else holds the memory and may look at it afterwards, in the functions being run from the innermost; with the
    steps that lie between. None stands for an unknown caller.

    Two attributes that always share their memory are meant to.
    """
    holder, at = frame, node
    while True:
        for other, value in holder.state.names.items():
            for text, held in _held(frame, other, value, 0):
                shares = alias_steps_between(memory, held)
                if not shares or not views_overlap(memory, held):
                    continue
                if "." in text and "." in name and all(share.surely for share in shares):
                    continue
                if other == "self" or _is_given(held) or frame.analysis.use_def.read_later(holder, at, other):
                    yield None if text == name else text, shares
        if holder.caller is None:
            break
        holder, at = holder.caller
    if is_from_caller(memory.root) and memory.shares:
        yield None, memory.shares


def _is_given(memory: Storage) -> bool:
    """Whether it is what an unknown caller gave, as it was given."""
    return is_from_caller(memory.root) and not memory.shares


def _held(frame: Frame, name: str, value: Value, depth: int) -> Iterator[tuple[str, Storage]]:
    """The memory of a value and, under their own names, of what it contains."""
    for one in alternatives(value):
        memory = storage_of(one)
        if memory is not None:
            yield name, memory
        elif isinstance(one, Tuple) and depth < MAX_DEPTH:
            for item in one.items:
                yield from _held(frame, f"{name}[...]", item, depth + 1)
        elif isinstance(one, Ref) and depth < MAX_DEPTH:
            for text, item in _contents(frame, name, one):
                yield from _held(frame, text, item, depth + 1)


def _contents(frame: Frame, name: str, container: Ref) -> Iterator[tuple[str, Value]]:
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
