from __future__ import annotations

import pytest

from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.triage.fingerprint import add_fingerprints


def fingerprints(
    source: str, *places: tuple[int, int, int, int], filename: str = "a.py", code: str = "DEV101"
) -> list[str]:
    diagnostics = [
        Diagnostic(
            code,
            "a-name",
            Severity.ERROR,
            Confidence.CERTAIN,
            "no",
            Region(filename, Position(row, column), Position(end_row, end_column)),
        )
        for row, column, end_row, end_column in places
    ]
    return [each.fingerprint for each in add_fingerprints(diagnostics, lambda name, cell: source.split("\n"))]


SOURCE = "def f():\n    return add(a, 'b')\n"
PLACE = (2, 12, 2, 23)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("\n\n" + SOURCE, (4, 12, 4, 23)),
        ('def f():\n    return add(a, "b")\n', PLACE),
        ('def f():\n    return add(\n        a,\n        "b",\n    )\n', (2, 12, 5, 6)),
    ],
)
def test_it_stays_the_same(source, place):
    assert fingerprints(SOURCE, PLACE) == fingerprints(source, place)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("def g():\n    return add(a, 'b')\n", PLACE),
        ("def f():\n    return add(b, 'b')\n", PLACE),
        ("class C:\n  def f():\n    return add(a, 'b')\n", (3, 12, 3, 23)),
    ],
)
def test_it_is_another(source, place):
    assert fingerprints(SOURCE, PLACE) != fingerprints(source, place)


def test_it_depends_on_the_rule_and_not_on_the_file():
    assert fingerprints(SOURCE, PLACE) == fingerprints(SOURCE, PLACE, filename="b.py")
    assert fingerprints(SOURCE, PLACE) != fingerprints(SOURCE, PLACE, code="DEV102")


def test_findings_alike_are_told_apart():
    source = "x + y\nx + y\n"
    first, second = fingerprints(source, (1, 1, 1, 6), (2, 1, 2, 6))
    assert first != second


def test_a_file_that_is_no_python_has_fingerprints_too():
    assert fingerprints("def (\n", (1, 5, 1, 6))[0]
    assert fingerprints("", (9, 5, 10, 6))[0]
