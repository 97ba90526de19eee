"""Tests that nearly every operator computes on the emulated device what it computes on the host."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves

from devlint.runtime import emulate

sys.path.insert(0, str(Path(__file__).parent))

from operator_samples import Call, calls, outcome

KNOWN = {"linalg.matrix_rank": "of an empty matrix: made by a factory inside, and returned without having met a tensor"}
ANOTHER_KERNEL = {"linalg.cond", "linalg.svdvals", "linalg.eigvalsh", "norm", "linalg.norm", "linalg.matrix_norm"}
"""Operators for which torch also computes vectors as soon as a dispatch mode is active, and rounds differently."""


def _difference(call: Call) -> str | None:
    try:
        plain = tree_leaves(call.on_host())
    except Exception:
        return None
    with emulate():
        for left, right in zip(plain, tree_leaves(call.on_device()), strict=True):
            if not isinstance(right, torch.Tensor):
                continue
            if right.device.type != "cuda":
                return f"lies on {right.device}"
            tolerance = 1e-5 if call.name in ANOTHER_KERNEL else 0.0
            if not torch.allclose(left.to_dense(), right.cpu().to_dense(), tolerance, tolerance, equal_nan=True):
                return "differs"
    return None


def test_every_operator_computes_the_same() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {call.name: text for call in calls() if (text := _difference(call)) is not None}
    assert found.keys() <= KNOWN.keys(), found


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_every_operator_agrees_with_a_real_device() -> None:
    """Compare acceptance, exception type, device and dtype with a real device.

    Calls are made with all tensors moved, and with each one left behind.
    """
    differing: dict[str, tuple[object, object]] = {}
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls():
            for stays in (None, *call.tensors):
                real = outcome(lambda: call.on_device(stays))  # noqa: B023 - called at once
                with emulate():
                    emulated = outcome(lambda: call.on_device(stays))  # noqa: B023 - called at once
                compared += 1
                if real != emulated and "not implemented" not in emulated:
                    differing[f"{call.name} with argument {stays} on the host"] = (real, emulated)
    assert compared > 1000
    assert not differing
