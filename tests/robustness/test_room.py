"""The room the analysis works in: given while it runs, and the interpreter afterwards as it was before."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import pytest

from devlint.linter.deep_stack import RECURSION_LIMIT, with_deep_stack

resource = pytest.importorskip("resource")


def _state() -> tuple[int, bool]:
    return sys.getrecursionlimit(), gc.isenabled()


def test_there_is_room_inside_only():
    before = _state()
    assert with_deep_stack(_state)() == (RECURSION_LIMIT, False)
    assert _state() == before


def test_room_is_given_back_after_an_error():
    before = _state()
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)()
    assert _state() == before


def test_room_within_room():
    assert with_deep_stack(with_deep_stack(_state))() == (RECURSION_LIMIT, False)


@pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info < (3, 11), reason="frames lie elsewhere there"
)
def test_going_up_and_down_asks_the_system_for_nothing():
    def faults(work: Callable[[], None]) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        work()
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

    assert faults(with_deep_stack(_up_and_down)) * 4 < faults(_up_and_down)


def _up_and_down() -> None:
    for depth in range(500):
        _down(depth, 50)


def _down(depth: int, times: int) -> None:
    if depth:
        _down(depth - 1, times)
    else:
        for _ in range(times):
            _leaf(3)


def _leaf(depth: int) -> None:
    if depth:
        _leaf(depth - 1)
