"""Legacy tensor types such as `torch.cuda.FloatTensor`, each of which names a device and a dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from devlint.domain.device import CPU, KnownDevice
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.placement import Basis, PlacementCase, Step
from devlint.interpreter.operations.device_arguments import resolve_device_index
from devlint.interpreter.state.frame import Frame

LEGACY_TYPE_DTYPES: Final[Mapping[str, str]] = {
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
"""The dtypes of the legacy tensor types, by the last part of their names."""
LEGACY_ACCELERATORS: Final = ("cuda", "xpu", "hpu", "npu")
"""The types of accelerators with a package of legacy tensor types."""


def legacy_type_names(package: str = "torch") -> tuple[str, ...]:
    """Return the dotted names of a package's legacy tensor types, such as `torch.cuda.FloatTensor`."""
    return tuple(f"{package}.{name}" for name in LEGACY_TYPE_DTYPES)


def legacy_type(frame: Frame, name: str, step: Step | None) -> tuple[PlacementCase, Dtype] | None:
    """Return the placement and dtype that a legacy tensor type names; None for any other name."""
    package, _, last = name.rpartition(".")
    dtype = LEGACY_TYPE_DTYPES.get(last)
    if dtype is None:
        return None
    if package == "torch":
        return PlacementCase(CPU, Basis.EXPLICIT, step), Dtype(dtype, DtypeSource.EXPLICIT, step)
    type_ = package.removeprefix("torch.")
    if type_ not in LEGACY_ACCELERATORS:
        return None
    return PlacementCase(resolve_device_index(frame, KnownDevice(type_)), Basis.EXPLICIT, step), Dtype(
        dtype, DtypeSource.EXPLICIT, step
    )
