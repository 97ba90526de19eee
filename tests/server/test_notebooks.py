from __future__ import annotations

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from .editor import CONFIG, Editor, codes, vscode

CELLS = (
    "import torch\n%matplotlib inline",
    "# Words",
    'data = torch.zeros(3, device="cuda")',
    "host = torch.ones(3)\nprint(data + host)",
)


def _capabilities() -> types.ClientCapabilities:
    found = vscode()
    found.notebook_document = types.NotebookDocumentClientCapabilities(
        types.NotebookDocumentSyncClientCapabilities(dynamic_registration=True)
    )
    return found


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(capabilities=_capabilities()))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_cells_are_one_program(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    notebook = (tmp_path / "a.ipynb").as_uri()
    uris = [f"vscode-notebook-cell:/a.ipynb#{number}" for number in range(len(CELLS))]
    words = types.NotebookCellKind.Markup
    code = types.NotebookCellKind.Code
    cells = [types.NotebookCell(words if number == 1 else code, uri) for number, uri in enumerate(uris)]
    items = [
        types.TextDocumentItem(uri, "markdown" if number == 1 else "python", 1, text)
        for number, (uri, text) in enumerate(zip(uris, CELLS, strict=True))
    ]
    document = types.NotebookDocument(notebook, "jupyter-notebook", 1, cells)
    client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
    await editor.until(lambda: client.diagnostics.get(uris[3]))
    (clash,) = client.diagnostics[uris[3]]
    assert codes([clash]) == [(1, "DEV101")]
    assert [one.location.uri for one in clash.related_information] == [uris[3], uris[2]]
    assert not client.diagnostics[uris[0]], "what IPython understands is no error"

    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uris[3]), types.Position(1, 7))
    )
    assert "cuda float32" in hover.contents.value

    # The cell that moves the tensor is written anew; then it is deleted.
    change = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, uris[2]),
        [types.TextDocumentContentChangeWholeDocument("data = torch.zeros(3)")],
    )
    _change(client, notebook, 2, types.NotebookDocumentCellChanges(text_content=[change]))
    await editor.until(lambda: not client.diagnostics[uris[3]])
    gone = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(2, 1, []), did_close=[types.TextDocumentIdentifier(uris[2])]
    )
    pushed = len(editor.pushed)
    _change(client, notebook, 3, types.NotebookDocumentCellChanges(structure=gone))
    await editor.until(lambda: uris[3] in [one.uri for one in editor.pushed[pushed:]])
    assert not client.diagnostics[uris[3]]


def _change(client: LanguageClient, uri: str, version: int, cells: types.NotebookDocumentCellChanges) -> None:
    identifier = types.VersionedNotebookDocumentIdentifier(version, uri)
    event = types.NotebookDocumentChangeEvent(cells=cells)
    client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, event))
