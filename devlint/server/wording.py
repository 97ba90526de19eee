"""Findings as the protocol has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from lsprotocol import types

from devlint.diagnostic import Diagnostic, Region, Severity
from devlint.server.documents import Document, uri_of
from devlint.server.rulers import Ruler

SOURCE: Final = "devlint"

SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}

WITHOUT_EFFECT: Final = frozenset(
    "discarded-transfer rebound-loop-variable rebound-argument redundant-transfer redundant-synchronize".split()
)
"""Rules that find code which might as well not be there: editors show it faded."""

OUTDATED: Final = frozenset({"legacy-tensor-type"})
"""Rules that find what nobody writes any more: editors strike it through."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the client can show and do.

    It `pulls` if it can also be told to pull again: else it would never see what a change in one file does to another.
    """

    related: bool = False
    tags: bool = False
    links: bool = False
    data: bool = False
    versions: bool = False
    pulls: bool = False
    resolves: bool = False
    versioned_edits: bool = False
    shows: bool = False

    @classmethod
    def of(cls, client: types.ClientCapabilities) -> Abilities:
        """Read from what the client announces."""
        document, workspace = client.text_document, client.workspace
        pushed = document.publish_diagnostics if document else None
        pulled = document.diagnostic if document else None
        shown = pushed or pulled
        return cls(
            related=bool(shown and shown.related_information),
            tags=bool(shown and shown.tag_support),
            links=bool(shown and shown.code_description_support),
            data=bool(shown and shown.data_support),
            resolves=_resolves(document.code_action if document else None),
            versioned_edits=bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes),
            shows=bool(client.window and client.window.show_document and client.window.show_document.support),
            versions=bool(pushed and pushed.version_support),
            pulls=pulled is not None
            and bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support),
        )


def _resolves(client: types.CodeActionClientCapabilities | None) -> bool:
    """Whether the client asks what an action changes when it is wanted."""
    return bool(
        client and client.data_support and client.resolve_support and "edit" in client.resolve_support.properties
    )


@dataclass(frozen=True, slots=True)
class Atlas:
    """Where regions are for the client: in open documents by their parts, in other files by their texts."""

    documents: Mapping[str, Document]
    texts: Mapping[str, str]
    encoding: str

    def location(self, region: Region) -> types.Location:
        """Where a region is."""
        document = self.documents.get(region.filename)
        if document is not None:
            return document.location(region.start, region.end)
        ruler = Ruler(self.texts.get(region.filename, ""), self.encoding)
        return types.Location(uri_of(region.filename), ruler.range_of(region.start, region.end))

    def line(self, region: Region, uri: str) -> str:
        """The line of a region in words, for somebody who looks at one of the texts."""
        there = self.location(region)
        words = f"line {there.range.start.line + 1}"
        if there.uri == uri:
            return words
        document = self.documents.get(region.filename)
        in_cell = document is not None and document.is_notebook
        return f"{words} of {'another cell' if in_cell else PurePosixPath(region.filename).name}"


def worded(diagnostic: Diagnostic, atlas: Atlas, abilities: Abilities) -> types.Diagnostic:
    """One finding for the client."""
    related = [
        types.DiagnosticRelatedInformation(atlas.location(note.region), note.message) for note in diagnostic.trace
    ]
    return types.Diagnostic(
        range=atlas.location(diagnostic.region).range,
        message=f"{diagnostic.message}\n{diagnostic.help}" if diagnostic.help else diagnostic.message,
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=types.CodeDescription(diagnostic.url) if abilities.links and diagnostic.url else None,
        source=SOURCE,
        tags=_tags(diagnostic) if abilities.tags else None,
        related_information=(related or None) if abilities.related else None,
        data={"name": diagnostic.name} if abilities.data else None,
    )


def _tags(diagnostic: Diagnostic) -> list[types.DiagnosticTag] | None:
    if diagnostic.name in WITHOUT_EFFECT:
        return [types.DiagnosticTag.Unnecessary]
    return [types.DiagnosticTag.Deprecated] if diagnostic.name in OUTDATED else None
