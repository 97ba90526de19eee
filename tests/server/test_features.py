from __future__ import annotations

import ast
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from .editor import CONFIG, Editor, codes, neovim, vscode

PROGRAM = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.scale = torch.ones(2)

    def forward(self, x):
        y = self.layer(x)
        return y * self.scale

device = "cuda"
data = torch.zeros(3, device=device)
host = data.cpu()
unknown = something()
total = data + host
drawn = torch.rand(3)

def move(batch: torch.Tensor):
    batch.to("cuda")
    return batch
"""


@pytest_lsp.fixture(config=CONFIG, params=[neovim, vscode], ids=["neovim", "vscode"])
async def client(request, lsp_client: LanguageClient, tmp_path):
    folder = types.WorkspaceFolder(tmp_path.as_uri(), "project")
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=request.param(), workspace_folders=[folder])
    )
    yield
    await lsp_client.shutdown_session()


async def _opened(client: LanguageClient, tmp_path, text: str = PROGRAM) -> tuple[Editor, str]:
    editor = Editor(client, tmp_path)
    encodings = client.capabilities.general and client.capabilities.general.position_encodings
    editor.encoding = "utf-8" if encodings else "utf-16"
    uri = editor.open("a.py", text)
    await editor.reported(uri)
    return editor, uri


async def _hover(editor: Editor, uri: str, marked: str) -> str:
    params = types.HoverParams(editor.document(uri), editor.place(uri, marked))
    found = await editor.client.text_document_hover_async(params)
    return found.contents.value if found is not None else ""


async def _hints(editor: Editor, uri: str) -> list[str]:
    params = types.InlayHintParams(editor.document(uri), editor.all(uri))
    found = await editor.client.text_document_inlay_hint_async(params) or []
    lines = editor.texts[uri].splitlines()
    return [f"{lines[one.position.line][: one.position.character].strip()}{_label(one)}" for one in found]


def _label(hint: types.InlayHint) -> str:
    return hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label)


async def _actions(editor: Editor, uri: str, marked: str, only: list[str] | None = None) -> dict[str, types.CodeAction]:
    place = editor.place(uri, marked)
    context = types.CodeActionContext([], only=only)
    params = types.CodeActionParams(editor.document(uri), types.Range(place, place), context)
    return {one.title: one for one in await editor.client.text_document_code_action_async(params) or []}


async def _execute(client: LanguageClient, command: str, arguments: list[object]) -> None:
    await client.workspace_execute_command_async(types.ExecuteCommandParams(command, arguments))


@pytest.mark.asyncio
async def test_hover_and_hints(client: LanguageClient, tmp_path):
    editor, uri = await _opened(client, tmp_path)
    text = await _hover(editor, uri, "ho|st = data")
    assert "**cpu float32**" in text
    assert "written out since [line 16]" in text
    assert "`.cpu()`" in text or "moved" in text
    assert "cuda float32" in await _hover(editor, uri, "total = da|ta")
    assert "by default" in await _hover(editor, uri, "dra|wn = torch.rand")
    assert "the module's device" in await _hover(editor, uri, "return y| *")
    assert "batch.device" in await _hover(editor, uri, "return bat|ch")
    assert await _hover(editor, uri, "unk|nown") == ""
    assert await _hover(editor, uri, "imp|ort torch") == ""

    hints = await _hints(editor, uri)
    assert "host: cpu float32" in hints
    assert "data: cuda float32" in hints
    assert not any(hint.startswith(("unknown", "total")) for hint in hints)

    # Somebody types above, and asks before anything was looked at again.
    editor.replace(uri, "import torch\n", "import torch\n\n\n")
    assert "cpu float32" in await _hover(editor, uri, "ho|st = data")
    await editor.reported(uri)
    editor.replace(uri, "host = data.cpu()", "host = data.half(")
    await editor.reported(uri)
    assert "cuda float32" in await _hover(editor, uri, "total = da|ta"), "what does not parse is elsewhere"


@pytest.mark.asyncio
async def test_fixes(client: LanguageClient, tmp_path):
    editor, uri = await _opened(client, tmp_path)
    found = await _actions(editor, uri, 'batch.|to("cuda")')
    titles = list(found)
    assert titles[-1] == "Fix all that devlint can fix safely"
    fix = next(one for one in found.values() if one.is_preferred)
    if fix.edit is None:
        fix = await client.code_action_resolve_async(fix)
    editor.apply(fix.edit)
    assert 'batch = batch.to("cuda")' in editor.texts[uri]
    assert "DEV201" not in [code for _, code in codes(await editor.reported(uri))]


@pytest.mark.asyncio
async def test_a_fix_that_is_only_displayed_is_offered_with_a_warning(client: LanguageClient, tmp_path):
    (tmp_path / "devlint.toml").write_text('extend-select = ["DEV303"]\n')
    program = """import numpy as np
import torch

def to_accelerator(values):
    moved = torch.from_numpy(values).to("cuda")
    return moved * 2

print(to_accelerator(np.random.rand(64, 1000)))
"""
    editor, uri = await _opened(client, tmp_path, program)
    found = await _actions(editor, uri, "torch.|from_numpy(val")
    (fix,) = (one for title, one in found.items() if title.endswith("(may be wrong for other callers)"))
    assert not fix.is_preferred
    if fix.edit is None:
        fix = await client.code_action_resolve_async(fix)
    editor.apply(fix.edit)
    assert 'torch.from_numpy(values).to("cuda", dtype=torch.float32)' in editor.texts[uri]


@pytest.mark.asyncio
async def test_fix_all(client: LanguageClient, tmp_path):
    editor, uri = await _opened(client, tmp_path)
    (fix_all,) = (await _actions(editor, uri, "import| torch", ["source.fixAll"])).values()
    assert fix_all.kind == "source.fixAll.devlint"
    if fix_all.edit is None:
        fix_all = await client.code_action_resolve_async(fix_all)
    editor.apply(fix_all.edit)
    assert 'batch = batch.to("cuda")' in editor.texts[uri]
    assert await _actions(editor, uri, "import| torch", ["source.organizeImports"]) == {}


@pytest.mark.asyncio
async def test_silencing_reading_and_going_to_the_cause(client: LanguageClient, tmp_path):
    editor, uri = await _opened(client, tmp_path)
    found = await _actions(editor, uri, "total = data |+ host")
    silence = found["Disable DEV101 (mixed-device-op) for this line"]
    if silence.edit is None:
        silence = await client.code_action_resolve_async(silence)
    assert "Show the documentation of DEV101 (mixed-device-op)" in found
    assert any(title.startswith("Go to the cause") for title in found)
    await _execute(client, "devlint.showDocumentation", ["DEV101"])
    await _execute(client, "devlint.goToCause", [uri, 15, 7])
    page, cause = client.shown_documents
    assert page.external
    assert "<h1>mixed-device-op" in Path(unquote(urlsplit(page.uri).path)).read_text(encoding="utf-8")
    assert (cause.uri, cause.selection.start) == (uri, types.Position(15, 7))
    editor.apply(silence.edit)
    assert "total = data + host  # devlint: ignore[DEV101]\n" in editor.texts[uri]
    assert "DEV101" not in [code for _, code in codes(await editor.reported(uri))]


@pytest.mark.asyncio
async def test_hover_in_a_module_that_can_hold_no_finding(client: LanguageClient, tmp_path):
    program = """from torch import nn

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        y = self.layer(x)
        return y
"""
    editor, uri = await _opened(client, tmp_path, program)
    assert "the module's device" in await _hover(editor, uri, "return y|")


@pytest.mark.asyncio
async def test_going_from_an_expression_to_where_its_tensor_is_from(client: LanguageClient, tmp_path):
    client.set_configuration({"devlint": {"inlayHints": "all"}})
    (tmp_path / "places.py").write_text("import torch\n\n'😀'; HOST = torch.rand(3, device='cuda').cpu()\n")
    editor, uri = await _opened(client, tmp_path, "from places import HOST\n\nhere = HOST\nprint(here)\n")
    assert "since [line 3 of places.py]" in await _hover(editor, uri, "print(he|re)")

    (title,) = found = await _actions(editor, uri, "print(he|re)")
    assert title == "Go to where `here` is from: moved by `.cpu()` (line 3 of places.py)"
    # lsprotocol takes an action that has a command for a command.
    command = ast.literal_eval(found[title].command)
    await _execute(client, command["command"], command["arguments"])
    (shown,) = client.shown_documents
    width = {"utf-8": len("'😀'; HOST = ".encode()), "utf-16": len("'😀'; HOST = ") + 1}[editor.encoding]
    assert (shown.uri, shown.selection.start) == (editor.uri("places.py"), types.Position(2, width))

    # Nobody who only moves the pointer is offered it, and nobody who wants something mended.
    place = editor.place(uri, "print(he|re)")
    automatic = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Automatic)
    for context in (automatic, types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])):
        params = types.CodeActionParams(editor.document(uri), types.Range(place, place), context)
        assert not await client.text_document_code_action_async(params)

    params = types.InlayHintParams(editor.document(uri), editor.all(uri))
    (hint,) = await client.text_document_inlay_hint_async(params)
    assert _label(hint) == ": cpu float32"
    assert hint.label[1].location.uri == editor.uri("places.py")


@pytest.mark.asyncio
async def test_a_hint_is_short_and_tells_conditions_under_the_pointer(client: LanguageClient, tmp_path):
    client.set_configuration({"devlint": {"inlayHints": "all"}})
    program = """import torch

use_gpu = torch.cuda.is_available()
device = "cuda" if use_gpu else "cpu"
short = torch.zeros(3, device=device)
plain = torch.zeros(3)
first = "cuda:0" if use_gpu else "cuda:1"
long = torch.zeros(3, device=first, dtype=torch.complex128)
"""
    editor, uri = await _opened(client, tmp_path, program)
    params = types.InlayHintParams(editor.document(uri), editor.all(uri))
    hints = {_label(one): one.tooltip for one in await editor.client.text_document_inlay_hint_async(params) or []}
    assert all(len(label) <= 24 for label in hints)
    conditions = ["cuda when `torch.cuda.is_available()`", "cpu when `not torch.cuda.is_available()`"]
    assert str(hints[": cuda|cpu float32"]).splitlines() == conditions
    assert hints[": cpu float32"] is None
    (cut,) = (one for one in hints if one.endswith("…"))
    assert str(hints[cut]).startswith("cuda:0|cuda:1 complex128\n")
    text = await _hover(editor, uri, "shor|t = torch")
    assert "**cuda|cpu float32**" in text and all(one in text for one in conditions)


@pytest.mark.asyncio
async def test_an_action_of_a_text_that_has_changed(client: LanguageClient, tmp_path):
    editor, uri = await _opened(client, tmp_path)
    place = editor.place(uri, 'batch.|to("cuda")')
    params = types.CodeActionParams(editor.document(uri), types.Range(place, place), types.CodeActionContext([]))
    fix = next(one for one in await client.text_document_code_action_async(params) if one.is_preferred)
    if fix.edit is not None:
        return  # what it changes is said already, and of which version of the text
    editor.replace(uri, 'device = "cuda"', "device = None\nother = 1")
    assert (await client.code_action_resolve_async(fix)).edit is None


@pytest.mark.asyncio
async def test_settings(client: LanguageClient, tmp_path):
    client.set_configuration({"devlint": {"inlayHints": "all", "codeLens": True, "select": "nonsense"}})
    editor, uri = await _opened(client, tmp_path)
    hints = await _hints(editor, uri)
    assert "batch: cuda" not in hints
    assert "y: the module's device" in hints, "which is no news, and all was asked for"
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(editor.document(uri)))
    (lens,) = [one for one in lenses if one.command.title.startswith("DEV101")]
    assert (lens.command.command, lens.command.arguments[0]) == ("devlint.goToCause", uri)
    assert [one.message for one in client.messages] == ["devlint: devlint.select: expected a list of strings"]

    client.set_configuration({"devlint": {"ignore": ["DEV1"], "inlayHints": "off"}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    await editor.until(lambda: "DEV101" not in [one.code for one in client.diagnostics[uri]])
    assert await _hints(editor, uri) == []
    assert "DEV201" in [one.code for one in client.diagnostics[uri]]

    client.set_configuration({"devlint": {}})
    (tmp_path / "pyproject.toml").write_text(f"[tool.devlint]\nignore = {json.dumps(['DEV201'])}\n")
    changed = types.FileEvent((tmp_path / "pyproject.toml").as_uri(), types.FileChangeType.Created)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await editor.until(lambda: "DEV201" not in [one.code for one in client.diagnostics[uri]])


@pytest.mark.asyncio
async def test_settings_files_that_nobody_watches(client: LanguageClient, tmp_path):
    client.set_configuration({"devlint": {"configuration": "tools/own.toml"}})
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "own.toml").write_text("ignore = []\n")
    editor, uri = await _opened(client, tmp_path)
    assert {"DEV101", "DEV201"} <= {one.code for one in client.diagnostics[uri]}
    (tmp_path / "tools" / "own.toml").write_text('ignore = ["DEV101"]\n')
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document(uri)))
    await editor.until(lambda: "DEV101" not in [one.code for one in client.diagnostics[uri]])
    assert "DEV201" in [one.code for one in client.diagnostics[uri]]

    client.set_configuration({"devlint": {}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    await editor.until(lambda: "DEV101" in [one.code for one in client.diagnostics[uri]])
    (tmp_path / "devlint.toml").write_text('exclude = ["a.py"]\nforce-exclude = true\n')
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document(uri)))
    await editor.until(lambda: not client.diagnostics[uri])


@pytest.mark.asyncio
async def test_a_missing_baseline_is_told_once_and_findings_are_shown(client: LanguageClient, tmp_path):
    (tmp_path / "devlint.toml").write_text('baseline = "known.json"\n')
    editor, uri = await _opened(client, tmp_path)
    assert "DEV101" in [one.code for one in client.diagnostics[uri]]
    path = tmp_path / "known.json"
    told = f"devlint: {path}: no such file; `devlint --update-baseline` makes it"
    assert [one.message for one in client.messages] == [told]
    editor.replace(uri, "import torch\n", "import torch\n\n")
    await editor.reported(uri)
    assert len(client.messages) == 1

    path.write_text("[]")
    editor.replace(uri, "import torch\n", "import torch\n\n")
    await editor.until(lambda: len(client.messages) == 2)
    remedy = "mend or delete it, then run `devlint --update-baseline`"
    assert client.messages[-1].message == f"devlint: {path}: not a baseline; {remedy}"
    path.write_text('{"version": 1, "findings": []}')
    editor.replace(uri, "import torch\n", "import torch\n\n")
    assert "DEV101" in [code for _, code in codes(await editor.reported(uri))]
    assert len(client.messages) == 2


@pytest.mark.asyncio
async def test_broken_settings_are_told_and_the_server_goes_on(client: LanguageClient, tmp_path):
    config = tmp_path / "devlint.toml"
    config.write_text('selct = ["DEV1"]\n')
    editor = Editor(client, tmp_path)
    uri = editor.open("a.py", PROGRAM)
    await editor.until(lambda: client.messages)
    told = f"devlint: {config}:1: unknown setting `selct` (did you mean `select`?)"
    assert [one.message for one in client.messages] == [told]
    config.write_text('select = ["DEV1"]\nsrc = [".", "nowhere"]\n')
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document(uri)))
    await editor.until(lambda: "DEV101" in [one.code for one in client.diagnostics.get(uri, ())])
    assert [one.message for one in client.messages[1:]] == [f"devlint: {config}:2: `src`: there is no folder `nowhere`"]


@pytest.mark.asyncio
async def test_two_folders_with_settings_of_their_own(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    for name, ignored in (("one", "DEV101"), ("two", "DEV201")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[tool.devlint]\nignore = ["{ignored}"]\n')
    found = {name: await editor.reported(editor.open(f"{name}/a.py", PROGRAM)) for name in ("one", "two")}
    assert "DEV101" not in [one.code for one in found["one"]]
    assert "DEV201" in [one.code for one in found["one"]]
    assert "DEV101" in [one.code for one in found["two"]]
    assert "DEV201" not in [one.code for one in found["two"]]


@pytest.mark.asyncio
async def test_a_file_changes_on_the_disk(client: LanguageClient, tmp_path):
    (tmp_path / "places.py").write_text('PLACE = "cuda"\n')
    editor, uri = await _opened(
        client, tmp_path, PROGRAM.replace('device = "cuda"', "from places import PLACE as device")
    )
    assert "DEV101" in [one.code for one in client.diagnostics[uri]]
    (tmp_path / "places.py").write_text('PLACE = "cpu"\n')
    changed = types.FileEvent((tmp_path / "places.py").as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await editor.until(lambda: "DEV101" not in [one.code for one in client.diagnostics[uri]])


@pytest.mark.asyncio
async def test_progress(client: LanguageClient, tmp_path):
    editor, _ = await _opened(client, tmp_path)

    def kinds() -> list[str]:
        return [one.kind for reports in client.progress_reports.values() for one in reports]

    await editor.until(lambda: "end" in kinds())
    assert (kinds()[0], kinds()[-1]) == ("begin", "end")
