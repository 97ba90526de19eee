"""What autocast casts: the lists of devlint against torch itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import devlint.semantics.autocast
from devlint.semantics.autocast import cast_policy, default_low_dtype
from devlint.semantics.table import load_torch_table

torch = pytest.importorskip("torch")

LISTS = json.loads(Path(devlint.semantics.autocast.__file__).with_name("autocast.json").read_bytes())
COMPOSITE = {"cross_entropy", "grid_sample"}
"""Functions that only call an operator of another name, which autocast lists."""

OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "torch.Tensor.__matmul__": lambda x: x @ x,
    "torch.nn.functional.linear": lambda x: torch.nn.functional.linear(x, torch.ones(4, 4)),
    "torch.nn.Linear": lambda x: torch.nn.Linear(4, 4)(x),
    "torch.bmm": lambda x: torch.bmm(x[None], x[None])[0],
    "torch.nn.functional.mse_loss": lambda x: torch.nn.functional.mse_loss(x, x),
    "torch.nn.functional.cross_entropy": lambda x: torch.nn.functional.cross_entropy(x, torch.zeros(4).long()),
    "torch.Tensor.prod": lambda x: x.prod(),
    "torch.cdist": lambda x: torch.cdist(x, x),
    "torch.Tensor.exp": lambda x: x.exp(),
    "torch.Tensor.__pow__": lambda x: x**2,
    "torch.Tensor.sum": lambda x: x.sum(),
    "torch.nn.LayerNorm": lambda x: torch.nn.LayerNorm(4)(x),
    "torch.nn.GroupNorm": lambda x: torch.nn.GroupNorm(2, 4)(x),
    "torch.nn.Softmax": lambda x: torch.nn.Softmax(-1)(x),
    "torch.nn.GELU": lambda x: torch.nn.GELU()(x),
    "torch.where": lambda x: torch.where(x > 0, x, x),
    "torch.Tensor.std": lambda x: x.std(),
    "torch.Tensor.amax": lambda x: x.amax(-1),
    "torch.Tensor.__add__": lambda x: x + 1,
}


def dtype_under_autocast(operation: Callable[[Any], Any], dtype: Any) -> str:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return str(operation(torch.rand(4, 4).to(dtype)).dtype).removeprefix("torch.")


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_host_casts_as_the_lists_say(name: str) -> None:
    policy = cast_policy(name, "cpu")
    single = dtype_under_autocast(OPERATIONS[name], torch.float32)
    low = dtype_under_autocast(OPERATIONS[name], torch.bfloat16)
    expected = {"lower": ("bfloat16", "bfloat16"), "float32": ("float32", "float32"), "native": ("float32", "bfloat16")}
    assert (single, low) == expected[policy]


def test_the_host_promotes_what_the_list_says() -> None:
    with torch.autocast("cpu"):
        mixed = [torch.ones(2), torch.ones(2, dtype=torch.bfloat16)]
        assert torch.cat(mixed).dtype is torch.stack(mixed).dtype is torch.float32
    assert cast_policy("torch.cat", "cpu") == cast_policy("torch.stack", "cpu") == "promote"


@pytest.mark.parametrize(("device_type", "key"), [("cuda", "AutocastCUDA"), ("cpu", "AutocastCPU")])
def test_torch_registers_a_cast_for_every_listed_operation(device_type: str, key: str) -> None:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    cast = {name[6:].partition(".")[0] for name in names if has_kernel(name, key)}
    lists = LISTS["types"][device_type]
    listed = {name.replace("linalg.", "linalg_") for name in lists["lower"] + lists["float32"] + lists["promote"]}
    assert listed - cast <= COMPOSITE


def test_the_default_dtypes_are_those_of_torch() -> None:
    for device_type in LISTS["types"]:
        assert f"torch.{default_low_dtype(device_type)}" == str(torch.get_autocast_dtype(device_type))


def test_every_listed_operation_and_module_has_a_row() -> None:
    table = load_torch_table()
    listed = {
        name for lists in LISTS["types"].values() for key in ("lower", "float32", "promote") for name in lists[key]
    }
    for name in listed | set(LISTS["native"]):
        assert any(f"torch.{prefix}{name}" in table for prefix in ("", "Tensor.", "nn.functional.")), name
    assert all(f"torch.nn.{name}" in table for name in LISTS["modules"])
