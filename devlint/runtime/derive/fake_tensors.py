"""Device flips under FakeTensorMode: a second opinion on which operands a torch call accepts on the host.

A device flip is a sample call with operands on two devices. FakeTensorMode runs it on tensors without data. The module
adds checks for calls that FakeTensorMode accepts and eager CUDA refuses.
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
    """The error for a call on fake tensors whose operands are on devices that eager CUDA would refuse together."""


@cache
def _native_declarations() -> dict[str, NativeFunction]:
    """Return the declarations in native_functions.yaml, by operator name with overload, such as "add.Tensor"."""
    return {str(f.func.name): f for group in native_functions().values() for f in group}


class EagerChecks(_Mode):  # type: ignore[misc]
    """A torch dispatch mode that adds the device checks of eager CUDA to FakeTensorMode.

    FakeTensorMode alone is laxer for 0-dim tensors.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Check the devices of an operator's operands, then pass the operator on to the enclosing FakeTensorMode."""
        self._check(func, args)
        return func(*args, **(kwargs or {}))

    def _check(self, func: Any, args: tuple[Any, ...]) -> None:
        """Raise DeviceClash if eager CUDA would refuse the operands of an operator because of their devices.

        Eager CUDA checks devices in the generated wrapper of an operator or in TensorIterator.
        """
        name = func._schema.name.removeprefix("aten::")
        overload = func._schema.overload_name
        native = _native_declarations().get(f"{name}.{overload}" if overload else name)
        if native is None or name in _ANY_DEVICE or name in _MANY_SCALARS:
            return
        given = [t for t in pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
        on_host = [t for t in given if t.device.type == "cpu"]
        if not on_host or len(on_host) == len(given):
            return
        checked = native.device_check is DeviceCheckType.ExactSame
        if checked and (has_cuda_kernel(native) or name in _STRICT_COMPOSITES):
            raise DeviceClash(f"{func}: wrapper")
        if not checked and _uses_tensor_iterator(native) and (len(on_host) > 1 or on_host[0].dim() > 0):
            raise DeviceClash(f"{func}: more than one host operand")


def _uses_tensor_iterator(native: NativeFunction) -> bool:
    """Return whether torch computes an operator by TensorIterator, its engine for elementwise operators."""
    return native.structured or native.structured_delegate is not None or "pointwise" in native.tags


def fake_tensors_accept(flip: DeviceFlip) -> bool | None:
    """Return whether a sample call with operands on two devices runs under FakeTensorMode, None if that cannot tell."""
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
