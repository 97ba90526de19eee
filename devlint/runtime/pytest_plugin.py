"""`pytest --devlint`: run a project's own suite as if on an accelerator. Costs nothing unless it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from devlint.runtime.recording_report import Report

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
        config.pluginmanager.register(Companion(mode, config), "devlint-companion")


class Companion:
    """Records every test, and tells the story of what failed. Under pytest-xdist each worker records its own."""

    def __init__(self, mode: str, config: pytest.Config) -> None:
        self._mode = mode
        self._config = config
        self._open: list[AbstractContextManager[Any]] = []
        self._report: Report | None = None
        self._worker_reports: dict[str, str] = {}

    def pytest_sessionstart(self) -> None:
        """Before anything of the project is imported."""
        if self._config.pluginmanager.hasplugin("dsession"):
            return
        import torch

        from devlint.runtime import emulate, record

        if self._mode == "cuda" and not torch.cuda.is_available():
            raise pytest.UsageError("--devlint=cuda: there is no CUDA device")
        if self._mode == "emulated":
            self._enter(emulate())
        self._report = self._enter(record())
        self._report.device = "1 emulated cuda" if self._mode == "emulated" else "cuda"
        _hide_own_frames()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Add the story to a failure."""
        outcome = yield
        error = call.excinfo.value if call.excinfo is not None else None
        story = _story(error) if error is not None and self._report is not None else ""
        if story:
            outcome.get_result().sections.append(("devlint", story))

    def pytest_sessionfinish(self) -> None:
        """Put torch back as it was; a worker hands its report over."""
        while self._open:
            self._open.pop().__exit__(None, None, None)
        if self._report is not None and hasattr(self._config, "workeroutput"):
            self._config.workeroutput["devlint"] = "".join(self._report.full())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker has ended, and its report is here."""
        report = getattr(node, "workeroutput", {}).get("devlint")
        if report is not None:
            self._worker_reports[node.gateway.id] = report

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What the suite moved and waited for."""
        for worker, report in sorted(self._worker_reports.items()):
            terminalreporter.section(f"devlint, {worker}")
            terminalreporter.write(report)
        if self._report is not None:
            terminalreporter.section("devlint")
            for part in self._report.full():
                terminalreporter.write(part)

    def _enter(self, context: AbstractContextManager[Any]) -> Any:
        entered = context.__enter__()
        self._open.append(context)
        return entered


def _hide_own_frames() -> None:
    """Let tracebacks end where the project's code does."""
    for name, module in list(sys.modules.items()):
        if name.startswith("devlint.runtime."):
            vars(module)["__tracebackhide__"] = True


def _story(error: BaseException) -> str:
    """What devlint saw of an error: the operands and where they come from."""
    from devlint.runtime.error_reports import recorded_observation

    seen = recorded_observation(error)
    if seen is None:
        return ""
    steps = [f"  {step.message}: {step.site}" for step in seen.steps if step.site is not None]
    return "\n".join([f"{seen.code} at {seen.site}", *steps])
