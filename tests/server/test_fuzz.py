"""Random messages of a client: the server keeps running, and its final findings are those of the text."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from .editor import CONFIG, Editor, codes, pulling, vscode

PROGRAM = """import torch

data = torch.zeros(3, device="cuda")

def move(batch: torch.Tensor):
    batch.to("cuda")
    return batch + data.cpu()
"""

TYPED = (
    "(",
    ")",
    "\n",
    "x",
    "    z = 1\n",
    '"""',
    "",
    "😀",
    "\u2028",
    "\r",
    "\x0c",
    "\ndef g(): pass\n",
    "torch.ones(2)\n",
)


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(capabilities=vscode()))
    yield
    await lsp_client.shutdown_session()


def _anywhere(chance: random.Random) -> types.Position:
    return types.Position(chance.choice([0, 1, 3, 5, 99]), chance.choice([0, 1, 7, 40, 100_000]))


async def _anything(editor: Editor, chance: random.Random, uri: str) -> None:
    """One thing that a client may do, some of them nonsense."""
    client, document = editor.client, editor.document(uri)
    start, end = _anywhere(chance), _anywhere(chance)
    match chance.randrange(9):
        case 0 | 1 | 2:
            editor.edit(uri, start, end, chance.choice(TYPED))
        case 3:
            # Versions that run backwards, of documents that are not open.
            editor.edit(editor.uri("closed.py"), start, end, "x")
            editor.versions[uri] = chance.randrange(1000)
        case 4:
            editor.close(uri)
            editor.open("a.py", PROGRAM)
        case 5:
            with suppress(JsonRpcException):
                await client.text_document_hover_async(types.HoverParams(document, start))
        case 6:
            with suppress(JsonRpcException):
                await client.text_document_inlay_hint_async(types.InlayHintParams(document, types.Range(start, end)))
        case 7:
            params = types.CodeActionParams(document, types.Range(start, end), types.CodeActionContext([]))
            await _ask_and_cancel(client, types.TEXT_DOCUMENT_CODE_ACTION, params, chance)
        case 8:
            editor.write(uri, PROGRAM[: chance.randrange(len(PROGRAM))])


async def _ask_and_cancel(client: LanguageClient, method: str, params: object, chance: random.Random) -> None:
    name = f"cancelled {chance.random()}"
    request = asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id=name))
    await asyncio.sleep(0)
    client.cancel_request(types.CancelParams(name))
    with suppress(JsonRpcException):
        await request


@pytest.mark.asyncio
async def test_anything_in_any_order(client: LanguageClient, tmp_path):
    editor, chance = Editor(client, tmp_path), random.Random(0)
    for name in ("closed.py", "a.py"):
        uri = editor.open(name, PROGRAM)
    editor.close(editor.uri("closed.py"))
    for _ in range(300):
        await _anything(editor, chance, uri)
    # A thousand keys in a row, and then a text of which it is known what is to be said.
    editor.versions[uri] = 10_000
    for _ in range(1000):
        editor.edit(uri, types.Position(0, 0), types.Position(0, 0), chance.choice(TYPED))
    editor.write(uri, PROGRAM)
    assert codes(await editor.reported(uri)) == [(5, "DEV201")]
    assert editor.pushed[-1].version == editor.versions[uri]
    assert not client.messages


@pytest_lsp.fixture(config=CONFIG)
async def puller(lsp_client: LanguageClient, tmp_path):
    (tmp_path / "places.py").write_text('PLACE = "cpu"\n')
    lsp_client.set_configuration({"devlint": {"diagnosticMode": "workspace"}})
    folder = types.WorkspaceFolder(tmp_path.as_uri(), "project")
    await lsp_client.initialize_session(types.InitializeParams(capabilities=pulling(), workspace_folders=[folder]))
    yield
    await lsp_client.shutdown_session()


USER = """import torch
from places import PLACE

a = torch.zeros(3, device=PLACE)
b = torch.zeros(3)
print(a + b)
"""


async def _anything_with_two_files(editor: Editor, chance: random.Random, known: dict[str, str]) -> None:
    """One thing that may happen to two files, one of which uses the other, open or on the disk."""
    client, place = editor.client, chance.choice(["cpu", "cuda"])
    main, places = editor.uri("main.py"), editor.uri("places.py")
    match chance.randrange(7):
        case 0 | 1:
            if places in editor.texts:
                editor.write(places, f'PLACE = "{place}"\n')
        case 2:
            if places in editor.texts:
                editor.close(places)
                del editor.texts[places]
            else:
                editor.open("places.py", f'PLACE = "{place}"\n')
        case 3:
            (editor.root / "places.py").write_text(f'PLACE = "{place}"\n# {chance.random()}\n')
            event = types.FileEvent(places, types.FileChangeType.Changed)
            client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        case 4:
            editor.replace(main, "zeros(3)", chance.choice(["zeros(3)", "zeros((3)", "zeros(3, 1)"]))
            editor.write(main, USER)
        case 5:
            mode = chance.choice(["workspace", "openFilesOnly"])
            client.set_configuration({"devlint": {"diagnosticMode": mode}})
            client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
        case 6:
            ids = [types.PreviousResultId(uri, value) for uri, value in known.items()]
            params = types.WorkspaceDiagnosticParams(ids)
            if chance.random() < 0.3:
                await _ask_and_cancel(client, types.WORKSPACE_DIAGNOSTIC, params, chance)
            else:
                found = (await client.workspace_diagnostic_async(params)).items
                known.update({one.uri: one.result_id for one in found})


@pytest.mark.asyncio
async def test_what_is_pulled_is_true_at_rest(puller: LanguageClient, tmp_path):
    editor, chance, known = Editor(puller, tmp_path), random.Random(1), {}
    main = editor.open("main.py", USER)
    for _ in range(12):
        for _ in range(15):
            await _anything_with_two_files(editor, chance, known)
        params = types.DocumentDiagnosticParams(editor.document(main))
        found = codes((await puller.text_document_diagnostic_async(params)).items)
        text = editor.texts.get(editor.uri("places.py"), (tmp_path / "places.py").read_text())
        assert found == ([(5, "DEV101")] if "cuda" in text else [])
    assert not editor.pushed
    assert not puller.messages


@pytest.mark.asyncio
async def test_cells_in_any_order(client: LanguageClient, tmp_path):
    """Cells that come and go, change and change places."""
    editor, chance, number = Editor(client, tmp_path), random.Random(2), iter(range(10_000))
    notebook, code = (tmp_path / "a.ipynb").as_uri(), types.NotebookCellKind.Code
    texts = (*PROGRAM.split("\n\n"), "%matplotlib inline\n", "", "😀", "def f(:", "for x in y:\r\n    x.cpu()")

    def cell(text: str) -> tuple[types.NotebookCell, types.TextDocumentItem]:
        uri = f"vscode-notebook-cell:/a.ipynb#{next(number)}"
        return types.NotebookCell(code, uri), types.TextDocumentItem(uri, "python", 1, text)

    def change(cells: types.NotebookDocumentCellChanges) -> None:
        identifier = types.VersionedNotebookDocumentIdentifier(next(number), notebook)
        event = types.NotebookDocumentChangeEvent(cells=cells)
        client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, event))

    def splice(start: int, gone: int, come: list[str]) -> None:
        new = [cell(text) for text in come]
        array = types.NotebookCellArrayChange(start, gone, [one for one, _ in new])
        closed = [types.TextDocumentIdentifier(uri) for uri in uris[start : start + gone]]
        structure = types.NotebookDocumentCellChangeStructure(array, [item for _, item in new], closed)
        change(types.NotebookDocumentCellChanges(structure=structure))
        uris[start : start + gone] = [one.document for one, _ in new]

    document = types.NotebookDocument(notebook, "jupyter-notebook", 1, [])
    client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, []))
    uris: list[str] = []
    for _ in range(150):
        at = chance.randrange(len(uris) + 1)
        match chance.randrange(5):
            case 0 | 1:
                splice(at, 0, [chance.choice(texts)])
            case 2:
                splice(at, min(chance.randrange(3), len(uris) - at), [chance.choice(texts)] * chance.randrange(2))
            case 3 if uris:
                whole = types.TextDocumentContentChangeWholeDocument(chance.choice(texts))
                named = types.VersionedTextDocumentIdentifier(next(number), chance.choice(uris))
                content = types.NotebookDocumentCellContentChanges(named, [whole])
                change(types.NotebookDocumentCellChanges(text_content=[content]))
            case 4 if uris:
                where = types.TextDocumentIdentifier(chance.choice(uris))
                everything = types.Range(types.Position(0, 0), types.Position(99, 0))
                with suppress(JsonRpcException):
                    await client.text_document_inlay_hint_async(types.InlayHintParams(where, everything))
                context = types.CodeActionContext([])
                await client.text_document_code_action_async(types.CodeActionParams(where, everything, context))
    gone = [*uris]
    splice(0, len(uris), [*PROGRAM.split("\n\n")])
    await editor.until(lambda: codes(client.diagnostics.get(uris[-1], [])) == [(1, "DEV201")])
    await editor.until(lambda: not any(client.diagnostics.get(uri) for uri in [*gone, *uris[:-1]]))
    assert not client.messages
