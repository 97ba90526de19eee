"""Tests of the census: the tensors that a module reaches and that `.to()` leaves behind."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from devlint.runtime import emulate, record
from devlint.runtime.census import take_census
from devlint.runtime.module_moves import census_of_moved_modules

pytestmark = pytest.mark.usefixtures("device")
Pair = namedtuple("Pair", "left right")


def paths(module: nn.Module, name: str = "model") -> list[str]:
    return [left.path for left in take_census(module, name)]


def keeping(value: Any) -> nn.Module:
    """Return a module on the accelerator with a plain attribute."""
    module = nn.Linear(2, 2)
    module.kept = value
    return module.to("cuda")


def closing(mask: torch.Tensor) -> Callable[[], torch.Tensor]:
    def masked() -> torch.Tensor:
        return mask

    return masked


class Slotted:
    __slots__ = ("mask",)

    def __init__(self) -> None:
        self.mask = torch.ones(2)


class Secretive(tuple[torch.Tensor, ...]):
    """A tuple that does not tell its length, as some of libraries do not."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Any:
        raise NotImplementedError


class Cached(nn.Linear):
    table = torch.arange(4)

    @functools.lru_cache(4)  # noqa: B019
    def positions(self, length: int) -> torch.Tensor:
        return torch.arange(length)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: torch.ones(2), ["model.kept"]),
        (lambda: [torch.ones(2), (torch.ones(2),)], ["model.kept[0]", "model.kept[1][0]"]),
        (lambda: {"a": torch.ones(2), 1: torch.ones(2)}, ["model.kept['a']", "model.kept[1]"]),
        (lambda: Pair(torch.ones(2), None), ["model.kept.left"]),
        (lambda: torch.distributions.Normal(torch.zeros(2), torch.ones(2)), ["model.kept.loc", "model.kept.scale"]),
        (lambda: closing(torch.ones(2)), ["model.kept (its variable mask)"]),
        (lambda: lambda x, mask=torch.ones(2): x, ["model.kept (its default mask)"]),  # noqa: B008
        (lambda: functools.partial(torch.add, torch.ones(2)), ["model.kept.args[0]"]),
        (lambda: functools.partial(torch.add, other=torch.ones(2)), ["model.kept.keywords['other']"]),
        (Slotted, ["model.kept.mask"]),
        (lambda: Secretive([torch.ones(2)]), ["model.kept[0]"]),
        (lambda: [nn.Linear(1, 1, bias=False)], ["model.kept[0].weight"]),
    ],
)
def test_what_a_module_keeps_outside_of_its_tables_stays_behind(make: Any, expected: list[str]) -> None:
    assert paths(keeping(make())) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, device="cuda"),
        lambda: nn.Parameter(torch.ones(2)),
        lambda: nn.ParameterList([torch.ones(2)]),
        lambda: nn.Linear(1, 1),
        lambda: torch.optim.Adam([nn.Parameter(torch.ones(2, device="cuda"))]),
        lambda: TensorDataset(torch.ones(2)),
        lambda: torch.ones(2, device="meta"),
        lambda: "text",
    ],
)
def test_what_moves_or_belongs_on_the_host_is_not_listed(make: Any) -> None:
    assert paths(keeping(make())) == []


def test_caches_and_values_of_the_class_are_found() -> None:
    model = nn.Sequential(Cached(1, 1))
    model[0].positions(3)
    assert sorted(paths(model.to("cuda"), "net")) == ["net[0].positions (cached)", "net[0].table"]


def test_the_entry_tells_where_the_tensor_was_made_and_numbers_come_last() -> None:
    with record() as report:
        model = nn.Linear(2, 2)
        model.temperature = torch.tensor(1.0)
        model.mask = torch.ones(3, dtype=torch.float64)
        model.to("cuda")
        mask, temperature = report.census(model, "net")
    assert (mask.path, mask.device, mask.home) == ("net.mask", "cpu", "cuda:0")
    assert (mask.dtype, mask.shape, mask.scalar) == ("float64", (3,), False)
    assert temperature.scalar
    (step,) = mask.steps
    assert step.site is not None and step.site.filename == __file__ and "torch.ones()" in step.message
    text = "".join(report.full())
    assert "2 left behind by .to()" in text.splitlines()[0]
    assert "net.mask: float64 [3] on cpu, the module on cuda:0\n" in text
    assert '"path": "net.mask"' in report.json()


def test_a_module_on_the_host_leaves_nothing_behind() -> None:
    model = nn.Linear(2, 2)
    model.mask = torch.ones(2)
    assert paths(model) == []


def test_other_modules_in_a_register_of_the_class_are_not_the_modules_own() -> None:
    class Registered(nn.Linear):
        made: list[nn.Module] = []  # noqa: RUF012

        def __init__(self) -> None:
            super().__init__(1, 1)
            self.made.append(self)

    _other, model = Registered(), Registered()
    assert paths(model.to("cuda")) == []


def test_a_cycle_ends() -> None:
    model = nn.Linear(2, 2)
    model.kept = [model, {"again": model}]
    model.kept.append(model.kept)
    assert paths(model.to("cuda")) == []


class Moving(nn.Linear):
    """A module that moves its mask itself, after its parameters."""

    def __init__(self) -> None:
        super().__init__(2, 2)
        self.mask = torch.ones(2)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        super().to(*args, **kwargs)
        self.mask = self.mask.to(*args, **kwargs)
        return self


class Leaving(nn.Linear):
    def __init__(self) -> None:
        super().__init__(2, 2)
        self.mask = torch.ones(2)


def watched(work: Callable[[], object]) -> list[str]:
    """Return the paths in the censuses that are taken while a function runs."""
    found: list[str] = []
    with census_of_moved_modules(lambda module, name: found.extend(paths(module, name)), found.append):
        work()
    return found


def test_a_moved_module_is_examined_before_it_is_called() -> None:
    def work() -> None:
        network = nn.Sequential(Leaving())
        network.to("cuda")
        network(torch.ones(1, 2, device="cuda"))

    assert watched(work) == ["network[0].mask"]


def test_a_module_that_is_never_called_is_examined_at_the_end() -> None:
    network = Leaving()
    assert watched(lambda: network.cuda()) == ["network.mask"]


def test_a_module_that_moves_more_itself_is_given_the_time_to() -> None:
    def work() -> None:
        network = Moving().to("cuda")
        network(torch.ones(1, 2, device="cuda"))

    assert watched(work) == []


def test_the_watch_leaves_nothing_behind() -> None:
    before = nn.Module._apply
    with emulate(), census_of_moved_modules(lambda module, name: None, print):
        assert nn.Module._apply is not before
    assert nn.Module._apply is before
    nn.Linear(1, 1).to("cuda")(torch.ones(1, 1, device="cuda"))


class Proxy:
    """An object that raises an error when anything asks what it is."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise LookupError("nothing is bound")


def test_a_census_that_fails_does_not_end_the_program() -> None:
    def work() -> None:
        network = keeping([Proxy()])
        assert network(torch.ones(1, 2, device="cuda")).shape == (1, 2)

    assert watched(work) == ["no census of network: LookupError: nothing is bound"]
