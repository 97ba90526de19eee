"""The settings of the tests themselves: they pass where interrupts are ignored, and none can hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_tests(*arguments: str | Path, ignoring: bool = False) -> subprocess.CompletedProcess[str]:
    """Run pytest with the settings of this repository; `ignoring` SIGINT, as in a background job of a shell."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignoring else None,
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_tests_of_interrupts_pass_where_interrupts_are_ignored() -> None:
    one = "test_end_to_end.py::test_an_interrupt_is_quiet"
    done = run_tests(ROOT / "tests" / "cli" / one, ignoring=True)
    assert "1 passed" in done.stdout, done.stdout


def test_a_test_that_hangs_is_ended(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text("import time\n\ndef test_it():\n    time.sleep(600)\n", encoding="utf-8")
    done = run_tests("-o", "timeout=1", "--rootdir", tmp_path, tmp_path)
    assert done.returncode == 1 and "Timeout" in done.stdout


def test_every_test_has_a_time_limit(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.hasplugin("timeout")
    assert float(request.config.getini("timeout")) > 0
    marks = {one.nodeid: list(one.iter_markers("timeout")) for one in request.session.items}
    assert [name for name, limits in marks.items() if any(0 in one.args for one in limits)] == []
