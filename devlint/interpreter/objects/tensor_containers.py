"""Tensor containers: library objects such as transformers' `BatchEncoding` whose tensors share one placement."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import UNKNOWN, OpaqueData, Value
from devlint.interpreter.state.frame import Frame


def is_tensor_container(frame: Frame, value: Value) -> bool:
    """Return whether an object's library class holds tensors of one device, which its `.to()` moves in place."""
    thing = frame.instance(value)
    if thing is None or not isinstance(thing.cls, str):
        return False
    row = frame.analysis.table.find(thing.cls)
    return row is not None and row.special == "batch"


def tensor_container_item(thing: Instance, name: str | None = None) -> Value:
    """Return what a tensor container such as a `BatchEncoding` holds under a name.

    Without a name, return an opaque value that stands for any of the container's items.
    """
    if name is not None and name in thing.attributes:
        return thing.attributes[name]
    return OpaqueData(thing.cell.placement, of_loader=True) if thing.cell is not None else UNKNOWN
