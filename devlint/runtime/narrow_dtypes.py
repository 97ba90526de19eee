"""What CUDA's kernels do with narrow dtypes such as float16, where the host's kernels do something else.

Some kernels exist on one of the two only, and CUDA's norms want their parameters in the dtype of the input. The facts
come from the sources of CUDA's kernels in torch, and from torch's own list of dtypes by operator (OpInfo).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from devlint.runtime import torch_errors

NARROW = (torch.float16, torch.bfloat16)
COMPUTED_IN_FLOAT32 = frozenset(
    "avg_pool3d avg_pool3d_backward _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward multi_margin_loss "
    "multi_margin_loss_backward multilabel_margin_loss_forward multilabel_margin_loss_backward polygamma".split()
)
"""Operators with a CUDA kernel for narrow dtypes that computes in float32 and rounds, and without a host kernel."""
_KERNELS_WITHOUT_NARROW = {
    "angle": "angle_cuda",  # cuda/UnaryComplexKernels.cu
    "_cdist_forward": "cdist_cuda",  # cuda/DistanceKernel.cu
    "_pdist_forward": "pdist_cuda",  # cuda/DistanceKernel.cu
    "igamma": "igamma_cuda",  # cuda/IGammaKernel.cu
    "igammac": "igammac_cuda",  # cuda/IGammaKernel.cu
    "gcd": "gcd_cuda",  # cuda/GcdLcmKernel.cu
    "lcm": "lcm_cuda",  # cuda/GcdLcmKernel.cu
    "_ctc_loss": "ctc_loss_cuda",  # cuda/LossCTC.cu
}
"""Operators whose CUDA kernels refuse narrow dtypes, with the name of the kernel in the error message."""
Check = Callable[[tuple[Any, ...]], None]


def _refuse_narrow(kernel: str) -> Check:
    """Return the check of an operator whose CUDA kernel refuses narrow dtypes."""

    def check(args: tuple[Any, ...]) -> None:
        if args[0].dtype in NARROW:
            raise torch_errors.dtype_without_kernel(kernel, args[0].dtype)

    return check


def _check_layer_norm(args: tuple[Any, ...]) -> None:
    """Raise the error of CUDA's layer norm if weight or bias has another dtype than the input."""
    _check_parameters(args[0], args[2:4])


def _check_group_norm(args: tuple[Any, ...]) -> None:
    """Raise the error of CUDA's group norm for float32 parameters of a narrow input, which the host takes.

    Other differences are refused before the kernels, with the same words on both.
    """
    if args[0].dtype in NARROW:
        _check_parameters(args[0], args[1:3])


def _check_parameters(image: torch.Tensor, parameters: tuple[Any, ...]) -> None:
    """Raise the error of a CUDA kernel that reads its parameters in the dtype of its input.

    No kernel is launched for an empty input.
    """
    for parameter in parameters:
        if isinstance(parameter, torch.Tensor) and parameter.dtype is not image.dtype and image.numel():
            raise torch_errors.scalar_type_expected(image.dtype, parameter.dtype)


DTYPE_CHECKS: dict[str, Check] = {
    "native_layer_norm": _check_layer_norm,
    "native_group_norm": _check_group_norm,
    **{operator: _refuse_narrow(kernel) for operator, kernel in _KERNELS_WITHOUT_NARROW.items()},
}
"""Checks of the positional arguments of operators on an emulated CUDA device, by operator name."""


def computed_in_float32(name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return an operator's result for narrow operands, computed in float32 and rounded as CUDA's kernel does.

    Returns NotImplemented if no such kernel is known.
    """
    dtype = next((value.dtype for value in args if isinstance(value, torch.Tensor) and value.dtype in NARROW), None)
    if name not in COMPUTED_IN_FLOAT32 or dtype is None or any(isinstance(v, torch.Tensor) for v in kwargs.values()):
        return NotImplemented

    def wide(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.dtype in NARROW else value

    def narrow(value: Any) -> Any:
        return value.to(dtype) if isinstance(value, torch.Tensor) and value.dtype is torch.float32 else value

    out = func(*map(wide, args), **kwargs)
    return tuple(map(narrow, out)) if isinstance(out, tuple | list) else narrow(out)
