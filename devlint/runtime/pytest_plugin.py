"""`pytest --devlint`: run a project's own suite as if on an accelerator. Costs nothing unless it is asked for."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from devlint.runtime.report import Report

MODES = ("emulated", "cuda")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--devlint[=emulated|cuda]`."""
    group = parser.getgroup("devlint")
    group.addoption(
        "--devlint",
        nargs="?",
        const="emulated",
        choices=MODES,
        default=None,
        help="run the tests on an emulated accelerator (or watch them on the real one), and report",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the companion for the whole session."""
    mode = config.getoption("--devlint")
    if mode is not None:
        config.pluginmanager.register(Companion(mode), "devlint-companion")


class Companion:
    """Records every test, and tells the story of what failed."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._open: list[AbstractContextManager[Any]] = []
        self._report: Report | None = None

    def pytest_sessionstart(self) -> None:
        """Before anything of the project is imported."""
        import torch

        from devlint.runtime import emulate, record

        if self._mode == "cuda" and not torch.cuda.is_available():
            raise pytest.UsageError("--devlint=cuda: there is no CUDA device")
        if self._mode == "emulated":
            self._enter(emulate())
        self._report = self._enter(record())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Add the story to a failure."""
        outcome = yield
        error = call.excinfo.value if call.excinfo is not None else None
        story = _story(self._report, error) if error is not None and self._report is not None else ""
        if story:
            outcome.get_result().sections.append(("devlint", story))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What the suite moved and waited for."""
        if self._report is None:
            return
        terminalreporter.section("devlint")
        for part in self._report.full():
            terminalreporter.write(part)

    def pytest_sessionfinish(self) -> None:
        """Put torch back as it was."""
        while self._open:
            self._open.pop().__exit__(None, None, None)

    def _enter(self, context: AbstractContextManager[Any]) -> Any:
        entered = context.__enter__()
        self._open.append(context)
        return entered


def _story(report: Report, error: BaseException) -> str:
    """What devlint saw of an error: the operands and where they come from."""
    for observations in report.recorder.observations.values():
        for seen in observations:
            if seen.raised and seen.message in str(error):
                steps = [f"  {step.message}: {step.site}" for step in seen.steps if step.site is not None]
                return "\n".join([f"{seen.code} at {seen.site}", *steps])
    return ""
