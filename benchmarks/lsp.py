"""Measure how long a user who types waits for the language server.

    python benchmarks/lsp.py [--edits N] [FILE...]

The script starts a server and opens each file in it, as an editor does. Unless files are named, these are timm's
`vision_transformer.py`, taken from its wheel on PyPI, and a generated training script of a thousand lines. Then it
inserts a statement into one function after another and removes the statement again. It measures the time from an edit
to the findings, without the pause in which the server waits for further edits, and the time of a hover on a line beside
the edit. The exit status is 1 if a figure is above its limit.
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
from wheels import unpacked_package

from devlint.server.analysis_scheduler import DEBOUNCE

LIMITS = {"median": 150, "p95": 400, "hover": 20}
"""The limit of each figure, in milliseconds."""

EDIT_PLACE = re.compile(r"^( {4,8})(?:return |x = |loss = |self\.\w+ = )", re.MULTILINE)
"""The start of a line before which the benchmark may insert a statement."""


@dataclass(slots=True)
class Times:
    """The times measured with one file, in milliseconds."""

    first: float = 0
    edits: list[float] = field(default_factory=list)
    hovers: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return the figures that have limits: median and 95th percentile of the edits, median of the hovers."""
        ordered = sorted(self.edits)
        return {
            "median": statistics.median(ordered),
            "p95": ordered[int(len(ordered) * 0.95)],
            "hover": statistics.median(self.hovers),
        }


class Client(LanguageClient):
    """A language client that records when the findings for each version of a document arrive."""

    def __init__(self) -> None:
        super().__init__("benchmark", "1")
        self.arrivals: dict[int, asyncio.Future[float]] = {}

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            waiting = self.arrivals.get(params.version or 0)
            if waiting is not None and not waiting.done():
                waiting.set_result(time.perf_counter())

    async def findings(self, version: int) -> float:
        """Wait for the findings of a version; return the time at which they arrived, in seconds."""
        return await self.arrivals[version]

    def expect(self, version: int) -> None:
        """Prepare to wait for the findings of a version."""
        self.arrivals[version] = asyncio.get_running_loop().create_future()


async def measure(path: Path, edits: int) -> Times:
    """Edit one file at random places; return the times of the first findings, the edits and the hovers."""
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
    places = list(EDIT_PLACE.finditer(text))
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
    """Send one edit and record the time to its findings."""
    client.expect(version)
    identifier = types.VersionedTextDocumentIdentifier(version, path.as_uri())
    change = types.TextDocumentContentChangePartial(where, text)
    begun = time.perf_counter()
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    times.edits.append((await client.findings(version) - begun - DEBOUNCE) * 1000)


async def _hover(client: Client, path: Path, times: Times, place: types.Position) -> None:
    """Send one hover request and record the time to its answer."""
    begun = time.perf_counter()
    await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), place))
    times.hovers.append((time.perf_counter() - begun) * 1000)


def training_script() -> str:
    """Return a script of a thousand lines: blocks, a model, a dataset, losses, training, evaluation and a `main`."""
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
    """Measure each file and print the figures beside their limits."""
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
        files = given.files or [unpacked_package("timm", Path(folder)) / "models" / "vision_transformer.py", script]
        for path in files:
            times = asyncio.run(measure(path.resolve(), given.edits))
            figures = times.figures()
            failed |= any(figures[name] > limit for name, limit in LIMITS.items())
            report = ", ".join(f"{name} {figures[name]:.0f} (at most {limit})" for name, limit in LIMITS.items())
            lines = path.read_text().count("\n")
            print(f"{path.name}, {lines} lines: first {times.first:.0f}, {report}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
