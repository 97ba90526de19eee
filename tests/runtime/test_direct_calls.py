"""Tests of the operators that pass the dispatch mode: they show what they show when they go through it."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad

from devlint.runtime import emulate, record
from devlint.runtime.emulation_mode import EmulationMode

CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "arithmetic": lambda x: ((x + x) * 2 - 1) / (3 - x) + 1 - (-x) + 2 * x,
    "in place": lambda x: x.clone().add_(x).mul_(2).__iadd__(1).__isub__(x).__itruediv__(3),
    "named": lambda x: torch.add(x, x).sub(1).mul(x).div(2).pow(2),
    "keywords": lambda x: torch.add(x, x, alpha=2).sub(other=1).sum(dim=0, keepdim=True).mean(dtype=torch.float64),
    "comparisons": lambda x: (x < 1, x <= x, x > 0.5, x >= x, x == x, x != 2),
    "one operand": lambda x: x.exp().log().sqrt().sigmoid().tanh().relu().neg().abs().sin().cos().floor(),
    "functions": lambda x: torch.tanh(torch.exp(torch.sigmoid(x))).clamp(0, 1).rsqrt(),
    "reductions": lambda x: x.sum() + x.mean() + x.sum(0).mean(-1) + x.sum((0, 1)) + torch.sum(x, 1, True).sum(),
    "views": lambda x: x.t().unsqueeze(0).squeeze(0).transpose(0, 1).view(-1).select(0, 1) + x.permute((1, 0)).sum(),
    "items": lambda x: (x[0], x[-1], x[1:], x[:2], x[1:2], x[:], x[0:3], x[5:], x[-1:], x[None], x[..., 0], x[[0, 1]]),
    "numbers of a tensor": lambda x: x.view((torch.tensor(9), 1)),
    "products": lambda x: (x @ x, x @ x[0], torch.matmul(x, x), x.mm(x), torch.bmm(x[None], x[None]), x[None] @ x),
    "joined": lambda x: (torch.cat([x, x]), torch.stack((x, x)), torch.cat([x, x], dim=1), torch.cat([x, x[:1]])),
    "chosen": lambda x: (torch.where(x > 0.5, x, x * 2), torch.where(x > 0.5, x, 0.0), torch.maximum(x, x)),
    "linear": lambda x: nn.functional.linear(x, x) + nn.functional.linear(x, x, x[0]) + nn.Linear(3, 3).to(x.device)(x),
    "cube": lambda x: nn.functional.linear(x[None], x, x[0]),
    "made": lambda x: torch.zeros(3, 3, device=x.device) + torch.randn(3, 3, device=x.device) + torch.ones(3, 3).to(x),
    "host": lambda x: torch.ones(3) + torch.arange(3) * 2,
    "host scalar": lambda x: x + torch.tensor(2.0),
    "numbers": lambda x: x * torch.tensor(2.0).item() + x.sum().item() + torch.ones(2, 1)[0].item(),
    "lists": lambda x: [*torch._foreach_add([x, x.t()], 1.0), *torch.split(x, 1)],
    "steps": lambda x: _trained(x),
    "float64": lambda x: x.mean(dtype=torch.float64) + 1,
    "gradient": lambda x: torch.autograd.grad((nn.Parameter(x) * x).sigmoid().sum() * 2, [x.clone().requires_grad_()],
                                              allow_unused=True),
    "backward": lambda x: _gradient(x),
    "backward in place": lambda x: _gradients_in_place(x),
}  # fmt: skip


def _gradient(x: torch.Tensor) -> torch.Tensor | None:
    weight = nn.Parameter(x.clone())
    ((x * weight).sigmoid().exp() @ weight).tanh().sum().backward()
    return weight.grad


def _gradients_in_place(x: torch.Tensor) -> list[torch.Tensor | None]:
    left, right = nn.Parameter(x.clone()), nn.Parameter(x.clone() + 1)
    out = left * 1.0
    out /= right
    out *= right.sum(0, keepdim=True)
    out.mul_(out.sum()).sum().backward()
    return [left.grad, right.grad]


def _trained(x: torch.Tensor) -> list[torch.Tensor]:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 1)).to(x.device)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :1]).backward()
        optimizer.step()
    return [parameter.detach() for parameter in model.parameters()]


def _parts(value: Any) -> list[torch.Tensor]:
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _parts(part)]
    return [] if value is None else [value]


def _seen(call: Callable[[torch.Tensor], Any], *, direct: bool) -> Any:
    """Return what a call computes and what devlint sees of it."""
    with emulate() as session, record() as report:
        session.direct_calls = direct
        torch.manual_seed(0)
        found = _parts(call(torch.rand(3, 3, device="cuda")))
        lines = {}
        for key, line in report.recorder.lines.items():
            # The mode sees autograd detach the results that it saves.
            detached = line.operators.pop("detach", 0)
            waits = {what: tally.count for what, tally in line.waits.items()}
            lines[key] = (line.operators, line.device_operators - detached, line.promotions, line.factories, waits)
        return [(str(t.device), t.dtype, t.tolist()) for t in found], lines, torch.cuda.max_memory_allocated()


@pytest.mark.parametrize("case", CALLS)
def test_the_short_way_shows_what_the_mode_shows(case: str) -> None:
    short, long = (_seen(CALLS[case], direct=direct) for direct in (True, False))
    assert short[:2] == long[:2]
    assert short[2] <= long[2]


@pytest.mark.parametrize("case", CALLS)
def test_the_mode_shows_the_same_with_every_check(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = _seen(CALLS[case], direct=False)
    every = property(lambda self: True, lambda self, value: None)
    monkeypatch.setattr(EmulationMode, "always_checks", every, raising=False)
    assert quick == _seen(CALLS[case], direct=False)


def test_it_is_the_short_way(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:

    x, host = torch.ones(3, device=device), torch.ones(3)
    monkeypatch.setattr(EmulationMode, "__torch_dispatch__", lambda *args, **kwargs: pytest.fail("the mode is used"))
    assert (torch.sigmoid((x + x) * 2).sum() + torch.zeros(1, device=device)).device == device
    assert (host + host * 2).device.type == "cpu"


REFUSED: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "operator": lambda x, y: x + y,
    "swapped": lambda x, y: y * x,
    "in place": lambda x, y: x.__iadd__(y),
    "named": lambda x, y: torch.maximum(x, y),
    "joined": lambda x, y: torch.cat([x, y]),
    "chosen": lambda x, y: torch.where(x > 0, x, y),
    "product": lambda x, y: x @ y,
    "linear": lambda x, y: nn.functional.linear(x, x, y[0]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mixed_devices_are_refused_and_reported(case: str) -> None:
    with emulate(), record() as report:
        with pytest.raises(RuntimeError, match="same device") as raised:
            REFUSED[case](torch.ones(2, 2, device="cuda"), torch.ones(2, 2))
        assert raised.value.__context__ is None
        assert [len(seen) for seen in report.recorder.observations.values()] == [1]
        assert "DEV101" in report.codes


def test_wrong_dtypes_and_sizes_are_refused_and_reported_once() -> None:
    with emulate(), record() as report:
        x = torch.ones(2, 2, device="cuda")
        with pytest.raises(RuntimeError, match="same dtype"):
            x @ x.double()
        with pytest.raises(RuntimeError, match="must match the size"):
            x + torch.ones(3, device="cuda")
        assert [len(seen) for seen in report.recorder.observations.values()] == [1]
        assert [found.code for found in report.diagnostics] == ["DEV302"]


def test_wrong_arguments_raise_what_torch_raises(device: torch.device) -> None:
    for call in (torch.cat, lambda: torch.cat(5), lambda: torch.stack([1]), lambda: nn.functional.linear(1, 2)):
        with pytest.raises(TypeError, match="argument"):
            call()
    with pytest.raises(IndexError, match="out of bounds"):
        torch.ones(2, device=device)[5]


def test_other_modes_and_transforms_see_the_operators(device: torch.device) -> None:
    seen: list[str] = []

    class Watching(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func._schema.name)
            return func(*args, **(kwargs or {}))

    x = torch.rand(3, device=device)
    with Watching():
        x + x
    assert seen == ["aten::add"]
    assert torch.vmap(lambda row: row * x + 1)(torch.rand(2, 3, device=device)).device == device
    assert torch.func.grad(lambda value: (value * x).sum())(x).device == device
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(forward_ad.make_dual(x, torch.ones_like(x)) * 2).tangent
        assert tangent is not None and (tangent + x).device == device
    packed: list[torch.device] = []
    weight = x.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append((t * 1).device) or t, lambda t: t):
        (weight * x).sum().backward()
    assert set(packed) == {device} and weight.grad is not None and weight.grad.device == device
    with torch.autocast("cuda", torch.bfloat16):
        assert (torch.rand(2, 2, device=device) @ torch.rand(2, 2, device=device)).dtype is torch.bfloat16


def test_replaced_functions_can_be_saved_and_outlive_the_emulation() -> None:
    class Activated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.function = torch.tanh

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.function(x)

    with emulate():
        model = copy.deepcopy(Activated())
        assert pickle.loads(pickle.dumps(torch.sigmoid)) is torch.sigmoid
        torch.save(model.function, io.BytesIO())
        assert model(torch.zeros(1, device="cuda")).device.type == "cuda"
    assert model(torch.zeros(1)).tolist() == [0.0]
    assert torch.Tensor.__add__ is torch._C.TensorBase.__add__


def test_a_tensor_without_dimensions_is_a_number_in_a_list() -> None:
    with emulate():
        numbers = [torch.tensor(3, device="cuda"), torch.tensor(4, device="cuda")]
        assert torch.tensor([one.cpu() for one in numbers]).tolist() == [3, 4]


def test_where_with_a_condition_alone_gives_indices() -> None:
    with emulate():
        rows, columns = torch.where(torch.eye(2, device="cuda") > 0)
        assert (rows.device.type, rows.tolist(), columns.tolist()) == ("cuda", [0, 1], [0, 1])
