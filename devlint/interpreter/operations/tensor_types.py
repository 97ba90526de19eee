"""The tensor types from before devices and dtypes were arguments: `torch.cuda.FloatTensor` names one of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from devlint.domain.device import CPU, Known
from devlint.domain.dtype import Dtype, Source
from devlint.domain.placement import How, Leaf, Step
from devlint.interpreter.operations.device_arguments import current
from devlint.interpreter.state.frame import Run

DTYPES: Final[Mapping[str, str]] = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
ACCELERATORS: Final = ("cuda", "xpu", "hpu", "npu")


def legacy_names(package: str = "torch") -> tuple[str, ...]:
    """The types of one package by their dotted names."""
    return tuple(f"{package}.{name}" for name in DTYPES)


def legacy_type(run: Run, name: str, step: Step | None) -> tuple[Leaf, Dtype] | None:
    """Where tensors of the type lie and what they hold; None for any other name."""
    package, _, last = name.rpartition(".")
    dtype = DTYPES.get(last)
    if dtype is None:
        return None
    if package == "torch":
        return Leaf(CPU, How.EXPLICIT, step), Dtype(dtype, Source.EXPLICIT, step)
    type_ = package.removeprefix("torch.")
    if type_ not in ACCELERATORS:
        return None
    return Leaf(current(run, Known(type_)), How.EXPLICIT, step), Dtype(dtype, Source.EXPLICIT, step)
