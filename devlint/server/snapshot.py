"""The newest analysis results, kept for requests about one of the editor's texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.server.analysis_session import AnalysisResult
from devlint.server.documents import DocumentPart, EditorDocument, closed_document
from devlint.server.file_analysis import FileAnalysis
from devlint.server.locations import LocationMap


@dataclass(frozen=True, slots=True)
class TextSnapshot:
    """The newest analysis results for one of the editor's texts (a file or a notebook cell).

    `document` is the program that contains the text, `part` is the text's part of that program, and `analysis` has the
    results for the program.
    """

    document: EditorDocument
    part: DocumentPart
    analysis: FileAnalysis

    def contains(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding in the document begins in this text, not in another cell of the same notebook."""
        return self.document.part_at(diagnostic.region.start.row) is self.part


@dataclass(frozen=True)
class Snapshot:
    """The newest analysis results, with the documents as they were when the analysis began.

    `documents` has all open documents, and those closed documents that have findings.
    """

    documents: Mapping[Path, EditorDocument]
    analyses: Mapping[Path, FileAnalysis]
    locations: LocationMap

    def updated(self, opened: Mapping[Path, EditorDocument], result: AnalysisResult, encoding: str) -> Snapshot:
        """Return a new snapshot with the results of a new analysis.

        Files that the new analysis left out keep their results from this snapshot.
        """
        analyses = result.files if result.is_complete else {**self.analyses, **result.files}
        closed = {
            path: closed_document(path, analysis.text, encoding)
            for path, analysis in analyses.items()
            if path not in opened and analysis.diagnostics
        }
        documents = {**closed, **opened}
        by_name = {path.as_posix(): document for path, document in documents.items()}
        texts = result.texts if result.is_complete else {**self.locations.texts, **result.texts}
        return Snapshot(documents, analyses, LocationMap(by_name, texts, encoding))

    def find(self, uri: str) -> TextSnapshot | None:
        """Return the newest analysis results for the text with a URI, or None if that text is not analysed."""
        return self._text_snapshots.get(uri)

    @cached_property
    def _text_snapshots(self) -> Mapping[str, TextSnapshot]:
        """A mapping from the URI of each of the editor's texts to the newest analysis results for that text."""
        return {
            part.uri: TextSnapshot(document, part, self.analyses[path])
            for path, document in self.documents.items()
            if path in self.analyses
            for part in document.parts
        }
