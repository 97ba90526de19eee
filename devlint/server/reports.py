"""What the client has been told of the findings: pushed, or pulled where it can be told to pull again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types

if TYPE_CHECKING:
    from devlint.server.server import DevlintServer

Found: TypeAlias = list[types.Diagnostic]


class Reports:
    """Keeps what was said last of each text, open or not."""

    def __init__(self, server: DevlintServer) -> None:
        self._server = server
        self._told: dict[str, Found] = {}
        self._numbers: dict[str, tuple[str, Found]] = {}
        self._next = count(1)

    def tell(self) -> None:
        """There is something new to see."""
        if not self._server.abilities.pulls:
            self._publish()
            return
        found = {uri: self._server.diagnostics(uri) for uri in self._versions()}
        if found != self._told:
            self._told = found
            for uri in self._numbers.keys() - found.keys():
                del self._numbers[uri]
            self._server.workspace_diagnostic_refresh(None)

    def document(
        self, uri: str, known: str | None
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        """The findings in one text, for a client that knows them as of some number."""
        found = self._server.diagnostics(uri)
        number = self._number(uri, found)
        if known == number:
            return types.RelatedUnchangedDocumentDiagnosticReport(number)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=number)

    def workspace(self, known: Mapping[str, str]) -> Iterator[types.WorkspaceDocumentDiagnosticReport]:
        """The findings in all texts that there are, and the end of those that there were."""
        versions = self._versions()
        for uri in {**versions, **known}:
            version = versions.get(uri)
            one = self.document(uri, known.get(uri))
            if isinstance(one, types.RelatedUnchangedDocumentDiagnosticReport):
                yield types.WorkspaceUnchangedDocumentDiagnosticReport(uri, one.result_id, version)
            else:
                yield types.WorkspaceFullDocumentDiagnosticReport(uri, one.items, version, result_id=one.result_id)

    def _versions(self) -> dict[str, int | None]:
        """The texts of which there is something to say, or may be soon, and their versions if they are open."""
        return {part.uri: part.version for one in self._server.seen.documents.values() for part in one.parts}

    def _number(self, uri: str, found: Found) -> str:
        """The name of a state of the findings in a text: the same as long as they are, and never used again."""
        number, known = self._numbers.get(uri, ("", None))
        if found != known:
            number = str(next(self._next))
            self._numbers[uri] = number, found
        return number

    def _publish(self) -> None:
        """Send what is not known to the client yet; of an open text also that nothing is new in this version."""
        versions = self._versions()
        for uri in self._told.keys() - versions.keys():
            del self._told[uri]
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        for uri, version in versions.items():
            found = self._server.diagnostics(uri)
            if version is not None or found != self._told.get(uri):
                self._told[uri] = found
                told = version if self._server.abilities.versions else None
                self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, told))
