"""Delivery of findings to the LSP client: the server pushes them, or the client pulls them if it can be asked to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Protocol, TypeAlias

from lsprotocol import types

from devlint.server.client_features import ClientFeatures
from devlint.server.snapshot import Snapshot

Diagnostics: TypeAlias = list[types.Diagnostic]
"""The findings in one text, as the client gets them."""


class DiagnosticsServer(Protocol):
    """The interface of the language server that `DiagnosticPublisher` needs to deliver findings."""

    @property
    def client_features(self) -> ClientFeatures:
        """The optional features of the Language Server Protocol that the client supports."""

    @property
    def snapshot(self) -> Snapshot:
        """The newest analysis results for all texts, with the documents as they were when the analysis began."""

    def diagnostics(self, uri: str) -> Diagnostics:
        """Return the newest findings in one of the editor's texts as LSP diagnostics."""

    def workspace_diagnostic_refresh(self, params: None) -> Any:
        """Ask the client to pull the findings in all texts again (LSP request `workspace/diagnostic/refresh`)."""

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        """Push the findings in one text to the client (LSP notification `textDocument/publishDiagnostics`)."""


class DiagnosticPublisher:
    """A publisher that delivers findings to the LSP client and remembers which findings it has for each text."""

    def __init__(self, server: DiagnosticsServer) -> None:
        self._server = server
        self._published: dict[str, Diagnostics] = {}
        self._result_ids: dict[str, tuple[str, Diagnostics]] = {}
        self._next_id = count(1)

    def publish_changes(self) -> None:
        """Push new findings to the client.

        If the client pulls findings, ask it instead to pull again, but only if any findings have changed.
        """
        if not self._server.client_features.pulls_diagnostics:
            self._push()
            return
        found = {uri: self._server.diagnostics(uri) for uri in self._versions()}
        if found != self._published:
            self._published = found
            for uri in self._result_ids.keys() - found.keys():
                del self._result_ids[uri]
            self._server.workspace_diagnostic_refresh(None)

    def document_report(
        self, uri: str, known: str | None
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        """Return an LSP report with the findings in one text, or an "unchanged" report if the client has them already.

        The client has them if `known`, the id of the last report that it received for the text, is the current id.
        """
        found = self._server.diagnostics(uri)
        result_id = self._result_id(uri, found)
        if known == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=result_id)

    def workspace_reports(self, known: Mapping[str, str]) -> Iterator[types.WorkspaceDocumentDiagnosticReport]:
        """Yield an LSP report with the findings in each text, and an empty report for each text that no longer exists.

        `known` maps the URIs of texts to the ids of the last reports that the client received for them.
        """
        versions = self._versions()
        for uri in {**versions, **known}:
            version = versions.get(uri)
            one = self.document_report(uri, known.get(uri))
            if isinstance(one, types.RelatedUnchangedDocumentDiagnosticReport):
                yield types.WorkspaceUnchangedDocumentDiagnosticReport(uri, one.result_id, version)
            else:
                yield types.WorkspaceFullDocumentDiagnosticReport(uri, one.items, version, result_id=one.result_id)

    def _versions(self) -> dict[str, int | None]:
        """Return the URIs of all texts that can have findings, each with its version, or None if it is not open."""
        return {part.uri: part.version for one in self._server.snapshot.documents.values() for part in one.parts}

    def _result_id(self, uri: str, found: Diagnostics) -> str:
        """Return the id of the findings in a text: a new id whenever the findings change; no id is ever used again."""
        result_id, known = self._result_ids.get(uri, ("", None))
        if found != known:
            result_id = str(next(self._next_id))
            self._result_ids[uri] = result_id, found
        return result_id

    def _push(self) -> None:
        """Push the findings of each open text, and of each other text whose findings have changed, to the client.

        The findings of an open text are pushed even if they have not changed, so that the client learns that they hold
        for the text's new version.
        """
        versions = self._versions()
        for uri in self._published.keys() - versions.keys():
            del self._published[uri]
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        for uri, version in versions.items():
            found = self._server.diagnostics(uri)
            if version is not None or found != self._published.get(uri):
                self._published[uri] = found
                shown_version = version if self._server.client_features.versions else None
                self._server.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, found, shown_version)
                )
