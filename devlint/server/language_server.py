"""The language server: it passes the editor's texts to the analysis, and keeps the newest analysis results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from devlint.diagnostic import Diagnostic, Edit, Region
from devlint.server.analysis_scheduler import AnalysisScheduler
from devlint.server.analysis_session import AnalysisJob, AnalysisResult
from devlint.server.client_features import ClientFeatures
from devlint.server.diagnostic_publisher import DiagnosticPublisher
from devlint.server.document_view import DocumentView
from devlint.server.documents import DocumentPart, EditorDocument, open_documents, path_of_uri
from devlint.server.locations import LocationMap
from devlint.server.lsp_diagnostics import to_lsp_diagnostic
from devlint.server.preferences import Preferences, WorkspaceSettings
from devlint.server.program_files import FileStamp, file_stamp
from devlint.server.progress import StartupProgress
from devlint.server.snapshot import Snapshot
from devlint.server.text_buffers import BufferWorkspace
from devlint.server.workspace_files import find_workspace_files
from devlint.syntax.incremental_index import Change
from devlint.version import __version__

LOGGER: Final = logging.getLogger("devlint")
"""The log of the server."""

GO_TO_CAUSE: Final = "devlint.goToCause"
"""The name of the workspace command that shows where a tensor was created or moved."""

NOTEBOOKS: Final = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            cells=[types.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
        )
    ]
)
"""The notebooks whose cells the client sends to the server: Jupyter notebooks in Python."""


class DevlintServer(LanguageServer):
    """devlint's language server for one client (editor), with its open documents, settings and analysis results."""

    def __init__(self) -> None:
        super().__init__("devlint", __version__, notebook_document_sync=NOTEBOOKS)
        self.snapshot = Snapshot({}, {}, LocationMap({}, {}, "utf-16"))
        self.publisher = DiagnosticPublisher(self)
        self.progress_listeners: list[Callable[[int, int], None]] = []
        self._epoch = 0
        self._shown_warnings: set[str] = set()
        self._folder_preferences: dict[Path, Preferences] = {}
        self._default_preferences = Preferences()
        self._settings = WorkspaceSettings({}, Preferences(), self.warn_once)
        self._pending_documents: dict[Path, EditorDocument] = {}
        self._configuration_stamps: dict[Path, FileStamp] = {}
        self.startup_progress = StartupProgress(self)
        self.progress_listeners.append(self.startup_progress.update)

    # The client

    @cached_property
    def client_features(self) -> ClientFeatures:
        """The optional features of the Language Server Protocol that the client supports."""
        return ClientFeatures.of(self.client_capabilities)

    @property
    def encoding(self) -> str:
        """The encoding in which client and server have agreed to count the characters of a line, such as UTF-16."""
        encoding = self.workspace.position_encoding
        return str(getattr(encoding, "value", encoding))

    def use_buffer_workspace(self) -> None:
        """Replace the workspace of pygls by one that splits lines as the Language Server Protocol does."""
        given = self.workspace
        folders = list(given.folders.values())
        buffers = BufferWorkspace(
            given.root_uri, types.TextDocumentSyncKind.Incremental, folders, position_encoding=given.position_encoding
        )
        self.protocol._workspace = buffers

    # Settings

    @property
    def folders(self) -> dict[Path, str]:
        """A mapping from the paths of the workspace folders to their URIs."""
        uris = [one.uri for one in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return {path_of_uri(uri): uri for uri in uris}

    def set_preferences(self, default: Preferences, by_folder: Mapping[Path, Preferences]) -> None:
        """Replace the settings that the client has sent, and analyse all files again."""
        self._default_preferences, self._folder_preferences = default, dict(by_folder)
        for one in (default, *by_folder.values()):
            for problem in one.problems:
                self.warn_once(problem)
        self.reload_configuration()

    def reload_configuration(self) -> None:
        """Read the configuration files again, and analyse all files again."""
        self._reset_settings()
        self.schedule_analysis()

    def _reset_settings(self) -> None:
        """Discard all settings and analysis results that were derived from the configuration files."""
        self._epoch += 1
        self._settings = WorkspaceSettings(self._folder_preferences, self._default_preferences, self.warn_once)

    def _refresh_configuration(self) -> None:
        """Read the configuration files again if they have changed on the disk: not all clients report that."""
        one_of_each_folder = {path.parent: path for path in self._pending_documents}.values()
        stamps = {
            file: file_stamp(file) for path in one_of_each_folder for file in self._settings.configuration_files(path)
        }
        if any(self._configuration_stamps.get(file, one) != one for file, one in stamps.items()):
            self._reset_settings()
        self._configuration_stamps = stamps

    def preferences(self, path: Path) -> Preferences:
        """Return the settings that the client has sent for the folder of a given file."""
        return self._settings.preferences(path)

    # The analysis

    @cached_property
    def scheduler(self) -> AnalysisScheduler:
        """The scheduler that runs the server's analyses, created when it is first used."""
        return AnalysisScheduler(self._next_job, self._receive_result, self._report_progress, self._log_failure)

    def schedule_analysis(self) -> None:
        """Schedule an analysis, after a change that may affect the findings."""
        self.scheduler.schedule()

    def make_job(self) -> AnalysisJob:
        """Return the analysis job (the input of one analysis) for all open documents as they are now."""
        return self._job_of({one.path: one for one in open_documents(self.buffers)})

    def notebook_cells(self) -> dict[Path, list[str]]:
        """Return the texts of the code cells of all open notebooks, by the notebooks' paths."""
        found = (one for one in open_documents(self.buffers) if one.is_notebook)
        return {one.path: [part.positions.text for part in one.parts] for one in found}

    def _next_job(self) -> AnalysisJob:
        """Return the job for the next scheduled analysis, and remember which documents that job analyses."""
        self._pending_documents = {one.path: one for one in open_documents(self.buffers)}
        self._refresh_configuration()
        return self._job_of(self._pending_documents)

    def _job_of(self, found: Mapping[Path, EditorDocument]) -> AnalysisJob:
        """Return the analysis job (the input of one analysis) for the given open documents."""
        settings = {path: one for path in found if (one := self._settings.settings(path)) is not None}
        texts = {path: one.text for path, one in found.items()}
        return AnalysisJob(
            texts, settings, self._epoch, partial(find_workspace_files, tuple(self.folders), self._settings)
        )

    @property
    def buffers(self) -> BufferWorkspace:
        """The workspace with all texts that are open in the editor."""
        assert isinstance(self.workspace, BufferWorkspace)
        return self.workspace

    def _receive_result(self, result: AnalysisResult, done: bool) -> None:
        """Store a new analysis result and show it to the client.

        Findings are shown at once. Inlay hints are shown only when the result is final, because the descriptions of
        expressions that they need are not up to date earlier.
        """
        self.snapshot = self.snapshot.updated(self._pending_documents, result, self.encoding)
        for problem in result.problems:
            self.warn_once(problem)
        if done:
            self._refresh_hints()
            return
        for error in result.errors:
            LOGGER.warning("%s, %s: %s\n%s", error.filename, error.where, error.message, error.traceback)
        self.publisher.publish_changes()

    def _report_progress(self, done: int, of: int) -> None:
        """Pass the numbers of analysed files and of all files to all registered progress listeners."""
        for listener in tuple(self.progress_listeners):
            listener(done, of)

    def _refresh_hints(self) -> None:
        """Ask the client to request its inlay hints again; do nothing if the client does not support that."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _log_failure(self, error: Exception) -> None:
        """Log an unexpected exception that an analysis has raised."""
        LOGGER.error("the analysis failed", exc_info=error)

    def current_document(self, uri: str) -> tuple[EditorDocument, DocumentPart] | None:
        """Return the current program that contains one of the editor's texts, and the part of it that is this text.

        Return None if the text is not open.
        """
        for document in open_documents(self.buffers):
            part = document.part_of(uri)
            if part is not None:
                return document, part
        return None

    def document_view(self, uri: str) -> DocumentView | None:
        """Return a view of one of the editor's texts as it is now, with the newest analysis results for that text.

        Return None if the text is not open or has no results.
        """
        found, current = self.snapshot.find(uri), self.current_document(uri)
        return DocumentView(*current, found.analysis) if found is not None and current is not None else None

    # Answers to the client

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Return the newest findings in one of the editor's texts as LSP diagnostics."""
        found = self.snapshot.find(uri)
        if found is None:
            return []
        return [self.lsp_diagnostic(one) for one in found.analysis.diagnostics if found.contains(one)]

    def lsp_diagnostic(self, diagnostic: Diagnostic) -> types.Diagnostic:
        """Return a finding as an LSP diagnostic."""
        return to_lsp_diagnostic(diagnostic, self.snapshot.locations, self.client_features)

    def go_to_command(self, region: Region, title: str) -> types.Command:
        """Return an LSP command that moves the editor to a given region of the source code."""
        location = self.snapshot.locations.location(region)
        start = location.range.start
        return types.Command(title, GO_TO_CAUSE, arguments=[location.uri, start.line, start.character])

    def workspace_edit(self, document: EditorDocument, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        """Return edits of a program as an LSP workspace edit.

        Return None if one of the edits changes a line that differs between the editor and the analysed text.
        """
        by_part: dict[str, list[types.TextEdit]] = {}
        for edit in dict.fromkeys(edits):
            if not document.matches_analysed_text(edit.start, edit.end):
                return None
            place = document.location(edit.start, edit.end)
            by_part.setdefault(place.uri, []).append(types.TextEdit(place.range, edit.content))
        return self._to_workspace_edit(document, by_part)

    def replacement_edit(self, document: EditorDocument, texts: Sequence[str]) -> types.WorkspaceEdit | None:
        """Return the smallest workspace edit that replaces the texts of a file or a notebook's cells by new texts."""
        by_part: dict[str, list[types.TextEdit]] = {}
        for part, text in zip(document.parts, texts, strict=True):
            if text != part.positions.text:
                change = Change.between(part.positions.text, text)
                place = part.positions.range(change.start, change.old_end)
                by_part[part.uri] = [types.TextEdit(place, text[change.start : change.new_end])]
        return self._to_workspace_edit(document, by_part)

    def _to_workspace_edit(
        self, document: EditorDocument, by_part: dict[str, list[types.TextEdit]]
    ) -> types.WorkspaceEdit | None:
        """Return text edits as a workspace edit, in the form that the client supports.

        The edits are given by the URIs of the texts (a file or notebook cells) that they change.
        """
        if not by_part:
            return None
        if not self.client_features.versioned_edits:
            return types.WorkspaceEdit(changes=by_part)
        parts = {one.uri: one for one in document.parts}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, version=parts[uri].version), changed
                )
                for uri, changed in by_part.items()
            ]
        )

    def warn_once(self, text: str) -> None:
        """Show the user a problem with the settings, unless the same problem was shown before."""
        if text not in self._shown_warnings:
            self._shown_warnings.add(text)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"devlint: {text}"))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """Log an internal error of the server; this overrides pygls' handler, which would show it to the user."""
        LOGGER.error("%s: %s", getattr(source, "__name__", source), error)
