"""Texts for tensors that the host reads through NumPy."""

from __future__ import annotations

from devlint.explain.place_texts import operation_text, place_text, text_with_suffix
from devlint.interpreter.state.events import HostRead


def reader_text(event: HostRead) -> str:
    """Return a phrase for the reader of a tensor.

    It is a function, or NumPy when it computes with the tensor and an array.
    """
    if event.array is None:
        return operation_text(event.reader)
    return f"NumPy, which computes {operation_text(event.reader)} with the array `{place_text(event.array)}`,"


def array_suggestion(event: HostRead) -> str | None:
    """Return the advice to convert the array to a tensor on the operand's device; None for a read without an array."""
    if event.array is None:
        return None
    device = text_with_suffix(event.operand, ".device")
    return f"make a tensor of the array there: `torch.as_tensor({place_text(event.array)}, device={device})`"
