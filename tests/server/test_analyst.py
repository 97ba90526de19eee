from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from devlint.server.analyst import Analyst
from devlint.server.preferences import Book, Preferences
from devlint.server.session import Job, Look, Session

PROGRAM = 'import torch\n\n\ndef move(batch: torch.Tensor):\n    batch.to("cuda")\n    return batch\n'


@pytest.mark.asyncio
async def test_what_fails_once_is_looked_at_again(tmp_path, monkeypatch):
    path = Path(tmp_path).resolve() / "a.py"
    settings = Book({}, Preferences(), pytest.fail).settings(path)
    assert settings is not None
    look_of, sessions, failures, seen = Session.look, [], [], []

    def look(self: Session, *arguments: object) -> Look | None:
        sessions.append(self)
        if len(sessions) == 2:
            raise ValueError("the analysis is wrong")
        return look_of(self, *arguments)

    monkeypatch.setattr(Session, "look", look)
    analyst = Analyst(
        lambda: Job({path: PROGRAM}, {path: settings}),
        lambda look, done: seen.append([one.code for one in look.views[path].diagnostics]),
        lambda done, of: None,
        failures.append,
    )
    for expected in (["DEV201"], None, ["DEV201"]):
        seen.clear()
        analyst.change(0)
        await asyncio.wait_for(analyst.finished(), 60)
        assert seen == ([] if expected is None else [expected, expected])
    analyst.close()
    assert [str(one) for one in failures] == ["the analysis is wrong"]
    assert sessions[0] is sessions[1] is not sessions[2], "what it failed on is not remembered"


@pytest.mark.asyncio
async def test_what_is_out_of_date_is_not_delivered(tmp_path):
    path = Path(tmp_path).resolve() / "a.py"
    settings = Book({}, Preferences(), pytest.fail).settings(path)
    assert settings is not None
    texts, seen = [PROGRAM], []

    def deliver(look: Look, done: bool) -> None:
        seen.append((look.views[path].text, done))

    def job() -> Job:
        return Job({path: texts[-1]}, {path: settings})

    analyst = Analyst(job, deliver, lambda done, of: None, pytest.fail)
    for number in range(20):
        texts.append(f"{PROGRAM}\nx = {number}\n")
        analyst.change(0)
        await asyncio.sleep(0.001 * number)
    await asyncio.wait_for(analyst.rested(), 60)
    assert seen[-2:] == [(texts[-1], False), (texts[-1], True)]
    order = [texts.index(text) for text, _ in seen]
    assert order == sorted(order)
    analyst.close()
