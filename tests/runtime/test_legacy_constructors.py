"""Tests of torch's legacy constructors under emulation: where `torch.FloatTensor(2)` and its relatives make tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from devlint.runtime import emulate

HOST_TYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
TWO_DEVICES = "Expected all tensors to be on the same device"


def near(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, device="cuda")


MADE_ON_THE_HOST: dict[str, Callable[[], torch.Tensor]] = {
    "FloatTensor": lambda: torch.FloatTensor(3).normal_(),
    "FloatTensor of two sizes": lambda: torch.FloatTensor(2, 3).fill_(1),
    "FloatTensor of a torch.Size": lambda: torch.FloatTensor(torch.Size([3])).zero_(),
    "FloatTensor of a list": lambda: torch.FloatTensor([1.0, 2.0, 3.0]),
    "Tensor": lambda: torch.Tensor(2, 3).zero_(),
    "Tensor on a named host": lambda: torch.Tensor(3, device="cpu").zero_(),
    "parameter": lambda: nn.Parameter(torch.FloatTensor(3).normal_()),
    "new of a host tensor": lambda: torch.ones(1).new(3).zero_(),
    "new of a legacy tensor": lambda: torch.Tensor(1).new(3).zero_(),
}


@pytest.mark.parametrize("name", MADE_ON_THE_HOST)
def test_what_a_legacy_constructor_makes_on_the_host_meets_no_accelerator_tensor(name: str) -> None:
    make = MADE_ON_THE_HOST[name]
    with emulate():
        assert make().device.type == "cpu"
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            make() * near(3)
        assert (make().cuda() * near(3)).device.type == "cuda"
        assert (make() * torch.ones(3)).device.type == "cpu"


@pytest.mark.parametrize("name", HOST_TYPES)
def test_every_legacy_type_of_the_host_makes_host_tensors(name: str) -> None:
    with emulate():
        legacy = getattr(torch, f"{name}Tensor")
        made = legacy(3)
        assert isinstance(made, legacy) and made.type() == f"torch.{name}Tensor"
        assert made.dtype is legacy.dtype and not legacy.is_cuda
        assert not isinstance(made.cuda(), legacy)
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            torch.eq(made.zero_(), made.cuda())


def test_legacy_constructors_of_an_accelerator_make_tensors_there() -> None:
    with emulate():
        x = near(3)
        for made in (torch.cuda.FloatTensor(2, 3), x.new(2, 3), x.new(), x.new([1.0, 2.0, 3.0]), x.new(3, device=0)):
            assert made.device == torch.device("cuda", 0) and made.dtype is torch.float32
        assert (torch.cuda.FloatTensor(2, 3).zero_() * x + x.new(2, 3).zero_()).is_cuda
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            torch.cuda.FloatTensor(2, 3) * torch.ones(3)
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            x.new(3) * torch.ones(3)
        for asked in (lambda: x.new(3, device="cpu"), lambda: torch.cuda.FloatTensor(3, device="cpu")):
            with pytest.raises(RuntimeError, match="expects device type: cuda but device type: cpu was passed"):
                asked()


def test_with_several_accelerators_new_makes_tensors_beside_its_own() -> None:
    with emulate(devices=2):
        x = torch.ones(3, device="cuda:1")
        assert x.new(3).device == torch.device("cuda", 1)
        assert x.new(3, device="cuda:0").device == torch.device("cuda", 0)
        assert torch.cuda.FloatTensor(3, device="cuda:1").device == torch.device("cuda", 1)


def test_only_torch_tensor_follows_the_default_tensor_type() -> None:
    with emulate():
        torch.set_default_tensor_type(torch.cuda.FloatTensor)
        assert torch.Tensor(2, 3).is_cuda
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            torch.FloatTensor(3) * torch.ones(3)
        torch.set_default_tensor_type(torch.DoubleTensor)
        assert torch.Tensor(2, 3).device.type == "cpu" and torch.Tensor(2).dtype is torch.float64
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            torch.Tensor(3) * near(3)
        torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.Tensor(2).dtype is torch.float32
        torch.set_default_device("cuda")
        assert torch.Tensor(2).device.type == torch.FloatTensor(2).device.type == "cpu"
        torch.set_default_device(None)


@pytest.mark.parametrize("name", HOST_TYPES)
def test_a_legacy_constructor_takes_no_tensor_of_another_device_or_dtype(name: str) -> None:
    with emulate():
        own, there = getattr(torch, f"{name}Tensor"), getattr(torch.cuda, f"{name}Tensor")
        far = torch.ones(2, dtype=own.dtype)
        with pytest.raises(TypeError, match=r"^expected TensorOptions") as of_torch:
            (torch.IntTensor if name != "Int" else torch.LongTensor)(far)
        got = str(of_torch.value).partition("(got ")[2]
        with pytest.raises(TypeError) as raised:
            own(far.cuda())
        expected = f"expected {got[:-1]} (got {got}"
        assert str(raised.value) == expected.replace("cpu", "cuda:0").replace("cuda:0", "cpu", 1)
        for refused in (lambda: there(far), lambda: far.cuda().new(far)):
            with pytest.raises(TypeError) as raised:
                refused()
            assert str(raised.value) == expected.replace("cpu", "cuda", 1)
        assert own(far).device.type == "cpu" and far.cuda().new(far.cuda()).is_cuda


def test_what_shares_memory_lies_where_the_memory_does() -> None:
    with emulate():
        x, far = near(3), torch.ones(3)
        assert torch.Tensor(x).is_cuda and x.new(x).is_cuda and x.is_cuda
        assert torch.FloatTensor(far).device.type == torch.Tensor(far).device.type == "cpu"
        assert torch.FloatTensor(far.untyped_storage()).device.type == "cpu" and x.new(x.untyped_storage()).is_cuda


def test_parameters_made_by_legacy_constructors_move_with_their_module() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.FloatTensor(3).fill_(2))
            self.shift = nn.Parameter(torch.Tensor(3).zero_())
            self.register_buffer("steps", torch.LongTensor(1).zero_())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.steps += 1
            return x * self.scale + self.shift

    with emulate():
        model = Scale()
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            model(near(3))
        model.cuda()
        out = model(near(3)).sum()
        out.backward()
        assert out.item() == 6 and model.scale.grad is not None and model.scale.grad.is_cuda and model.steps.is_cuda
        assert model.scale.device == torch.device("cuda", 0)


def test_legacy_types_are_those_of_torch_again_after_emulation() -> None:
    before, plain = torch.FloatTensor, torch.ones(2)
    with emulate():
        assert (
            torch.FloatTensor == before and {before: 1}[torch.FloatTensor] == 1 and torch.FloatTensor != torch.IntTensor
        )
        assert plain.type(torch.HalfTensor).dtype is torch.float16 and isinstance(plain, torch.FloatTensor)
        assert (torch.FloatTensor | None) == (torch.FloatTensor | None)
    assert torch.FloatTensor is before and torch.Tensor(2).type() == "torch.FloatTensor"
    assert "__init__" not in vars(torch.Tensor) and "new" not in vars(torch.Tensor)
