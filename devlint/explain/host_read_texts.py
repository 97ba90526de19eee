"""Texts for findings about tensors that NumPy or other code reads from host memory."""

from __future__ import annotations

from typing import Final

from devlint.explain.place_texts import operation_text, place_text, text_with_suffix
from devlint.interpreter.state.events import HostRead

REDUCTIONS: Final = frozenset(f"np.{name}" for name in "mean sum prod max min amax amin std var any all".split())
"""NumPy's reductions: they call a tensor's own method with arguments that torch refuses, so that they need an array."""


def host_copy_calls(event: HostRead, calls: str) -> str:
    """Return the calls after which the host can read a tensor, such as `.cpu()`: for a reduction also `.numpy()`."""
    needs_array = event.reader in REDUCTIONS and not event.inside
    return f"{calls}.numpy()" if needs_array else calls


def reader_text(event: HostRead) -> str:
    """Return a phrase for the function that reads a tensor on the host.

    When NumPy computes with the tensor and an array, the phrase names NumPy, the operation and the array.
    """
    if event.array is None:
        return operation_text(event.reader)
    return f"NumPy, which computes {operation_text(event.reader)} with the array `{place_text(event.array)}`,"


def array_suggestion(event: HostRead) -> str | None:
    """Return the advice, as text, to convert an array to a tensor instead of letting NumPy read a tensor.

    The array is the NumPy array with which NumPy computes together with the tensor; it should go to the tensor's
    device. Returns None for a read of a tensor without such an array.
    """
    if event.array is None:
        return None
    device = text_with_suffix(event.operand, ".device")
    return f"make a tensor of the array there: `torch.as_tensor({place_text(event.array)}, device={device})`"
