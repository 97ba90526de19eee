"""The server: what the editor holds on one side, the analysis on the other, and what was last seen between them."""

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
from devlint.server.analyst import Analyst
from devlint.server.buffers import Buffers
from devlint.server.documents import Document, Part, documents, path_of
from devlint.server.files import Stamp, stamp_of
from devlint.server.glance import Glance
from devlint.server.preferences import Book, Preferences
from devlint.server.progress import FirstLook
from devlint.server.reports import Reports
from devlint.server.seen import Seen
from devlint.server.session import Job, Look
from devlint.server.survey import survey
from devlint.server.wording import Abilities, Atlas, worded
from devlint.syntax.incremental_index import Change
from devlint.version import __version__

LOGGER: Final = logging.getLogger("devlint")

GO_TO_CAUSE: Final = "devlint.goToCause"

NOTEBOOKS: Final = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            cells=[types.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
        )
    ]
)


class DevlintServer(LanguageServer):
    """A language server for one client."""

    def __init__(self) -> None:
        super().__init__("devlint", __version__, notebook_document_sync=NOTEBOOKS)
        self.seen = Seen({}, {}, Atlas({}, {}, "utf-16"))
        self.reports = Reports(self)
        self.spectators: list[Callable[[int, int], None]] = []
        self._epoch = 0
        self._told: set[str] = set()
        self._preferences: dict[Path, Preferences] = {}
        self._default = Preferences()
        self._book = Book({}, Preferences(), self.complain)
        self._waiting: dict[Path, Document] = {}
        self._stamps: dict[Path, Stamp] = {}
        self.first_look = FirstLook(self)
        self.spectators.append(self.first_look.tell)

    # What the client is like

    @cached_property
    def abilities(self) -> Abilities:
        """What the client can show."""
        return Abilities.of(self.client_capabilities)

    @property
    def encoding(self) -> str:
        """How the client counts characters."""
        encoding = self.workspace.position_encoding
        return str(getattr(encoding, "value", encoding))

    def adopt_workspace(self) -> None:
        """Keep the client's texts in devlint's own way."""
        given = self.workspace
        folders = list(given.folders.values())
        buffers = Buffers(
            given.root_uri, types.TextDocumentSyncKind.Incremental, folders, position_encoding=given.position_encoding
        )
        self.protocol._workspace = buffers

    # Settings

    @property
    def folders(self) -> dict[Path, str]:
        """The workspace's folders by their paths."""
        uris = [one.uri for one in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return {path_of(uri): uri for uri in uris}

    def prefer(self, default: Preferences, by_folder: Mapping[Path, Preferences]) -> None:
        """The client's settings are these."""
        self._default, self._preferences = default, dict(by_folder)
        for one in (default, *by_folder.values()):
            for problem in one.problems:
                self.complain(problem)
        self.reload()

    def reload(self) -> None:
        """Read the configuration files again, and look again, at everything."""
        self._renew()
        self.change()

    def _renew(self) -> None:
        self._epoch += 1
        self._book = Book(self._preferences, self._default, self.complain)

    def _keep_up_with_files(self) -> None:
        """Read the configuration files again if they have changed: not every client watches them."""
        one_of_each_folder = {path.parent: path for path in self._waiting}.values()
        stamps = {file: stamp_of(file) for path in one_of_each_folder for file in self._book.files(path)}
        if any(self._stamps.get(file, one) != one for file, one in stamps.items()):
            self._renew()
        self._stamps = stamps

    def preferences(self, path: Path) -> Preferences:
        """The client's settings for a file."""
        return self._book.preferences(path)

    # Looking

    @cached_property
    def analyst(self) -> Analyst:
        """Who looks at the program."""
        return Analyst(self._next_job, self._deliver, self._advance, self._fail)

    def change(self) -> None:
        """Something has changed that may change the findings."""
        self.analyst.change()

    def job(self) -> Job:
        """What there is to look at now."""
        return self._job_of({one.path: one for one in documents(self.buffers)})

    def notebooks(self) -> dict[Path, list[str]]:
        """The cells of the notebooks that are open."""
        found = (one for one in documents(self.buffers) if one.is_notebook)
        return {one.path: [part.ruler.text for part in one.parts] for one in found}

    def _next_job(self) -> Job:
        self._waiting = {one.path: one for one in documents(self.buffers)}
        self._keep_up_with_files()
        return self._job_of(self._waiting)

    def _job_of(self, found: Mapping[Path, Document]) -> Job:
        settings = {path: one for path in found if (one := self._book.settings(path)) is not None}
        texts = {path: one.text for path, one in found.items()}
        return Job(texts, settings, self._epoch, partial(survey, tuple(self.folders), self._book))

    @property
    def buffers(self) -> Buffers:
        """The texts that the editor holds."""
        assert isinstance(self.workspace, Buffers)
        return self.workspace

    def _deliver(self, look: Look, done: bool) -> None:
        """Tell the client what was seen: the findings first, and that there are facts when it is done."""
        self.seen = self.seen.updated(self._waiting, look, self.encoding)
        if done:
            self._refresh_hints()
            return
        for error in look.errors:
            LOGGER.warning("%s, %s: %s\n%s", error.filename, error.where, error.message, error.traceback)
        self.reports.tell()

    def _advance(self, done: int, of: int) -> None:
        for tell in tuple(self.spectators):
            tell(done, of)

    def _refresh_hints(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _fail(self, error: Exception) -> None:
        LOGGER.error("the analysis failed", exc_info=error)

    def current(self, uri: str) -> tuple[Document, Part] | None:
        """One of the editor's texts, and the program that it is a part of, as they are now."""
        for document in documents(self.buffers):
            part = document.part_of(uri)
            if part is not None:
                return document, part
        return None

    def glance(self, uri: str) -> Glance | None:
        """One of the editor's texts as it is now, beside what was last seen of it."""
        found, current = self.seen.find(uri), self.current(uri)
        return Glance(*current, found.view) if found is not None and current is not None else None

    # Speaking

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What there is to say of one text of the editor's."""
        found = self.seen.find(uri)
        if found is None:
            return []
        return [self.worded(one) for one in found.view.diagnostics if found.holds(one)]

    def worded(self, diagnostic: Diagnostic) -> types.Diagnostic:
        """A finding for the client."""
        return worded(diagnostic, self.seen.atlas, self.abilities)

    def way_to(self, region: Region, title: str) -> types.Command:
        """The command that shows a place in the program."""
        there = self.seen.atlas.location(region)
        start = there.range.start
        return types.Command(title, GO_TO_CAUSE, arguments=[there.uri, start.line, start.character])

    def workspace_edit(self, document: Document, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        """The edits of a program for the client; None where one of them is not in the editor as it was analysed."""
        by_part: dict[str, list[types.TextEdit]] = {}
        for edit in dict.fromkeys(edits):
            if not document.has_as_analysed(edit.start, edit.end):
                return None
            place = document.location(edit.start, edit.end)
            by_part.setdefault(place.uri, []).append(types.TextEdit(place.range, edit.content))
        return self._edit_of(document, by_part)

    def rewriting(self, document: Document, texts: Sequence[str]) -> types.WorkspaceEdit | None:
        """The edit that makes these texts of a program's parts, and changes no more than that takes."""
        by_part: dict[str, list[types.TextEdit]] = {}
        for part, text in zip(document.parts, texts, strict=True):
            if text != part.ruler.text:
                change = Change.between(part.ruler.text, text)
                place = part.ruler.range(change.start, change.old_end)
                by_part[part.uri] = [types.TextEdit(place, text[change.start : change.new_end])]
        return self._edit_of(document, by_part)

    def _edit_of(self, document: Document, by_part: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit | None:
        if not by_part:
            return None
        if not self.abilities.versioned_edits:
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

    def complain(self, text: str) -> None:
        """Tell the user, once, what is wrong with the settings."""
        if text not in self._told:
            self._told.add(text)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"devlint: {text}"))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """What goes wrong here belongs in the log, not in a box over somebody's code."""
        LOGGER.error("%s: %s", getattr(source, "__name__", source), error)
