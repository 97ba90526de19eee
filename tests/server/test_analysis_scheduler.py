from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from devlint.server.analysis_scheduler import AnalysisScheduler
from devlint.server.analysis_session import AnalysisJob, AnalysisResult, AnalysisSession
from devlint.server.preferences import Preferences, WorkspaceSettings

PROGRAM = 'import torch\n\n\ndef move(batch: torch.Tensor):\n    batch.to("cuda")\n    return batch\n'


@pytest.mark.asyncio
async def test_what_fails_once_is_looked_at_again(tmp_path, monkeypatch):
    path = Path(tmp_path).resolve() / "a.py"
    settings = WorkspaceSettings({}, Preferences(), pytest.fail).settings(path)
    assert settings is not None
    analyse_of, sessions, failures, seen = AnalysisSession.analyse, [], [], []

    def analyse(self: AnalysisSession, *arguments: object) -> AnalysisResult | None:
        sessions.append(self)
        if len(sessions) == 2:
            raise ValueError("the analysis is wrong")
        return analyse_of(self, *arguments)

    monkeypatch.setattr(AnalysisSession, "analyse", analyse)
    scheduler = AnalysisScheduler(
        lambda: AnalysisJob({path: PROGRAM}, {path: settings}),
        lambda result, done: seen.append([one.code for one in result.files[path].diagnostics]),
        lambda done, of: None,
        failures.append,
    )
    for expected in (["DEV201"], None, ["DEV201"]):
        seen.clear()
        scheduler.schedule(0)
        await asyncio.wait_for(scheduler.wait_for_all_files(), 60)
        assert seen == ([] if expected is None else [expected, expected])
    scheduler.close()
    assert [str(one) for one in failures] == ["the analysis is wrong"]
    assert sessions[0] is sessions[1] is not sessions[2], "what it failed on is not remembered"


@pytest.mark.asyncio
async def test_what_is_out_of_date_is_not_delivered(tmp_path):
    path = Path(tmp_path).resolve() / "a.py"
    settings = WorkspaceSettings({}, Preferences(), pytest.fail).settings(path)
    assert settings is not None
    texts, seen = [PROGRAM], []

    def deliver(result: AnalysisResult, done: bool) -> None:
        seen.append((result.files[path].text, done))

    def job() -> AnalysisJob:
        return AnalysisJob({path: texts[-1]}, {path: settings})

    scheduler = AnalysisScheduler(job, deliver, lambda done, of: None, pytest.fail)
    for number in range(20):
        texts.append(f"{PROGRAM}\nx = {number}\n")
        scheduler.schedule(0)
        await asyncio.sleep(0.001 * number)
    await asyncio.wait_for(scheduler.wait_for_open_files(), 60)
    assert seen[-2:] == [(texts[-1], False), (texts[-1], True)]
    order = [texts.index(text) for text, _ in seen]
    assert order == sorted(order)
    scheduler.close()
