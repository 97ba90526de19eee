from __future__ import annotations

from collections.abc import Sequence

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from devlint.server.position_encoding import PositionConverter

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


def _open(editor: Editor, notebook: str, texts: Sequence[str]) -> list[str]:
    """Open a notebook; what begins like a heading is words."""
    uris = [f"vscode-notebook-cell:/a.ipynb#{number}" for number in range(len(texts))]
    kinds = [types.NotebookCellKind.Markup if text.startswith("# ") else types.NotebookCellKind.Code for text in texts]
    cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
    items = [
        types.TextDocumentItem(uri, "python" if kind is types.NotebookCellKind.Code else "markdown", 1, text)
        for uri, kind, text in zip(uris, kinds, texts, strict=True)
    ]
    document = types.NotebookDocument(notebook, "jupyter-notebook", 1, cells)
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
    editor.texts.update(zip(uris, texts, strict=True))
    return uris


@pytest.mark.asyncio
async def test_cells_are_one_program(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    notebook = (tmp_path / "a.ipynb").as_uri()
    uris = _open(editor, notebook, CELLS)
    await editor.until(lambda: client.diagnostics.get(uris[3]))
    (clash,) = client.diagnostics[uris[3]]
    assert codes([clash]) == [(1, "DEV101")]
    assert [one.location.uri for one in clash.related_information] == [uris[3], uris[2]]
    assert not client.diagnostics[uris[0]], "what IPython understands is no error"

    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uris[3]), types.Position(1, 7))
    )
    assert "cuda float32" in hover.contents.value
    assert f"since [line 1 of another cell]({uris[2]}#L1)" in hover.contents.value

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


MENDABLE = (
    "import torch\n%matplotlib inline\n\n\ndef one(batch: torch.Tensor):\n    batch.to('cuda')\n    return batch",
    "# Words",
    "!ls\n\n\ndef two(batch: torch.Tensor):\n    '😀'; batch.cuda()\n    return batch\n",
    "print('nothing to mend')",
)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["a.ipynb", "Untitled-1"])
async def test_fix_all(client: LanguageClient, tmp_path, name: str):
    editor = Editor(client, tmp_path)
    uris = _open(editor, (tmp_path / name).as_uri(), MENDABLE)
    await editor.until(lambda: client.diagnostics.get(uris[0]) and client.diagnostics.get(uris[2]))

    async def offered(uri: str, kind: str) -> dict[str, str]:
        context = types.CodeActionContext([], only=[kind])
        params = types.CodeActionParams(editor.document(uri), editor.all(uri), context)
        actions = await client.text_document_code_action_async(params) or []
        assert len(actions) <= 1
        changed: dict[str, str] = {}
        for action in actions:
            action = await client.code_action_resolve_async(action)
            for one in action.edit.document_changes:
                (edit,) = one.edits
                text, positions = (
                    editor.texts[one.text_document.uri],
                    PositionConverter(editor.texts[one.text_document.uri]),
                )
                start, end = positions.offset(edit.range.start), positions.offset(edit.range.end)
                changed[one.text_document.uri] = text[:start] + edit.new_text + text[end:]
        return changed

    first = MENDABLE[0].replace("    batch.to", "    batch = batch.to")
    third = MENDABLE[2].replace("batch.cuda()", "batch = batch.cuda()")

    # Who asks each cell for what can be fixed in it gets each fix once; who asks one for all gets all.
    everything = await offered(uris[3], "notebook.source.fixAll")
    assert everything == {uris[0]: first, uris[2]: third}
    by_cell = [await offered(uri, "source.fixAll") for uri in uris]
    assert by_cell == [{uris[0]: first}, {}, {uris[2]: third}, {}]
