"""Reads through NumPy in words: what reads, and how the program would rather compute."""

from __future__ import annotations

from devlint.explain.places import operation_text, place_text, text_with_suffix
from devlint.interpreter.state.events import HostRead


def reader_text(event: HostRead) -> str:
    """What reads the tensor: a function, or NumPy for the sake of an array."""
    if event.array is None:
        return operation_text(event.reader)
    return f"NumPy, which computes {operation_text(event.reader)} with the array `{place_text(event.array)}`,"


def array_suggestion(event: HostRead) -> str | None:
    """How to compute with an array where the tensor is."""
    if event.array is None:
        return None
    device = text_with_suffix(event.operand, ".device")
    return f"make a tensor of the array there: `torch.as_tensor({place_text(event.array)}, device={device})`"
