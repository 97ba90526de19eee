"""How long somebody who types waits for the language server.

    python benchmarks/lsp.py [--edits N] [FILE...]

A server is started and each file opened in it, as an editor does: timm's `vision_transformer.py`, taken from its wheel
on PyPI, and a training script of a thousand lines, generated, unless files are named. Then a statement is written into
one function after another, and taken out again. Measured are the time from an edit to the findings, less the pause
that the server waits for further keys, and the time of a hover on a line beside the edit. The exit status is 1 where a
figure is above its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from wheels import unpacked

from devlint.server.analysis_scheduler import DEBOUNCE

LIMITS = {"median": 150, "p95": 400, "hover": 20}
"""Milliseconds."""

PLACE = re.compile(r"^( {4,8})(?:return |x = |loss = |self\.\w+ = )", re.MULTILINE)
"""The beginning of lines in front of which a statement can stand."""


@dataclass(slots=True)
class Times:
    """What was measured with one file, in milliseconds."""

    first: float = 0
    edits: list[float] = field(default_factory=list)
    hovers: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """The figures that have limits."""
        ordered = sorted(self.edits)
        return {
            "median": statistics.median(ordered),
            "p95": ordered[int(len(ordered) * 0.95)],
            "hover": statistics.median(self.hovers),
        }


class Client(LanguageClient):
    """A client that knows when findings have come for a state of a text."""

    def __init__(self) -> None:
        super().__init__("benchmark", "1")
        self.come: dict[int, asyncio.Future[float]] = {}

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            waiting = self.come.get(params.version or 0)
            if waiting is not None and not waiting.done():
                waiting.set_result(time.perf_counter())

    async def findings(self, version: int) -> float:
        """When the findings for a version came."""
        return await self.come[version]

    def expect(self, version: int) -> None:
        """Findings are about to be asked for."""
        self.come[version] = asyncio.get_running_loop().create_future()


async def measure(path: Path, edits: int) -> Times:
    """Type into one file."""
    client, times, text = Client(), Times(), path.read_text()
    await client.start_io(sys.executable, "-m", "devlint", "server")
    pushed = types.PublishDiagnosticsClientCapabilities(version_support=True)
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(publish_diagnostics=pushed)
    )
    await client.initialize_async(types.InitializeParams(capabilities, root_uri=path.parent.as_uri()))
    client.initialized(types.InitializedParams())
    client.expect(1)
    begun = time.perf_counter()
    item = types.TextDocumentItem(path.as_uri(), "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    times.first = (await client.findings(1) - begun) * 1000
    places = list(PLACE.finditer(text))
    for number, place in enumerate(random.Random(0).choices(places, k=edits), 1):
        line = text.count("\n", 0, place.start())
        at = types.Position(line, 0)
        await _edit(client, path, times, 2 * number, types.Range(at, at), f"{place[1]}typed = {number}\n")
        await _hover(client, path, times, types.Position(line + 1, len(place[0]) + 1))
        await _edit(client, path, times, 2 * number + 1, types.Range(at, types.Position(line + 1, 0)), "")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return times


async def _edit(client: Client, path: Path, times: Times, version: int, where: types.Range, text: str) -> None:
    client.expect(version)
    identifier = types.VersionedTextDocumentIdentifier(version, path.as_uri())
    change = types.TextDocumentContentChangePartial(where, text)
    begun = time.perf_counter()
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    times.edits.append((await client.findings(version) - begun - DEBOUNCE) * 1000)


async def _hover(client: Client, path: Path, times: Times, place: types.Position) -> None:
    begun = time.perf_counter()
    await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), place))
    times.hovers.append((time.perf_counter() - begun) * 1000)


def training_script() -> str:
    """A script of a thousand lines: blocks, a model, a dataset, losses, training, evaluation and a `main`."""
    blocks = "".join(BLOCK.format(number=number) for number in range(38))
    layers = "".join(f"        self.block{number} = Block{number}(width)\n" for number in range(38))
    calls = "".join(f"        x = self.block{number}(x)\n" for number in range(38))
    helpers = "".join(HELPER.format(number=number) for number in range(20))
    return HEAD + blocks + MODEL.format(layers=layers, calls=calls) + helpers + TAIL


HEAD = """import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


"""

BLOCK = """class Block{number}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width)
        self.register_buffer("scale", torch.full((width,), 0.1))

    def forward(self, x):
        rest = x
        x = self.norm(x)
        x = F.gelu(self.first(x))
        x = self.second(x)
        if self.training:
            x = F.dropout(x, 0.1)
        return rest + x * self.scale


"""

MODEL = """class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
{layers}        self.head = nn.Linear(width, classes)

    def forward(self, x):
{calls}        return self.head(x)


"""

HELPER = """def metric{number}(logits, targets):
    predicted = logits.argmax(dim=1)
    hits = (predicted == targets).float()
    weights = torch.ones_like(hits)
    total = (hits * weights).sum()
    return total / weights.sum()


"""

TAIL = """def train(model, loader, optimizer, device):
    model.train()
    for step, (inputs, targets) in enumerate(loader):
        inputs, targets = inputs.to(device), targets.to(device)
        logits = model(inputs)
        loss = F.cross_entropy(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, loss.item())


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total = torch.zeros((), device=device)
    for inputs, targets in loader:
        logits = model(inputs.to(device))
        total += metric0(logits, targets.to(device))
    return total.item() / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    device = torch.device(args.device)
    data = TensorDataset(torch.rand(1000, 64), torch.randint(0, 10, (1000,)))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model = Model(64, 10).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(10):
        train(model, loader, optimizer, device)
        accuracy = evaluate(model, loader, device)
        print(epoch, accuracy)


if __name__ == "__main__":
    main()
"""


def main(arguments: Sequence[str]) -> int:
    """Measure, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=50, help="places to type at")
    given = parser.parse_args(arguments)
    failed = False
    load, pause = os.getloadavg()[0], DEBOUNCE * 1000
    print(f"load {load:.1f} on {os.cpu_count()} processors; milliseconds, after {pause:.0f} of pause")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(training_script())
        files = given.files or [unpacked("timm", Path(folder)) / "models" / "vision_transformer.py", script]
        for path in files:
            times = asyncio.run(measure(path.resolve(), given.edits))
            figures = times.figures()
            failed |= any(figures[name] > limit for name, limit in LIMITS.items())
            told = ", ".join(f"{name} {figures[name]:.0f} (at most {limit})" for name, limit in LIMITS.items())
            lines = path.read_text().count("\n")
            print(f"{path.name}, {lines} lines: first {times.first:.0f}, {told}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
