"""pytest plugin that seeds each test, and writes how each one ended to the file that `SUITE_OUTCOMES` names.

A line is a JSON object: `test`, `outcome`, and for a failed or skipped test `error` (the message's first line), `place`
(the innermost line of the checkout that the error came through) and `devlint` (what the companion said about it).
Every test is seeded, so that those that fail by chance are few.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest
import torch

SEED = 0
OUTCOMES = Path(os.environ["SUITE_OUTCOMES"])
LONGEST = 400
"""The number of characters of a message that are kept."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed the generators that a test may draw from."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Note on a report where its error came through the code of the checkout."""
    outcome = yield
    if call.excinfo is not None:
        outcome.get_result().place = _innermost(call.excinfo.tb)


def pytest_runtest_logreport(report: Any) -> None:
    """Write how a test ended, or that its set-up or an own part of it failed."""
    _write(report)


def pytest_collectreport(report: Any) -> None:
    """Write that a file could not be imported, or skips itself."""
    if report.outcome != "passed":
        _write(report)


def _write(report: Any) -> None:
    """Write a line for one report."""
    if report.outcome == "passed" and report.when != "call":
        return
    part = getattr(report, "context", None)
    line = {"test": report.nodeid if part is None else f"{report.nodeid} {part}", "outcome": report.outcome}
    if report.outcome != "passed":
        line["outcome"] = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        line["error"] = _message(report)
        line["place"] = getattr(report, "place", "")
        line["devlint"] = next((text for name, text in report.sections if name == "devlint"), "")
    with OUTCOMES.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def _message(report: Any) -> str:
    """Return the first line of what a report says about its error."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).partition("\n")[0][:LONGEST]
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr).strip().rpartition("\n")[2]
    return str(text).partition("\n")[0][:LONGEST]


def _innermost(traceback: TracebackType | None) -> str:
    """Return the file and row of the innermost frame of an error that lies in the working directory."""
    place = ""
    while traceback is not None:
        path = Path(traceback.tb_frame.f_code.co_filename)
        if path.is_relative_to(Path.cwd()):
            place = f"{path.relative_to(Path.cwd())}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
