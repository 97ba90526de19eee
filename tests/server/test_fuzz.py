"""Whatever a client sends, in whatever order: the server goes on, and at rest it says what is true of the text."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from .editor import CONFIG, Editor, codes, vscode

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
            name, context = f"cancelled {editor.versions[uri]} {chance.random()}", types.CodeActionContext([])
            params = types.CodeActionParams(document, types.Range(start, end), context)
            answer = client.protocol.send_request_async(types.TEXT_DOCUMENT_CODE_ACTION, params, msg_id=name)
            request = asyncio.ensure_future(answer)
            await asyncio.sleep(0)
            client.cancel_request(types.CancelParams(name))
            with suppress(JsonRpcException):
                await request
        case 8:
            editor.write(uri, PROGRAM[: chance.randrange(len(PROGRAM))])


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
