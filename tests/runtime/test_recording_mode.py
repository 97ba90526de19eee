"""Tests of recording on real devices: programs behave as before, and the report says what cannot be seen."""

from __future__ import annotations

import threading
import types
import warnings
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from devlint.runtime import Report, record, sync_debug
from devlint.runtime.recorder import Recorder
from devlint.runtime.runtime_session import RuntimeSession


def operators(report: Report) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in report.recorder.lines.values():
        for name, count in line.operators.items():
            counts[name] = counts.get(name, 0) + count
    return counts


def test_graphs_are_compiled_as_without_recording() -> None:
    graphs: list[Any] = []

    def backend(graph: torch.fx.GraphModule, examples: list[torch.Tensor]) -> Any:
        graphs.append(graph)
        return graph.forward

    x = torch.randn(4)
    with record() as report:
        compiled = torch.compile(lambda x: x.sin() * 2, backend=backend)
        out = compiled(x)
    assert len(graphs) == 1
    assert torch.equal(out, x.sin() * 2)
    assert any("inside compiled graphs are not seen" in remark for remark in report.remarks)
    torch._dynamo.reset()


def test_threads_are_recorded() -> None:
    with record() as report:
        thread = threading.Thread(target=lambda: torch.ones(3).cosh())
        thread.start()
        thread.join()
    assert operators(report)["cosh"] == 1


def test_the_backward_pass_counts_for_its_line() -> None:
    with record() as report:
        torch.ones(3, requires_grad=True).exp().sum().backward()
    (line,) = report.recorder.lines.values()
    assert line.operators["exp"] == 1 and line.operators["mul"] == 1


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_inference_is_recorded(mode: Any) -> None:
    with record() as report, mode():
        out = torch.ones(3).cosh()
    assert operators(report)["cosh"] == 1 and not out.requires_grad


def test_the_report_says_that_workers_are_not_recorded(forked: Any) -> None:
    def load() -> tuple[list[float], list[str]]:
        with record() as report:
            loader = DataLoader(TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=1)
            sums = [batch.sum().item() for (batch,) in loader]
        return sums, report.remarks

    sums, remarks = forked(load)
    assert sums == [1.0, 5.0]
    assert any("DataLoader workers" in remark for remark in remarks)


def test_sync_warnings_of_cuda_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = ["off"]
    cuda = types.SimpleNamespace(
        is_initialized=lambda: True, get_sync_debug_mode=lambda: modes[-1], set_sync_debug_mode=modes.append
    )
    monkeypatch.setattr(sync_debug, "_cuda", cuda)
    session, recorder = RuntimeSession(None, 0), Recorder()
    session.recorders.append(recorder)
    listener = sync_debug.SyncDebugListener(session)
    with pytest.warns(UserWarning, match="of the program") as seen:
        listener.start()
        for _ in range(2):
            warnings.warn(f"{sync_debug.SYNC_WARNING} (Triggered internally)", stacklevel=1)
        warnings.warn("of the program", stacklevel=1)
        listener.stop()
    assert modes == ["off", "warn", "off"]
    assert len(seen) == 1
    (remark,) = Report(recorder).remarks
    assert "CUDA says that the host waits at" in remark and "(2x)" in remark
