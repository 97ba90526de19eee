"""Operators that CUDA computes for floating-point and complex numbers only, and the host for integers too.

The facts come from the sources of CUDA's kernels in torch, and from torch's own list of dtypes by operator (OpInfo).
"""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime import torch_errors

FLOATING_KERNELS = {
    "mm": "addmm_cuda",  # cuda/Blas.cpp, as all products
    "addmm": "addmm_cuda",
    "bmm": "baddbmm_cuda",
    "baddbmm": "baddbmm_cuda",
    "mv": "addmv_impl_cuda",
    "addmv": "addmv_impl_cuda",
    "dot": "dot",
    "vdot": "dot",
    "avg_pool2d": "avg_pool2d_out_cuda_frame",  # cuda/AveragePool2d.cu
    "max_pool2d_with_indices": "max_pool2d_with_indices_out_cuda_frame",  # cuda/DilatedMaxPool2d.cu
    "avg_pool3d": "avg_pool3d_out_cuda",  # cuda/AveragePool3d.cu
    "max_pool3d_with_indices": "max_pool3d_with_indices_out_frame",  # cuda/DilatedMaxPool3d.cu
}
"""The names of these operators, with the name of the kernel in the error message."""


def refuse_integers(name: str, args: tuple[Any, ...]) -> None:
    """Raise CUDA's error for an operator on integers that has a kernel for floating-point numbers only.

    Operands of several dtypes are refused before, with the same words on both, and nothing is launched for empty ones.
    """
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    dtype = tensors[0].dtype
    same = all(tensor.dtype is dtype and tensor.numel() for tensor in tensors)
    if same and not dtype.is_floating_point and not dtype.is_complex:
        raise torch_errors.dtype_without_kernel(FLOATING_KERNELS[name], dtype)


def _refuse_integer_convolution(args: tuple[Any, ...]) -> None:
    """Raise the error of cuDNN, which computes CUDA's convolutions, for 64-bit integers, which the host takes.

    Convolutions in groups may have kernels of their own on CUDA, and none runs for empty operands.
    """
    image, weight, groups = args[0], args[1], args[8]
    if image.dtype is torch.int64 and image.numel() and weight.numel() and groups == 1:
        raise torch_errors.dtype_without_cudnn(image.dtype)


INTEGER_CHECKS = {"convolution": _refuse_integer_convolution}
"""Checks of the positional arguments of operators whose CUDA libraries refuse integers, by operator name."""
