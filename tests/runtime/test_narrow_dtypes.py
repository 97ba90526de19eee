"""Tests of dtypes on the emulated CUDA device, which takes and refuses what CUDA does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from devlint.runtime import NotEmulated, emulate, record

NARROW = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["half", "bfloat16"])
ROUNDED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "avg_pool3d": lambda x: F.avg_pool3d(x.view(1, 1, 2, 3, 3), 2),
    "local_response_norm": lambda x: F.local_response_norm(x.view(1, 2, 3, 3), 2),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, torch.tensor([0, 1, 2], device=x.device)),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(
        x, torch.tensor([[0, 1, -1, 0, 0, 0]] * 3, device=x.device)
    ),
    "antialias": lambda x: F.interpolate(x.view(1, 2, 3, 3), size=(2, 2), mode="bilinear", antialias=True),
}


@NARROW
@pytest.mark.parametrize("case", ROUNDED)
def test_kernels_that_only_cuda_has_compute_in_float32_and_round(
    case: str, dtype: torch.dtype, device: torch.device
) -> None:
    values = torch.linspace(-1, 2, 18).view(3, 6).to(dtype)
    near = values.to(device).requires_grad_()
    out = ROUNDED[case](near)
    assert out.dtype is dtype and out.device == device
    if case != "local_response_norm":
        wide = values.float().requires_grad_()
        expected = ROUNDED[case](wide)
        assert torch.equal(out.detach().cpu(), expected.detach().to(dtype))
        expected.sum().backward()
        out.sum().backward()
        assert near.grad is not None and near.grad.device == device
        assert torch.allclose(near.grad.cpu().float(), wide.grad, rtol=1e-2, atol=1e-2)


def near(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(*shape, device="cuda", dtype=dtype)


REFUSED: dict[str, tuple[Callable[[torch.dtype], Any], str]] = {
    "layer norm": (
        lambda d: F.layer_norm(near(2, 4, dtype=d), (4,), near(4)), "expected scalar type {} but found Float"
    ),
    "layer norm, bias": (
        lambda d: F.layer_norm(near(2, 4, dtype=d), (4,), near(4, dtype=d), near(4)),
        "expected scalar type {} but found Float",
    ),
    "layer norm of float32": (
        lambda d: F.layer_norm(near(2, 4), (4,), near(4, dtype=d)), "expected scalar type Float but found {}"
    ),
    "group norm": (
        lambda d: F.group_norm(near(2, 4, dtype=d), 2, near(4), near(4)), "expected scalar type {} but found Float"
    ),
    "angle": (lambda d: near(2, dtype=d).angle(), "\"angle_cuda\" not implemented for '{}'"),
    "cdist": (
        lambda d: torch.cdist(near(2, 3, dtype=d), near(2, 3, dtype=d)), "\"cdist_cuda\" not implemented for '{}'"
    ),
    "igamma": (lambda d: torch.igamma(near(2, dtype=d), near(2, dtype=d)), "\"igamma_cuda\" not implemented for '{}'"),
}  # fmt: skip


@NARROW
@pytest.mark.parametrize("case", REFUSED)
def test_refuses_what_cuda_refuses_in_its_words(case: str, dtype: torch.dtype, device: torch.device) -> None:
    call, words = REFUSED[case]
    with pytest.raises(RuntimeError) as raised:
        call(dtype)
    assert str(raised.value) == words.format({torch.float16: "Half", torch.bfloat16: "BFloat16"}[dtype])
    assert not isinstance(raised.value, NotEmulated)


@NARROW
def test_norms_in_one_dtype_work(dtype: torch.dtype, device: torch.device) -> None:
    x, weight = near(2, 4, dtype=dtype), near(4, dtype=dtype)
    for out in (F.layer_norm(x, (4,), weight, weight), F.group_norm(x, 2, weight, weight), F.layer_norm(x, (4,))):
        assert out.dtype is dtype and out.device == device
    with torch.autocast("cuda", dtype=dtype):
        assert F.layer_norm(x, (4,), near(4)).dtype is torch.float32


@NARROW
def test_the_host_takes_what_it_took(dtype: torch.dtype, device: torch.device) -> None:
    assert F.layer_norm(torch.ones(2, 4, dtype=dtype), (4,), torch.ones(4)).dtype is dtype
    assert torch.ones(2, dtype=dtype).angle().dtype is dtype


def test_another_backend_is_not_cuda() -> None:
    with emulate(kind="xpu"):
        x = torch.ones(2, 4, device="xpu", dtype=torch.float16)
        assert F.layer_norm(x, (4,), torch.ones(4, device="xpu")).dtype is torch.float16


def test_a_refused_norm_is_reported() -> None:
    with emulate(), record() as report:
        with pytest.raises(RuntimeError, match="expected scalar type Half but found Float"):
            F.layer_norm(near(2, 4, dtype=torch.float16), (4,), near(4))
        assert set(report.codes) == {"DEV302"}


@pytest.mark.parametrize("name", ["fft", "rfft", "ifft2", "irfftn"])
def test_fourier_transforms_of_half_are_not_emulated(name: str, device: torch.device) -> None:
    with pytest.raises(NotEmulated, match="Fourier transform in float16"):
        getattr(torch.fft, name)(near(4, 4, dtype=torch.float16))
    assert getattr(torch.fft, name)(near(4, 4)).device == device


INTEGERS: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "matmul": (lambda x: x @ x, "addmm_cuda"),
    "mm": (lambda x: torch.mm(x, x), "addmm_cuda"),
    "addmm": (lambda x: torch.addmm(x, x, x), "addmm_cuda"),
    "linear": (lambda x: F.linear(x, x, x[0]), "addmm_cuda"),
    "einsum": (lambda x: torch.einsum("bij,bjk->bik", x[None], x[None]), "baddbmm_cuda"),
    "batches": (lambda x: torch.stack([x, x]) @ torch.stack([x, x]), "baddbmm_cuda"),
    "vector": (lambda x: x @ x[0], "addmv_impl_cuda"),
    "dot": (lambda x: x[0] @ x[0], "dot"),
    "max_pool2d": (lambda x: F.max_pool2d(x[None, None], 2), "max_pool2d_with_indices_out_cuda_frame"),
    "avg_pool2d": (lambda x: F.avg_pool2d(x[None, None], 2), "avg_pool2d_out_cuda_frame"),
    "max_pool3d": (lambda x: F.max_pool3d(x[None, None, None], (1, 2, 2)), "max_pool3d_with_indices_out_frame"),
    "avg_pool3d": (lambda x: F.avg_pool3d(x[None, None, None], (1, 2, 2)), "avg_pool3d_out_cuda"),
}


@pytest.mark.parametrize("case", INTEGERS)
def test_cuda_has_no_kernel_for_products_and_pools_of_integers(case: str, device: torch.device) -> None:
    call, kernel = INTEGERS[case]
    call(torch.ones(3, 3, dtype=torch.int64))
    with record() as report, pytest.raises(RuntimeError) as raised:
        call(near(3, 3, dtype=torch.int64))
    assert str(raised.value) == f"\"{kernel}\" not implemented for 'Long'"
    assert not isinstance(raised.value, NotEmulated) and not report.codes


@pytest.mark.parametrize("case", INTEGERS)
def test_products_and_pools_of_floats_and_of_nothing_work(case: str, device: torch.device) -> None:
    call, _ = INTEGERS[case]
    assert call(near(3, 3)).device == device
    assert (near(0, 3, dtype=torch.int64) @ near(3, 2, dtype=torch.int64)).device == device
    assert (near(2, 2, dtype=torch.int64) * near(2, 2, dtype=torch.int64)).sum().item() == 4


CONVOLUTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "conv1d": lambda x: F.conv1d(x[None, :1], x[None, :1, :2]),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2]),
    "conv3d": lambda x: F.conv3d(x[None, None, None], x[None, None, None, :2, :2]),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x[None, None], x[None, None, :2, :2]),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_cudnn_convolves_no_integers(name: str, device: torch.device) -> None:
    call = CONVOLUTIONS[name]
    assert call(torch.ones(3, 3, dtype=torch.int64)).dtype is torch.int64
    with pytest.raises(RuntimeError, match=r"^getCudnnDataTypeFromScalarType\(\) not supported for Long$"):
        call(near(3, 3, dtype=torch.int64))
    assert call(near(3, 3)).device == device


def test_a_kernel_that_checks_types_names_the_devices(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match=r"but got torch\.cuda\.FloatTensor instead"):
        F.embedding(near(2), near(3, 4))
    with pytest.raises(RuntimeError, match=r"but got torch\.FloatTensor instead"):
        F.embedding(torch.ones(2), torch.ones(3, 4))
