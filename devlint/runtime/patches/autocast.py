"""Mixed precision: `autocast("cuda")` over host arithmetic, with CUDA's list of operators and not the host's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.arguments import tensors_in
from devlint.runtime.labels import place_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.session import Session

PROMOTE = {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "index_put", "scatter_add", "tensordot"}
LOWER = {
    "_convolution", "convolution", "cudnn_convolution", "cudnn_convolution_transpose", "addmv", "addr", "chain_matmul",
    "einsum", "gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell", "linalg_multi_dot", "mv",
    "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "_scaled_dot_product_flash_attention",
}  # fmt: skip
"""Reach the matrix products inside, which the host's list casts as CUDA's does."""
HALVES = (torch.float16, torch.bfloat16)

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_host_autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)


def _listed(name: str, key: str) -> bool:
    try:
        return bool(_has_kernel(name, key))
    except RuntimeError:
        return False


def _cuda_only() -> list[str]:
    """The operators that CUDA's autocast casts up or promotes and the host's leaves alone."""
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    found = [name for name in names if _listed(name, "AutocastCUDA") and not _listed(name, "AutocastCPU")]
    return [name for name in found if name.removeprefix("aten::").partition(".")[0] not in LOWER]


def _kernel(name: str) -> Callable[..., Any]:
    base, _, overload = name.removeprefix("aten::").partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_host_autocast):
            tensors = [t for t in tensors_in((*args, *kwargs.values())) if t.dtype.is_floating_point]
            on_device = torch.is_autocast_enabled("cuda") and any(place_of(t).key for t in tensors)
            wide = base not in PROMOTE or any(t.dtype is torch.float32 for t in tensors)
            if not on_device or not wide:
                return operator(*args, **kwargs)

            def cast(value: Any) -> Any:
                if isinstance(value, torch.Tensor):
                    return value.float() if value.dtype in HALVES else value
                return type(value)(map(cast, value)) if isinstance(value, list | tuple) else value

            return operator(*map(cast, args), **{key: cast(value) for key, value in kwargs.items()})

    return kernel


def install(session: Session, patcher: Patcher) -> None:
    """Let the host's autocast follow CUDA's, and add the operators it lacks."""
    if session.kind != "cuda":
        return
    library: list[Any] = []
    enter: Any = torch.autocast.__enter__
    leave: Any = torch.autocast.__exit__
    make: Any = torch.library.Library

    def begin(self: Any) -> Any:
        result = enter(self)
        if self.device == "cuda":
            if not library:
                library.append(make("aten", "IMPL"))
                for name in _cuda_only():
                    library[0].impl(name, _kernel(name), "AutocastCPU")
            before = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
            self._devlint_before = [*getattr(self, "_devlint_before", ()), before]
            torch.set_autocast_enabled("cpu", self._enabled)
            torch.set_autocast_dtype("cpu", self.fast_dtype)
        return result

    def end(self: Any, *error: Any) -> Any:
        if self.device == "cuda":
            enabled, dtype = self._devlint_before.pop()
            torch.set_autocast_enabled("cpu", enabled)
            torch.set_autocast_dtype("cpu", dtype)
        return leave(self, *error)

    bce = torch._C._nn.binary_cross_entropy

    def binary_cross_entropy(*args: Any, **kwargs: Any) -> Any:
        if torch.is_autocast_enabled("cuda") and any(place_of(t).key for t in tensors_in(args)):
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
    patcher.at_end(lambda: [lib._destroy() for lib in library])
