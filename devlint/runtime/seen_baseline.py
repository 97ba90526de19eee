"""Baselines of runs: the errors that are known to happen, so that only new ones count.

The file is that of `devlint check --baseline`, and errors are recognised in the same way: by their code, not by line.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.runtime.device_coverage import path_below
from devlint.triage.baseline import baseline_entry, baseline_text, compare_with_baseline, read_baseline
from devlint.triage.fingerprint import add_fingerprints


def new_errors(errors: Iterable[Diagnostic], baseline: Path) -> Sequence[Diagnostic]:
    """Return those of the errors seen in a run that a baseline file does not record.

    Raises BaselineError if the file cannot be read.
    """
    root = baseline.absolute().parent
    return compare_with_baseline(
        list(add_fingerprints(list(errors), _lines)),
        read_baseline(baseline),
        file_of=lambda name: path_below(name, root),
        is_judged=lambda entry: False,
        exists=lambda file: (root / file).exists(),
    ).new


def write_baseline(errors: Iterable[Diagnostic], baseline: Path) -> None:
    """Write a baseline file that records the errors seen in a run."""
    root = baseline.absolute().parent
    found = add_fingerprints(list(errors), _lines)
    entries = [baseline_entry(one, lambda name: path_below(name, root)) for one in found]
    baseline.write_text(baseline_text(entries), encoding="utf-8")


def _lines(filename: str, cell: int | None) -> Sequence[str]:
    """Return the lines of a source file without their line ends. Notebooks are not run, so there is no cell."""
    return [line.rstrip("\n") for line in linecache.getlines(filename)]
