"""Reads and writes of the parts of opaque data: values of unknown structure, such as a batch or a checkpoint."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.join import any_opaque_part, join, opaque_part
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.domain.placement_lattice import join_placements
from devlint.domain.value import Array, Const, Number, OpaqueData, Ref, StringPrefix, SymbolicBool, Tensor, Value
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import replace_value


def opaque_item(batch: OpaqueData, key: Value | None) -> Value:
    """Return the part of opaque data (of unknown structure, such as a batch) under a key: `batch[key]`.

    If the key is unknown, the result is a value that stands for every part.
    """
    return opaque_part(batch, key.value) if isinstance(key, Const) else any_opaque_part(batch)


def set_opaque_item(
    frame: Frame, owner: cst.BaseExpression, batch: OpaqueData, key: Value | None, value: Value
) -> None:
    """Execute `batch[key] = value` for a `batch` that is opaque data (of unknown structure).

    A value stored under an unknown key may become any part, so its placement is joined into that of all parts. A key
    that only tensors accept (a mask, a list of indices) does not change the placement.
    """
    if isinstance(key, Const):
        _rebind_everywhere(
            frame,
            owner,
            batch,
            _with_part(batch, key, value),
            _with_part(batch, key, join(value, opaque_item(batch, key))),
        )
    elif key is not None and not _is_index(frame, key):
        whole = any_opaque_part(batch)
        placement = join_placements(stored_placement(frame, whole), stored_placement(frame, value, beside=whole))
        after = replace(batch, placement=placement, moved=None, parts=(), origin=None)
        _rebind_everywhere(frame, owner, batch, after, after)


def update_opaque_data(frame: Frame, owner: cst.BaseExpression, batch: OpaqueData, more: Dict) -> None:
    """Execute `batch.update(more)` for a `batch` that is opaque data (of unknown structure)."""
    unknown = replace(batch, placement=UNKNOWN_PLACEMENT, moved=None, parts=(), origin=None)
    after = batch if more.element is None else unknown
    for key, value in more.entries.items():
        after = _with_part(after, Const(key), value)
    _rebind_everywhere(frame, owner, batch, after, unknown)


def forget_opaque_data(frame: Frame, owner: cst.BaseExpression, batch: OpaqueData) -> None:
    """Make the placement of opaque data unknown, wherever it is held: code that is not run may replace parts."""
    unknown = replace(batch, placement=UNKNOWN_PLACEMENT, moved=None, parts=(), origin=None)
    _rebind_everywhere(frame, owner, batch, unknown, unknown)


def _with_part(batch: OpaqueData, key: Const, value: Value) -> OpaqueData:
    """Return data of unknown structure (such as a batch) with its part under a constant key replaced by a new value."""
    others = tuple(part for part in batch.parts if part[0] != key.value)
    return replace(batch, moved=None, parts=(*others, (key.value, value)))


def _is_index(frame: Frame, key: Value) -> bool:
    """Return whether a key is a mask or a list of indices, which tensors and arrays accept but dicts do not."""
    return isinstance(key, (Tensor, Array)) or (isinstance(key, Ref) and isinstance(frame.get(key.address), Sequence))


def stored_placement(frame: Frame, value: Value, beside: Value | None = None) -> Placement:
    """Return the placement of a value that the program stores in opaque data (data of unknown structure).

    A number or string has no device: it takes the placement of `beside`, the value already stored in the same data, if
    one is given. Any other value that is neither a tensor nor opaque data has an unknown placement.
    """
    match value:
        case Tensor():
            return frame.resolve(value).placement
        case OpaqueData(placement=placement):
            return placement
        case Const() | Number() | StringPrefix() | SymbolicBool() if beside is not None:
            return stored_placement(frame, beside)
    return UNKNOWN_PLACEMENT


def _rebind_everywhere(
    frame: Frame, owner: cst.BaseExpression, before: OpaqueData, after: OpaqueData, perhaps: OpaqueData
) -> None:
    """Replace data of unknown structure (`before`) by its changed version (`after`) under every name that holds it.

    A caller's name, which may or may not hold the same object, is bound to the version `perhaps`.
    """
    replace_value(frame, owner, before, after)
    for caller in frame.callers():
        for name, value in list(caller.state.names.items()):
            if value is before:
                caller.bind(name, perhaps)
                # A replayed summary would not rebind the caller's name, so the call must be run again.
                frame.analysis.call_summaries.invalidate()
