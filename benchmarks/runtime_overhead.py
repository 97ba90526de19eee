"""Measure the cost of recording and emulating: medians of processor time, taken side by side in one run.

    python benchmarks/runtime_overhead.py [--rounds 7]

The benchmarks are a training step of a network as large as ResNet-18, at batch 32, and programs of small operators: a
chain, a stochastic differential equation with and without gradients, and a training loop of a small network. Each is
compared with the same program on the plain CPU, beside a dispatch mode that does nothing. The exit status is 1 if a
limit is exceeded.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime import emulate, record

OPERATORS = 5000
STEPS = 1000
STEP_LIMITS = {"emulated": 1.3, "emulated, recorded": 1.3}
"""The limit of each setting for the training step, as a multiple of the plain processor time."""
SMALL_LIMITS = {"emulated": 3.0}
"""The same for programs of small operators without gradients."""


class EmptyDispatchMode(TorchDispatchMode):
    """A dispatch mode that does nothing but call the operator."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Block(nn.Module):
    """A residual block: two convolutions and a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        straight = before == after and stride == 1
        self.shortcut = nn.Identity() if straight else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of the body and the shortcut, after a ReLU."""
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18() -> nn.Module:
    """Return a network as deep and as wide as ResNet-18, for small images."""
    blocks, before = [], 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [Block(before, after, stride), Block(after, after, 1)]
        before = after
    stem = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def training_step(device: str) -> Callable[[], None]:
    """Return a function that does one training step at batch 32."""
    model = resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(32, 3, 16, 16), torch.randint(0, 10, (32,))

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def chain(device: str) -> Callable[[], None]:
    """Return a function that applies many operators to a tiny tensor."""
    one = torch.ones(8).to(device)

    def run() -> None:
        x = one
        for _ in range(OPERATORS // 2):
            x = (x + one) * 0.5

    return run


def differential_equation(device: str) -> Callable[[], None]:
    """Return a function that integrates a stochastic differential equation, ten operators a step."""
    rate, mean = torch.full((4,), 0.5).to(device), torch.zeros(4).to(device)

    def run() -> None:
        y, dt = torch.ones(16, 4).to(device), 0.01
        with torch.no_grad():
            for _ in range(STEPS):
                noise = torch.randn(16, 4, device=device) * dt**0.5
                y = y + rate * (mean - y) * dt + torch.sigmoid(y) * 0.3 * noise

    return run


def fitted_equation(device: str) -> Callable[[], None]:
    """Return a function that fits the drift of a stochastic differential equation by its gradient."""
    drift = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)).to(device)

    def run() -> None:
        y, dt = torch.ones(16, 4).to(device), 0.01
        for _ in range(STEPS // 10):
            y = y + drift(y) * dt + 0.1 * torch.randn(16, 4, device=device) * dt**0.5
        y.square().mean().backward()

    return run


def small_training(device: str) -> Callable[[], None]:
    """Return a function that trains a small network for some steps."""
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run() -> None:
        for _ in range(STEPS // 20):
            x = torch.randn(16, 8).to(device)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), x[:, :2])
            loss.backward()
            optimizer.step()
            loss.item()

    return run


Setting = tuple[str, Callable[[], AbstractContextManager[Any]], str]


def recorded_emulation() -> AbstractContextManager[Any]:
    """Return a context that emulates a device and records."""
    stack = ExitStack()
    stack.enter_context(emulate())
    stack.enter_context(record())
    return stack


SETTINGS: tuple[Setting, ...] = (
    ("plain", nullcontext, "cpu"),
    ("empty mode", EmptyDispatchMode, "cpu"),
    ("recorded", record, "cpu"),
    ("emulated", emulate, "cuda"),
    ("emulated, recorded", recorded_emulation, "cuda"),
)


def medians(build: Callable[[str], Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the median processor time of each setting, in seconds.

    The settings take turns in every round, so that a noisy moment affects all of them.
    """
    times: dict[str, list[float]] = {name: [] for name, _, _ in SETTINGS}
    for _ in range(rounds):
        for name, setting, device in SETTINGS:
            with setting():
                work = build(device)
                work()
                start = time.process_time()
                work()
                times[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def beside_limit(ratio: float, limit: float | None) -> str:
    """Return a ratio as text, beside its limit if it has one."""
    if limit is None:
        return f"{ratio:5.2f}"
    return f"{ratio:5.2f}  limit {limit:.1f}{'' if ratio <= limit else '  PASSED'}"


BENCHMARKS: tuple[tuple[str, Callable[[str], Callable[[], None]], dict[str, float]], ...] = (
    ("a training step as large as ResNet-18's, batch 32", training_step, STEP_LIMITS),
    (f"a chain of {OPERATORS} operators on 8 numbers", chain, SMALL_LIMITS),
    (f"a stochastic differential equation, {STEPS} steps of 10 operators", differential_equation, SMALL_LIMITS),
    (f"the same with a network and its gradient, {STEPS // 10} steps", fitted_equation, {}),
    (f"training of a small network, {STEPS // 20} steps", small_training, {}),
)


def main() -> int:
    """Run the benchmarks and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", metavar="WORD", help="benchmarks whose name holds WORD")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, medians of {given.rounds}: times the plain processor time")
    passed = False
    for name, build, limits in BENCHMARKS:
        if given.only not in name:
            continue
        print(name)
        times = medians(build, given.rounds)
        for setting, seconds in times.items():
            text = beside_limit(seconds / times["plain"], limits.get(setting))
            passed |= text.endswith("PASSED")
            print(f"  {setting:20} {seconds * 1000:8.1f} ms  {text}", flush=True)
    return int(passed)


if __name__ == "__main__":
    sys.exit(main())
