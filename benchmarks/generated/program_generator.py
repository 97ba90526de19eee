"""The generator of programs: a seed becomes a complete program of one or two files."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from generated.definition_growth import DefinitionGrower
from generated.grower import indented
from generated.live_values import Namespace, Parameters

CRASHING = 0.6
"""The share of programs that get a statement which fails, where one is found."""
MAIN, HELPERS = "main.py", "helpers.py"
IMPORTS = [
    "import argparse",
    "import functools",
    "from dataclasses import dataclass",
    "import numpy as np",
    "import torch",
    "import torch.nn.functional as F",
    "from torch import nn",
]


@dataclass(frozen=True, slots=True)
class GeneratedProgram:
    """A program: the text of each file by name; `main.py` is run."""

    seed: int
    files: Mapping[str, str]


CONFIGURATIONS = (
    ['device = torch.device("cuda")', "use_gpu = True", "half = False"],
    ['device = torch.device("cuda" if torch.cuda.is_available() else "cpu")', "debug = False"],
    ['device = "cuda" if torch.cuda.is_available() else "cpu"', 'mode = "train"'],
    ['config = {"device": "cuda", "other": "cpu", "half": False, "use": True}'],
    ["class Config:", '    device = "cuda"', "    half = False", "    dtype = torch.float64", "", "config = Config()"],
    [
        "parser = argparse.ArgumentParser()",
        'parser.add_argument("--device", default="cuda")',
        'parser.add_argument("--half", action="store_true")',
        'parser.add_argument("--steps", type=int, default=2)',
        "args = parser.parse_args([])",
        "device = torch.device(args.device)",
    ],
    ['options = argparse.Namespace(device="cuda", half=True, verbose=False)', "use_gpu = not options.half"],
    [
        "def get_device(use=True):",
        "    if use and torch.cuda.is_available():",
        '        return torch.device("cuda")',
        '    return torch.device("cpu")',
        "",
        "device = get_device()",
        "host = get_device(use=False)",
    ],
    ["use_gpu, half = False, True", 'device = torch.device("cuda" if use_gpu else "cpu")', 'gpu = "cuda:1"'],
)
"""The beginnings of programs: devices and flags."""
IDIOMS: tuple[tuple[list[str], dict[str, Parameters], dict[str, Parameters]], ...] = (
    (
        [
            'def move_to(thing, place="cuda"):',
            "    if torch.is_tensor(thing):",
            "        return thing.to(place)",
            "    if isinstance(thing, dict):",
            "        return {key: move_to(one, place) for key, one in thing.items()}",
            "    if isinstance(thing, (list, tuple)):",
            "        return type(thing)(move_to(one, place) for one in thing)",
            "    return thing",
        ],
        {"move_to": (("thing", "x"), ("place", "d="))},
        {},
    ),
    (
        [
            "_cache = {}",
            "",
            "def cached(key, place):",
            "    if key not in _cache:",
            "        _cache[key] = torch.ones(4, 4, device=place)",
            "    return _cache[key]",
        ],
        {"cached": (("key", "w"), ("place", "d"))},
        {},
    ),
    (
        [
            "_tables = {}",
            "",
            "def table_for(x):",
            "    key = (x.device, x.dtype)",
            "    if key not in _tables:",
            "        _tables[key] = torch.ones(4, 4, device=x.device, dtype=x.dtype)",
            "    return _tables[key]",
        ],
        {"table_for": (("x", "f"),)},
        {},
    ),
    (
        [
            "@dataclass",
            "class Batch:",
            "    data: torch.Tensor",
            "    target: torch.Tensor",
            "    weight: torch.Tensor = None",
            "",
            "    def to(self, place):",
            "        return Batch(self.data.to(place), self.target.to(place), self.weight)",
            "",
            "    def scaled(self):",
            "        return self.data if self.weight is None else self.data * self.weight",
        ],
        {},
        {"Batch": (("data", "f"), ("target", "f"), ("weight", "f="))},
    ),
    (
        [
            "def batches(data, count=2, place=None):",
            "    for number in range(count):",
            "        yield data if place is None else data.to(place)",
        ],
        {"batches": (("data", "f"), ("place", "d="))},
        {},
    ),
    (
        [
            "def on_device(function):",
            "    @functools.wraps(function)",
            "    def wrapper(x, *args):",
            '        return function(x.to("cuda"), *args)',
            "    return wrapper",
            "",
            "@on_device",
            "def doubled(x, y=None):",
            "    return x * 2 if y is None else x + y",
        ],
        {"doubled": (("x", "f"), ("y", "f="))},
        {},
    ),
    (
        [
            "def collect(x, into=[]):",
            "    into.append(x)",
            "    return into[0] + into[-1]",
        ],
        {"collect": (("x", "f"),)},
        {},
    ),
    (
        [
            'OPERATIONS = {"add": lambda a, b: a + b, "mul": torch.mul, "mm": torch.mm}',
            "",
            'def apply(x, y, name="add"):',
            "    return OPERATIONS[name](x, y)",
        ],
        {"apply": (("x", "f"), ("y", "f"))},
        {},
    ),
    (
        [
            "class Meter:",
            '    def __init__(self, place="cpu"):',
            "        self.total = torch.zeros((), device=place)",
            "        self.seen = []",
            "",
            "    def add(self, x):",
            "        self.total = self.total.to(x.device) + x.sum()",
            "        self.seen.append(x)",
            "        return self",
            "",
            "    def mean(self):",
            "        return sum(self.seen) * self.total",
        ],
        {},
        {"Meter": (("place", "w="),)},
    ),
    (
        ["def chain(x, *functions):", "    for function in functions:", "        x = function(x)", "    return x"],
        {"chain": (("x", "f"), ("layer_", "m"))},
        {},
    ),
    (
        ["def fold(x, n=2):", "    if n == 0:", "        return x", "    return fold(x.cuda(), n - 1)"],
        {"fold": (("x", "f"),)},
        {},
    ),
)
"""Definitions as people write them, each with the functions and classes that it defines."""
IDIOM_METHODS: dict[str, dict[str, Parameters]] = {
    "Batch": {"to": (("place", "d"),), "scaled": ()},
    "Meter": {"add": (("x", "f"),), "mean": ()},
}
STARTERS = """
x = torch.rand(4, 4)
x = torch.ones(4, 4, device=DEVICE)
y = torch.ones(4, 4).to(DEVICE)
y = torch.ones(4, 4)
w = torch.ones(4, 4, requires_grad=True)
index = torch.arange(4)
index = torch.arange(4, device="cuda")
target = torch.tensor([0, 1, 2, 3])
table = np.ones((4, 4))
table = np.ones((4, 4), dtype=np.float32)
data = torch.from_numpy(np.linspace(0, 1, 16).reshape(4, 4))
items = [torch.ones(4, 4), torch.ones(4, 4)]
items = [torch.ones(4, 4), torch.ones(4, 4).cuda()]
batch = {"a": torch.ones(4, 4), "b": torch.ones(4, 4, device=DEVICE)}
pair = (torch.ones(4, 4), torch.zeros(4, 4, device="cuda"))
scale = torch.tensor(2.0)
mask = torch.ones(4, 4) > 0
net = nn.Linear(4, 4)
net = nn.Linear(4, 4).to(DEVICE)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).cuda()
""".strip().splitlines()
"""The first tensors, containers and modules; `DEVICE` is a device of the configuration."""


def generate(seed: int) -> GeneratedProgram:
    """Return the program of a seed. It needs a running emulation, because programs grow by being run."""
    rng = random.Random(seed)
    torch.manual_seed(0)
    torch.cuda.set_device(0)
    torch.set_grad_enabled(True)  # a generator of an earlier program may have left its no_grad() open
    return _Assembly(DefinitionGrower(rng), rng).program(seed)


class _Assembly:
    """Puts a program together: beginning, definitions, main part."""

    def __init__(self, grower: DefinitionGrower, rng: random.Random) -> None:
        self.grower, self.rng = grower, rng

    def program(self, seed: int) -> GeneratedProgram:
        """Return a program."""
        names: Namespace = {"__name__": "__main__"}
        self._run(names, IMPORTS)
        apart = self.rng.random() < 0.18
        beginning = self._beginning(names)
        middle = self._definitions(names)
        first = [*IMPORTS, "", *beginning, *middle]
        if not apart:
            return GeneratedProgram(seed, {MAIN: _text([*first, *self._main(names)])})
        names, imports = self._imported(names)
        return GeneratedProgram(
            seed, {HELPERS: _text(first), MAIN: _text([*IMPORTS, *imports, "", *self._main(names)])}
        )

    def _run(self, names: Namespace, lines: list[str]) -> bool:
        """Run lines in the namespace; return whether they ran."""
        return self.grower.attempt(names, lines, None) is None

    def _beginning(self, names: Namespace) -> list[str]:
        """Return the configuration and the first values."""
        lines = list(self.rng.choice(CONFIGURATIONS))
        if "def get_device" in lines[0]:
            self.grower.own.functions["get_device"] = (("use", "b="),)
        if "class" in lines[0]:
            self.grower.own.classes["Config"] = ()
        self._run(names, lines)
        device = '"cuda"'
        for text in ("device", 'config["device"]', "config.device", "options.device"):
            if self._run(dict(names), [f"torch.device({text})"]):
                device = text
        for line in self.rng.sample(STARTERS, self.rng.randint(4, 7)):
            text = line.replace("DEVICE", device)
            if self._run(names, [text]):
                lines.append(text)
        return lines

    def _definitions(self, names: Namespace) -> list[str]:
        """Return functions and classes."""
        own = self.grower.own
        makers = ["function"] * self.rng.randint(0, 3) + ["class"] * self.rng.randint(0, 2)
        makers += ["idiom"] * self.rng.choice((0, 0, 1, 1, 2))
        self.rng.shuffle(makers)
        idioms = self.rng.sample(IDIOMS, makers.count("idiom"))
        lines: list[str] = []
        for maker in makers:
            if maker == "idiom":
                text, functions, classes = idioms.pop()
                self._run(names, text)
                own.functions |= functions
                own.classes |= classes
                own.methods |= {name: IDIOM_METHODS[name] for name in classes}
            elif maker == "function":
                text = self.grower.define_function(names)
            else:
                text = self.grower.define_class(names)
            lines += ["", *text, ""] if text else []
        return lines

    def _main(self, names: Namespace) -> list[str]:
        """Return the main part: objects, statements, in crashing programs one that fails, and some behind it."""
        wrapped = self.rng.random() < 0.35
        own_names: set[str] | None = set() if wrapped else None
        lines: list[str] = []
        classes = [text for text, value in names.items() if isinstance(value, type) and text in self.grower.own.classes]
        classes += (
            []
            if not isinstance(names.get("helpers"), types.ModuleType)
            else [f"helpers.{name}" for name in self.grower.own.classes]
        )
        for kind in self.rng.sample(classes, min(len(classes), 2)):
            name = self.grower.new_name("net")
            move = self.rng.choice(("", ".to(device)", ".cuda()", ""))
            for text in (f"{name} = {kind}(){move}", f"{name} = {kind}()"):
                if self.grower.attempt(names, [text], own_names) is None:
                    lines.append(text)
                    break
        lines += self.grower.block(names, self.rng.randint(3, 10), own_names)
        if self.rng.random() < CRASHING:
            failing = self.grower.failing_statement(names, own_names)
            if failing is not None:
                lines += [*failing, *self.grower.block(names, self.rng.randint(0, 2), own_names)]
        if not wrapped:
            return lines
        lines = ["def main():", *indented(lines), ""]
        return [*lines, *self.rng.choice((["main()"], ['if __name__ == "__main__":', "    main()"]))]

    def _imported(self, names: Namespace) -> tuple[Namespace, list[str]]:
        """Return the namespace of a main file that imports the names of a helper file, and its import statements."""
        module = types.ModuleType("helpers")
        vars(module).update(names)
        vars(module)["__name__"] = "helpers"
        sys.modules["helpers"] = module
        fresh: Namespace = {"__name__": "__main__"}
        public = [name for name in names if not name.startswith("__") and name not in _imported_by(IMPORTS)]
        lines = ["import helpers" if self.rng.random() < 0.5 else f"from helpers import {', '.join(public)}"]
        self._run(fresh, [*IMPORTS, *lines])
        return fresh, lines


def _imported_by(lines: list[str]) -> set[str]:
    """Return the names that import statements bind."""
    return {line.split()[-1].partition(".")[0] for line in lines}


def _text(lines: list[str]) -> str:
    """Return the text of a file."""
    return "\n".join(lines).strip() + "\n"
