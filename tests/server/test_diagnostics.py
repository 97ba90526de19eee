from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from .editor import CONFIG, Editor, codes, neovim, pulling, pulling_but_deaf, vscode

CLASH = 'import torch\n\na = torch.zeros(3, device="cuda")\nb = torch.zeros(3)\nprint(a + b)\n'


@pytest_lsp.fixture(config=CONFIG, params=[neovim, vscode, pulling_but_deaf], ids=["neovim", "vscode", "deaf"])
async def client(request, lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(capabilities=request.param()))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG)
async def puller(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(capabilities=pulling()))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_while_somebody_types(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    uri = editor.open("a.py", CLASH)
    (clash,) = await editor.reported(uri)
    assert (clash.code, clash.source, clash.severity) == ("DEV101", "devlint", types.DiagnosticSeverity.Error)
    assert (clash.range.start, clash.range.end) == (types.Position(4, 6), types.Position(4, 11))
    related = [(one.location.range.start.line, one.message) for one in clash.related_information or ()]
    assert [line for line, _ in related] == [3, 2]
    if client.capabilities.text_document.publish_diagnostics.code_description_support:
        page = Path(unquote(urlsplit(clash.code_description.href).path))
        assert "<h1>mixed-device-op" in page.read_text(encoding="utf-8")

    # The second statement moves down, and the finding with it.
    editor.replace(uri, "a = torch", "\n# a comment\na = torch")
    assert codes(await editor.reported(uri)) == [(6, "DEV101")]

    # Half a line: what is not touched by it is still known.
    editor.replace(uri, "import torch\n", "import torch\nx = (1 +\n")
    assert codes(await editor.reported(uri)) == [(1, "DEV900"), (7, "DEV101")]
    editor.replace(uri, "x = (1 +\n", "x = (1 + 2)\n")
    assert codes(await editor.reported(uri)) == [(7, "DEV101")]

    editor.replace(uri, "b = torch.zeros(3)", "b = a.clone()")
    assert codes(await editor.reported(uri)) == []
    editor.close(uri)
    await editor.until(lambda: editor.pushed[-1].version is None and editor.pushed[-1].uri == uri)


@pytest.mark.asyncio
async def test_beside_wide_characters(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    line = '"😀 e\u0301"; print(a + b)\x0c # 😀'
    uri = editor.open("a.py", CLASH.replace("print(a + b)", line))
    (clash,) = await editor.reported(uri)
    encoding = (
        client.capabilities.general.position_encodings[0]
        if client.capabilities.general.position_encodings
        else "utf-16"
    )
    before = line[: line.index("a + b")]
    width = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2}[encoding]
    assert clash.range.start == types.Position(4, width)
    assert clash.range.end == types.Position(4, width + 5)


@pytest.mark.asyncio
async def test_unsaved_text_of_another_file(client: LanguageClient, tmp_path):
    (tmp_path / "places.py").write_text('PLACE = "cpu"\n')
    editor = Editor(client, tmp_path)
    main = editor.open(
        "main.py", CLASH.replace('"cuda"', "PLACE").replace("import torch", "import torch\nfrom places import PLACE")
    )
    assert codes(await editor.reported(main)) == []
    places = editor.open("places.py", 'PLACE = "cuda"\n')
    await editor.until(lambda: client.diagnostics[main])
    assert codes(client.diagnostics[main]) == [(5, "DEV101")]
    # What the editor gives up is what lies on the disk again.
    editor.close(places)
    await editor.until(lambda: not client.diagnostics[main])


@pytest.mark.asyncio
async def test_pulled(puller: LanguageClient, tmp_path):
    (tmp_path / "places.py").write_text('PLACE = "cpu"\n')
    editor = Editor(puller, tmp_path)
    main = editor.open(
        "main.py", CLASH.replace('"cuda"', "PLACE").replace("import torch", "import torch\nfrom places import PLACE")
    )

    async def pull(previous: str | None = None):
        identifier = types.TextDocumentIdentifier(main)
        return await puller.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(identifier, previous_result_id=previous)
        )

    report = await pull()
    assert (report.kind, list(report.items)) == ("full", [])
    again = await pull(report.result_id)
    assert (again.kind, again.result_id) == ("unchanged", report.result_id)
    told = puller.diagnostic_refresh_count
    editor.open("places.py", 'PLACE = "cuda"\n')
    await editor.until(lambda: puller.diagnostic_refresh_count > told)
    report = await pull(report.result_id)
    assert (report.kind, codes(report.items)) == ("full", [(5, "DEV101")])
    assert not editor.pushed, "who pulls is not pushed to"

    # Of what is as it was, nobody is told.
    told = puller.diagnostic_refresh_count
    editor.replace(main, "import torch\n", "import torch \n")
    assert (await pull(report.result_id)).kind == "unchanged"
    assert puller.diagnostic_refresh_count == told
