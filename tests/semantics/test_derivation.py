"""The committed table against the installed torch: a seeded sample is derived anew and compared."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("expecttest", reason="torch's own samples need it")

from devlint.runtime import emulate
from devlint.runtime.derive import agreement, assemble, coverage, modules, names
from devlint.semantics.table import load_table

TABLE = load_table()
pytestmark = pytest.mark.skipif(
    torch.__version__.split("+")[0] != TABLE.version, reason=f"the table was derived from torch {TABLE.version}"
)


def sample(count: int) -> set[str]:
    callables = [n for n in (*names.functions(), *names.methods(), *modules.classes()) if not n.endswith("_")]
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
    derived = assemble.rows_of(lambda name: name in chosen)
    assert derived.keys() == chosen
    committed = {name: TABLE.cells(name) for name in chosen}
    assert {n: c for n, c in derived.items() if c != committed[n]} == {}


def test_a_sample_of_results_has_the_predicted_dtypes() -> None:
    chosen = sample(120)
    tally = agreement.result_dtypes(TABLE, lambda name: name in chosen)
    assert tally.probes > 1000
    assert tally.share >= 0.995, "\n".join(tally.misses)


def test_a_sample_of_device_flips_goes_as_predicted_on_the_emulated_device() -> None:
    chosen = sample(300)
    with emulate():
        tally = agreement.device_flips(TABLE, lambda name: name in chosen)
    assert tally.probes > 500
    assert tally.share >= 0.99, "\n".join(tally.misses)


def test_every_factory_that_torch_counts_is_a_factory_here() -> None:
    from torch.utils._device import _device_constructors

    known = {id(function): name for name, function in names.functions().items()}
    rows = {known[id(f)]: TABLE.find(known[id(f)]) for f in _device_constructors() if id(f) in known}
    assert len(rows) > 25
    for name, row in rows.items():
        assert row is not None and row.device.startswith("kwarg"), name


def test_the_committed_figures_are_those_of_the_committed_rows() -> None:
    rows = {name: TABLE.cells(name) for name in TABLE}
    assert coverage.summary(rows) == {k: v for k, v in TABLE.coverage.items() if k != "agreement"}
