"""`json-lines`: the objects of `json`, one on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.json import as_object
from devlint.output.page import Page


def render(diagnostics: Sequence[Diagnostic], page: Page) -> Iterator[str]:
    """One object on each line."""
    for diagnostic in diagnostics:
        yield json.dumps(as_object(diagnostic)) + "\n"
