"""Code that no tensor reaches is not interpreted; what is found stays the same."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint import check_paths
from devlint.interpreter.program.program import Program
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
