"""Code that a test requires to raise: the body of `with pytest.raises(...)` and the like."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.syntax.tree_walk import dotted_name

ASSERTING_FAILURE: Final = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
"""The last names of the functions that require an exception."""


def asserts_failure(expression: cst.BaseExpression) -> bool:
    """Return whether an expression calls a function that requires an exception, such as `pytest.raises`."""
    called = expression.func if isinstance(expression, cst.Call) else None
    return called is not None and (dotted_name(called) or "").rpartition(".")[2] in ASSERTING_FAILURE
