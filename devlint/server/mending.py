"""All that can be mended in one open program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.linter.check import Outcome, check
from devlint.linter.deep_stack import roomy
from devlint.linter.discovery import Found
from devlint.repair.document import Document
from devlint.repair.fix_rounds import applicable_fix_filter, repair
from devlint.server.session import Job
from devlint.syntax.notebook import read_notebook
from devlint.syntax.source_reading import encode_source


@dataclass(frozen=True, slots=True)
class Order:
    """What to mend: the program at a path, or one cell of it, counted from 1; `notebooks` are the cells of all that
    are open, as the editor has them."""

    path: Path
    cell: int | None
    notebooks: Mapping[Path, Sequence[str]]

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether a finding is to be mended, and all that this takes is there."""
        edits = diagnostic.fix.edits if diagnostic.fix is not None else ()
        return self.cell is None or all(one.cell == self.cell for one in edits)


@roomy
def mended(job: Job, order: Order) -> Sequence[str] | None:
    """The text of a file, or the texts of a notebook's cells, after all safe fixes that go together and help; None for
    one that is not looked at."""
    if order.path not in job.settings:
        return None
    files = [Found(one, one.as_posix(), settings) for one, settings in job.settings.items()]
    documents = {one.as_posix(): _document(one, text, order) for one, text in job.texts.items()}
    name = order.path.as_posix()
    own = {name: documents[name]}
    safe = applicable_fix_filter(unsafe=False)

    def look(attempt: Mapping[str, Document]) -> Outcome:
        return check(files, texts={key: one.data for key, one in {**documents, **attempt}.items()})

    found = repair(own, look(own), look, lambda one: safe(one) and order.covers(one)).documents[name]
    if order.path in order.notebooks:
        return [cell.text for cell in read_notebook(found.data).cells]
    return [found.text]


def _document(path: Path, text: str, order: Order) -> Document:
    """What the program at a path would be on the disk."""
    cells = order.notebooks.get(path)
    return Document(path.as_posix(), encode_source(text) if cells is None else _written(cells))


def _written(cells: Sequence[str]) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": one} for one in cells]}).encode()
