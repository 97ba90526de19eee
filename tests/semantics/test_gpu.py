"""The table against a real accelerator: device flips, result dtypes, and what makes the host wait."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("expecttest", reason="torch's own samples need it")

from devlint.runtime.derive import agreement
from devlint.runtime.derive.probe_device import probe_accelerator
from devlint.semantics.table import load_torch_table

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
TABLE = load_torch_table()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def told(tally: agreement.Tally) -> str:
    lines = [f"{tally.probes - len(tally.misses)} of {tally.probes} agree ({tally.share:.2%})", *tally.misses]
    sys.stdout.write("\n".join([*lines, ""]))
    return "\n".join(lines)


def test_device_flips() -> None:
    tally = agreement.compare_device_flips(TABLE)
    assert tally.share >= 0.99, told(tally)
    told(tally)


def test_result_dtypes() -> None:
    tally = agreement.compare_result_dtypes(TABLE, device="cuda")
    assert tally.share >= 0.995, told(tally)
    told(tally)


def test_what_makes_the_host_wait() -> None:
    tally = agreement.compare_waits(TABLE)
    assert tally.share >= 0.95, told(tally)
    told(tally)


def test_the_alarm_and_the_profiler_tell_of_the_same_waits() -> None:
    tally = agreement.compare_wait_detectors(TABLE)
    assert tally.share >= 0.9, told(tally)
    told(tally)


def test_a_real_device_is_asked_where_there_is_one() -> None:
    with probe_accelerator() as source:
        assert source == "gpu"
        assert torch.zeros(1, device="cuda").is_cuda
