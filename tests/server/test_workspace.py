"""Tests of findings in files that are not open in the editor."""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from .editor import CONFIG, PATIENCE, Editor, codes, neovim, pulling

PLACES = 'PLACE = "cpu"\n'
MAIN = """import torch
from places import PLACE

a = torch.zeros(3, device=PLACE)
b = torch.zeros(3)
print(a + b)
"""
LOST = 'import torch\n\n\ndef move(batch: torch.Tensor):\n    batch.to("cuda")\n    return batch\n'


@pytest.fixture
def project(tmp_path):
    for name, text in (("places.py", PLACES), ("main.py", MAIN), ("lost.py", LOST), ("venv/lib.py", LOST)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


async def _begin(client: LanguageClient, capabilities: types.ClientCapabilities, root: Path) -> None:
    client.set_configuration({"devlint": {"diagnosticMode": "workspace"}})
    folder = types.WorkspaceFolder(root.as_uri(), "project")
    await client.initialize_session(types.InitializeParams(capabilities=capabilities, workspace_folders=[folder]))


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient, project):
    await _begin(lsp_client, neovim(), project)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG)
async def puller(lsp_client: LanguageClient, project):
    await _begin(lsp_client, pulling(), project)
    yield
    await lsp_client.shutdown_session()


def _changed(client: LanguageClient, uri: str, kind: types.FileChangeType) -> None:
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([types.FileEvent(uri, kind)]))


@pytest.mark.asyncio
async def test_pushed(client: LanguageClient, project):
    editor = Editor(client, project)
    lost, main = editor.uri("lost.py"), editor.uri("main.py")

    def told(uri: str) -> list[tuple[int, object]]:
        return codes(client.diagnostics.get(uri, []))

    # Nothing is open yet.
    await editor.until(lambda: told(lost) == [(4, "DEV201")])
    assert told(main) == []
    places = editor.open("places.py", PLACES)
    await editor.reported(places)
    # What is typed here and not saved is felt there.
    editor.replace(places, "cpu", "cuda")
    await editor.until(lambda: told(main) == [(5, "DEV101")])
    assert told(lost) == [(4, "DEV201")]
    # What has nothing new to say of a file that is not open says nothing.
    assert [one.uri for one in editor.pushed].count(lost) == 1

    assert editor.open("main.py", MAIN) == main
    assert codes(await editor.reported(main)) == [(5, "DEV101")]
    editor.close(main)
    editor.replace(places, "cuda", "cpu")
    await editor.until(lambda: told(main) == [])

    (project / "lost.py").unlink()
    _changed(client, lost, types.FileChangeType.Deleted)
    await editor.until(lambda: told(lost) == [])
    (project / "new.py").write_text(LOST)
    _changed(client, editor.uri("new.py"), types.FileChangeType.Created)
    await editor.until(lambda: told(editor.uri("new.py")) == [(4, "DEV201")])

    client.set_configuration({"devlint": {}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    await editor.until(lambda: told(editor.uri("new.py")) == [])
    assert editor.uri("venv/lib.py") not in [one.uri for one in editor.pushed]


@pytest.mark.asyncio
async def test_pulled(puller: LanguageClient, project):
    editor = Editor(puller, project)
    streamed: list[types.ProgressParams] = []
    puller.protocol.fm.features.pop(types.PROGRESS, None)

    @puller.feature(types.PROGRESS)
    def progress(params: types.ProgressParams) -> None:
        streamed.append(params)

    async def pull(known: dict[str, str], **tokens: str) -> dict[str, types.WorkspaceDocumentDiagnosticReport]:
        ids = [types.PreviousResultId(uri, value) for uri, value in known.items()]
        params = types.WorkspaceDiagnosticParams(ids, **tokens)
        return {one.uri: one for one in (await puller.workspace_diagnostic_async(params)).items}

    places = editor.open("places.py", PLACES)
    lost, main = editor.uri("lost.py"), editor.uri("main.py")
    found = await pull({})
    async with asyncio.timeout(PATIENCE) if sys.version_info >= (3, 11) else nullcontext():
        while lost not in found:  # the server has not been told yet that all files are wanted
            await asyncio.sleep(0.05)
            found = await pull({})
    assert (found[lost].kind, codes(found[lost].items), found[lost].version) == ("full", [(4, "DEV201")], None)
    assert (found[places].kind, codes(found[places].items), found[places].version) == ("full", [], 1)
    assert editor.uri("venv/lib.py") not in found

    known = {uri: one.result_id for uri, one in found.items()}
    told = puller.diagnostic_refresh_count
    editor.replace(places, "cpu", "cuda")
    await editor.until(lambda: puller.diagnostic_refresh_count > told)
    found = await pull(known, partial_result_token="part", work_done_token="work")
    items = {one["uri"]: one for part in streamed if part.token == "part" for one in part.value["items"]}
    assert (items[lost]["kind"], items[main]["kind"]) == ("unchanged", "full")
    assert found == {}, "what was streamed is not said again"
    kinds = [one.value["kind"] for one in streamed if one.token == "work"]
    assert (kinds[0], kinds[-1]) == ("begin", "end")

    # The end of what there was.
    (project / "lost.py").unlink()
    told = puller.diagnostic_refresh_count
    _changed(puller, lost, types.FileChangeType.Deleted)
    await editor.until(lambda: puller.diagnostic_refresh_count > told)
    found = await pull(known)
    assert (found[lost].kind, list(found[lost].items)) == ("full", [])
    assert not editor.pushed


@pytest_lsp.fixture(config=CONFIG)
async def mixed(lsp_client: LanguageClient, tmp_path):
    """Two folders, of which one wants all, and the folder in which both are, which wants nothing."""
    folders = []
    for name, mode in (("one", "workspace"), ("two", "openFilesOnly")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lost.py").write_text(LOST)
        uri = (tmp_path / name).as_uri()
        lsp_client.set_configuration({"devlint": {"diagnosticMode": mode}}, scope_uri=uri)
        folders.append(types.WorkspaceFolder(uri, name))
    lsp_client.set_configuration({"devlint": {}})
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=neovim(), workspace_folders=[*folders, types.WorkspaceFolder(tmp_path.as_uri(), "all")]
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_each_folder_as_it_wants(mixed: LanguageClient, tmp_path):
    editor = Editor(mixed, tmp_path)
    one, two = editor.uri("one/lost.py"), editor.uri("two/lost.py")
    await editor.until(lambda: mixed.diagnostics.get(one))
    assert two not in mixed.diagnostics
    editor.open("two/lost.py", LOST)
    assert codes(await editor.reported(two)) == [(4, "DEV201")]

    # The settings of one folder change: the other is as it was.
    (tmp_path / "one" / "devlint.toml").write_text('ignore = ["DEV201"]\n')
    _changed(mixed, editor.uri("one/devlint.toml"), types.FileChangeType.Created)
    await editor.until(lambda: not mixed.diagnostics[one])
    assert codes(list(mixed.diagnostics[two])) == [(4, "DEV201")]
