"""Tests that the memory of a language server stays constant while the user types."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from .editor import CONFIG, Editor, vscode

AT_ONCE = """
from devlint.server.analysis_scheduler import AnalysisScheduler
from devlint.server.app import create_server
AnalysisScheduler.schedule.__defaults__ = (0.0,)
create_server().start_io()
"""
"""The code of a server that analyses every change at once."""

PROGRAM = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.offset = torch.zeros(width)

    def forward(self, x):
        return self.layer(x) + self.offset


def move(batch: torch.Tensor):
    batch.to("cuda")
    return batch


net = Net(3).to("cuda")
net(move(torch.rand(3)))
"""


@pytest_lsp.fixture(config=ClientServerConfig([sys.executable, "-c", AT_ONCE], client_factory=CONFIG.client_factory))
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(capabilities=vscode()))
    yield
    await lsp_client.shutdown_session()


def _resident(client: LanguageClient) -> int:
    """Return the resident size of the server in bytes."""
    pages = Path(f"/proc/{client._server.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def _type(editor: Editor, uri: str, number: int) -> None:
    """Type new code in several places, some of which does not parse for a moment."""
    for step in range(number // 4):
        text = PROGRAM.replace("batch.to", f"x{step} = {step}\n    batch.to")
        for one in (text, text.replace("torch.zeros(", f"torch.zeros({step} + ("), f"# {step}\n{text}", PROGRAM):
            editor.write(uri, one)
            await editor.reported(uri)
        hints = types.InlayHintParams(editor.document(uri), editor.all(uri))
        await editor.client.text_document_inlay_hint_async(hints)
        editor.pushed.clear()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to read the size from")
@pytest.mark.asyncio
async def test_resident_size_stays_flat(client: LanguageClient, tmp_path):
    editor = Editor(client, tmp_path)
    uri = editor.open("a.py", PROGRAM)
    await _type(editor, uri, 200)
    before = _resident(client)
    await _type(editor, uri, 1000)
    assert _resident(client) < before * 1.1
