"""Application of all safe fixes to one open program or one cell of a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.linter.check import CheckResult, check_files
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.discovery import DiscoveredFile
from devlint.repair.document import Document
from devlint.repair.fix_rounds import applicable_fix_filter, repair
from devlint.server.analysis_session import AnalysisJob
from devlint.syntax.notebook import read_notebook
from devlint.syntax.source_reading import encode_source


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A request to fix the program at a path, or only the code cell `cell` of a notebook, counted from 1.

    `notebooks` has the texts of the code cells of all open notebooks, as the editor shows them.
    """

    path: Path
    cell: int | None
    notebooks: Mapping[Path, Sequence[str]]

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is to be fixed by this request.

        A request for a whole program covers every finding; a request for one cell covers findings whose fix edits only
        that cell.
        """
        edits = diagnostic.fix.edits if diagnostic.fix is not None else ()
        return self.cell is None or all(one.cell == self.cell for one in edits)


@with_deep_stack
def fixed_texts(job: AnalysisJob, request: FixRequest) -> Sequence[str] | None:
    """Return the text of a file, or the texts of a notebook's code cells, with all safe fixes applied.

    Fixes that conflict with others or do not remove their finding are left out. Return None for a program that is not
    analysed.
    """
    if request.path not in job.settings:
        return None
    files = [DiscoveredFile(one, one.as_posix(), settings) for one, settings in job.settings.items()]
    documents = {one.as_posix(): _repair_document(one, text, request) for one, text in job.texts.items()}
    name = request.path.as_posix()
    own = {name: documents[name]}
    safe = applicable_fix_filter(unsafe=False)

    def analyse(attempt: Mapping[str, Document]) -> CheckResult:
        return check_files(files, texts={key: one.data for key, one in {**documents, **attempt}.items()})

    found = repair(own, analyse(own), analyse, lambda one: safe(one) and request.covers(one)).documents[name]
    if request.path in request.notebooks:
        return [cell.text for cell in read_notebook(found.data).cells]
    return [found.text]


def _repair_document(path: Path, text: str, request: FixRequest) -> Document:
    """Return the open program at a path in the form in which its file would be saved on the disk."""
    cells = request.notebooks.get(path)
    return Document(path.as_posix(), encode_source(text) if cells is None else _notebook_json(cells))


def _notebook_json(cells: Sequence[str]) -> bytes:
    """Return the bytes of a notebook file (JSON) with the given texts as code cells."""
    return json.dumps({"cells": [{"cell_type": "code", "source": one} for one in cells]}).encode()
