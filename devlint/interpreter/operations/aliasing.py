"""Memory that several names share: which steps hand it on, and who else looks at what is written in place."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from typing import Final

import libcst as cst

from devlint.domain.device import UNKNOWN_DEVICE, Relation, relate
from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import NO_FACTS, Facts, merge
from devlint.domain.placement import Kind, Placement, leaves
from devlint.domain.storage import Memory, Share, between, overlap
from devlint.domain.value import Array, Const, Ref, Tensor, Tuple, Unknown, Value, as_tensor, from_caller
from devlint.interpreter.state.events import SharedWrite
from devlint.interpreter.state.frame import Run
from devlint.semantics.table import Row
from devlint.syntax.tree_walk import dotted_name

REARRANGING: Final = frozenset(
    "T H mT mH t transpose permute swapaxes swapdims movedim moveaxis expand expand_as broadcast_to flip fliplr flipud"
    " rot90 unfold as_strided diagonal".split()
)
"""Views that see the memory in another order."""

MAX_DEPTH: Final = 2
"""How deep a name's containers are searched for shared memory: people keep results in a dict of lists, no deeper."""


def memory_of(value: Value) -> Memory | None:
    """The memory a tensor or an array lies in, as far as it is known."""
    match value:
        case Tensor(memory=None, cell=cell) if cell is not None:
            return Memory(cell)
        case Tensor(memory=memory) | Array(memory=memory):
            return memory
        case Unknown():
            tensor = as_tensor(value)
            return tensor.memory if tensor is not None else None
    return None


def memory_of_parameters(module: Ref) -> Memory:
    """The memory of a module's parameters, taken as one."""
    return Memory(("parameters", module.address))


def handed_on(
    run: Run, memory: Memory | None, how: str, node: cst.CSTNode, *, surely: bool = True, when: Facts = NO_FACTS
) -> Memory | None:
    """The memory of what `how` returns without copying, or without copying where it has nothing to do."""
    if memory is None:
        return None
    run.engine.handed_on.add(memory.root)
    message = f"{how} hands out the same memory" + ("" if surely else " where it has nothing to do")
    return memory.handed_on(Share(run.step(Kind.PASSED, message, node), surely, when))


def view_of(run: Run, row: Row, tensor: Tensor, node: cst.CSTNode) -> Memory | None:
    """The memory of an operation's result that is, or may be, a view of the tensor."""
    return seen_by(run, row.name.rpartition(".")[2], memory_of(tensor), node)


def seen_by(run: Run, name: str, memory: Memory | None, node: cst.CSTNode) -> Memory | None:
    """The memory that a method of this name, which may return a view, sees of the memory it is given."""
    if memory is None:
        return None
    if name in ("contiguous", "ascontiguousarray"):
        return handed_on(run, memory, f"`{name}`", node, surely=False) if memory.is_contiguous else Memory()
    return memory.rearranged() if name in REARRANGING else memory


def memory_after(
    run: Run,
    before: Tensor,
    placement: Placement | None,
    dtype: Dtype | None,
    how: str,
    node: cst.CSTNode,
    *,
    copies: bool,
) -> Memory | None:
    """The memory of a tensor that was asked to go somewhere, and to have some dtype: its own where it is so already."""
    same_dtype = dtype is None or (dtype.name == before.dtype.name and dtype.name is not None)
    if copies or not (same_dtype or dtype is None or None in (dtype.name, before.dtype.name)):
        return Memory()
    surely, when = same_dtype, NO_FACTS
    if placement is not None:
        ways = [
            (needed | more, one.device, relate(one.device, other.device))
            for needed, one in leaves(before.placement, run.state.facts)
            for more, other in leaves(placement, run.state.facts | needed)
        ]
        stays = [needed for needed, device, relation in ways if relation is not Relation.DIFFERENT]
        if any(device == UNKNOWN_DEVICE for _, device, _ in ways):
            return None
        if not stays:
            return Memory()
        surely = surely and all(relation is Relation.SAME for _, _, relation in ways)
        when = NO_FACTS if len(stays) == len(ways) else stays[0]
    return handed_on(run, memory_of(before), how, node, surely=surely, when=when)


def item_of(memory: Memory | None, node: cst.Subscript, keys: Sequence_[Value]) -> Memory | None:
    """The part of some memory that an index selects; a part that is not known equals no other."""
    if memory is None:
        return None
    slices = [one.slice for one in node.slice if isinstance(one.slice, cst.Slice)]
    constants = [key.value for key in keys if isinstance(key, Const)]
    if len(constants) < len(keys) or any(one.lower is not None or one.upper is not None for one in slices):
        return memory.part(object())
    selects = any(value is not ... and value is not None for value in constants)
    return memory.part(tuple(constants)) if selects else memory


def note_write(
    run: Run, written: Value, target: cst.BaseExpression, node: cst.CSTNode, attribute: str | None = None
) -> None:
    """Tell when memory is written in place under one name while it is in use under another; `attribute` is where the
    target holds it.

    A temporary (`x.numpy()[:] = 0`) is written to in order to change what it shares, and is not told.
    """
    name = _name_of(target)
    memory = memory_of(written)
    if name is None or memory is None or memory.root not in run.engine.handed_on:
        return
    name = f"{name}.{attribute}" if attribute is not None else name
    for other, shares in _others(run, name, memory, node):
        when = merge(NO_FACTS, [test for share in shares for test in share.when])
        if when is None or merge(run.state.facts, when) is None:
            continue
        doubtful = [share for share in shares if not share.surely]
        shared = (doubtful or list(shares))[-1].step
        run.emit(SharedWrite(run.context_at(node), name, other, shared, when - run.state.facts, not doubtful))
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


def _others(run: Run, name: str, memory: Memory, node: cst.CSTNode) -> Iterator[tuple[str | None, tuple[Share, ...]]]:
    """Who else holds the memory and may look at it afterwards, in the functions being run from the innermost; with the
    steps that lie between. None stands for an unknown caller.

    Two attributes that always share their memory are meant to.
    """
    frame, at = run, node
    while True:
        for other, value in frame.state.names.items():
            for text, held in _held(run, other, value, 0):
                shares = between(memory, held)
                if not shares or not overlap(memory, held):
                    continue
                if "." in text and "." in name and all(share.surely for share in shares):
                    continue
                if other == "self" or _is_given(held) or run.engine.uses.read_later(frame, at, other):
                    yield None if text == name else text, shares
        if frame.caller is None:
            break
        frame, at = frame.caller
    if from_caller(memory.root) and memory.shares:
        yield None, memory.shares


def _is_given(memory: Memory) -> bool:
    """Whether it is what an unknown caller gave, as it was given."""
    return from_caller(memory.root) and not memory.shares


def _held(run: Run, name: str, value: Value, depth: int) -> Iterator[tuple[str, Memory]]:
    """The memory of a value and, under their own names, of what it contains."""
    for one in alternatives(value):
        memory = memory_of(one)
        if memory is not None:
            yield name, memory
        elif isinstance(one, Tuple) and depth < MAX_DEPTH:
            for item in one.items:
                yield from _held(run, f"{name}[...]", item, depth + 1)
        elif isinstance(one, Ref) and depth < MAX_DEPTH:
            for text, item in _contents(run, name, one):
                yield from _held(run, text, item, depth + 1)


def _contents(run: Run, name: str, container: Ref) -> Iterator[tuple[str, Value]]:
    thing = run.get(container.address)
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
