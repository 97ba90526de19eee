"""The pytest plugin behind `pytest --devlint`: run a test suite on an emulated accelerator, or record a real one.

Without the option the plugin does nothing and does not import torch.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from devlint.runtime.backends import EMULATED_OPTIONS, emulated_kind

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from devlint.runtime.recording_report import Report

MODES = (*EMULATED_OPTIONS, "cuda")
"""The values of `--devlint`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--devlint[=emulated|emulated:xpu|...|cuda]` to pytest's command line."""
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
    """Register the plugin object that emulates and records, if pytest was started with `--devlint`."""
    mode = config.getoption("--devlint")
    if mode is not None:
        config.pluginmanager.register(Companion(mode, config), "devlint-companion")


class Companion:
    """Pytest plugin object that records a test suite and adds the history of operands' devices to failure reports.

    Under pytest-xdist each worker records its own tests.
    """

    def __init__(self, mode: str, config: pytest.Config) -> None:
        self._mode = mode
        self._config = config
        self._open: list[AbstractContextManager[Any]] = []
        self._report: Report | None = None
        self._worker_reports: dict[str, str] = {}

    def pytest_sessionstart(self) -> None:
        """Start emulating and recording, before pytest imports anything of the tested project."""
        if self._config.pluginmanager.hasplugin("dsession"):
            return
        # Imported here because torch is an optional dependency, which is not needed without `--devlint`.
        import torch

        from devlint.runtime import emulate, record

        if self._mode == "cuda" and not torch.cuda.is_available():
            raise pytest.UsageError("--devlint=cuda: there is no CUDA device")
        kind = emulated_kind(self._mode)
        if kind is not None:
            self._enter(emulate(kind=kind))
        self._report = self._enter(record())
        self._report.device = "cuda" if kind is None else f"1 emulated {kind}"
        _hide_own_frames()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Add the history of the operands' devices to the report of a test that failed with an error about devices."""
        outcome = yield
        error = call.excinfo.value if call.excinfo is not None else None
        story = _operand_history_text(error) if error is not None and self._report is not None else ""
        if story:
            outcome.get_result().sections.append(("devlint", story))

    def pytest_sessionfinish(self) -> None:
        """Stop emulating and recording at the end of the test session.

        A pytest-xdist worker hands its devlint report to the controller process.
        """
        while self._open:
            self._open.pop().__exit__(None, None, None)
        if self._report is not None and hasattr(self._config, "workeroutput"):
            self._config.workeroutput["devlint"] = "".join(self._report.full())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Keep devlint's report from a pytest-xdist worker that has ended, for the summary."""
        report = getattr(node, "workeroutput", {}).get("devlint")
        if report is not None:
            self._worker_reports[node.gateway.id] = report

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write devlint's report of the test suite to the terminal, or the reports of all pytest-xdist workers."""
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
    """Make pytest leave the frames of devlint out of the tracebacks that it shows."""
    for name, module in list(sys.modules.items()):
        if name.startswith("devlint.runtime."):
            vars(module)["__tracebackhide__"] = True


def _operand_history_text(error: BaseException) -> str:
    """Return how the operands of a failed operator came to their devices, as text for a test report.

    Returns the empty string if devlint recorded nothing for the exception.
    """
    # Imported here because it imports torch, an optional dependency.
    from devlint.runtime.error_reports import recorded_observation

    seen = recorded_observation(error)
    if seen is None:
        return ""
    steps = [f"  {step.message}: {step.site}" for step in seen.steps if step.site is not None]
    return "\n".join([f"{seen.code} at {seen.site}", *steps])
