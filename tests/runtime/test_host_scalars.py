"""Tests of which operators take a 0-dim host operand, against torch's `meta` kernels, which check as CUDA's do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from devlint.runtime.native_functions import native_entries
from devlint.runtime.operator_plans import DeviceCheck, plan_for
from devlint.runtime.tensor_iterator import allowed_host_scalars

# The kernels compiled from C++ are hidden by others written in Python, which check less: take those away first.
ASK = """
import json, sys, warnings
import torch
from torch import _meta_registrations
warnings.simplefilter("ignore")
_meta_registrations._meta_lib_dont_use_me_use_register_meta._destroy()
answers = {}
for name in json.loads(sys.argv[1]):
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")
    tensors = sum(str(argument.type) == "Tensor" for argument in operator._schema.arguments)
    numbers = [1.0] if overload == "Scalar" else []
    near = [torch.ones(3, device="meta") for _ in range(tensors - 1)]
    try:
        operator(*near, torch.ones(()), *numbers)
        answers[name] = True
    except RuntimeError as error:
        answers[name] = False if "same device" in str(error) else str(error)
print(json.dumps(answers))
"""


def _asked() -> list[str]:
    """Return the TensorIterator operators with a `meta` kernel, two or more tensors, and no other arguments."""
    found = []
    for name, native in native_entries().items():
        base, _, overload = name.partition(".")
        if (
            not native.structured
            or native.checked
            or base.endswith("_")
            or (base == "div" and overload == "Tensor_mode")
        ):
            continue
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        arguments = operator._schema.arguments
        if any(a.is_out for a in arguments) or sum(str(a.type) == "Tensor" for a in arguments) < 2:
            continue
        if plan_for(operator).device_check is DeviceCheck.TENSOR_ITERATOR:
            found.append(name)
    return found


def test_host_scalars_are_accepted_where_torch_accepts_them() -> None:
    names = _asked()
    assert len(names) > 30
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(names)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers == {name: allowed_host_scalars(name.partition(".")[0]).limit > 0 for name in names}


@pytest.mark.parametrize("name", ["addcmul", "lerp_", "_foreach_lerp"])
def test_some_kernels_take_a_host_scalar_at_one_position_only(name: str) -> None:
    assert allowed_host_scalars(name).positions == {2}
