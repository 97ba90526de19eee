"""Conversion of findings to diagnostics of the Language Server Protocol."""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from devlint.diagnostic import Diagnostic, Severity
from devlint.server.client_features import ClientFeatures
from devlint.server.locations import LocationMap
from devlint.server.rule_pages import rule_page_address

SOURCE: Final = "devlint"
"""The name under which editors show the findings."""

SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
"""The protocol's severity for each severity of a finding."""

UNNECESSARY_RULES: Final = frozenset(
    "discarded-transfer rebound-loop-variable rebound-argument redundant-transfer redundant-synchronize".split()
)
"""The rules that find code without effect; editors show such code faded."""

DEPRECATED_RULES: Final = frozenset({"legacy-tensor-type"})
"""The rules that find outdated spellings; editors strike such code through."""


def to_lsp_diagnostic(diagnostic: Diagnostic, locations: LocationMap, client: ClientFeatures) -> types.Diagnostic:
    """Return a finding as an LSP diagnostic, including those optional fields that the client supports."""
    related = [
        types.DiagnosticRelatedInformation(locations.location(note.region), note.message) for note in diagnostic.trace
    ]
    page = rule_page_address(diagnostic.code) if client.code_descriptions else None
    return types.Diagnostic(
        range=locations.location(diagnostic.region).range,
        message=f"{diagnostic.message}\n{diagnostic.help}" if diagnostic.help else diagnostic.message,
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        tags=_tags(diagnostic) if client.tags else None,
        related_information=(related or None) if client.related_information else None,
        data={"name": diagnostic.name} if client.data else None,
    )


def _tags(diagnostic: Diagnostic) -> list[types.DiagnosticTag] | None:
    """Return the LSP tags of a finding: unnecessary or deprecated code; None for findings of any other kind."""
    if diagnostic.name in UNNECESSARY_RULES:
        return [types.DiagnosticTag.Unnecessary]
    return [types.DiagnosticTag.Deprecated] if diagnostic.name in DEPRECATED_RULES else None
