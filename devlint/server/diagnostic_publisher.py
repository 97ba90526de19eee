"""Delivery of findings to the client: pushed, or pulled by clients that can be asked to pull again."""

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
    """The part of the language server that the publisher of diagnostics needs."""

    @property
    def client_features(self) -> ClientFeatures:
        """The protocol features that the client supports."""

    @property
    def snapshot(self) -> Snapshot:
        """The newest results of the analysis."""

    def diagnostics(self, uri: str) -> Diagnostics:
        """Return the newest findings in one of the editor's texts."""

    def workspace_diagnostic_refresh(self, params: None) -> Any:
        """Ask the client to pull all diagnostics again."""

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        """Push the diagnostics of one text to the client."""


class DiagnosticPublisher:
    """Delivers findings to the client, and remembers which findings the client has for each text."""

    def __init__(self, server: DiagnosticsServer) -> None:
        self._server = server
        self._published: dict[str, Diagnostics] = {}
        self._result_ids: dict[str, tuple[str, Diagnostics]] = {}
        self._next_id = count(1)

    def publish_changes(self) -> None:
        """Push new findings to the client, or ask it to pull if it pulls and any findings have changed."""
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
        """Return the findings in one text, or "unchanged" if the client has the result with the id `known`."""
        found = self._server.diagnostics(uri)
        result_id = self._result_id(uri, found)
        if known == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=result_id)

    def workspace_reports(self, known: Mapping[str, str]) -> Iterator[types.WorkspaceDocumentDiagnosticReport]:
        """Yield the findings in all texts, and an empty report for each text that no longer exists.

        `known` has the ids of the results that the client has, by the texts' URIs.
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
        """Return all texts that have or may get findings: their URIs, and their versions if they are open."""
        return {part.uri: part.version for one in self._server.snapshot.documents.values() for part in one.parts}

    def _result_id(self, uri: str, found: Diagnostics) -> str:
        """Return the id of the findings in a text: new whenever the findings change, and never used again."""
        result_id, known = self._result_ids.get(uri, ("", None))
        if found != known:
            result_id = str(next(self._next_id))
            self._result_ids[uri] = result_id, found
        return result_id

    def _push(self) -> None:
        """Push the findings of each open text, and of each other text whose findings have changed.

        An open text is pushed even without a change: the client learns that the findings are those of its new version.
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
