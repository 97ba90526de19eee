"""Tests of the structure of code: what two expressions have in common that are laid out differently."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.syntax.code_structure import structure_of


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a+b", "(a  +  b)"),
        ("f(x,y=1)", "f(\n    x,  # first\n    y=1,\n)"),
        ("a and not b", "(a) and (not b)"),
        ("x [ 1: ]", "x[1:]"),
    ],
)
def test_layout_makes_no_difference(left: str, right: str) -> None:
    assert structure_of(cst.parse_expression(left)) == structure_of(cst.parse_expression(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a + b", "a - b"),
        ("(a + b) * c", "a + (b * c)"),
        ("a is b", "a is not b"),
        ("a and b", "a or b"),
        ("-a", "~a"),
        ("f(x)", "f(*x)"),
        ("f(x=y)", "f(y)"),
        ("a.b", "a.c"),
        ("'a'", "b'a'"),
        ("f'{x}'", "f'{x!r}'"),
        ("x[1:]", "x[:1]"),
    ],
)
def test_other_code_has_another_structure(left: str, right: str) -> None:
    assert structure_of(cst.parse_expression(left)) != structure_of(cst.parse_expression(right))
