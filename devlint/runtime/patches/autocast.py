"""Patches for mixed precision: make the emulated device's autocast work on the host, with its rules of casting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.backends import Backend
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import placement_of
from devlint.runtime.tensor_arguments import tensors_in

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

LOWER_PRECISION = {
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "_convolution", "einsum",
    "linalg_multi_dot", "linalg_vecdot", "linear", "matmul", "mm", "mv", "prelu", "scaled_dot_product_attention",
    "gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell",
}  # fmt: skip
"""Operators that autocast runs in half precision, on the backends whose autocast casts them."""
RECURRENT = {"gru", "lstm", "rnn_relu", "rnn_tanh"}
"""Recurrent layers, which run in half precision too where the backend has such kernels, as cuDNN has."""
PROMOTE = {
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put", "scatter_add",
    "tensordot",
}  # fmt: skip
"""Operators that autocast runs in float32 if one operand is float32."""
KERNELS_ABSENT_ON_HOST = ("aten::cudnn_", "aten::_thnn_", "aten::_scaled_dot_product_")
"""Prefixes of operators that the host never calls."""
CASTABLE = (torch.float16, torch.bfloat16, torch.float32)
"""The dtypes that autocast casts."""

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_host_autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
_below_autocast = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.AutocastCPU)


class _OperandCast:
    """Callable that casts the operands of an operator as autocast does, if they are on an emulated device.

    A weight is cast once, and the result is reused until autocast ends.
    """

    def __init__(self) -> None:
        self._weights: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def forget(self) -> None:
        """Forget the weights that were cast, because autocast has ended."""
        self._weights.clear()

    def __call__(self, value: Any, target: torch.dtype) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(self(part, target) for part in value)
        if not isinstance(value, torch.Tensor) or value.dtype not in CASTABLE or not placement_of(value).key:
            return value
        narrowing = value.dtype is torch.float32 and target is not torch.float32
        if not (narrowing and value.is_leaf and value.requires_grad and torch.is_autocast_cache_enabled()):
            return value.to(target)
        known = self._weights.get(id(value))
        if known is None:
            known = self._weights[id(value)] = (value, value.to(target))
        return known[1]


def _has_autocast_kernel(name: str, key: str) -> bool:
    """Return whether an operator has a kernel for a dispatch key of autocast, such as `AutocastCUDA`."""
    try:
        return bool(_has_kernel(name, key))
    except RuntimeError:
        return False


def _autocast_operators(backend: Backend) -> tuple[list[str], list[str]]:
    """Return two lists of operator names: those that a backend's autocast casts, and those that only the host's."""
    names = [
        n
        for n in torch._C._dispatch_get_all_op_names()
        if n.startswith("aten::") and not n.startswith(KERNELS_ABSENT_ON_HOST)
    ]
    own = {name for name in names if _has_autocast_kernel(name, backend.autocast_key)}
    halved = {_base_name(name) for name in own} & LOWER_PRECISION | (RECURRENT if backend.recurrent_in_half else set())
    casting = {
        name
        for name in names
        if (name in own or _base_name(name) in halved) and _base_name(name) not in backend.never_cast
    }
    return sorted(casting), sorted(
        name for name in names if name not in casting and _has_autocast_kernel(name, "AutocastCPU")
    )


def _base_name(name: str) -> str:
    """Return the base name of an operator, such as `add` for `aten::add.Tensor`."""
    return name.removeprefix("aten::").partition(".")[0]


def _operator(name: str) -> Any:
    """Return the torch operator overload with a full name such as `aten::add.Tensor`."""
    return getattr(getattr(torch.ops.aten, _base_name(name)), name.partition(".")[2] or "default")


def _casting_kernel(name: str, cast: _OperandCast, kind: str) -> Callable[..., Any]:
    """Return an autocast kernel that casts operands on emulated devices as the autocast of that device type does.

    Operands are passed on without a cast if none is on an emulated device.
    """
    base, operator = _base_name(name), _operator(name)

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = [tensor for tensor in tensors_in((*args, *kwargs.values())) if tensor.dtype in CASTABLE]
        if not any(placement_of(tensor).key for tensor in tensors):
            return operator.redispatch(keys & _below_autocast, *args, **kwargs)
        with torch._C._ExcludeDispatchKeyGuard(_host_autocast):
            if base in PROMOTE and all(tensor.dtype is not torch.float32 for tensor in tensors):
                return operator(*args, **kwargs)
            target = torch.get_autocast_dtype(kind) if base in LOWER_PRECISION | RECURRENT else torch.float32
            return operator(*cast(args, target), **{key: cast(value, target) for key, value in kwargs.items()})

    return kernel


def _uncast_kernel(name: str) -> Callable[..., Any]:
    """Return an autocast kernel that passes the operands of an operator on without casting them.

    It is for operators that the backend's autocast does not cast, though it may cast in the operators that they are
    composed of.
    """
    operator = _operator(name)
    return lambda keys, *args, **kwargs: operator.redispatch(keys & _below_autocast, *args, **kwargs)


def _install_kernels(cast: _OperandCast, backend: Backend) -> Any:
    """Register kernels with a backend's casting rules in place of the host's autocast kernels.

    Returns the `torch.library.Library` that holds the kernels. Destroying it restores the host's kernels.
    """
    make: Any = torch.library.Library
    library = make("aten", "IMPL")
    casting, leaving = _autocast_operators(backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that kernels are replaced, which is intended here
        for name in casting:
            library.impl(name, _casting_kernel(name, cast, backend.kind), "AutocastCPU", with_keyset=True)
        for name in leaving:
            library.impl(name, _uncast_kernel(name), "AutocastCPU", with_keyset=True)
    return library


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace methods of `torch.autocast`, so that the host casts by the rules of the emulated device.

    It does so while autocast is on for that device. `binary_cross_entropy` then raises the error that it raises under
    that autocast, if it raises one.
    """
    kind = session.backend.kind
    libraries: list[Any] = []
    cast = _OperandCast()
    enter: Any = torch.autocast.__enter__
    leave: Any = torch.autocast.__exit__

    def begin(self: Any) -> Any:
        within = torch.is_autocast_enabled(kind)
        if self._enabled and (within if self.device == "cpu" else torch.is_autocast_enabled("cpu") and not within):
            raise NotEmulated("autocast of the host and of the device at once")
        result = enter(self)
        if self.device == kind:
            if not libraries:
                libraries.append(_install_kernels(cast, session.backend))
                session.direct_calls = False
            self._devlint_before = [*getattr(self, "_devlint_before", ()), torch.is_autocast_enabled("cpu")]
        if self.device == kind or within:
            torch.set_autocast_enabled("cpu", torch.is_autocast_enabled(kind))
        return result

    def end(self: Any, *error: Any) -> Any:
        result = leave(self, *error)
        if self.device == kind:
            torch.set_autocast_enabled("cpu", self._devlint_before.pop())
        if not torch.is_autocast_enabled(kind):
            cast.forget()
            while libraries:
                libraries.pop()._destroy()
            session.direct_calls = not session.forked_after_init
        return result

    bce = torch._C._nn.binary_cross_entropy
    banned = _has_autocast_kernel("aten::binary_cross_entropy", session.backend.autocast_key)

    def binary_cross_entropy(*args: Any, **kwargs: Any) -> Any:
        if banned and torch.is_autocast_enabled(kind) and any(placement_of(t).key for t in tensors_in(args)):
            raise RuntimeError(
                "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
                "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
                "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
                "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
                "safe to autocast."
            )
        return bce(*args, **kwargs)

    patcher.replace(torch.autocast, "__enter__", begin)
    patcher.replace(torch.autocast, "__exit__", end)
    patcher.replace(torch._C._nn, "binary_cross_entropy", binary_cross_entropy)
    patcher.at_end(lambda: [library._destroy() for library in libraries])
