"""`concise`: one line for each finding, as compilers write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.page import Page
from devlint.output.style import Style, place


def render(diagnostics: Sequence[Diagnostic], page: Page) -> Iterator[str]:
    """`file:row:column: CODE message (name)`."""
    style = Style(page.color)
    for diagnostic in diagnostics:
        code = style.severity(diagnostic.severity, diagnostic.code)
        yield f"{style.place(place(diagnostic.region))}: {code} {diagnostic.message} ({diagnostic.name})\n"
