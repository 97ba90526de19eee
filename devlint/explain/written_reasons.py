"""Reasons that an author gives in a comment for work on the host: that it is faster there, or saves memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.placement import Place
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.statement import Statement

_HOST: Final = re.compile(r"\b(cpu|host)\b", re.IGNORECASE)
"""The names of the host in a comment."""
_REASON: Final = re.compile(
    r"\b(fast|slow|quick|avoid|memory|vram|oom|speed|bug|crash|workaround|save|support|unsupported)", re.IGNORECASE
)
"""The beginnings of the words with which a comment says why something is done there."""


def is_on_host_on_purpose(place: Place) -> bool:
    """Return whether a comment at the statement of some code, or just above it, says why the host does the work."""
    text = " ".join(_comments_at(place))
    return _HOST.search(text) is not None and _REASON.search(text) is not None


def _comments_at(place: Place) -> Iterator[str]:
    """Yield the comments right above a statement and at its end."""
    if not isinstance(place.unit, Statement) or not isinstance(place.node, cst.CSTNode):
        return
    place.unit.lay_out()
    tree = place.unit.tree_or_none
    if tree is None:
        return
    lines = (one for one in path_to(tree, place.node) if isinstance(one, cst.SimpleStatementLine))
    for line in (tree, *lines) if isinstance(tree, cst.SimpleStatementLine) else lines:
        for above in reversed(line.leading_lines):
            if above.comment is None:
                break
            yield above.comment.value
        if line.trailing_whitespace.comment is not None:
            yield line.trailing_whitespace.comment.value
