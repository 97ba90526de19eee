"""A property of the cache: after any edit of a project, a run with the cache finds what a run without it finds.

`python benchmarks/cache_edits.py --edits 300 --seed 1` edits a small project at random, compares after each edit, and
prints the first difference. The project has what results of one file can depend on in others: star imports, a package,
class attributes, constants, registries, default devices, datasets, and attributes that are moved from outside. Files
besides ask where these tensors are. With `--project FOLDER`, a copy of the files of a real project is edited instead.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from devlint.cache.store import ProjectCache, Store
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.linter.check import CheckResult, check_files
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.rule_listing import all_rule_metadata

COMMENT = "# a comment"
NOTHING = ""

FILES: Mapping[str, list[list[str]]] = {
    "pkg/__init__.py": [
        ["from pkg.layers import *", "from pkg.layers import Block, scale", "from . import layers", NOTHING],
        ["from pkg.config import DEVICE", "DEVICE = 'cpu'", NOTHING],
        [NOTHING, "__all__ = ['Block', 'scale', 'DEVICE']", "__all__ = ['Block']"],
        [NOTHING, "import pkg.config", "from pkg.config import *"],
    ],
    "pkg/config.py": [
        ["import torch"],
        ["DEVICE = 'cuda'", "DEVICE = 'cpu'", "DEVICE = torch.device('cuda:1')", NOTHING],
        ["TABLE = torch.zeros(3)", "TABLE = torch.zeros(3, device='cuda')", "TABLE = [1, 2]", NOTHING],
        ["OPTIONS = {'device': 'cuda'}", "OPTIONS = {'device': 'cpu'}", "OPTIONS = {}"],
        [NOTHING, "OPTIONS['device'] = 'cuda:1'", "for key in OPTIONS:\n    OPTIONS[key] = 'cpu'"],
        [NOTHING, "torch.set_default_device('cuda')"],
        [NOTHING, "def reset():\n    global DEVICE\n    DEVICE = 'cpu'"],
    ],
    "pkg/layers.py": [
        ["import torch\nfrom torch import nn"],
        [NOTHING, "from pkg.config import TABLE", "from pkg import config"],
        [
            "class Block(nn.Module):\n    shift = torch.ones(3)\n\n    def forward(self, x):\n"
            "        return x + self.shift",
            "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.shift = torch.ones(3)\n\n    def forward(self, x):\n"
            "        return x + self.shift",
            "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.register_buffer('shift', torch.ones(3))\n\n    def forward(self, x):\n"
            "        return x + self.shift",
            "class Block(nn.Module):\n    def forward(self, x):\n        return scale(x)",
            NOTHING,
        ],
        [
            "def scale(x, by=None):\n    return x * torch.ones(3)",
            "def scale(x, by=None):\n    return x * torch.ones(3, device=x.device)",
            "def scale(x):\n    return x.cpu()",
            "def scale(x, device='cuda'):\n    return x + torch.ones(3, device=device)",
            "def scale(x):\n    return x + TABLE",
            NOTHING,
        ],
        [NOTHING, "class Wide(Block):\n    def forward(self, x):\n        return super().forward(x).numpy()"],
        [NOTHING, "def scale(x):\n    return x"],
    ],
    "pkg/registry.py": [
        ["ENTRIES = {}", "ENTRIES = []", "ENTRIES = {'small': None}"],
        [
            "def register(function):\n    ENTRIES[function.__name__] = function\n    return function",
            "def register(function):\n    return function",
        ],
        [NOTHING, "def names():\n    return list(ENTRIES)"],
    ],
    "pkg/models.py": [
        ["from pkg.layers import Block, scale", "from pkg import *", "from .layers import *"],
        ["from pkg.registry import register"],
        [
            "@register\ndef small():\n    return Block().cuda()",
            "@register\ndef small():\n    return Block()",
            "def small():\n    return Block().cuda()",
            NOTHING,
        ],
        [NOTHING, "@register\ndef large():\n    return Block().to('cuda:1')"],
    ],
    "pkg/data.py": [
        ["import torch\nfrom torch.utils.data import DataLoader, Dataset"],
        [
            "class Items(Dataset):\n    def __getitem__(self, index):\n        return torch.ones(3)",
            "class Items(Dataset):\n    def __getitem__(self, index):\n        return torch.ones(3).cuda()",
        ],
        ["def loader():\n    return DataLoader(Items())", "def loader(items):\n    return DataLoader(items)"],
    ],
    "pkg/trainer.py": [
        ["import torch"],
        [
            "class Trainer:\n    def __init__(self, net, batches):\n        self.net = net.cuda()\n"
            "        self.batches = batches\n\n    def run(self):\n"
            "        for x in self.batches:\n            self.net(x)\n            x.cuda().numpy()",
            "class Trainer:\n    def __init__(self, batches, net=None):\n        self.batches = batches\n\n"
            "    def run(self, net):\n        for x in self.batches:\n            net.cuda()(x)",
        ],
    ],
    "train.py": [
        ["import torch"],
        [
            "from pkg import Block, scale",
            "from pkg.layers import Block, scale",
            "import pkg.layers as pkg",
            "import pkg",
        ],
        ["from pkg.config import DEVICE, OPTIONS", "from pkg.config import *", "from pkg import DEVICE"],
        [
            "def main():\n    net = Block().to(DEVICE)\n    return net(torch.ones(3))",
            "def main():\n    from pkg.models import small\n\n    return small()(torch.ones(3))",
            "def main():\n    make = getattr(pkg, 'Block')\n    return make().cuda()(torch.ones(3))",
            "def main():\n    net = pkg.Block().cuda()\n    return pkg.scale(net(torch.ones(3).cuda()))",
            "def main():\n    x = torch.ones(3, device=OPTIONS['device'])\n    return scale(x).numpy()",
        ],
        [NOTHING, "def move(net):\n    net.shift = net.shift.to('cuda')\n    return net"],
        [NOTHING, "from pkg.trainer import Trainer\n\nTrainer([torch.ones(3)], None).run()"],
        ["if __name__ == '__main__':\n    main()", NOTHING],
    ],
    "tools/show.py": [
        ["import torch"],
        ["from pkg.registry import ENTRIES"],
        ["import pkg.models", "from pkg import models", NOTHING],
        ["def show():\n    return ENTRIES['small']()(torch.ones(3).cuda())", "def show():\n    return models.small()"],
        [
            NOTHING,
            "from pkg.data import loader\n\nfor x in loader():\n    x.numpy()\n    (x + torch.ones(3).cuda()).sum()",
        ],
        [NOTHING, "def use(config, module):\n    return module.scale(torch.ones(3, device=config))"],
        [NOTHING, "from pkg import layers\n\ndef apply():\n    return use('cuda', layers)"],
    ],
}
"""The files of the project, each a list of blocks with the texts that a block may have."""

QUESTIONS: Mapping[str, tuple[str, str]] = {
    "option": ("from pkg.config import OPTIONS", "reveal_placement(torch.ones(3, device=OPTIONS['device']))"),
    "default": ("import pkg.config", "reveal_placement(torch.ones(3))"),
    "constant": ("from pkg.config import DEVICE", "reveal_placement(torch.ones(3, device=DEVICE))"),
    "table": ("from pkg.config import TABLE", "reveal_placement(TABLE)"),
    "attribute": ("from pkg.layers import Block", "net = Block().cuda()\n    reveal_placement(net.shift)"),
    "called": ("from pkg.layers import scale", "reveal_placement(scale(torch.ones(3).cuda()))"),
    "starred": ("from pkg import *", "reveal_placement(scale(torch.ones(3).cuda()))"),
    "loaded": ("from pkg.data import loader", "for x in loader():\n        reveal_placement(x)"),
    "registered": (
        "from pkg import models\nfrom pkg.registry import ENTRIES",
        "reveal_placement(ENTRIES['small']()(torch.ones(3)))",
    ),
    "inner": ("", "from pkg.models import small\n\n    reveal_placement(small()(torch.ones(3)))"),
    "computed": ("from pkg import layers", "reveal_placement(getattr(layers, 'scale')(torch.ones(3).cuda()))"),
}
"""What a file of its own imports, and what it asks: where a tensor is."""


WORDS = (
    ("another device", r"\bcuda\b", "cpu"),
    ("another device", r"\bcpu\b", "cuda"),
    ("no transfer", r"\.to\([^()]*\)", ""),
    ("another name", r"(?m)^def (?=\w)", "def renamed_"),
    ("another class", r"(?m)^class (?=\w)", "class Renamed"),
    ("another parameter", r"(?m)^def (\w+)\(", r"def \1(added=None, *"),
    ("another constant", r"(?m)^([A-Z_]+) = .*$", r"\1 = None"),
    ("no import", r"(?m)^from \S+ import .*[^(\\]$", "pass"),
    ("a star", r"(?m)^from (\S+) import [^(\n]*[^(\\\n]$", r"from \1 import *"),
    ("a comment", r"(?m)^(?=def |class )", "# a comment\n\n"),
    ("a buffer", r"self\.(\w+) = torch\.zeros\(", r"self.\1 = torch.ones("),
    ("a return", r"(?m)^( +)return ", r"\1return None and "),
)
"""Edits of real files: what is done, and the pattern that is replaced once, by what."""


@dataclass
class Block:
    """One block of a file: its text, and the texts that it may have instead."""

    text: str
    choices: list[str]


class Project:
    """A project in a folder that is edited at random."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)

    def edit(self) -> str:
        """Edit the project, and return in words what was done."""
        raise NotImplementedError

    def check(self, cache: Path | None) -> CheckResult:
        """Check all files of the project, with a cache in a folder or without any."""
        store = ProjectCache(Store(cache), self.folder) if cache is not None else None
        return check_files(self._found(), cache=store)

    def difference(self, cache: Path) -> str | None:
        """Return in what a run with a cache differs from one without, None if it does not."""
        warm, cold = self.check(cache), self.check(None)
        if warm.diagnostics == cold.diagnostics and set(warm.unparsed_statements) == set(cold.unparsed_statements):
            return None
        return "\n".join([*_lines("only with the cache", warm, cold), *_lines("only without it", cold, warm)])

    def _found(self) -> list[DiscoveredFile]:
        """Return the files of the project with their settings."""
        options = Options(select=("ALL",), src=(".",))
        resolver = Resolver(list(all_rule_metadata()), options, cwd=self.folder, isolated=True)
        files = Discovery(resolver.settings_for, print).find([self.folder])
        return [DiscoveredFile(one.path, one.path.relative_to(self.folder).as_posix(), one.settings) for one in files]


class CopiedProject(Project):
    """A copy of the files of a real project, whose lines and statements are edited at random."""

    def __init__(self, source: Path, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".*"))

    def edit(self) -> str:
        """Edit a file of the project, and return in words what was done."""
        path = self.random.choice(sorted(self.folder.rglob("*.py")))
        name, text = path.relative_to(self.folder).as_posix(), path.read_text(encoding="utf-8", errors="replace")
        kind, old, new = self.random.choice(WORDS)
        places = [one.start() for one in re.finditer(old, text)]
        if not places:
            return f"nothing in {name}"
        place = self.random.choice(places)
        path.write_text(text[:place] + re.sub(old, new, text[place:], count=1), encoding="utf-8")
        return f"{kind} in {name}, at {place}"


class SmallProject(Project):
    """The project of this file, whose blocks are edited at random."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        asking = {
            f"asks/{name}.py": [[f"import torch\n{imports}"], [f"def ask():\n    {question}"]]
            for name, (imports, question) in QUESTIONS.items()
        }
        files = {**FILES, **asking}
        self._files = {name: [Block(choices[0], choices) for choices in blocks] for name, blocks in files.items()}
        self._gone: set[str] = set()
        for name in self._files:
            self._write(name)

    def edit(self) -> str:
        """Edit the project, and return in words what was done."""
        kind = self.random.choice(["replace"] * 8 + ["move", "comment", "remove", "rename", "restore"])
        name = self.random.choice(sorted(FILES))
        blocks = self._files[name]
        block = self.random.choice(blocks)
        if kind == "replace":
            block.text = self.random.choice(block.choices)
        elif kind == "move":
            blocks.remove(block)
            blocks.insert(self.random.randrange(len(blocks) + 1), block)
        elif kind == "comment":
            blocks.insert(self.random.randrange(len(blocks)), Block(COMMENT, [NOTHING, COMMENT, "\n\n"]))
        elif kind == "rename":
            block.text = block.text.replace("def scale", "def scaled").replace("class Block", "class Blocks")
        elif kind == "remove":
            self._gone.add(name)
        else:
            self._gone.discard(name)
        self._write(name)
        return f"{kind} in {name}: {block.text!r}"

    def _write(self, name: str) -> None:
        """Write a file, or remove it from the disk."""
        path = self.folder / name
        if name in self._gone:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(block.text for block in self._files[name]) + "\n")


def _lines(title: str, one: CheckResult, other: CheckResult) -> Iterator[str]:
    """Yield the findings of one run that another has not."""
    for found in one.diagnostics:
        if found not in other.diagnostics:
            yield f"{title}: {found}"


def run_edits(project: Project, cache: Path, edits: int) -> tuple[int, str | None]:
    """Edit a project at random, and compare after each edit.

    Return the number of findings that were compared, and what was done before the first difference, with that.
    """
    found, done = 0, []
    for _ in range(edits):
        difference = project.difference(cache)
        if difference is not None:
            return found, "\n".join([*done[-6:], difference])
        found += len(project.check(cache).diagnostics)
        done.append(project.edit())
    return found, None


def main() -> None:
    """Edit projects at random, and print the first difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--project", type=Path, help="the folder of a real project, a copy of which is edited instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "project")
        project = (
            CopiedProject(options.project, place, options.seed)
            if options.project
            else SmallProject(place, options.seed)
        )
        found, difference = run_edits(project, Path(folder, "cache"), options.edits)
    print(f"{options.edits} edits, {found} findings compared: {difference or 'no difference'}")
    raise SystemExit(difference is not None)


if __name__ == "__main__":
    main()
