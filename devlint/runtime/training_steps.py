"""The training steps of a recorded program, found from the calls of `optimizer.step()`, and the waits in each."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook


@dataclass(frozen=True, slots=True)
class WaitsPerStep:
    """How often the host waited in a training step: the median of all whole steps, their mean, and the most.

    `steps` is the number of whole steps: those between two calls of `optimizer.step()`.
    """

    steps: int
    median: float
    mean: float
    most: int


class TrainingSteps:
    """Counter of a program's training steps, and of the waits of the host in each.

    A step ends where an optimizer steps. Optimizers that take turns, such as those of a GAN, step in the same training
    step: the next one begins when an optimizer steps again. `index` numbers the stretches of the run between the ends:
    0 is what comes before the first end. `waits` counts the waits of the present stretch.
    """

    def __init__(self) -> None:
        self.index = 0
        self.waits = 0
        self._stepped: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._whole: Counter[int] = Counter()

    def optimizer_stepped(self, optimizer: Optimizer) -> None:
        """End the present training step if this optimizer has stepped in it before, or is the first to step at all."""
        if self._stepped and optimizer not in self._stepped:
            self._stepped.add(optimizer)
            return
        if self.index:
            self._whole[self.waits] += 1
        self._stepped.clear()
        self._stepped.add(optimizer)
        self.index += 1
        self.waits = 0

    def seen(self) -> tuple[int, Counter[int]]:
        """Return the number of ends of steps that were seen, and how many whole steps had each number of waits."""
        return self.index, Counter(self._whole)

    def add_seen(self, index: int, whole: Counter[int]) -> None:
        """Add the training steps that another process has seen."""
        self.index += index
        self._whole += whole

    @property
    def waits_per_step(self) -> WaitsPerStep | None:
        """Return how often the host waited in a whole training step; None if no whole step was seen.

        What comes before the first call of `optimizer.step()` and after the last is no whole step, since a program sets
        up before and evaluates afterwards.
        """
        steps = sum(self._whole.values())
        if not steps:
            return None
        waits = sorted(self._whole.elements())
        middle = waits[(steps - 1) // 2] + waits[steps // 2]
        return WaitsPerStep(steps, middle / 2, sum(waits) / steps, waits[-1])


@contextmanager
def steps_counted_by(steps: TrainingSteps) -> Iterator[None]:
    """Context manager in whose block a counter of training steps hears of each step of an optimizer."""

    def stepped(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        steps.optimizer_stepped(optimizer)

    hook = register_optimizer_step_post_hook(stepped)
    try:
        yield
    finally:
        hook.remove()
