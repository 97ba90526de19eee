"""The plugin object of `pytest --devlint`: it emulates and records while a test suite runs, and reports at the end."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from devlint.config.config_error import ConfigError
from devlint.diagnostic import Diagnostic
from devlint.runtime import runtime_session
from devlint.runtime.backends import emulated_kind
from devlint.runtime.call_sites import is_library
from devlint.runtime.configured_linter import ConfiguredLinter
from devlint.runtime.device_coverage import coverage_text, device_coverage, path_below, share_on_device
from devlint.runtime.error_reports import report_uncaught_error, user_sites
from devlint.runtime.exported_cases import export_cases
from devlint.runtime.failed_tests import add_story, name_findings
from devlint.runtime.html_report import render_page
from devlint.runtime.line_coverage import LineCoverage
from devlint.runtime.moved_tests import MovedTests
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.patches import moved_modules
from devlint.runtime.patches.patcher import Patcher
from devlint.runtime.program_runner import note_error
from devlint.runtime.pytest_options import MARKER
from devlint.runtime.record_and_emulate import emulate, record
from devlint.runtime.recorder import Recorder
from devlint.runtime.recording_report import Report
from devlint.runtime.report_wording import count_text
from devlint.runtime.seen_baseline import new_errors, write_baseline
from devlint.runtime.worker_recordings import add_recording, pack_recording
from devlint.triage.baseline import BaselineError, NoBaselineError, read_baseline

_WORKER_OUTPUT = "devlint"
"""The key under which a pytest-xdist worker hands over what it recorded."""


class Companion:
    """Pytest plugin object that emulates and records a test suite, and says at the end what ran where.

    A failed test gets the history of its operands' devices. One that needs what devlint does not emulate is skipped.
    Under pytest-xdist each worker records its own tests, and the controller joins what they recorded.
    """

    def __init__(self, mode: str, root: Path, *, moves: bool = False) -> None:
        self._mode = mode
        self._moves = moves
        self._moved: MovedTests | None = None
        self._root = root
        self._open = ExitStack()
        self._report = Report(Recorder())
        self._linter: ConfiguredLinter | None = None
        self._lines = LineCoverage(only_if_cheap=True, on_error=note_error)
        self._files: set[str] = set()
        self._counted: Sequence[Diagnostic] = ()
        self._any_test_ran = False

    @property
    def report(self) -> Report:
        """The report of what was recorded, complete when the session has finished."""
        return self._report

    def read_configuration(self) -> None:
        """Prepare the static analysis; raise UsageError if the project's configuration cannot be used."""
        try:
            self._linter = ConfiguredLinter()
            self._linter.validate_settings(self._root)
        except ConfigError as problem:
            raise pytest.UsageError(str(problem)) from None

    def validate_baseline(self, baseline: Path) -> None:
        """Raise UsageError, before any test runs, if a baseline file cannot be read."""
        try:
            read_baseline(baseline)
        except NoBaselineError as problem:
            raise pytest.UsageError(f"{problem}; --devlint-update-baseline makes it") from None
        except BaselineError as problem:
            raise pytest.UsageError(str(problem)) from None

    def start(self) -> None:
        """Start emulating and recording."""
        if self._mode == "cuda" and not torch.cuda.is_available():
            raise pytest.UsageError("--devlint=cuda: there is no CUDA device")
        kind = emulated_kind(self._mode)
        if kind is not None:
            session = self._open.enter_context(emulate(kind=kind))
            if self._moves:
                self._moved = session.test_rules = MovedTests(session, self._root)
                patcher = Patcher()
                self._open.callback(patcher.undo)
                moved_modules.install(self._moved, patcher)
        self._report = self._open.enter_context(record())
        self._report.device = "cuda" if kind is None else f"1 emulated {kind}"
        self._open.enter_context(self._lines)
        _hide_own_frames()

    def stop(self) -> None:
        """Stop emulating and recording."""
        self._open.close()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Place nothing on the accelerator for a test that is marked to stay on the host."""
        if self._moved is not None:
            self._moved.active = item.get_closest_marker(MARKER) is None
        yield
        if self._moved is not None:
            self._moved.active = True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, None]:
        """Skip the tests of a file whose import needs something that devlint does not emulate."""
        outcome = yield
        report = outcome.get_result()
        call = getattr(report, "call", None)
        if call is not None and call.excinfo is not None:
            _skip_if_not_emulated(report, call.excinfo.value)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Add to the report of a failed test how its operands came to their devices.

        A test that needs something that devlint does not emulate is reported as skipped, with that as the reason.
        """
        outcome = yield
        if call.excinfo is None:
            return
        report = outcome.get_result()
        if _skip_if_not_emulated(report, call.excinfo.value) or report.outcome != "failed":
            return
        session = runtime_session.active
        if session is not None and not isinstance(call.excinfo.value, AssertionError | pytest.fail.Exception):
            report_uncaught_error(session, call.excinfo.value)
        add_story(report, call.excinfo.value, moved=self._moved is not None and self._moved.active)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test has begun; under pytest-xdist the controller hears of the tests of all workers."""
        self._any_test_ran |= report.when != "teardown" and report.outcome != "skipped"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep what the tests loaded and ran; a pytest-xdist worker hands over to the controller what it recorded."""
        self._files |= _loaded_files(self._root)
        output = getattr(session.config, "workeroutput", None)
        if output is None:
            self._judge(session)
        else:
            output[_WORKER_OUTPUT] = (
                pack_recording(self._report.recorder),
                sorted(self._files),
                sorted(self._lines.ran),
            )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Add to the recording what a pytest-xdist worker that has ended recorded."""
        handed = getattr(node, "workeroutput", {}).get(_WORKER_OUTPUT)
        if handed is not None:
            packed, files, ran = handed
            add_recording(self._report.recorder, packed)
            self._files.update(files)
            self._lines.ran.update((filename, line) for filename, line in ran)

    def _judge(self, session: pytest.Session) -> None:
        """Judge the static findings by what all tests did, and make pytest fail for errors that must not be seen."""
        report, options = self._report, session.config.option
        report.recorder.finish()
        report.ran = frozenset(self._lines.ran)
        report.share_on_device = share_on_device(device_coverage(report.recorder, self._root))
        if self._linter is not None:
            report.apply_settings = self._linter.apply_settings
            try:
                report.findings = self._linter.findings(sorted(self._files))
            except ConfigError as problem:  # of a folder below
                report.notes.append(f"no static findings: {problem}")
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            failed = [*terminal.stats.get("failed", ()), *terminal.stats.get("error", ())]
            name_findings(failed, report, self._root)
        errors = [outcome.diagnostic for outcome in report.outcomes if outcome.fatal]
        baseline: Path | None = options.devlint_baseline
        if baseline is not None and options.devlint_update_baseline:
            write_baseline(errors, baseline)
        if options.devlint_exit_on == "new" and baseline is not None:
            self._counted = new_errors(errors, baseline)
        elif options.devlint_exit_on == "any":
            self._counted = errors
        if self._counted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _place(self, finding: Diagnostic) -> str:
        """Return the file and the line of a finding."""
        return f"{path_below(finding.region.filename, self._root)}:{finding.region.start.row}"

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Write the report of the test suite to the terminal, and to a file if one is asked for."""
        report = self._report
        terminalreporter.section("devlint")
        for part in self._text():
            terminalreporter.write(part)
        for error in self._counted:
            terminalreporter.write_line(f"--devlint-exit-on: {error.code} {self._place(error)}")
        target: Path | None = config.getoption("devlint_report")
        if target is not None:
            forms = {".json": lambda: report.json() + "\n", ".html": lambda: render_page(report)}
            text = forms.get(target.suffix, lambda: "".join(self._text()))()
            (config.invocation_params.dir / target).write_text(text, encoding="utf-8")
        cases: Path | None = config.getoption("devlint_export_cases")
        if cases is not None:
            written = export_cases(report, config.invocation_params.dir / cases)
            terminalreporter.write_line(f"devlint: {count_text(len(written), 'case')} written to {cases}")

    def _text(self) -> Iterator[str]:
        """Yield the report as text, with the device coverage of the suite at its end."""
        if not self._any_test_ran:
            yield "devlint: no test was run\n"
            if not self._report.recorder.observations:
                return
        yield from self._report.full()
        coverage = device_coverage(self._report.recorder, self._root)
        yield from coverage_text(coverage, self._root)
        if coverage.operators and not coverage.device_operators and self._moved is None:
            yield "--devlint=move runs the suite as if its tests had moved their modules and tensors there\n"


def _loaded_files(root: Path) -> set[str]:
    """Return the source files of the modules that are loaded from below a folder, without those of libraries."""
    names = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = (Path(name) for name in names if name and name.endswith(".py") and not is_library(name))
    return {str(path) for path in files if path.is_relative_to(root)}


def _hide_own_frames() -> None:
    """Make pytest leave the frames of devlint out of the tracebacks that it shows."""
    for name, module in list(sys.modules.items()):
        if name.startswith("devlint.runtime."):
            vars(module)["__tracebackhide__"] = True


def _skip_if_not_emulated(report: Any, error: BaseException | None) -> bool:
    """Turn a failed report into a skipped one if something that devlint does not emulate is the reason, and say so.

    Returns whether that is so.
    """
    while error is not None and not isinstance(error, NotEmulated):
        error = error.__cause__ or error.__context__
    if error is None or report.outcome != "failed":
        return False
    passed = user_sites(error.__traceback__)
    place = (passed[0].filename, passed[0].line) if passed else (report.nodeid, 1)
    report.outcome = "skipped"
    report.longrepr = (*place, f"Skipped: {error}")
    return True
