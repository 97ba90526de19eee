"""Programs that are repaired in memory, and what must be true of every repair."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devlint.diagnostic import Diagnostic, Position
from devlint.linter.program_analysis import analyse_files
from devlint.linter.rule_loader import all_rules
from devlint.repair.document import Document
from devlint.repair.fix_rounds import Documents, RepairResult, applicable_fix_filter, repair
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.source_reading import decode_source
from devlint.triage.fingerprint import add_fingerprints

EVERYTHING = frozenset(rule.code for rule in all_rules())
QUESTION = "DEV902"


@dataclass(frozen=True)
class Seen:
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Program:
    """Files by name, below a folder that need not hold them."""

    folder: Path
    files: Mapping[str, bytes]
    codes: frozenset[str] = EVERYTHING

    def look(self, documents: Documents) -> Seen:
        """What is found in the files when they hold this."""
        paths = {self.folder / name: name for name in self.files}
        texts = {path: documents[name].data for path, name in paths.items()}
        report = analyse_files(list(paths), codes=self.codes, src=[self.folder], names=paths, texts=texts)
        assert not report.errors, report.errors[0].traceback
        found = [one for one in report.diagnostics if one.code != QUESTION]
        lines = {name: NEWLINE.split(document.text) for name, document in documents.items()}
        return Seen(tuple(add_fingerprints(found, lambda name, cell: lines[name])))

    @property
    def documents(self) -> Documents:
        return {name: Document(name, data) for name, data in self.files.items()}

    def repaired(self, *, unsafe: bool = True) -> RepairResult[Seen]:
        """The files after all fixes."""
        return repair(self.documents, self.look(self.documents), self.look, applicable_fix_filter(unsafe))


def check(program: Program, *, unsafe: bool, before: Seen | None = None) -> RepairResult[Seen]:
    """Repair a program, of which somebody may have `before`, and assert what must hold of any; returns the repair."""
    before = before or program.look(program.documents)
    done = repair(program.documents, before, program.look, applicable_fix_filter(unsafe))
    assert done.finished
    for name, document in done.documents.items():
        ast.parse(document.data, name)
    after = done.seen
    assert count(after) <= count(before) - Counter((one.region.filename, one.code) for one in done.fixed)
    again = repair(done.documents, after, program.look, applicable_fix_filter(unsafe))
    assert again.documents == done.documents
    for one in before.diagnostics:
        check_edits(program.documents[one.region.filename], one)
    return done


def count(seen: Seen) -> Counter[tuple[str, str]]:
    return Counter((one.region.filename, one.code) for one in seen.diagnostics)


def check_edits(document: Document, diagnostic: Diagnostic) -> None:
    """Assert that a fix, applied alone, leaves every byte outside its edits as it is."""
    if diagnostic.fix is None:
        return
    source = decode_source(document.data, document.filename)
    begins = [0, *(found.end() for found in NEWLINE.finditer(source.text))]

    def offset(place: Position) -> int:
        return begins[place.row - 1] + place.column - 1

    edits = sorted(diagnostic.fix.edits, key=lambda one: one.start)
    kept, at, expected = [], 0, ""
    for edit in edits:
        assert at <= offset(edit.start) <= offset(edit.end) <= len(source.text)
        kept.append(source.text[at : offset(edit.start)])
        expected += kept[-1] + edit.content
        at = offset(edit.end)
    expected += source.text[at:]
    opening = b"\xef\xbb\xbf" if source.has_bom else b""
    assert document.takes(diagnostic.fix.edits)
    assert document.edited(edits).data == opening + expected.encode(source.encoding)
