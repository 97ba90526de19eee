"""Tests of dataclasses whose methods are compiled when they are first called."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from devlint.cli.late_methods import compile_methods_late

CLASSES = """
from dataclasses import dataclass, field

@dataclass(frozen=True, slots=True, order=True)
class Point:
    x: int
    y: int = 2
    names: list = field(default_factory=list, compare=False)

@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "n"

    def __post_init__(self):
        self.names.append(self.name)

@dataclass
class Plain:
    x: int
"""
late = pytest.mark.skipif(sys.version_info >= (3, 13), reason="dataclasses compiles all methods of a class at once")


@pytest.fixture
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        for name in ("_create_fn",):
            if hasattr(dataclasses, name):
                patch.setattr(dataclasses, name, getattr(dataclasses, name))
        compile_methods_late()
        yield


def classes(package: str) -> dict[str, Any]:
    """Define the classes in a module of a package."""
    module = {"__name__": f"{package}.shapes"}
    sys.modules.setdefault(module["__name__"], type(sys)(module["__name__"]))
    exec(CLASSES, vars(sys.modules[module["__name__"]]))
    return vars(sys.modules.pop(module["__name__"]))


@pytest.mark.usefixtures("_switched_on")
@pytest.mark.parametrize("package", ["devlint", "users_program"])
def test_classes_work_as_others_do(package: str) -> None:
    made = classes(package)
    point, named, plain = made["Point"], made["Named"], made["Plain"]
    assert point(1) == point(x=1, y=2) != point(2)
    assert point(1) < point(2)
    assert hash(point(1)) == hash(point(1))
    assert repr(named(1, name="a")) == "Named(x=1, y=2, names=['a'], name='a')"
    assert dataclasses.replace(named(1), x=3) == named(3)
    assert named(1) != point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(1).x = 2
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'x'"):
        point()
    with pytest.raises(TypeError, match="unhashable"):
        hash(plain(1))


@late
@pytest.mark.usefixtures("_switched_on")
def test_only_our_classes_wait() -> None:
    def fields_of_init(package: str) -> tuple[str, ...]:
        code = classes(package)["Plain"].__init__.__code__
        return code.co_varnames[: code.co_argcount]

    assert fields_of_init("devlint") == ("self",)
    assert fields_of_init("users_program") == ("self", "x")


@late
@pytest.mark.usefixtures("_switched_on")
def test_first_call_replaces_the_method() -> None:
    plain = classes("devlint")["Plain"]
    plain(1)
    assert plain.__init__.__code__.co_varnames == ("self", "x")
    assert plain.__init__.__qualname__ == "Plain.__init__"
