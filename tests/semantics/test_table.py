"""The semantics tables as the interpreter reads them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import devlint.semantics
from devlint.semantics.cell_sources import ALL_OTHER_CELLS, SOURCES, USUAL_SOURCES, source_of
from devlint.semantics.table import Row, Table, load_numpy_table, load_torch_table

FOLDER = Path(devlint.semantics.__file__).parent
REASONS = json.loads((FOLDER.parent / "runtime" / "derive" / "overrides.json").read_text())["rows"]
TABLES = {"torch.json": load_torch_table(), "numpy.json": load_numpy_table()}

DTYPES = set(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64"
    " complex32 complex64 complex128".split()
)
CONVERSIONS = set("float sum pow real real-float complex double".split())
RANKS = set(
    "broadcast same reduce reduction zero some one two shape product equation squeeze joined more data unknown".split()
)
FORMS = set(
    "tensor self none number bool string list size python unknown dtype device layout generator storage array frame"
    " tuple nested".split()
)


def rows(table: Table) -> list[Row]:
    return [row for name in table if (row := table.find(name)) is not None]


def names(row: Row) -> set[str]:
    spelled = [*row.params, *(name for overload in row.overloads for name in overload), "parameters"]
    return {name.lstrip("*") for name in spelled}


def legal_dtype(rule: str, known: set[str]) -> bool:
    kind, _, argument = rule.partition(":")
    if kind == "kwarg":
        return argument in DTYPES | {"default", "unknown"}
    if argument:
        legal = kind in CONVERSIONS | {"promote", "same", "kwarg-or", "arg", "literal"}
        return legal and set(argument.split(",")) <= known
    return rule in DTYPES | CONVERSIONS | {"promote", "unknown"} or rule.removesuffix("-all") in CONVERSIONS | {
        "promote"
    }


@pytest.mark.parametrize("file", TABLES)
def test_every_cell_is_in_the_vocabulary(file: str) -> None:
    for row in rows(TABLES[file]):
        known = names(row)
        rules = [row.dtype, *row.dtype_if.values()]
        for rule in [r for each in rules for r in ([each] if isinstance(each, str) else each)]:
            assert legal_dtype(rule, known), (row.name, rule)
        for form in [row.returns, *row.returns_if.values()]:
            assert form.partition(":")[0] in FORMS, (row.name, form)
        assert row.scalars in (0, 1, "many", "alone", *(f"only:{name}" for name in row.same)), row.name
        device, _, argument = row.device.partition(":")
        assert device in {"group", "arg", "kwarg", "kwarg-or", "host", "none", "unknown"}, row.name
        assert not argument or set(argument.split(",")) <= known, row.name
        rank, _, argument = row.rank.partition(":")
        assert rank in RANKS, row.name
        assert not argument or argument in known, row.name
        assert row.sync in {"", "always"} or row.sync.startswith("unless:"), row.name
        assert row.grad in {"", "none", "detach"}, row.name
        for accepted in [*row.index_dtypes.values(), *row.target_dtypes.values()]:
            assert accepted <= DTYPES, row.name


@pytest.mark.parametrize("file", TABLES)
def test_every_argument_named_in_a_cell_is_a_parameter(file: str) -> None:
    for row in rows(TABLES[file]):
        mentioned = {*row.tensors, *row.same, *row.host, *row.index, *row.free, *row.mutates}
        mentioned |= {name for group in (*row.match, *row.match_or_half) for name in group}
        mentioned |= {*row.index_dtypes, *row.target_dtypes, *filter(None, (row.view, row.may_view))}
        assert mentioned <= names(row), row.name
        apart = (*row.host, *row.index, *row.free)
        assert not set(apart) & set(row.same), row.name


def test_module_rows_say_what_the_constructor_registers() -> None:
    for row in rows(load_torch_table()):
        if row.module is None:
            continue
        for presence in (row.module.parameters, row.module.buffers):
            kind, _, argument = presence.partition(":")
            assert kind in {"always", "never", "if", "arg"}, row.name
            assert not argument or argument in row.module.init, row.name
        for role in row.module.attributes.values():
            assert role.removesuffix("-or-none") in {"parameter", "buffer"}, row.name
        assert ("parameters" in row.same) == (row.module.parameters != "never"), row.name


@pytest.mark.parametrize("file", TABLES)
def test_the_file_has_one_row_a_line_in_order(file: str) -> None:
    lines = (FOLDER / file).read_text().splitlines()
    keys = [line.split('": ')[0][1:] for line in lines[lines.index('"rows": {') + 1 :] if line.startswith('"')]
    assert keys == sorted(keys)
    assert keys == list(json.loads((FOLDER / file).read_text())["rows"])


@pytest.mark.parametrize("file", TABLES)
def test_aliases_lead_to_rows(file: str) -> None:
    table = TABLES[file]
    for alias, canonical in table.aliases().items():
        assert table.canonical(alias) == canonical
        assert canonical in table.aliases() or table.find(canonical) is not None, alias
        assert table.find(alias) is table.find(alias)


def test_other_names_of_the_same_thing() -> None:
    table = load_torch_table()
    for alias, canonical in {
        "torch.conv2d": "torch.nn.functional.conv2d",
        "torch.functional.norm": "torch.norm",
        "torch.nn.modules.linear.Linear": "torch.nn.Linear",
        "torch.cuda.amp.autocast": "torch.autocast",
    }.items():
        assert table.find(alias) == table.find(canonical) != None, alias  # noqa: E711 - both, and there


def test_an_unknown_name_has_no_row() -> None:
    assert load_torch_table().find("torch.no_such_function") is None
    assert load_torch_table().method("no_such_method") is None


def test_a_method_is_found_by_its_bare_name() -> None:
    assert load_torch_table().method("add_") is load_torch_table().find("torch.Tensor.add_")


def test_reading_the_tables_imports_neither_torch_nor_numpy() -> None:
    program = (
        "import sys; from devlint.semantics.table import load_torch_table, load_numpy_table;"
        "assert load_torch_table().find('torch.add') and load_numpy_table().find('numpy.zeros');"
        "sys.exit(any(name.split('.')[0] in ('torch', 'numpy') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_coverage_meets_its_aims() -> None:
    figures = load_torch_table().coverage
    described, public = figures["counts"]["overridable functions"]
    assert described / public >= 0.95
    assert figures["counts"]["torch.nn modules"][0] == figures["counts"]["torch.nn modules"][1]
    flips, probes = figures["agreement"]["device flips, emulated"]
    assert flips / probes >= 0.99
    dtypes, probes = figures["agreement"]["result dtypes, CPU"]
    assert dtypes / probes >= 0.995
    opinfos = {title: right / asked for title, (right, asked) in figures["opinfos"].items()}
    assert opinfos["device flips"] >= 0.99
    assert opinfos["result dtypes"] >= 0.995


def test_the_figures_in_the_documentation_are_those_of_the_table() -> None:
    command = [sys.executable, "-m", "devlint.semantics", "coverage"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (FOLDER.parents[1] / "docs" / "semantics.md").read_text()
    assert f"```text\n$ python -m devlint.semantics coverage\n{printed}```" in page


def test_the_coverage_command_lists_what_is_unknown() -> None:
    command = [sys.executable, "-m", "devlint.semantics", "coverage", "--unknown"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"torch {load_torch_table().version}" in printed
    for name in load_torch_table().coverage["unknown"]:
        assert f"    {name}\n" in printed


def test_every_cell_has_a_source() -> None:
    table = load_torch_table()
    assert dict(table.usual) == dict(USUAL_SOURCES)
    for name in table:
        cells = table.cells(name)
        for cell in set(cells) - {"provenance"}:
            assert source_of(cell, cells) in SOURCES, (name, cell)
        for cell, source in cells.get("provenance", {}).items():
            assert cell in {ALL_OTHER_CELLS, *USUAL_SOURCES} and source in SOURCES, (name, cell)
            assert cell == ALL_OTHER_CELLS or source != USUAL_SOURCES[cell] or ALL_OTHER_CELLS in cells["provenance"], (
                name,
                cell,
            )


def test_what_is_written_by_hand_has_its_reason() -> None:
    table = load_torch_table()
    for name in table:
        written = {cell for cell, source in table.cells(name).get("provenance", {}).items() if source == "hand"}
        twin = f"torch.Tensor.{name.removeprefix('torch.')}"
        assert not written or name in REASONS or twin in REASONS or written == {ALL_OTHER_CELLS}, name


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("torch.add", ["dtype promote probe-cpu", "scalars 1 emulated", 'tensors ["input", "other"] yaml']),
        ("torch.conv2d", ['match [["input", "weight", "bias"]] hand']),
        ("torch.nn.Linear", ["dtype same:input probe-cpu"]),
        ("numpy.zeros", ["dtype kwarg:float64 hand"]),
        ("transformers.BatchEncoding", ["special batch a model"]),
    ],
)
def test_the_show_command_tells_each_cell_with_its_source(name: str, lines: list[str]) -> None:
    command = [sys.executable, "-m", "devlint.semantics", "show", name]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed[0].startswith(name)
    assert set(lines) <= {" ".join(line.split()) for line in printed}


def test_the_show_command_knows_what_it_does_not_know() -> None:
    command = [sys.executable, "-m", "devlint.semantics", "show", "torch.no_such_function"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr == "Error: no table describes torch.no_such_function\n"
