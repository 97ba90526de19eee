"""Tests of `pytest --devlint=move`: a suite that never moves anything runs as if it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_pytest_suites import suite

pytest.importorskip("torch")

PACKAGE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.register_buffer("scale", torch.ones(size))
        self.mask = torch.ones(size)

    def forward(self, x):
        return self.linear(x) * self.scale

    def masked(self, x):
        return self.linear(x) * self.mask


class Batch:
    def __init__(self, values):
        self.values = values

    def to(self, device):
        return Batch(self.values.to(device))


class Pooled(Net):
    def forward(self, batch, unit=None):
        return super().forward(batch.values)


class Later(nn.Module):
    ready = False

    def named_parameters(self, *args, **kwargs):
        if not self.ready:
            raise ValueError("not complete yet")
        return super().named_parameters(*args, **kwargs)


class Unit:
    def to(self, name):
        return f"in {name}"


def batch():
    return Batch(torch.ones(3))


class Called(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.linear = nn.Linear(3, 3, device=device)

    def __call__(self, x):
        return super().__call__(self.linear(x))

    def forward(self, x):
        return x


def make(size):
    return Net(size)


def shift(x):
    return x + torch.zeros(3)


def shift_there(x):
    return x + torch.zeros(3, device=x.device)


def as_array(x):
    return x.numpy()


def noise(x):
    return torch.rand(3, device=x.device, generator=torch.Generator())
"""
HEAD = "import numpy as np\nimport pytest\nimport torch\nfrom torch import nn\nimport net\n\n"


def moved(folder: Path, tests: str, *options: str) -> tuple[str, str]:
    """Run tests of the package under `--devlint=move`, and return the line of the result and all of the output."""
    files = {"net.py": PACKAGE, "test_net.py": HEAD + tests}
    done = suite(folder, files, "--devlint=move", "--devlint-no-lint", "--tb=short", *options)
    return done.stdout.splitlines()[-1], done.stdout


RIGHT = """\
def test_what_a_test_makes_is_on_the_accelerator():
    generator = torch.Generator().manual_seed(0)
    for x in (torch.ones(3), torch.tensor([1.0]), torch.from_numpy(np.ones(3)), torch.rand(2, generator=generator)):
        assert x.is_cuda
    for x in (torch.Tensor([1.0]), torch.Tensor(2, 3), torch.distributions.Normal(0.0, 1.0).loc):
        assert x.is_cuda
    assert torch.LongTensor([1]).is_cuda and torch.FloatTensor(2, 3).is_cuda and torch.ones(3).new(2).is_cuda
    assert not torch.Tensor(2, device="cpu").is_cuda
    assert not torch.ones(3, device="cpu").is_cuda
    assert not torch.Tensor(torch.ones(3, device="cpu")).is_cuda


def test_modules_that_a_test_makes_or_calls_are_moved():
    assert net.Net(3).scale.is_cuda and net.Net(3).masked.__self__.linear.weight.is_cuda
    assert nn.Linear(3, 3).weight.is_cuda
    made = net.make(3)
    assert not made.scale.is_cuda
    assert made(torch.ones(3)).is_cuda and made.scale.is_cuda
    assert made(torch.ones(3, device="cpu")).is_cuda
    assert net.Called(None)(torch.ones(3, device="cpu")).is_cuda


def test_a_module_that_a_test_puts_on_the_host_by_name_stays_there():
    on_host = net.Net(3).to(dtype=torch.float64, device="cpu")
    assert not on_host(torch.ones(3, dtype=torch.float64, device="cpu")).is_cuda
    assert not nn.Linear(3, 3).cpu()(torch.ones(3, device="cpu")).is_cuda
    named = net.Called(torch.device("cpu"))
    assert not named(torch.ones(3, device="cpu")).is_cuda and not nn.Linear(3, 3, device="cpu").weight.is_cuda
    assert on_host.to("cuda")(torch.ones(3, dtype=torch.float64, device="cpu")).is_cuda
    assert net.Net(3).to(torch.float64)(torch.ones(3, dtype=torch.float64, device="cpu")).is_cuda


def test_what_moves_itself_is_moved_as_an_argument():
    given = net.batch()
    assert net.Pooled(3)(given, unit=net.Unit()).is_cuda and not given.values.is_cuda


def test_a_module_that_is_not_complete_is_left_alone():
    assert isinstance(net.Later(), nn.Module)


class Own(net.Net):
    def __init__(self):
        super().__init__(3)
        self.other = nn.Linear(3, 3)


def test_a_module_is_moved_at_the_end_of_its_construction():
    assert Own().scale.is_cuda and not Own().mask.is_cuda


def test_what_it_returns_can_be_compared_with_the_host():
    out = net.shift_there(torch.ones(3))
    np.testing.assert_allclose(out, np.ones(3))
    np.testing.assert_allclose(out.numpy(), np.ones(3))
    torch.testing.assert_close(out, torch.ones(3, device="cpu"))
    assert torch.equal(out, torch.ones(3, device="cpu")) and (out + torch.ones(3, device="cpu")).is_cuda


def test_training():
    model = nn.Sequential(net.Net(3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.rand(4, 3)).sum().backward()
    optimizer.step()
    assert all(one.grad.is_cuda for one in model.parameters())


def test_packing():
    x = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 4), torch.tensor([3, 2]), batch_first=True)
    assert nn.LSTM(4, 5, batch_first=True)(x)[0].data.is_cuda


def test_gradients():
    assert torch.autograd.gradcheck(net.shift_there, torch.ones(3, dtype=torch.double, requires_grad=True))
"""


def test_a_right_package_passes(tmp_path: Path) -> None:
    result, output = moved(tmp_path, RIGHT)
    assert result.startswith("10 passed"), output
    assert "DEV1" not in output and "DEV303" not in output


WRONG = """\
def test_attribute():
    net.Net(3).masked(torch.ones(3))


def test_factory():
    net.shift(torch.ones(3))


def test_array():
    net.as_array(torch.ones(3))


def test_generator():
    net.noise(torch.ones(3))
"""


def test_each_bug_of_the_package_fails_and_tells_why(tmp_path: Path) -> None:
    result, output = moved(tmp_path, WRONG)
    assert result.startswith("4 failed"), output
    assert f"moved to cuda:0 with its module (--devlint=move): {tmp_path}/test_net.py:8" in output
    assert f"created on the host by torch.ones(), which names no device: {tmp_path}/net.py:10" in output
    assert f"created on cuda:0 by torch.ones(), which names no device: {tmp_path}/test_net.py:12" in output
    assert f"created on the host by torch.zeros(), which names no device: {tmp_path}/net.py:67" in output
    assert f"DEV106 at {tmp_path}/net.py:75" in output
    assert output.count("mark it with pytest.mark.devlint_on_host") == 4
    assert output.count("ran in an earlier call") == output.count(f"{tmp_path}/net.py:10 ran in an earlier call") == 1


MARKED = """\
@pytest.mark.devlint_on_host
def test_marked():
    assert not net.Net(3)(torch.ones(3)).is_cuda
    net.shift(torch.ones(3))


def test_other():
    assert torch.ones(3).device.type == "xpu"
"""


def test_a_marked_test_stays_on_the_host(tmp_path: Path) -> None:
    result, output = moved(tmp_path, MARKED, "--devlint=move:xpu", "--strict-markers")
    assert result.startswith("2 passed"), output
    files = {"net.py": PACKAGE, "test_net.py": HEAD + MARKED}
    assert "1 failed, 1 passed" in suite(tmp_path, files, "--strict-markers").stdout, (
        "the mark is known without devlint"
    )


def test_nothing_of_the_mode_remains(tmp_path: Path) -> None:
    files = {"net.py": PACKAGE, "test_net.py": HEAD + "def test():\n    assert not torch.ones(1).is_cuda\n"}
    done = suite(tmp_path, files, "--devlint")
    assert done.returncode == 0 and "nothing was ever on the accelerator" in done.stdout
