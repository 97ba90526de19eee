"""The dtypes that the backends of devices other than CUDA do not have, as data: the error of each, and its source.

Both the rules and the emulated devices read them from here. Everything is copied from the sources of torch and of
torch_npu, which are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class LimitedUse(Enum):
    """What a backend does not do with a dtype."""

    MADE = "no tensor of the dtype can be made on the device"
    COMPUTED = "tensors of the dtype can be made, copied and viewed, but no operator computes with them"
    CAST = "a cast to the dtype on the device gives float32 in its place, with a warning"


@dataclass(frozen=True, slots=True)
class DtypeLimit:
    """A dtype that a backend does not have, with what it says about it and the source file that says so."""

    dtype: str
    use: LimitedUse
    message: str
    source: str


DTYPE_LIMITS: Final[Mapping[str, tuple[DtypeLimit, ...]]] = {
    "mps": (
        DtypeLimit(
            "float64",
            LimitedUse.MADE,
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
            "Please use float32 instead.",
            "aten/src/ATen/mps/EmptyTensor.cpp, empty_mps and empty_strided_mps",
        ),
        DtypeLimit(
            "complex128",
            LimitedUse.COMPUTED,
            "Trying to convert ComplexDouble to the MPS backend but it does not have support for that dtype.",
            "aten/src/ATen/native/mps/OperationUtils.mm, getMPSDataType",
        ),
    ),
    "npu": (
        DtypeLimit(
            "float64",
            LimitedUse.CAST,
            "Device do not support double dtype now, dtype cast replace with float.",
            "torch_npu/csrc/aten/common/ToKernelNpu.cpp, _to_copy",
        ),
    ),
}
"""The limits of each backend, by the type of its devices."""

REFUSED_DTYPES: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(one.dtype for one in limits if one.use is LimitedUse.MADE) for kind, limits in DTYPE_LIMITS.items()
}
"""The dtypes of which no tensor can be made on a device, by the type of the device."""
