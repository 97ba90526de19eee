"""What two dtypes become together, against torch and NumPy themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from devlint.domain.dtype import NAMES, promote_array_dtypes, promote_tensor_dtypes

WIDE_UNSIGNED = {"uint16", "uint32", "uint64"}
TORCH = sorted(NAMES - WIDE_UNSIGNED)
NUMPY = sorted(NAMES - {"bfloat16", "complex32"})


@pytest.mark.parametrize(("left", "right"), list(itertools.product(TORCH, repeat=2)))
def test_tensors_promote_as_torch_says(left: str, right: str) -> None:
    wanted = torch.promote_types(getattr(torch, left), getattr(torch, right))
    assert promote_tensor_dtypes(left, right) == str(wanted).removeprefix("torch.")


@pytest.mark.parametrize(("left", "right"), list(itertools.product(NUMPY, repeat=2)))
def test_arrays_promote_as_numpy_says(left: str, right: str) -> None:
    assert promote_array_dtypes(left, right) == str(np.promote_types(left, right))


def test_numpy_has_no_bfloat16() -> None:
    assert promote_array_dtypes("bfloat16", "float32") is None
