"""The top-level statements of a file whose grammar is newer than the running Python, as libcst sees them."""

from __future__ import annotations

from devlint.syntax.ast_outline import Outline
from devlint.syntax.lines import Lines


def newer_outline(text: str, lines: Lines) -> tuple[str | None, list[Outline]] | None:
    """The docstring and the statements of a file; None where libcst cannot parse it either."""
    return None
