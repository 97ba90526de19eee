"""LSP code actions: apply fixes, silence findings, open a rule's documentation, go to where a tensor was placed.

A tensor is placed where the code creates it on a device or moves it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from lsprotocol import types

from devlint.diagnostic import Applicability, Diagnostic, Edit
from devlint.repair.ignore_comments import ignore_comment_edits
from devlint.server.documents import EditorDocument
from devlint.server.fix_all import FixRequest
from devlint.server.language_server import DevlintServer
from devlint.server.snapshot import TextSnapshot
from devlint.syntax.index import index_source
from devlint.syntax.source import Source, SourceError

FIX_ALL: Final = "source.fixAll.devlint"
"""The kind of the code action that applies all safe fixes in a file, or in one cell of a notebook."""

FIX_NOTEBOOK: Final = "notebook.source.fixAll.devlint"
"""The kind of the code action that applies all safe fixes in a notebook.

Clients request this kind for one cell and mean the whole notebook; they request `FIX_ALL` for each cell in turn.
"""

SHOW_DOCUMENTATION: Final = "devlint.showDocumentation"
"""The name of the workspace command that opens the documentation of a rule."""

_CAUTIONS: Final = {
    Applicability.SAFE: "",
    Applicability.UNSAFE: " (may change what the program does)",
    Applicability.DISPLAY: " (may be wrong for other callers)",
}
"""What the title of a fix adds to its message, for each degree of safety."""

ACTION_KINDS: Final = (types.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK)
"""The kinds of code actions that the server announces."""


@dataclass(frozen=True, slots=True)
class ActionData:
    """The `data` field of an unresolved code action, which the client sends back when it resolves the action.

    `uri` names the text. `operation` tells what the action does: "fix" (apply the fix of a finding), "silence" (add a
    comment that silences a finding), "all" (apply all safe fixes) or "cell" (apply all safe fixes in one notebook
    cell). An action for one finding also has the finding's rule code and the position in the program at which the
    finding begins.
    """

    uri: str
    operation: str
    code: str = ""
    row: int = 0
    column: int = 0

    @classmethod
    def of(cls, uri: str, operation: str, finding: Diagnostic) -> ActionData:
        """Return the data of a code action that concerns the given finding."""
        return cls(uri, operation, finding.code, finding.region.start.row, finding.region.start.column)

    def matches(self, finding: Diagnostic) -> bool:
        """Return whether the action was offered for the given finding.

        The findings may have changed since then, so the rule code and the position are compared.
        """
        return (finding.code, finding.region.start.row, finding.region.start.column) == (
            self.code,
            self.row,
            self.column,
        )


async def code_actions(server: DevlintServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the code actions that devlint offers for a range of a text (LSP request `textDocument/codeAction`)."""
    await server.scheduler.wait_for_open_files()
    uri = params.text_document.uri
    snapshot = server.snapshot.find(uri)
    if snapshot is None:
        return []
    found: list[types.CodeAction] = []
    only = params.context.only
    if _is_requested(types.CodeActionKind.QuickFix, only):
        for finding in filter(snapshot.contains, snapshot.analysis.diagnostics):
            if _overlaps(snapshot.document, finding, params.range):
                found += _finding_actions(server, uri, finding)
    if not found and only is None and params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic:
        found += _origin_actions(server, uri, params.range)
    found += [one for one in _fix_all_actions(uri, snapshot) if one.kind and _is_requested(one.kind, only)]
    if not server.client_features.resolves_actions:
        found = [await resolve_code_action(server, one) for one in found]
    return [one for one in found if one.edit or one.command or server.client_features.resolves_actions]


async def resolve_code_action(server: DevlintServer, action: types.CodeAction) -> types.CodeAction:
    """Compute the edit that a code action makes, and return the action with it (LSP request `codeAction/resolve`)."""
    if not isinstance(action.data, dict):
        return action
    await server.scheduler.wait_for_open_files()
    data = ActionData(**action.data)
    snapshot = server.snapshot.find(data.uri)
    if snapshot is None:
        return action
    if data.operation in ("all", "cell"):
        action.edit = await _fix_all_edit(server, data.uri, cell=data.operation == "cell")
        return action
    for finding in filter(data.matches, snapshot.analysis.diagnostics):
        fix = finding.fix
        edits = fix.edits if data.operation == "fix" and fix is not None else _suppression_edits(snapshot, finding)
        action.edit = server.workspace_edit(snapshot.document, edits)
    return action


def _finding_actions(server: DevlintServer, uri: str, finding: Diagnostic) -> Iterator[types.CodeAction]:
    """Yield the code actions for one finding: apply its fix, silence it, go to its cause, open its documentation."""
    shown = [server.lsp_diagnostic(finding)]
    quick = types.CodeActionKind.QuickFix
    fix = finding.fix
    if fix is not None:
        safe = fix.applicability is Applicability.SAFE
        title = _capitalised(fix.message + _CAUTIONS[fix.applicability])
        data = asdict(ActionData.of(uri, "fix", finding))
        yield types.CodeAction(title, quick, shown, is_preferred=safe, data=data)
    if not finding.code.startswith("DEV9"):
        data = asdict(ActionData.of(uri, "silence", finding))
        yield types.CodeAction(f"Disable {finding.code} ({finding.name}) for this line", quick, shown, data=data)
    if finding.trace:
        command = server.go_to_command(finding.trace[0].region, "Go to the cause")
        yield types.CodeAction(f"Go to the cause: {finding.trace[0].message}", quick, shown, command=command)
    title = f"Show the documentation of {finding.code} ({finding.name})"
    yield types.CodeAction(
        title, quick, shown, command=types.Command(title, SHOW_DOCUMENTATION, arguments=[finding.code])
    )


def _origin_actions(server: DevlintServer, uri: str, wanted: types.Range) -> Iterator[types.CodeAction]:
    """Yield code actions that go to where the tensor at the start of a given range of the text was created or moved."""
    view = server.document_view(uri)
    located = view.info_at(wanted.start) if view is not None else None
    if view is None or located is None:
        return
    origins = dict.fromkeys(origin for described in located.info.best_values for origin in described.origins)
    for origin in origins:
        region = view.analysis.region_of(origin)
        if region is not None:
            line = server.snapshot.locations.describe_line(region, uri)
            title = f"Go to where `{located.info.code}` is from: {origin.message} ({line})"
            yield types.CodeAction(title, types.CodeActionKind.Empty, command=server.go_to_command(region, title))


def _fix_all_actions(uri: str, snapshot: TextSnapshot) -> Iterator[types.CodeAction]:
    """Yield the code actions that apply all safe fixes: of a file, or of a notebook cell and of its whole notebook."""
    fixable = [one for one in snapshot.analysis.diagnostics if _has_safe_fix(one)]
    title = "Fix all that devlint can fix safely"
    if not snapshot.document.is_notebook:
        if fixable:
            yield types.CodeAction(title, FIX_ALL, data=asdict(ActionData(uri, "all")))
        return
    if any(map(snapshot.contains, fixable)):
        yield types.CodeAction(f"{title} in this cell", FIX_ALL, data=asdict(ActionData(uri, "cell")))
    if fixable:
        yield types.CodeAction(f"{title} in this notebook", FIX_NOTEBOOK, data=asdict(ActionData(uri, "all")))


def _suppression_edits(snapshot: TextSnapshot, finding: Diagnostic) -> Iterable[Edit]:
    """Return the text edits that add a comment which silences a finding; no edits if the text does not parse."""
    try:
        return [
            *ignore_comment_edits(
                index_source(Source.of(snapshot.analysis.text)), [(finding.code, finding.region)], None
            )
        ]
    except SourceError:
        return []


async def _fix_all_edit(server: DevlintServer, uri: str, *, cell: bool) -> types.WorkspaceEdit | None:
    """Return a workspace edit that applies all compatible safe fixes in a program, or in one cell of a notebook.

    Return None if the text is not analysed or was changed while the fixes were computed.
    """
    current = server.current_document(uri)
    if current is None:
        return None
    document, part = current
    number = document.parts.index(part) + 1 if cell else None
    request = FixRequest(document.path, number, server.notebook_cells())
    texts = await server.scheduler.fix_all(server.make_job(), request)
    later = server.current_document(uri)
    if texts is None or later is None or later[0].text != document.text:
        return None
    return server.replacement_edit(document, texts)


def _overlaps(document: EditorDocument, finding: Diagnostic, wanted: types.Range) -> bool:
    """Return whether the source range of a finding overlaps or touches a given range of the same text."""
    found = document.location(finding.region.start, finding.region.end).range
    return found.start <= wanted.end and wanted.start <= found.end


def _has_safe_fix(finding: Diagnostic) -> bool:
    """Return whether a finding has a fix that is marked as safe: a fix that keeps the program's behaviour."""
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def _is_requested(kind: str, only: Iterable[str] | None) -> bool:
    """Return whether a client requests a kind of code action; `only` has the requested kinds, or is None for all kinds.

    A requested kind covers its sub-kinds: "source" covers "source.fixAll", and "" covers all kinds.
    """
    return only is None or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in only)


def _capitalised(text: str) -> str:
    """Return a text with its first letter in upper case and everything else unchanged."""
    return text[:1].upper() + text[1:]
