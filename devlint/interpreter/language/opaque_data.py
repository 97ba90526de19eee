"""Data of unknown structure, part by part: what is taken out of it, and what is put into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devlint.domain.join import any_part_of, join, part_of
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement, agree
from devlint.domain.value import Array, Batch, Const, Number, Ref, Tensor, Text, Truth, Value
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.rebinding import change


def taken(batch: Batch, key: Value | None) -> Value:
    """`batch[key]`; any part of it where the key is not known."""
    return part_of(batch, key.value) if isinstance(key, Const) else any_part_of(batch)


def put(run: Run, owner: cst.BaseExpression, batch: Batch, key: Value | None, value: Value) -> None:
    """`batch[key] = value`. What is put under a key nobody knows may be any part of it; an index that only tensors
    take leaves the tensor where it is."""
    if isinstance(key, Const):
        _tell(run, owner, batch, _with_part(batch, key, value), _with_part(batch, key, join(value, taken(batch, key))))
    elif key is not None and not _is_index(run, key):
        whole = any_part_of(batch)
        placement = agree(_placement(run, whole), _placement(run, value, beside=whole))
        after = replace(batch, placement=placement, moved=None, parts=())
        _tell(run, owner, batch, after, after)


def update(run: Run, owner: cst.BaseExpression, batch: Batch, more: Dict) -> None:
    """`batch.update(more)`."""
    unknown = replace(batch, placement=UNKNOWN_PLACEMENT, moved=None, parts=())
    after = batch if more.element is None else unknown
    for key, value in more.entries.items():
        after = _with_part(after, Const(key), value)
    _tell(run, owner, batch, after, unknown)


def _with_part(batch: Batch, key: Const, value: Value) -> Batch:
    others = tuple(part for part in batch.parts if part[0] != key.value)
    return replace(batch, moved=None, parts=(*others, (key.value, value)))


def _is_index(run: Run, key: Value) -> bool:
    """Whether a key is a mask or a list of indices."""
    return isinstance(key, (Tensor, Array)) or (isinstance(key, Ref) and isinstance(run.get(key.address), Sequence))


def _placement(run: Run, value: Value, beside: Value | None = None) -> Placement:
    """Where something put into a batch is; a number is nowhere else than what it is put `beside`."""
    match value:
        case Tensor():
            return run.settle(value).placement
        case Batch(placement=placement):
            return placement
        case Const() | Number() | Text() | Truth() if beside is not None:
            return _placement(run, beside)
    return UNKNOWN_PLACEMENT


def _tell(run: Run, owner: cst.BaseExpression, before: Batch, after: Batch, perhaps: Batch) -> None:
    """Let everything that holds the batch hold what it has become: the callers' names too, for which it may have."""
    change(run, owner, before, after)
    for caller in _callers(run):
        for name, value in list(caller.state.names.items()):
            if value is before:
                caller.bind(name, perhaps)
                # The same call has to do so again, where it is made again.
                run.engine.repeats.mark_moment()


def _callers(run: Run) -> Iterator[Run]:
    while run.caller is not None:
        run = run.caller[0]
        yield run
