"""Measure the cost of recording and emulating: medians of processor time, taken side by side in one run.

    python benchmarks/runtime_overhead.py [--rounds 7]

The first benchmark is a training step of a network as large as ResNet-18, at batch 32, compared with the step on the
plain CPU. The second is a chain of operators on a tiny tensor, compared with a pair of modes that do nothing. The exit
status is 1 if a limit is exceeded.
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
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime import emulate, record

OPERATORS = 500
STEP_LIMIT = {"emulated": 4.0, "emulated, recorded": 4.0}
"""The limit of each setting, as a multiple of the plain step."""
CHAIN_LIMIT = {"recorded": 2.5, "emulated": 4.0, "emulated, recorded": 4.0}
"""The limit of each setting, as a multiple of the time that the empty modes add."""


class EmptyFunctionMode(TorchFunctionMode):
    """A function mode that does nothing but call the function."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


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
        for _ in range(OPERATORS):
            x = x + one

    return run


Setting = tuple[str, Callable[[], AbstractContextManager[Any]], str]


def empty_modes() -> AbstractContextManager[Any]:
    """Return a context that enters both empty modes."""
    stack = ExitStack()
    stack.enter_context(EmptyFunctionMode())
    stack.enter_context(EmptyDispatchMode())
    return stack


def recorded_emulation() -> AbstractContextManager[Any]:
    """Return a context that emulates a device and records."""
    stack = ExitStack()
    stack.enter_context(emulate())
    stack.enter_context(record())
    return stack


SETTINGS: tuple[Setting, ...] = (
    ("plain", nullcontext, "cpu"),
    ("empty modes", empty_modes, "cpu"),
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


def main() -> int:
    """Run both benchmarks and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, medians of {rounds}")
    ratios = []
    step = medians(training_step, rounds)
    print("training step as large as ResNet-18, batch 32: times the plain step")
    for name, seconds in step.items():
        ratios.append(beside_limit(seconds / step["plain"], STEP_LIMIT.get(name)))
        print(f"  {name:20} {seconds * 1000:8.1f} ms  {ratios[-1]}")
    tiny = medians(chain, rounds * 3)
    pair = tiny["empty modes"] - tiny["plain"]
    print(f"chain of {OPERATORS} additions of 8 numbers: added time per operator, times the empty modes'")
    for name, seconds in tiny.items():
        added = seconds - tiny["plain"]
        ratios.append(beside_limit(added / pair, CHAIN_LIMIT.get(name)))
        print(f"  {name:20} {added / OPERATORS * 1e6:8.2f} µs  {ratios[-1]}")
    return int(any(text.endswith("PASSED") for text in ratios))


if __name__ == "__main__":
    sys.exit(main())
