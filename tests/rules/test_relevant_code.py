"""Code that no tensor reaches is not interpreted; what is found stays the same."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint import check_paths
from devlint.interpreter.program.contained_modules import may_keep_modules_in_containers
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.relevance import Relevance
from devlint.interpreter.program.tensor_files import TensorLibraries, files_without_tensors
from devlint.interpreter.program.tensor_reach import TensorReach

LIBRARIES = TensorLibraries({"timm"})
CONFLICT = "import torch\n\ndef run():\n    return torch.zeros(3, device='cuda') + torch.ones(3)\n"
PLAIN = "import argparse\n\ndef main():\n    print(argparse.ArgumentParser().parse_args())\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))
    return folder


def found_in(folder: Path, select: str = "DEV1,DEV2") -> list[tuple[str, str]]:
    result = check_paths([folder], select=select.split(","), isolated=True)
    assert not result.errors
    return [(Path(one.region.filename).stem, one.code) for one in result.diagnostics]


def set_aside(folder: Path) -> set[str]:
    program = Program([(path, path.name) for path in folder.glob("*.py")])
    return {path.stem for path in files_without_tensors(program, LIBRARIES)}


def reaches(folder: Path, file: str, name: str) -> bool:
    program = Program([(path, path.name) for path in folder.glob("*.py")])
    program.set_aside(files_without_tensors(program, LIBRARIES))
    module = program.load((folder / f"{file}.py").resolve())
    assert module is not None
    return TensorReach(program, LIBRARIES).reaches_tensors(module, module.index.definitions[name])


@pytest.mark.parametrize(
    "text",
    [
        "import train\n",
        "from train import run\n",
        "def f():\n    from train import (  # (later)\n        other,\n        run,\n    )\n",
        "if True: import os; import train\n",
        "import plain, \\\n    train\n",
        "from helpers import run\n",
        "import timm\n",
        "def f(batch, device):\n    return batch.to(device)\n",
        "def f(x: 'Tensor'): ...\n",
        "def f(x):\n    x.detach()\n",
        "def f(x, dtype):\n    return x.type(dtype)\n",
    ],
)
def test_what_mentions_imports_or_uses_tensors_is_interpreted(tmp_path: Path, text: str) -> None:
    write(tmp_path, plain=PLAIN, train=CONFLICT, helpers="from train import run\n", main=text)
    assert set_aside(tmp_path) == {"plain"}


@pytest.mark.parametrize(
    "text", ["import plain\n", "def f(out): out.type(1, 2)\n", "import numpy as np\n", "import timmy\n"]
)
def test_other_files_are_set_aside(tmp_path: Path, text: str) -> None:
    write(tmp_path, plain=PLAIN, train=CONFLICT, main=text)
    assert set_aside(tmp_path) == {"plain", "main"}


def test_a_file_that_is_set_aside_is_followed_where_others_call_it(tmp_path: Path) -> None:
    write(tmp_path, plain="def add(a, b):\n    return a + b\n")
    train = "import torch\nfrom plain import add\nadd(torch.ones(3, device='cuda'), torch.ones(3{}))\n"
    write(tmp_path, train=train.format(""))
    assert set_aside(tmp_path) == {"plain"}
    assert found_in(tmp_path) == [("plain", "DEV101")]
    write(tmp_path, train=train.format(", device='cuda'"))
    assert found_in(tmp_path) == []


def test_callers_tensors_are_moved_without_any_library_in_sight(tmp_path: Path) -> None:
    write(tmp_path, helpers="def move(x, device):\n    x.unsqueeze(0)\n    x.to(device)\n    return x\n")
    assert found_in(tmp_path) == [("helpers", "DEV201")]
    write(tmp_path, helpers="def move(x, device):\n    x = x.unsqueeze(0)\n    return x.to(device)\n")
    assert found_in(tmp_path) == []


def test_comments_and_errors_of_a_file_that_is_set_aside_are_read(tmp_path: Path) -> None:
    write(tmp_path, plain="x = 1  # devlint: ignore[DEV101]\n", broken="def f(:\n")
    assert found_in(tmp_path, "ALL") == [("broken", "DEV900"), ("plain", "DEV901")]


REACHING = {
    "a function of another file": "from train import run\ndef main():\n    run()\n",
    "a module": "import train\ndef main():\n    train.run()\n",
    "an import inside": "def main():\n    from train import run\n    run()\n",
    "another function": "from train import run\ndef inner():\n    run()\ndef main():\n    inner()\n",
    "a method": "from train import run\nclass A:\n    def go(self):\n        run()\ndef main():\n    A().go()\n",
    "a table": "from train import run\nTABLE = {'run': run}\ndef main(name):\n    TABLE[name]()\n",
    "a computed attribute": "import train\ndef main(name):\n    getattr(train, name)()\n",
    "a computed import": "import importlib\ndef main(name):\n    importlib.import_module(name).run()\n",
    "a registry": "from train import run\ndef main(name):\n    REGISTRY[name]()\n",
}


@pytest.mark.parametrize("text", REACHING.values(), ids=REACHING)
def test_code_is_reached_through(tmp_path: Path, text: str) -> None:
    write(tmp_path, train=CONFLICT, main=text)
    assert reaches(tmp_path, "main", "main")


OTHERS = {
    "another function of the file": "from train import run\ndef start():\n    run()\ndef main():\n    print(1)\n",
    "an attribute of its arguments": "import train\ndef main(args, name):\n    print(getattr(args, name))\n",
    "a file that is set aside": "from plain import main as other\nfrom train import run\ndef main():\n    other()\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_code_is_not_reached_from(tmp_path: Path, text: str) -> None:
    write(tmp_path, plain=PLAIN, train=CONFLICT, main=text)
    assert not reaches(tmp_path, "main", "main")


def test_a_program_is_run_for_what_it_reaches_by_an_import_inside(tmp_path: Path) -> None:
    main = "def main():\n    from train import run\n    run(3)\n\nif __name__ == '__main__':\n    main()\n"
    train = (
        "import torch\ndef run(n):\n    return torch.zeros(n, device='cuda') + make(n)\ndef make(n):\n    return {}\n"
    )
    write(tmp_path, main=main, train=train.format("torch.ones(n)"))
    assert found_in(tmp_path) == [("train", "DEV101")]
    write(tmp_path, train=train.format("torch.ones(n, device='cuda')"))
    assert found_in(tmp_path) == []


def analyses(folder: Path, file: str, name: str) -> bool:
    program = Program([(path, path.name) for path in folder.glob("*.py")])
    module = program.load((folder / f"{file}.py").resolve())
    assert module is not None
    unit = module.index.definitions[name]
    return Relevance().works_on_tensors(unit) or may_keep_modules_in_containers(unit)


HANDING_ON = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width: int, drop: float = 0.0, device=None, dtype=None) -> None:
        super().__init__()
        dd = {{"device": device, "dtype": dtype}}
        self.sizes = [width, 2 * width]
        self.first = nn.Linear(width, width, **dd)
        self.scale = nn.Parameter(torch.ones(width, **dd))
        {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        {}
        return self.first(x) * self.scale
"""


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("pass", "pass"),
        ("self.names = [str(one) for one in range(3)]", "print([one for one in self.names])"),
        ("self.widths = [1, 2] * 3", "print(self.widths[0])"),
        ("self.parts = nn.ModuleList()\n        self.parts.append(nn.ReLU())", "x = self.parts[0](x)"),
        ("self.bias = nn.Parameter(torch.zeros(1)) if drop else None", "x = x + self.bias"),
        ("shape = (width,)\n        self.shape = tuple(shape)", "x = norm(x, self.shape)"),
        ("self.parts = nn.ModuleList(list(nn.ReLU() for _ in range(3)))", "for part in self.parts: x = part(x)"),
        ("parts = []\n        parts += [nn.ReLU()]\n        self.parts = nn.Sequential(*parts)", "x = self.parts(x)"),
        ("self.info = [dict(width=width)]", "print([one['width'] for one in self.info[:2]])"),
    ],
)
def test_a_class_that_only_hands_a_device_on_is_not_interpreted(tmp_path: Path, constructor: str, forward: str) -> None:
    text = HANDING_ON.format(constructor, forward)
    (tmp_path / "model.py").write_text(text)
    assert not analyses(tmp_path, "model", "Block")


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("self.table = torch.ones(3)", "x = x + self.table"),
        ("pass", "x = x + torch.zeros(3)"),
        ("pass", "x.to(self.first.weight)"),
        ("pass", "print(x.device == 'cuda')"),
        ("pass", "x = x.float()"),
        ("pass", "np.sum(x)"),
        ("self.parts = [nn.ReLU()]", "x = self.parts[0](x)"),
        ("self.parts = []\n        self.parts.append(nn.ReLU())", "for part in self.parts: x = part(x)"),
        ("self.parts = {'a': nn.ReLU()}", "part = self.parts['a']; x = part(x)"),
        ("self.parts = {}\n        self.parts['a'] = nn.ReLU()", "for part in self.parts.values(): x = part(x)"),
        ("a = nn.ReLU()\n        self.parts, self.n = [a], 1", "x = run(self.parts, x)"),
        ("self.parts = list(nn.ReLU() for _ in range(3))", "for part in self.parts: x = part(x)"),
        ("self.parts = list()\n        self.parts.append(nn.ReLU())", "for part in self.parts: x = part(x)"),
        ("parts = []\n        parts.append(nn.ReLU())\n        self.parts = parts", "x = self.parts[0](x)"),
        ("parts = [nn.ReLU()]\n        self.parts = tuple(parts)", "for part in self.parts: x = part(x)"),
        ("self.parts = self.make()\n\n    def make(self):\n        return [nn.ReLU()]", "x = self.parts[0](x)"),
    ],
)
def test_a_class_that_makes_moves_or_hides_something_is_interpreted(
    tmp_path: Path, constructor: str, forward: str
) -> None:
    (tmp_path / "model.py").write_text(HANDING_ON.format(constructor, forward))
    assert analyses(tmp_path, "model", "Block")


HELPED = """\
import torch
from torch import nn
from helpers import make

class Net(nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.first = nn.Linear(3, 3, device=device)

    def forward(self, x):
        return self.first(x) + make(3)
"""


@pytest.mark.parametrize(
    ("helper", "found"),
    [
        ("def make(n):\n    return torch.zeros(n)\n", [("model", "DEV105")]),
        ("def make(n) -> float:\n    return torch.zeros(n).sum().item()\n", []),
        ("def make(n, device=None):\n    return n if device is None else n + 1\n", []),
    ],
)
def test_what_a_helper_gives_a_class_decides(tmp_path: Path, helper: str, found: list[tuple[str, str]]) -> None:
    write(tmp_path, helpers=f"import torch\n\n{helper}", model=HELPED)
    result = found_in(tmp_path)
    assert [code for _, code in result] == [code for _, code in found]


LOOP = """\
import torch

PLACES = {"a": "cuda"}
NAMES = [name for name in PLACES]
for name in NAMES:
    PLACES[name] = "cpu"
"""


def test_a_loop_over_data_runs_before_the_data_are_read(tmp_path: Path) -> None:
    read = 'torch.ones(2, device=PLACES["a"]) + torch.ones(2, device="cuda")\n'
    write(tmp_path, main=LOOP + read)
    assert found_in(tmp_path) == [("main", "DEV101")]
    write(tmp_path, main=LOOP.partition("for name in NAMES")[0] + read)
    assert found_in(tmp_path) == []


def test_a_loop_that_nobody_needs_changes_nothing_for_others(tmp_path: Path) -> None:
    write(tmp_path, data=LOOP + "OTHER = [1, 2]\nname = 'cuda'\n")
    write(tmp_path, main="import torch\nfrom data import OTHER, name\ntorch.ones(2, device=name) + torch.ones(2)\n")
    assert found_in(tmp_path) == [("main", "DEV101")]


def test_a_loop_that_calls_a_function_of_the_program_runs_at_once(tmp_path: Path) -> None:
    text = """\
        import torch

        PLACE = []
        NAMES = ["cuda"]

        def add(name):
            PLACE.append(name)

        for name in NAMES:
            add(name)

        torch.ones(2, device=PLACE[0]) + torch.ones(2)
    """
    write(tmp_path, main=text)
    assert found_in(tmp_path) == [("main", "DEV101")]


PARTS = {
    "what a part returns": """\
        class Table(nn.Module):
            def forward(self, x):
                return torch.zeros(x.shape[-1])

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = Table()

            def forward(self, x: torch.Tensor):
                return x + self.table(x)  # here
    """,
    "what a base class holds": """\
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.anchors = torch.ones(9, 4)

        class Net(Base):
            def forward(self, x):
                return x * self.anchors  # here
    """,
}


@pytest.mark.parametrize("text", PARTS.values(), ids=PARTS)
def test_the_classes_that_a_class_uses_decide(tmp_path: Path, text: str) -> None:
    write(tmp_path, main="import torch\nfrom torch import nn\n\n" + dedent(text))
    assert found_in(tmp_path) != []


PROSE = '''\
import torch
from torch import nn

class Block(nn.Module):
    """Place the block.

    Moves on to
    device (the device in use).
    """

    def __init__(self, width: int, device: torch.device | None = None) -> None:
        super().__init__()
        # the device is asked, device == cuda
        self.first = nn.Linear(width, width, device=device if device is not None else None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.first(x, {})
'''


def test_prose_and_a_device_that_is_handed_on_are_no_work_on_tensors(tmp_path: Path) -> None:
    for written, expected in (("x.device", False), ("x.device == self.first", True), ("x.to(0)", True)):
        (tmp_path / "model.py").write_text(PROSE.format(written))
        assert analyses(tmp_path, "model", "Block") is expected


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("self.shape = (width, 2 * width)", "x = x.reshape(self.shape)"),
        ("self.shape = (drop,)", "x = x.reshape(self.shape)"),
        ("part = 3\n        self.splits = [part, width - part]", "x, _ = x.split(self.splits)"),
        ("self.infos = [make(width)]", "print(self.infos[0]['width'], run(self.infos))"),
        ("self.infos = [make(width)]", "print([one['width'] for one in self.infos])"),
        ("self.pair = [width] * 2", "x = pad(x, self.pair)"),
    ],
)
def test_a_container_of_sizes_and_settings_holds_no_modules(tmp_path: Path, constructor: str, forward: str) -> None:
    (tmp_path / "model.py").write_text(HANDING_ON.format(constructor, forward))
    assert not analyses(tmp_path, "model", "Block")


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("half = [nn.ReLU()]\n        self.parts = [half, half]", "x = run(self.parts, x)"),
        ("self.parts = list([nn.ReLU()])\n        self.parts += [nn.ReLU()]", "for one in self.parts: x = one(x)"),
        ("self.parts = [make(width)]", "for one in self.parts: x = one(x)"),
    ],
)
def test_a_container_of_what_may_be_modules_counts(tmp_path: Path, constructor: str, forward: str) -> None:
    (tmp_path / "model.py").write_text(HANDING_ON.format(constructor, forward))
    assert analyses(tmp_path, "model", "Block")


GIVING = {
    "what it made": ("mask = torch.ones(3)\n        return mask", True),
    "what it made, beside its input": ("return x, torch.ones(3)", True),
    "what it made in a loop": (
        "out = []\n        for _ in range(2):\n            out = torch.ones(3)\n        return out",
        True,
    ),
    "its input with what it made": ("mask = torch.ones(3)\n        return x * mask", False),
    "what it made where its input is": ("return torch.ones(3, device=x.device)", False),
    "what it made and moved to its input": ("return torch.ones(3).to(x)", False),
    "its input, joined with what it made": ("return torch.cat([x, torch.ones(3)])", False),
}


@pytest.mark.parametrize(("body", "gives"), GIVING.values(), ids=GIVING)
def test_whether_a_class_gives_what_it_has_made(tmp_path: Path, body: str, gives: bool) -> None:
    text = f"import torch\nfrom torch import nn\n\nclass Part(nn.Module):\n    def forward(self, x):\n        {body}\n"
    (tmp_path / "part.py").write_text(text)
    program = Program([(tmp_path / "part.py", "part.py")])
    module = program.load((tmp_path / "part.py").resolve())
    assert module is not None
    assert Relevance().gives_made_tensors(module.index.definitions["Part"]) is gives


REGISTRY = """\
import torch

NAMES = {}
PLACES = {}

def register(module, names):
    for name in names:
        NAMES[name] = module
        PLACES[name] = names[name]

def place():
    register("other", {"a": "cpu"})
"""


def test_a_call_that_fills_a_registry_runs_before_the_registry_is_read(tmp_path: Path) -> None:
    write(tmp_path, registry=REGISTRY)
    text = """\
        import torch
        from registry import PLACES, register

        register(__name__, {"a": "cuda"})
        torch.ones(2, device=PLACES["a"]) + torch.ones(2)
    """
    write(tmp_path, main=text)
    assert found_in(tmp_path) == [("main", "DEV101")]
    write(tmp_path, main=text.replace('"cuda"', '"cpu"'))
    assert found_in(tmp_path) == []


def test_a_call_that_may_do_more_than_fill_a_registry_runs_at_once(tmp_path: Path) -> None:
    settings = (
        "import torch\n\nKNOWN = []\n\ndef use(name):\n    KNOWN.append(name)\n    torch.set_default_device(name)\n"
    )
    write(tmp_path, settings=settings)
    text = "import torch\nfrom settings import use\n\nuse({!r})\ntorch.ones(2) + torch.ones(2, device='cpu')\n"
    write(tmp_path, main=text.format("cuda"))
    assert [code for _, code in found_in(tmp_path)] == ["DEV101"]
    write(tmp_path, main=text.format("cpu"))
    assert found_in(tmp_path) == []


def test_a_table_of_plain_records_is_made_when_it_is_read(tmp_path: Path) -> None:
    text = """\
        from dataclasses import dataclass
        import torch
        from torch import nn

        @dataclass
        class Config:
            layer: type[nn.Module]
            place: str = "cuda"

        TABLE = {"a": Config(nn.Linear), "b": Config(nn.Linear, "cpu")}

        def run():
            return torch.ones(2, device=TABLE["a"].place) + torch.ones(2, device=TABLE["b"].place)
    """
    write(tmp_path, main=text)
    assert [code for _, code in found_in(tmp_path)] == ["DEV101"]
    write(tmp_path, main=text.replace('"cpu"', '"cuda"'))
    assert found_in(tmp_path) == []


def test_a_model_that_is_loaded_from_an_address_is_interpreted(tmp_path: Path) -> None:
    text = """\
        import torch.utils.model_zoo as model_zoo
        from torch import nn

        def build(pretrained=False):
            net = nn.Linear(3, 3)
            if pretrained:
                net.load_state_dict(model_zoo.load_url("https://example.org/net.pth"{}))
            return net
    """
    write(tmp_path, main=text.format(""))
    assert found_in(tmp_path, "DEV602") == [("main", "DEV602")]
    write(tmp_path, main=text.format(", map_location='cpu'"))
    assert found_in(tmp_path, "DEV602") == []
