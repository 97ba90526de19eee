"""The names that the patterns of a `match` statement bind."""

from __future__ import annotations

import libcst as cst

from devlint.flow.definitions import bound_by
from devlint.flow.run import Run
from devlint.syntax.walk import descend
from devlint.values.value import UNKNOWN, Value


def match_case(run: Run, pattern: cst.MatchPattern, subject: Value) -> None:
    """Bind what the pattern captures: the subject itself where the pattern is only a name, parts of it unknown."""
    if isinstance(pattern, cst.MatchAs) and pattern.name is not None:
        run.bind(pattern.name.value, subject)
        if pattern.pattern is None:
            return
    for node in descend(pattern):
        for name in bound_by(node):
            run.bind(name, UNKNOWN)
