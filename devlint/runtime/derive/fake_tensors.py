"""Device flips under FakeTensorMode, as a second source.

Checks are added for what FakeTensorMode accepts and eager CUDA does not.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torchgen.model import DeviceCheckType, NativeFunction  # type: ignore[import-untyped]

from devlint.runtime.derive.device_flips import ACCELERATOR, DeviceFlip
from devlint.runtime.derive.signatures import has_cuda_kernel, native_functions

_DEVICES = {"cpu": torch.device("cpu"), ACCELERATOR: torch.device("cuda:0")}
_MANY_SCALARS = frozenset({"where"})
"""Operators that take any number of 0-dim host operands."""
_ANY_DEVICE = frozenset(
    "copy_ copy _to_copy set_ expand_as view_as reshape_as resize_as_ is_same_size index index_put_ index_put"
    " _index_put_impl_ _unsafe_index slice_scatter select_scatter diagonal_scatter as_strided_scatter".split()
)
"""Operators whose operands may be on different devices."""
_STRICT_COMPOSITES = frozenset(
    "block_diag complex polar embedding stack masked_scatter put _batch_norm_no_update"
    " _native_batch_norm_legit_no_training".split()
)
"""Composite operators with an inner call that a wrapper checks; FakeTensorMode does not look inside them."""
_BEYOND_THE_CHECK = frozenset(
    {"DataDependentOutputException", "DynamicOutputShapeException", "UnsupportedOperatorException"}
)
"""Exceptions by which FakeTensorMode says that it cannot tell."""
_Mode: Any = TorchDispatchMode


class DeviceClash(RuntimeError):
    """Error for operands that eager CUDA would not accept together."""


@cache
def _natives() -> dict[str, NativeFunction]:
    """Return torch's native functions by name and overload."""
    return {str(f.func.name): f for group in native_functions().values() for f in group}


class EagerChecks(_Mode):  # type: ignore[misc]
    """Dispatch mode that adds the device checks of eager CUDA, which FakeTensorMode relaxes for 0-dim tensors."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Check the operands' devices, then run the operator in the fake mode below."""
        self._check(func, args)
        return func(*args, **(kwargs or {}))

    def _check(self, func: Any, args: tuple[Any, ...]) -> None:
        """Raise DeviceClash for operands that the generated wrapper or TensorIterator would refuse."""
        name = func._schema.name.removeprefix("aten::")
        overload = func._schema.overload_name
        native = _natives().get(f"{name}.{overload}" if overload else name)
        if native is None or name in _ANY_DEVICE or name in _MANY_SCALARS:
            return
        given = [t for t in pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
        on_host = [t for t in given if t.device.type == "cpu"]
        if not on_host or len(on_host) == len(given):
            return
        checked = native.device_check is DeviceCheckType.ExactSame
        if checked and (has_cuda_kernel(native) or name in _STRICT_COMPOSITES):
            raise DeviceClash(f"{func}: wrapper")
        if not checked and _iterates(native) and (len(on_host) > 1 or on_host[0].dim() > 0):
            raise DeviceClash(f"{func}: more than one host operand")


def _iterates(native: NativeFunction) -> bool:
    """Return whether an operator is computed by TensorIterator."""
    return native.structured or native.structured_delegate is not None or "pointwise" in native.tags


def fake_tensors_accept(flip: DeviceFlip) -> bool | None:
    """Return whether a device flip runs on fake tensors; None if FakeTensorMode cannot tell."""
    where = {id(t): _DEVICES[flip.places[n]] for n, t in flip.tensors.items()}

    def faked(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=where[id(tensor)])

    with torch.no_grad(), warnings.catch_warnings(), FakeTensorMode(allow_non_fake_inputs=False):
        warnings.simplefilter("ignore")
        try:
            call = flip.call.map_tensors(faked)
            with EagerChecks():
                flip.function(*call.args, **call.kwargs)
        except Exception as error:  # any exception counts: the question is whether the call raises
            return None if type(error).__name__ in _BEYOND_THE_CHECK else False
    return True
