"""Tests of how arguments are guessed and changed, without running anything."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from devlint.confirm.arguments import CALLING, MAKING, PlainText, TensorText, call_text
from devlint.confirm.driver_process import Failure
from devlint.confirm.guesses import Guesses
from devlint.confirm.literals import literals_of
from devlint.confirm.needed_statements import needed_rows
from devlint.confirm.repairs import repairs
from devlint.confirm.source_files import ProjectSources


def guessed(folder: Path, source: str, name: str) -> list[tuple[str, str]]:
    """Return what is guessed for a function or class: the arguments of the constructor and of the call, as texts."""
    (folder / "one.py").write_text(textwrap.dedent(source), encoding="utf-8")
    sources = ProjectSources(folder)
    tree = sources.tree(folder / "one.py")
    assert tree is not None
    row = next(node.lineno for node in ast.walk(tree) if getattr(node, "name", None) == name)
    entry = sources.entry_at(folder / "one.py", row + 1)
    assert entry is not None
    found = Guesses(sources, literals_of(sources)).arguments(entry)
    return [(call_text(one, MAKING), call_text(one, CALLING)) for one in found]


def test_annotations_names_and_uses_are_read(tmp_path: Path) -> None:
    source = """
        def mix(x, mask, labels, heads: int, device):
            b, n, c = x.shape
            return x.view(b, n, heads, c // heads)
    """
    [(_, call)] = guessed(tmp_path, source, "mix")
    assert call == (
        "x=torch.rand(2, 6, 16, device=device), mask=torch.ones(2, 6, 16, dtype=torch.bool, device=device), "
        "labels=torch.randint(0, 2, (6, 16), device=device), heads=2, device=device"
    )


def test_the_literal_calls_of_a_project_are_taken(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text("Net(3, width=24)\n", encoding="utf-8")
    source = """
        class Net:
            def __init__(self, channels, width):
                self.width = width

            def run(self, x):
                return x.mean()
    """
    assert [made for made, _ in guessed(tmp_path, source, "run")] == [
        "channels=4, width=16",
        "channels=3, width=24",
    ]


def test_a_namespace_has_the_attributes_that_are_read_with_the_defaults_of_options(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text('parser.add_argument("--hidden-size", type=int, default=48)\n', encoding="utf-8")
    source = """
        def build(args):
            return args.hidden_size, args.depth
    """
    [(_, call)] = guessed(tmp_path, source, "build")
    assert call == "args=SimpleNamespace(hidden_size=48, depth=1)"


def test_a_dict_of_settings_holds_numbers_and_another_dict_tensors(tmp_path: Path) -> None:
    source = """
        def split(batch, data_config):
            rows, days = data_config["num_rows"], data_config["days"]
            return batch["x"] + rows * days
    """
    [(_, call)] = guessed(tmp_path, source, "split")
    assert call == "batch={'x': torch.rand(2, 6, 16, device=device)}, data_config={'num_rows': 4, 'days': 16}"


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("mat1 and mat2 shapes cannot be multiplied (12x16 and 24x8)", (2, 6, 24)),
        ("expected 4D input (got 3D input)", (2, 4, 16, 16)),
        ("not enough values to unpack (expected 2, got 3)", (6, 16)),
        ("The size of tensor a (16) must match the size of tensor b (5) at non-singleton dimension 2", (2, 6, 5)),
        ('img.size(0) should be 3 but "2". (torch.Size([2, 6, 16]))', (3, 6, 16)),
        ("running_mean should contain 5 elements not 6", (2, 5, 16)),
    ],
)
def test_an_error_of_shapes_suggests_the_shape_that_fits(message: str, shape: tuple[int, ...]) -> None:
    given = {(CALLING, "x"): TensorText("float", (2, 6, 16))}
    first = next(iter(repairs(given, Failure("RuntimeError", message), frozenset(), lambda name: PlainText("1"))))
    assert first == {(CALLING, "x"): TensorText("float", shape)}


def test_an_index_is_wanted() -> None:
    message = "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int"
    given = {(CALLING, "x"): TensorText("float", (2, 6))}
    first = next(iter(repairs(given, Failure("RuntimeError", message), frozenset(), lambda name: PlainText("1"))))
    assert first == {(CALLING, "x"): TensorText("long", (2, 6))}


def test_only_the_statements_that_a_function_needs_are_kept() -> None:
    source = """\
from __future__ import annotations
import missing
import torch
from other import helper
SIZE = 3
def unused(x):
    return missing.f(x)
def used(x, missing):
    y = helper(x)
    return y + SIZE
def wanted(x):
    SIZE_OF_IT = used(x, 1)
    return SIZE_OF_IT
if __name__ == "__main__":
    x = missing.g()
"""
    assert needed_rows(ast.parse(source), "wanted") == (1, 4, 5, 8, 11)


def test_a_text_that_the_project_asks_for_is_passed(tmp_path: Path) -> None:
    source = """
        class Pool:
            def __init__(self, reduction, size):
                self.reduction, self.size = reduction, size

            def run(self, x):
                if self.reduction == "mean":
                    return x.mean()
                return x.sum()
    """
    [(made, _)] = guessed(tmp_path, source, "run")
    assert made == "reduction='mean', size=16"


def test_what_is_no_text_elsewhere_is_compared_with_none(tmp_path: Path) -> None:
    source = """
        def run(x, size):
            if x.dtype == "int" or size == 3:
                return x.mean()
            return x.view(size)
    """
    [(_, call)] = guessed(tmp_path, source, "run")
    assert call == "x=torch.rand(2, 6, 16, device=device), size=16"


def test_a_text_that_a_message_quotes_is_tried() -> None:
    given = {(MAKING, "kind"): PlainText("16"), (MAKING, "size"): PlainText("16")}
    failure = Failure("ValueError", "kind must be 'uniform' or 'absorbing', but is 16")
    tried = [call_text(one, MAKING) for one in repairs(given, failure, frozenset(), lambda name: PlainText("1"))]
    assert tried[:2] == ["kind='uniform', size=16", "kind='absorbing', size=16"]
    plain = Failure("ValueError", "kind 'uniform' failed")
    assert not any(
        "'" in call_text(one, MAKING) for one in repairs(given, plain, frozenset(), lambda n: PlainText("1"))
    )


@pytest.mark.parametrize(
    "message",
    [
        'can only concatenate list (not "int") to list',
        "unsupported operand type(s) for +: 'int' and 'list'",
    ],
)
def test_a_list_is_given_where_one_is_joined(message: str) -> None:
    given = {(MAKING, "hidden"): PlainText("16")}
    tried = [
        call_text(one, MAKING)
        for one in repairs(given, Failure("TypeError", message), frozenset(), lambda n: PlainText("1"))
    ]
    assert "hidden=[16, 16]" in tried
    other = Failure("TypeError", message.replace("list", "str"))
    assert not any(
        "[" in call_text(one, MAKING) for one in repairs(given, other, frozenset(), lambda n: PlainText("1"))
    )


def test_a_file_is_imported_where_its_relative_imports_work(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "a.py").write_text("from .b import c\n", encoding="utf-8")
    (tmp_path / "two" / "a.py").write_text("from b import c\n", encoding="utf-8")
    sources = ProjectSources(tmp_path)
    assert [name for _, name in sources.import_names(tmp_path / "one" / "a.py")] == ["one.a", "a"]
    assert [name for _, name in sources.import_names(tmp_path / "two" / "a.py")] == ["a", "two.a"]


def test_what_gives_a_factory_its_size_is_a_number(tmp_path: Path) -> None:
    source = """
        import torch
        class Layer:
            def __init__(self, n_input, size, start):
                self.weight = torch.zeros(n_input, 3)
                self.order = torch.arange(0, size)
                self.start = torch.relu(start)

            def run(self, x):
                return x.mean()
    """
    [(made, _)] = guessed(tmp_path, source, "run")
    assert made == "n_input=4, size=16, start=torch.rand(2, 6, 16, device=device)"


def test_a_star_import_is_kept_for_a_name_that_nothing_else_defines() -> None:
    source = "from helpers import *\nimport missing\ndef wanted(x):\n    return helper(len(x))\n"
    assert needed_rows(ast.parse(source), "wanted") == (1, 3)
    assert needed_rows(ast.parse(source + "def helper(x):\n    return x\n"), "wanted") == (3, 5)


def test_a_tensor_that_is_asked_for_its_truth_becomes_a_number() -> None:
    given = {(CALLING, "x"): TensorText("float", (2, 6)), (CALLING, "flag"): TensorText("float", (2, 6))}
    asked = Failure("RuntimeError", "Boolean value of Tensor with more than one value is ambiguous")
    tried = [call_text(one, CALLING) for one in repairs(given, asked, frozenset({"flag"}), lambda n: PlainText("1"))]
    assert tried[0] == "x=torch.rand(2, 6, device=device), flag=4"
