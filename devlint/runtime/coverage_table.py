"""Device coverage as a table in the HTML page of a recorded run."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from devlint.runtime.device_coverage import FileCoverage, coverage_text, device_coverage, path_below
from devlint.runtime.html_tables import WIDE_TABLE, heads
from devlint.runtime.recorder import Recorder


def coverage_table(recorder: Recorder, root: Path) -> Iterator[str]:
    """Yield the HTML of a run's device coverage in parts: its text, and a table of the files with their functions."""
    coverage = device_coverage(recorder, root)
    summary = next(iter("".join(coverage_text(coverage, root)).splitlines()))
    yield f'<p class="quiet">{escape(summary.removeprefix("device coverage: "))}</p>\n'
    files_with_functions = [file for file in coverage.files if file.judged]
    if not files_with_functions:
        return
    yield WIDE_TABLE + heads("File", "Functions", "On the accelerator", "Only on the host")
    for file in files_with_functions:
        yield _coverage_row(file, root)
    yield "</table></div>\n"


def _coverage_row(file: FileCoverage, root: Path) -> str:
    """Return the row of one file in the table of device coverage."""
    names = ", ".join(f"{one.name}:{one.line}" for one in file.on_host)
    used = len(file.judged) - len(file.on_host)
    return (
        f'<tr><td><span class="place">{escape(path_below(file.filename, root))}</span></td>'
        f'<td class="number">{len(file.judged)}</td><td class="number">{used}</td><td>{escape(names)}</td></tr>\n'
    )
