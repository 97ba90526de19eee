"""Tests of what the emulated device refuses, with the messages of eager CUDA, and of what it accepts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from devlint.runtime import NotEmulated, emulate


def host(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


def near(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, device="cuda")


TWO = r"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def argument(name: str, found: str, common: str, method: str) -> str:
    return (
        rf"Expected all tensors to be on the same device, but got {name} is on {found}, different from other tensors "
        rf"on {common} \(when checking argument in method {method}\)"
    )


REFUSED = {
    "iterator": (lambda: near(3) + host(3), RuntimeError, TWO),
    "iterator in place": (lambda: host(3).add_(near(3)), RuntimeError, TWO),
    "two host scalars": (
        lambda: torch.lerp(near(3), torch.tensor(1.0), torch.tensor(0.5)),
        RuntimeError,
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    "wrapper": (lambda: near(2, 2) @ host(2, 2), RuntimeError, argument("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm")),
    "wrapper, 0-dim too": (
        lambda: torch.cat([near(1), host(1)]),
        RuntimeError,
        argument("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"),
    ),
    "composite names an inner operator": (
        lambda: nn.Embedding(3, 2).cuda()(torch.tensor([1])),
        RuntimeError,
        argument("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"),
    ),
    "linear": (
        lambda: nn.Linear(3, 2).cuda()(host(1, 3)),
        RuntimeError,
        argument("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    ),
    "convolution": (
        lambda: nn.Conv1d(1, 1, 1)(near(1, 1, 3)),
        RuntimeError,
        r"Input type \(torch.cuda.FloatTensor\) and weight type \(torch.FloatTensor\) should be the same",
    ),
    "index": (
        lambda: host(3)[torch.tensor([0], device="cuda")],
        RuntimeError,
        r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)",
    ),
    "assignment": (
        lambda: near(3).__setitem__(torch.tensor([0, 1], device="cuda"), host(2)),
        RuntimeError,
        TWO,
    ),
    "mask": (
        lambda: near(3).masked_fill(host(3) > 0, 0.0),
        RuntimeError,
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "recurrent layer": (
        lambda: nn.LSTM(3, 2).cuda()(host(4, 3)),
        RuntimeError,
        "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter",
    ),
    "hidden state": (
        lambda: nn.GRU(3, 2).cuda()(near(4, 3), host(1, 2)),
        RuntimeError,
        "Input and hidden tensors are not at the same device",
    ),
    "lengths": (
        lambda: nn.utils.rnn.pack_padded_sequence(near(1, 3, 2), torch.tensor([3], device="cuda"), batch_first=True),
        RuntimeError,
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    "numpy": (
        lambda: near(3).numpy(),
        TypeError,
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu",
    ),
    "pinned factory": (
        lambda: torch.zeros(3, device="cuda", pin_memory=True),
        RuntimeError,
        "Only dense CPU tensors can be pinned",
    ),
    "pin": (lambda: near(3).pin_memory(), RuntimeError, "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors"),
    "generator": (
        lambda: torch.randn(3, device="cuda", generator=torch.Generator()),
        RuntimeError,
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "host generator in place": (
        lambda: near(3).normal_(generator=torch.Generator()),
        RuntimeError,
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "ordinal": (lambda: host(3).to("cuda:7"), RuntimeError, "invalid device ordinal"),
    "gradient": (
        lambda: setattr(near(3).requires_grad_(), "grad", host(3)),
        RuntimeError,
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'",
    ),
    "foreach": (lambda: torch._foreach_add([near(2)], [host(2)]), RuntimeError, TWO),
    "attention": (
        lambda: nn.functional.scaled_dot_product_attention(near(1, 1, 2, 4), host(1, 1, 2, 4), host(1, 1, 2, 4)),
        RuntimeError,
        "Expected query, key, and value to have the same device type",
    ),
    "loss weight": (
        lambda: nn.CrossEntropyLoss(weight=host(3))(near(2, 3), torch.zeros(2, dtype=torch.long, device="cuda")),
        RuntimeError,
        argument("weight", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"),
    ),
    "sections": (
        lambda: near(4).tensor_split(torch.tensor([1], device="cuda")),
        RuntimeError,
        "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0",
    ),
    "a 0-dim host result": (lambda: torch.tensor(1.0).add_(torch.tensor(1.0, device="cuda")), RuntimeError, TWO),
    "foreach, a 0-dim host result": (
        lambda: torch._foreach_add_([torch.tensor(1.0)], [torch.tensor(1.0, device="cuda")]),
        RuntimeError,
        TWO,
    ),
    "complex": (
        lambda: torch.complex(near(2), torch.tensor(1.0)),
        RuntimeError,
        argument("imag", "cpu", "cuda:0", "wrapper_CUDA_out_complex_out"),
    ),
    "blocks": (
        lambda: torch.block_diag(near(2, 2), torch.tensor(1.0)),
        RuntimeError,
        "Input 0 is on device cuda:0 and input 1 is on device cpu",
    ),
    "recurrent function": (
        lambda: torch.gru(near(2, 1, 3), host(1, 1, 2), _gru_weights(near), True, 1, 0.0, False, False, False),
        RuntimeError,
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "recurrent layer, dtypes": (
        lambda: nn.GRU(3, 2).cuda()(near(4, 3), near(1, 2).double()),
        RuntimeError,
        "Input and hidden tensors are not the same dtype, found input tensor with Float and hidden tensor with Double",
    ),
    "a value for masked host memory": (
        lambda: host(3).masked_fill(host(3) > 0, torch.tensor(1.0, device="cuda")),
        RuntimeError,
        "masked_fill_: Expected inputs to be on same device",
    ),
    "a kernel without host scalars": (
        lambda: nn.functional.mse_loss(near(3).mean(), torch.tensor(1.0)),
        RuntimeError,
        "argument 2: expected a CUDA device but found cpu",
    ),
    "a host scalar where a kernel takes none": (
        lambda: torch.addcmul(near(3), torch.tensor(1.0), near(3)),
        RuntimeError,
        "CPU Scalar support for tensor1 argument is not supported",
    ),
    "no host scalars at all": (
        lambda: torch.addcdiv(near(3), near(3), torch.tensor(1.0)),
        RuntimeError,
        TWO,
    ),
    "a fill of a 0-dim host tensor": (
        lambda: torch.tensor(1.0).index_fill_(0, torch.tensor([0], device="cuda"), 2.0),
        RuntimeError,
        TWO,
    ),
    "sparse parts": (
        lambda: torch.sparse_coo_tensor(torch.tensor([[0, 1]]), near(2)),
        RuntimeError,
        r"device of indices \(cpu\) must match device of values \(cuda:0\)",
    ),
    "tolerance": (
        lambda: torch.linalg.matrix_rank(near(2, 2), rtol=host(1)),
        RuntimeError,
        "Expected rtol and input tensors to be on the same device, but got rtol on cpu and input on cuda:0",
    ),
    "a composite in inference mode": (
        lambda: torch.inference_mode()(nn.functional.linear)(near(1, 3), host(2, 3)),
        RuntimeError,
        argument("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"),
    ),
    "a generator of the accelerator for the host": (
        lambda: torch.bernoulli(host(3), generator=torch.Generator("cuda")),
        RuntimeError,
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    "nested tensors of the jagged layout": (
        lambda: torch.nested.nested_tensor([near(2), near(3)], layout=torch.jagged),
        NotEmulated,
        "nested tensors of the jagged layout",
    ),
    "a view of the jagged layout": (
        lambda: torch.nested.nested_tensor_from_jagged(near(5), torch.tensor([0, 2, 5], device="cuda")),
        NotEmulated,
        "nested tensors of the jagged layout",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_what_cuda_refuses(case: str, device: torch.device) -> None:
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        call()


def test_names_both_devices_of_two_accelerators() -> None:
    with emulate(devices=2), pytest.raises(RuntimeError, match="cuda:0 and cuda:1!"):
        torch.ones(2, device="cuda:0") + torch.ones(2, device="cuda:1")


def _gru_weights(make: Callable[..., torch.Tensor]) -> list[torch.Tensor]:
    return [make(6, 3), make(6, 2), make(6), make(6)]


LET_THROUGH = {
    "a 0-dim host operand": lambda: near(3) + torch.tensor(1.0),
    "a 0-dim host operand each": lambda: nn.functional.binary_cross_entropy_with_logits(
        near(3), near(3), torch.tensor(1.0), pos_weight=torch.tensor(1.0)
    ),
    "a host scalar that the kernel takes": lambda: torch.addcmul(near(3), near(3), torch.tensor(1.0)),
    "a host weight": lambda: torch.lerp(near(3), near(3), torch.tensor(0.5)),
    "a value to fill in": lambda: near(3).index_fill_(0, torch.tensor([0], device="cuda"), torch.tensor(2.0)),
    "a value for a mask": lambda: near(3).masked_fill(near(3) > 0, torch.tensor(1.0)),
    "host probabilities": lambda: near(3).bernoulli_(host(3)),
    "a bias that is copied": lambda: torch.conv_tbc(near(4, 1, 2), near(3, 2, 5), host(5)),
    "a generator": lambda: torch.bernoulli(near(3) / 2, generator=torch.Generator("cuda")),
    "a generator in place": lambda: near(3).uniform_(generator=torch.Generator("cuda")),
    "a generator of a factory": lambda: torch.randperm(3, device="cuda", generator=torch.Generator("cuda")),
    "a recurrent function": lambda: torch.gru(
        near(2, 1, 3), near(1, 1, 2), _gru_weights(near), True, 1, 0.0, False, False, False
    )[0],
    "sparse parts that are brought": lambda: torch.sparse_coo_tensor(torch.tensor([[0, 1]]), near(2), device="cuda"),
    "a module that goes where a tensor is": lambda: nn.Linear(2, 2).to(near(1)).weight,
    "a Python number": lambda: near(3) * 2,
    "where with host scalars": lambda: torch.where(near(3) > 0, torch.tensor(1.0), torch.tensor(2.0)),
    "a host index": lambda: near(3)[torch.tensor([0, 1])],
    "a host mask": lambda: near(3)[torch.tensor([True, False, True])],
    "a list index": lambda: near(3)[[0, 1]],
    "copy_": lambda: near(3).copy_(host(3)),
    "to": lambda: host(3).to("cuda"),
    "like": lambda: torch.zeros_like(near(3)),
    "new": lambda: near(3).new_zeros(2),
    "one_hot, which makes its result inside": lambda: nn.functional.one_hot(torch.tensor([0, 1], device="cuda"), 3) + 0,
    "a matrix": lambda: near(2, 2) @ near(2, 2),
    "fill with a host scalar": lambda: near(3).fill_(torch.tensor(2.0)),
    "assignment of a host scalar": lambda: _assigned(),
    "view": lambda: near(4).view(2, 2)[0],
    "sparse": lambda: torch.eye(3, device="cuda").to_sparse() @ near(3, 1),
    "vmap": lambda: torch.vmap(lambda x: x * near(1))(near(3)),
}


def _assigned() -> torch.Tensor:
    target = near(3)
    target[0] = torch.tensor(5.0)
    return target


@pytest.mark.parametrize("case", LET_THROUGH)
def test_lets_through_what_cuda_lets_through(case: str, device: torch.device) -> None:
    assert LET_THROUGH[case]().device == device


def test_the_error_is_raised_at_the_users_line(device: torch.device) -> None:
    with pytest.raises(RuntimeError) as caught:
        near(3) + host(3)
    assert any(entry.frame.code.path == caught.traceback[0].frame.code.path for entry in caught.traceback)
    assert str(caught.traceback[0].statement).strip() == "near(3) + host(3)"


def test_mps_has_no_float64() -> None:
    with emulate(kind="mps"):
        assert torch.backends.mps.is_available()
        assert torch.ones(2, device="mps").device == torch.device("mps", 0)
        with pytest.raises(TypeError, match="MPS framework doesn't support float64"):
            torch.ones(2, dtype=torch.float64).to("mps")
        assert torch.ones(2, dtype=torch.float64).to("mps", torch.float32).dtype is torch.float32


def test_what_the_host_has_no_kernel_for_is_said_to_be_so(device: torch.device) -> None:
    with pytest.raises(NotEmulated, match="rrelu_with_noise in a dtype that the host has no kernel for"):
        nn.functional.rrelu(torch.ones(4, device=device, dtype=torch.float16), training=True)
