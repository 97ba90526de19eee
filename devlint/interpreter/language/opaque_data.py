"""Data of unknown structure, part by part: what is taken out of it, and what is put into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devlint.domain.join import any_opaque_part, join, opaque_part
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement, join_placements
from devlint.domain.value import Array, Const, Number, OpaqueData, Ref, StringPrefix, SymbolicBool, Tensor, Value
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import replace_value


def opaque_item(batch: OpaqueData, key: Value | None) -> Value:
    """`batch[key]`; any part of it where the key is not known."""
    return opaque_part(batch, key.value) if isinstance(key, Const) else any_opaque_part(batch)


def set_opaque_item(
    frame: Frame, owner: cst.BaseExpression, batch: OpaqueData, key: Value | None, value: Value
) -> None:
    """`batch[key] = value`. What is put under a key nobody knows may be any part of it; an index that only tensors
    take leaves the tensor where it is."""
    if isinstance(key, Const):
        _tell(
            frame,
            owner,
            batch,
            _with_part(batch, key, value),
            _with_part(batch, key, join(value, opaque_item(batch, key))),
        )
    elif key is not None and not _is_index(frame, key):
        whole = any_opaque_part(batch)
        placement = join_placements(_placement(frame, whole), _placement(frame, value, beside=whole))
        after = replace(batch, placement=placement, moved=None, parts=())
        _tell(frame, owner, batch, after, after)


def update_opaque_data(frame: Frame, owner: cst.BaseExpression, batch: OpaqueData, more: Dict) -> None:
    """`batch.update(more)`."""
    unknown = replace(batch, placement=UNKNOWN_PLACEMENT, moved=None, parts=())
    after = batch if more.element is None else unknown
    for key, value in more.entries.items():
        after = _with_part(after, Const(key), value)
    _tell(frame, owner, batch, after, unknown)


def _with_part(batch: OpaqueData, key: Const, value: Value) -> OpaqueData:
    others = tuple(part for part in batch.parts if part[0] != key.value)
    return replace(batch, moved=None, parts=(*others, (key.value, value)))


def _is_index(frame: Frame, key: Value) -> bool:
    """Whether a key is a mask or a list of indices."""
    return isinstance(key, (Tensor, Array)) or (isinstance(key, Ref) and isinstance(frame.get(key.address), Sequence))


def _placement(frame: Frame, value: Value, beside: Value | None = None) -> Placement:
    """Where something put into a batch is; a number is nowhere else than what it is put `beside`."""
    match value:
        case Tensor():
            return frame.resolve(value).placement
        case OpaqueData(placement=placement):
            return placement
        case Const() | Number() | StringPrefix() | SymbolicBool() if beside is not None:
            return _placement(frame, beside)
    return UNKNOWN_PLACEMENT


def _tell(frame: Frame, owner: cst.BaseExpression, before: OpaqueData, after: OpaqueData, perhaps: OpaqueData) -> None:
    """Let everything that holds the batch hold what it has become: the callers' names too, for which it may have."""
    replace_value(frame, owner, before, after)
    for caller in _callers(frame):
        for name, value in list(caller.state.names.items()):
            if value is before:
                caller.bind(name, perhaps)
                # The same call has to do so again, where it is made again.
                frame.analysis.call_summaries.invalidate()


def _callers(frame: Frame) -> Iterator[Frame]:
    while frame.caller is not None:
        frame = frame.caller[0]
        yield frame
