"""Findings behind a test of their own value that devlint cannot decide: the test may keep the value out."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Confidence

from .programs import PRELUDE, lint

PROGRAM = """
import lib

def swap(x, others):
    if {test}:
        return x
    return np.moveaxis(x, 0, 1)

swap(torch.zeros(2, 3).cuda(), [])
"""


@pytest.mark.parametrize(
    ("test", "confidence"),
    [
        ("lib.is_proxy(x)", Confidence.POSSIBLE),
        ("isinstance(x, lib.Proxy)", Confidence.POSSIBLE),
        ("type(x) == lib.Proxy", Confidence.POSSIBLE),
        ("lib.flag and lib.is_proxy(x)", Confidence.POSSIBLE),
        ("lib.is_proxy(others)", Confidence.CERTAIN),
        ("len(x) > 3", Confidence.CERTAIN),
        ("torch.any(x > 3)", Confidence.CERTAIN),
        ("x.shape[0] > 3", Confidence.CERTAIN),
        ("others", Confidence.CERTAIN),
    ],
)
def test_confidence(test: str, confidence: Confidence) -> None:
    (found,) = lint(PRELUDE + PROGRAM.format(test=test), frozenset({"DEV106"}))
    assert found.confidence is confidence


def test_the_assumption_names_the_test() -> None:
    (found,) = lint(PRELUDE + PROGRAM.format(test="lib.is_proxy(x)"), frozenset({"DEV106"}))
    assert [one.message for one in found.assumptions] == ["`not lib.is_proxy(x)` holds"]
