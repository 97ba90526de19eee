"""Model files: those that come with devlint, what is wrong with one, and the example in the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from devlint.semantics.models.model_files import MODEL_SCHEMA, ModelFileError, read_model
from devlint.semantics.models.schema_check import first_problem
from devlint.semantics.table import Row, load_semantics

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in MODEL_SCHEMA.parent.glob("*.json") if path != MODEL_SCHEMA)


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(MODEL_SCHEMA.read_text())
    return loaded


def row(name: str) -> Row:
    found = load_semantics().find(name)
    assert found is not None, name
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_fits_the_schema_and_names_parameters_only(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text()), schema())
    read_model(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_has_one_row_a_line(path: Path) -> None:
    lines = path.read_text().splitlines()
    data = json.loads(path.read_text())
    for section in ("rows", "conventions", "aliases"):
        for name, value in data.get(section, {}).items():
            assert f"{json.dumps(name)}: {json.dumps(value)}" in {line.removesuffix(",") for line in lines}, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_objects_that_rows_return_are_described(path: Path) -> None:
    table = load_semantics()
    rows = json.loads(path.read_text())["rows"]
    for cells in rows.values():
        for form in (cells.get("returns", ""), *cells.get("returns_if", {}).values()):
            kind, _, name = form.partition(":")
            if kind == "object" and "{" not in name:
                assert table.find(name) or any(row.startswith(f"{name}.") for row in rows), name


WRONG: list[tuple[object, str]] = [
    ([], "expected a table, got a list"),
    ({"row": {}}, "`row`: there is no such key here (did you mean `rows`?)"),
    ({"rows": {"acme.f": []}}, "`rows.acme.f`: expected a table, got a list"),
    ({"rows": {"acme f": {}}}, "`rows.acme f`: expected a dotted name, perhaps with * after the library's"),
    ({"rows": {"**.f": {}}}, "`rows.**.f`: expected a dotted name"),
    (
        {"rows": {"acme.f": {"devise": "host"}}},
        "`rows.acme.f.devise`: there is no such key here (did you mean `device`?)",
    ),
    ({"rows": {"acme.f": {"device": "cuda"}}}, "`rows.acme.f.device`: expected one of group, arg:NAME, kwarg, "),
    ({"rows": {"acme.f": {"device": 1}}}, "`rows.acme.f.device`: expected a string, got 1"),
    ({"rows": {"acme.f": {"scalars": 2}}}, '`rows.acme.f.scalars`: expected one of 0, 1, "many", "alone", got 2'),
    ({"rows": {"acme.f": {"dtype": "float23"}}}, "`rows.acme.f.dtype`: expected a dtype, or a rule such as same:NAME"),
    ({"rows": {"acme.f": {"dtype": ["int64", 1]}}}, "`rows.acme.f.dtype[1]`: expected a string, got 1"),
    ({"rows": {"acme.f": {"random": "yes"}}}, '`rows.acme.f.random`: expected true or false, got "yes"'),
    (
        {"rows": {"acme.f": {"params": ["a b"]}}},
        "`rows.acme.f.params[0]`: expected a parameter name, perhaps with stars",
    ),
    ({"rows": {"acme.M": {"module": {"parameter": "always"}}}}, "`rows.acme.M.module.parameter`: there is no such key"),
    (
        {"rows": {"acme.f": {"returns_if": {"a=": "none"}}}},
        "`rows.acme.f.returns_if.a=`: expected NAME, NAME=VALUE, !NAME",
    ),
    ({"conventions": {"pt": {}}}, "`conventions.pt`: expected NAME=VALUE"),
    ({"aliases": {"a": 1}}, "`aliases.a`: expected a string, got 1"),
]
MISNAMED: list[tuple[object, str]] = [
    (
        {"rows": {"acme.f": {"params": ["x"], "tensors": ["y"]}}},
        "`rows.acme.f.tensors`: `y` is not one of the row's params",
    ),
    ({"rows": {"acme.f": {"params": ["x"], "same": ["x", "z"]}}}, "`rows.acme.f.same`: `z` is not"),
    ({"rows": {"acme.f": {"device": "arg:x"}}}, "`rows.acme.f.device`: `x` is not"),
    ({"rows": {"acme.f": {"returns": "arguments:a"}}}, "`rows.acme.f.returns`: `a` is not"),
    ({"rows": {"acme.f": {"params": ["a"], "returns_if": {"a+b": "none"}}}}, "`rows.acme.f.returns_if`: `b` is not"),
    ({"rows": {"acme.f": {"match": [["x"]]}}}, "`rows.acme.f.match`: `x` is not"),
    ({"rows": {"acme.f": {"like": "acme.g"}}}, "`rows.acme.f.like`: there is no row `acme.g` in this file"),
    ({"rows": {"acme.f": {"like": "acme.f"}}}, "`rows.acme.f.like`: `acme.f` is itself like another row"),
]


@pytest.mark.parametrize(("data", "complaint"), [*WRONG, *MISNAMED], ids=lambda value: None)
def test_what_is_wrong_is_said_with_file_and_key(tmp_path: Path, data: object, complaint: str) -> None:
    path = tmp_path / "acme.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("data", [data for data, _ in WRONG], ids=lambda value: None)
def test_the_check_refuses_what_the_schema_refuses(data: object) -> None:
    assert not jsonschema.Draft7Validator(schema()).is_valid(data)
    assert first_problem(data, schema()) is not None


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"{", "not JSON: "), (b"\xff", "not JSON: "), (None, "No such file")]
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    path = tmp_path / "acme.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError, match=complaint):
        read_model(path)


def test_a_pattern_stands_for_classes_but_not_for_what_is_in_them() -> None:
    table = load_semantics()
    for name in ("AutoModel", "models.bert.modeling_bert.BertModel", "LlamaForCausalLM"):
        assert row(f"transformers.{name}").module is not None, name
        assert row(f"transformers.{name}.from_pretrained").returns == "object:{class}"
    for name in ("BertModel.resize_token_embeddings", "LlamaForCausalLM.config", "TrainingArguments", "BertConfig"):
        assert table.find(f"transformers.{name}") is None, name
    assert row("transformers.TFBertModel").module is None


def test_other_names_of_a_library_mean_the_same() -> None:
    table = load_semantics()
    for name in ("lightning.pytorch.LightningModule", "pytorch_lightning.LightningModule"):
        assert table.canonical(name) == "lightning.LightningModule"
        assert table.find(name) is not None
    assert table.canonical("torch.nn.Linear") == "torch.nn.Linear"


def test_files_of_ones_own_have_the_last_word(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps({"rows": {"accelerate.Accelerator": {"returns": "none"}, "torch.add": {"scalars": "many"}}})
    )
    table = load_semantics([path])
    for name, cell, mine, usual in (
        ("accelerate.Accelerator", "returns", "none", "object:accelerate.Accelerator"),
        ("torch.add", "scalars", "many", 1),
    ):
        assert getattr(table.find(name), cell) == mine
        assert getattr(row(name), cell) == usual


BLOCK = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
EXPECTED = re.compile(r"# error: (DEV\d+)$")


@pytest.fixture
def example(tmp_path: Path) -> dict[str, str]:
    blocks = dict(BLOCK.findall((ROOT / "docs" / "models.md").read_text()))
    assert list(blocks) == ["acme.json", "pyproject.toml", "main.py"]
    for name, text in blocks.items():
        (tmp_path / name).write_text(text)
    return blocks


def devlint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devlint", "--output-format", "concise", "main.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_example_does_what_the_documentation_says(example: dict[str, str], tmp_path: Path) -> None:
    lines = enumerate(example["main.py"].splitlines(), start=1)
    expected = [(row, found[1]) for row, line in lines if (found := EXPECTED.search(line))]
    told = re.findall(r"^main.py:(\d+):\d+: (DEV\d+) (.*)$", devlint(tmp_path).stdout, re.M)
    assert [(int(row), code) for row, code, _ in told if code != "DEV902"] == expected
    revealed = next(message for _, code, message in told if code == "DEV902")
    assert revealed.startswith("net(batch.x): cuda float32 ")


def test_a_mistake_in_the_example_ends_the_run(example: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "acme.json").write_text(example["acme.json"].replace('"device": "kwarg"', '"device": "cpu"'))
    result = devlint(tmp_path)
    assert result.returncode == 2
    place = f"{tmp_path / 'pyproject.toml'}:2: `models`: {tmp_path / 'acme.json'}: `rows.acme.load.device`"
    assert result.stderr.startswith(f"error: {place}: expected one of group, ")
