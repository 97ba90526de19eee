from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from devlint.cache.plain_data import PlainDataError, from_plain, to_plain
from devlint.diagnostic import (
    Applicability,
    AssumptionKind,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Edit,
    Fix,
    Note,
    Position,
    Region,
    Severity,
)

REGION = Region("a.ipynb", Position(1, 2), Position(3, 4), 5)
DIAGNOSTIC = Diagnostic(
    "DEV101",
    "mixed-device-op",
    Severity.ERROR,
    Confidence.LIKELY,
    "a message with ä and a lone \ud800",
    REGION,
    (Note("a step", REGION), Note("another", Region("b.py", Position(1, 1), Position(1, 1)))),
    None,
    Fix("move it", Applicability.SAFE, (Edit("x.cpu()", Position(1, 1), Position(1, 2)),)),
    "https://example.org",
    assumptions=(AssumptionNote(AssumptionKind.CALLER, "it does", None),),
)


@dataclass(frozen=True)
class Several:
    names: frozenset[str]
    table: Mapping[str, tuple[int, bool]]
    maybe: str | None = None


@pytest.mark.parametrize("value", [DIAGNOSTIC, Several(frozenset("ba"), {"x": (1, True), "": (0, False)}, "y")])
def test_a_value_comes_back(value):
    assert from_plain(type(value), json.loads(json.dumps(to_plain(value)))) == value


def test_equal_values_have_equal_data():
    assert to_plain(Several(frozenset("abc"), {})) == to_plain(Several(frozenset("cba"), {}))


@pytest.mark.parametrize("data", [None, 1, [], ["a"], [[], [], None, 1], [[1], [], None], [[], [["x", 1]], None], {}])
def test_other_data_is_refused(data):
    with pytest.raises(PlainDataError):
        from_plain(Several, data)


def test_a_value_without_plain_form_is_refused():
    with pytest.raises(TypeError, match="no plain form for a object"):
        to_plain([object()])
