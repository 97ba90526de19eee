"""The code of a text without the contents of its string literals and comments, found without parsing."""

from __future__ import annotations

import re

_TEXT_OR_COMMENT = re.compile(
    r"#[^\r\n]*|(\"{3}|'{3})(?:\\.|.)*?\1|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)


def without_texts(text: str) -> str:
    """Return a text in which an empty string stands for every string literal and every comment."""
    return _TEXT_OR_COMMENT.sub("''", text)
