"""Rows of the NumPy table against NumPy itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from devlint.semantics.table import load_numpy_table

SINGLE = np.ones(3, np.float32)
WHOLE = np.arange(3)
GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("zeros", lambda: np.zeros(3)),
        ("linspace", lambda: np.linspace(0, 1, 3)),
        ("eye", lambda: np.eye(2)),
        ("random.rand", lambda: np.random.rand(3)),
        ("random.normal", lambda: np.random.normal(size=3)),
        ("random.Generator.random", lambda: GENERATOR.random(3)),
        ("random.Generator.standard_normal", lambda: GENERATOR.standard_normal(3)),
    ],
)
def test_made_from_nothing_is_float64(name: str, call: Callable[[], Any]) -> None:
    row = load_numpy_table().find(f"numpy.{name}")
    assert row is not None
    assert row.dtype in ("float64", "kwarg:float64")
    assert row.fresh
    assert call().dtype == np.float64


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("random.randint", lambda: np.random.randint(0, 3, 3)),
        ("random.poisson", lambda: np.random.poisson(1, 3)),
        ("argmax", lambda: np.argmax(SINGLE)),
        ("argsort", lambda: np.argsort(SINGLE)),
        ("searchsorted", lambda: np.searchsorted(SINGLE, SINGLE)),
    ],
)
def test_counts_and_positions_are_int64(name: str, call: Callable[[], Any]) -> None:
    row = load_numpy_table().find(f"numpy.{name}")
    assert row is not None
    assert row.dtype in ("int64", "kwarg:int64")
    assert call().dtype == np.int64


@pytest.mark.parametrize("name", ["sqrt", "exp", "log1p", "sin", "mean", "std"])
def test_floating_functions_keep_single_precision_and_widen_integers(name: str) -> None:
    row = load_numpy_table().find(f"numpy.{name}")
    assert row is not None
    assert row.dtype == "float"
    function = getattr(np, name)
    assert function(SINGLE).dtype == np.float32
    assert function(WHOLE).dtype == np.float64


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "concatenate"])
def test_joining_promotes(name: str) -> None:
    row = load_numpy_table().find(f"numpy.{name}")
    assert row is not None
    assert row.dtype == "promote"
    operands = (SINGLE, SINGLE.astype(np.float64))
    function = getattr(np, name)
    assert (function(operands) if name == "concatenate" else function(*operands)).dtype == np.float64


@pytest.mark.parametrize("name", [n for n in load_numpy_table() if n.startswith("numpy.ndarray.")])
def test_every_array_method_exists(name: str) -> None:
    assert hasattr(np.ndarray, name.removeprefix("numpy.ndarray."))


REMOVED = {"numpy.random.random_integers"}
FUNCTIONS = [n for n in load_numpy_table() if n.startswith("numpy.") and "ndarray" not in n and n not in REMOVED]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_exists(name: str) -> None:
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    assert found is not None


RANKS = {"broadcast": (False, True), "same:a": (False, True), "some": (True, True), "reduce": (False, False)}
"""By a row's rule for ranks: whether it makes an array of at least one dimension of a 0-dim one, and of a 1-dim one."""


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in load_numpy_table()
        if (row := load_numpy_table().find(name)) is not None
        and name.count(".") == 1
        and row.params[:1] in (("x",), ("x1",), ("a",), ("m",), ("self",))
        and row.rank in RANKS
    ],
)
def test_what_is_0_dim(name: str) -> None:
    row = load_numpy_table().find(name)
    assert row is not None
    count = 2 if "x2" in row.params or "b" in row.params else 1
    for data, expected in zip((np.array(0.5), np.full(3, 0.5)), RANKS[row.rank], strict=True):
        for given in (data, data.astype(np.int64), data.astype(np.bool_)):
            try:
                with np.errstate(all="ignore"):
                    result = getattr(np, name.removeprefix("numpy."))(*[given] * count)
            except (TypeError, ValueError, IndexError, np.exceptions.AxisError):
                continue
            assert (np.ndim(result) > 0) is expected
