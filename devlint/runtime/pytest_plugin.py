"""The pytest plugin behind `pytest --devlint`: run a test suite on an emulated accelerator, or record a real one.

Without the option the plugin does nothing and does not import torch.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from devlint.runtime.recording_report import Report

MODES = ("emulated", "cuda")
"""The values of `--devlint`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--devlint[=emulated|cuda]`."""
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
    """Register the companion plugin if `--devlint` is given."""
    mode = config.getoption("--devlint")
    if mode is not None:
        config.pluginmanager.register(Companion(mode, config), "devlint-companion")


class Companion:
    """Records a test suite and adds operand histories to failure reports.

    Under pytest-xdist each worker records its own tests.
    """

    def __init__(self, mode: str, config: pytest.Config) -> None:
        self._mode = mode
        self._config = config
        self._open: list[AbstractContextManager[Any]] = []
        self._report: Report | None = None
        self._worker_reports: dict[str, str] = {}

    def pytest_sessionstart(self) -> None:
        """Start emulating and recording, before pytest imports anything of the project."""
        if self._config.pluginmanager.hasplugin("dsession"):
            return
        # Imported here because torch is an optional dependency, which is not needed without `--devlint`.
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
        """Add the operand history of an observed error to the report of a failed test."""
        outcome = yield
        error = call.excinfo.value if call.excinfo is not None else None
        story = _story(error) if error is not None and self._report is not None else ""
        if story:
            outcome.get_result().sections.append(("devlint", story))

    def pytest_sessionfinish(self) -> None:
        """Stop emulating and recording; a pytest-xdist worker hands its report to the controller."""
        while self._open:
            self._open.pop().__exit__(None, None, None)
        if self._report is not None and hasattr(self._config, "workeroutput"):
            self._config.workeroutput["devlint"] = "".join(self._report.full())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Keep the report of a pytest-xdist worker that has ended."""
        report = getattr(node, "workeroutput", {}).get("devlint")
        if report is not None:
            self._worker_reports[node.gateway.id] = report

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the report of the suite, or those of the pytest-xdist workers."""
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
    """Hide devlint's frames from pytest's tracebacks."""
    for name, module in list(sys.modules.items()):
        if name.startswith("devlint.runtime."):
            vars(module)["__tracebackhide__"] = True


def _story(error: BaseException) -> str:
    """Return the history of the operands that caused an error, as text; empty if nothing was observed."""
    # Imported here because it imports torch, an optional dependency.
    from devlint.runtime.error_reports import recorded_observation

    seen = recorded_observation(error)
    if seen is None:
        return ""
    steps = [f"  {step.message}: {step.site}" for step in seen.steps if step.site is not None]
    return "\n".join([f"{seen.code} at {seen.site}", *steps])
