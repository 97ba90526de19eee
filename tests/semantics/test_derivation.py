"""The committed table against the installed torch: a seeded sample is derived anew and compared."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

pytest.importorskip("expecttest", reason="torch's own samples need it")

from devlint.domain.torch_names import LAYER_BASES
from devlint.runtime import emulate
from devlint.runtime.derive import __main__ as generator
from devlint.runtime.derive import agreement, coverage, module_rows, opinfo_comparison, public_names, row_assembly
from devlint.runtime.derive.declarations import overloads_of
from devlint.semantics.table import Row, Table, load_torch_table

TABLE = load_torch_table()
pytestmark = pytest.mark.skipif(
    torch.__version__.split("+")[0] != TABLE.version, reason=f"the table was derived from torch {TABLE.version}"
)


def sample(count: int) -> set[str]:
    callables = [
        n
        for n in (*public_names.functions(), *public_names.methods(), *module_rows.module_classes())
        if not n.endswith("_")
    ]
    return set(random.Random(20240607).sample(sorted(callables), count))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)


def test_a_sample_is_derived_to_the_committed_rows() -> None:
    chosen = sample(60)
    derived = row_assembly.derive_rows(lambda name: name in chosen)
    assert derived.keys() == chosen
    committed = {name: TABLE.cells(name) for name in chosen}
    assert {n: c for n, c in derived.items() if c != committed[n]} == {}


def test_deriving_some_rows_anew_leaves_the_file_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed = generator.TARGET.read_text()
    monkeypatch.setattr(generator, "TARGET", tmp_path / "torch.json")
    patterns = ["torch.addcmul", "torch.relu_", "torch.nn.L1Loss", "torch.Tensor.mul"]
    options = [word for pattern in patterns for word in ("--only", pattern)]
    assert CliRunner().invoke(generator.main, options).exit_code == 0
    assert generator.TARGET.read_text() == committed


def test_a_sample_of_results_has_the_predicted_dtypes() -> None:
    chosen = sample(120)
    tally = agreement.compare_result_dtypes(TABLE, lambda name: name in chosen)
    assert tally.probes > 1000
    assert tally.share >= 0.995, "\n".join(tally.misses)


def test_a_sample_of_device_flips_goes_as_predicted_on_the_emulated_device() -> None:
    chosen = sample(300)
    with emulate():
        tally = agreement.compare_device_flips(TABLE, lambda name: name in chosen)
    assert tally.probes > 500
    assert tally.share >= 0.99, "\n".join(tally.misses)


OPINFOS = {
    "add",
    "addmm",
    "arange",
    "clamp",
    "einsum",
    "index_put",
    "linalg.pinv",
    "mT",
    "nn.functional.conv2d",
    "where",
}


def test_a_sample_of_opinfo_entries_goes_as_predicted() -> None:
    with emulate():
        found = opinfo_comparison.compare_opinfos(TABLE, lambda title: title in OPINFOS)
    assert found.entries == len(OPINFOS)
    assert not found.skipped
    for question, tally in found.tallies().items():
        assert tally.probes > 30, question
        assert not tally.misses, question


def test_an_opinfo_entry_shows_what_is_wrong_in_a_row() -> None:
    wrong = {
        "params": ["input", "other", "*", "alpha"],
        "tensors": ["input", "other"],
        "device": "host",
        "dtype": "bool",
    }
    with emulate():
        found = opinfo_comparison.compare_opinfos(
            Table({"version": "", "aliases": {}, "rows": {"torch.add": wrong}}), "add".__eq__
        )
    assert all(tally.misses for tally in found.tallies().values())
    assert "table rejects, torch says ok" in found.flips.misses[0]
    assert "table cpu, torch cuda" in found.result_devices.misses[0]
    assert "table bool, torch torch.float32" in found.dtypes.misses[0]


def test_an_opinfo_entry_of_which_nothing_can_be_asked_is_named() -> None:
    found = opinfo_comparison.compare_opinfos(TABLE, lambda title: title in ("to", "jiterator_unary"))
    assert found.figures()["compared"] == [0, 2]
    assert found.misses("compared") == [
        "to: modelled by hand in the interpreter",
        "jiterator_unary: not of the public API that the table describes",
    ]


def test_every_factory_that_torch_counts_is_a_factory_here() -> None:
    from torch.utils._device import _device_constructors

    known = {id(function): name for name, function in public_names.functions().items()}
    rows = {known[id(f)]: TABLE.find(known[id(f)]) for f in _device_constructors() if id(f) in known}
    assert len(rows) > 25
    for name, row in rows.items():
        assert row is not None and row.device.startswith("kwarg"), name


def test_the_committed_figures_are_those_of_the_committed_rows() -> None:
    rows = {name: TABLE.cells(name) for name in TABLE}
    assert coverage.summary(rows) == {k: v for k, v in TABLE.coverage.items() if k not in ("agreement", "opinfos")}


def schemas() -> Iterator[tuple[Row, dict[str, Any], list[Any]]]:
    """Rows of native functions, with the schema's arguments by parameter name and its results."""
    for name, function in {**public_names.functions(), **public_names.methods()}.items():
        row = TABLE.find(name)
        for signature in (
            overloads_of(name, function) if row is not None and not public_names.is_property(function) else ()
        ):
            if row is not None and signature.native is not None:
                declared = signature.native.func
                arguments = [*declared.arguments.flat_positional, *declared.arguments.flat_kwarg_only]
                known = {p.name for p in signature.params}
                yield row, {a.name if a.name in known else "input": a for a in arguments}, list(declared.returns)


BOOKKEEPING = {"detach_", "record_stream", "requires_grad_", "retain_grad"}
"""They write to the tensor object, not to its memory."""


def test_what_the_schemas_write_to_is_written_to() -> None:
    for row, arguments, _ in schemas():
        if row.name.rpartition(".")[2] not in BOOKKEEPING:
            written = {n for n, a in arguments.items() if a.annotation is not None and a.annotation.is_write}
            assert written <= row.mutates, row.name


def test_what_the_schemas_hand_out_may_share_storage() -> None:
    for row, arguments, returned in schemas():
        shared = {str(r.annotation.alias_set) for r in returned if r.annotation is not None}
        for argument in arguments.values():
            annotation = argument.annotation
            if annotation is not None and not annotation.is_write and str(annotation.alias_set) in shared:
                assert row.view or row.may_view, row.name


def test_who_takes_a_generator_or_need_not_wait_is_known() -> None:
    seen = set()
    for row, arguments, _ in schemas():
        if any("Generator" in str(a.type) for a in arguments.values()):
            assert row.generator and row.random, row.name
            seen.add("generator")
        if "non_blocking" in arguments:
            assert row.non_blocking, row.name
            seen.add("non_blocking")
    assert seen == {"generator", "non_blocking"}
    for name in ("to", "cuda", "xpu", "type", "copy_"):
        row = TABLE.method(name)
        assert row is not None and row.non_blocking, name


def test_the_layers_that_derive_from_others_are_known() -> None:
    layers = {name: one for name, one in vars(torch.nn).items() if isinstance(one, type)}
    derived = {
        name: base
        for name, one in layers.items()
        for base, other in layers.items()
        if issubclass(one, other) and other not in (one, torch.nn.Module) and issubclass(other, torch.nn.Module)
    }
    assert derived == LAYER_BASES
