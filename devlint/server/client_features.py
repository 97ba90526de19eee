"""The optional features of the Language Server Protocol (LSP) that a client supports.

The features are read from the capabilities that the client announces.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """The optional features of the Language Server Protocol that the client supports.

    `pulls_diagnostics` also requires that the server can ask the client to pull again. Otherwise the client would never
    see how a change in one file affects the findings in another file.
    """

    related_information: bool = False
    tags: bool = False
    code_descriptions: bool = False
    data: bool = False
    versions: bool = False
    pulls_diagnostics: bool = False
    resolves_actions: bool = False
    versioned_edits: bool = False
    shows_documents: bool = False

    @classmethod
    def of(cls, client: types.ClientCapabilities) -> ClientFeatures:
        """Return the optional LSP features that a client supports, read from the capabilities that it announces."""
        document, workspace = client.text_document, client.workspace
        pushed = document.publish_diagnostics if document else None
        pulled = document.diagnostic if document else None
        shown = pushed or pulled
        return cls(
            related_information=bool(shown and shown.related_information),
            tags=bool(shown and shown.tag_support),
            code_descriptions=bool(shown and shown.code_description_support),
            data=bool(shown and shown.data_support),
            resolves_actions=_resolves_edits(document.code_action if document else None),
            versioned_edits=bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes),
            shows_documents=bool(client.window and client.window.show_document and client.window.show_document.support),
            versions=bool(pushed and pushed.version_support),
            pulls_diagnostics=pulled is not None
            and bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support),
        )


def _resolves_edits(client: types.CodeActionClientCapabilities | None) -> bool:
    """Return whether the client can request the edit of a code action later, when the user chooses that action."""
    return bool(
        client and client.data_support and client.resolve_support and "edit" in client.resolve_support.properties
    )
