"""The output formats whose reports can be merged, and the merge of reports in one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from devlint.merge import json_reports, junit_reports, sarif_reports
from devlint.merge.reported_finding import ReportedFinding, ReportError
from devlint.output import MERGEABLE


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A form of reports: how its texts begin, and the functions that read and write the findings of a text."""

    start: str
    read: Callable[[str], list[ReportedFinding[Any]]]
    write: Callable[[Sequence[ReportedFinding[Any]]], Iterator[str]]


FORMS: Final[Mapping[str, ReportForm]] = {
    "json": ReportForm("[", json_reports.read, json_reports.write),
    "sarif": ReportForm("{", sarif_reports.read, sarif_reports.write),
    "junit": ReportForm("<", junit_reports.read, junit_reports.write),
}
"""The forms by the names of their output formats."""


@dataclass(frozen=True, slots=True)
class Report:
    """One report: its file, the name of its form, and its findings in their order."""

    path: Path
    form: str
    findings: Sequence[ReportedFinding[Any]]


def read_report(path: Path) -> Report:
    """Return the report in a file. Raise ReportError if the file holds none of this devlint in any of the forms."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ReportError(f"{path}: {problem.strerror}") from None
    except ValueError:
        raise ReportError(f"{path}: not a text in UTF-8") from None
    name = next((name for name, form in FORMS.items() if text.lstrip().startswith(form.start)), None)
    if name is None:
        raise ReportError(f"{path}: {'not a report in the form' if text.strip() else 'empty, and not'} {_any_form()}")
    try:
        return Report(path, name, FORMS[name].read(text))
    except ReportError as problem:
        raise ReportError(f"{path}: {problem}") from None


def reports_by_form(reports: Sequence[Report]) -> Mapping[str, Sequence[Report]]:
    """Return the reports of each form, by its name. Raise ReportError if two of a form are not of shards of one run.

    The shards of a run have no file in common.
    """
    found: dict[str, list[Report]] = defaultdict(list)
    homes: dict[tuple[str, str], Report] = {}
    for report in reports:
        for file in dict.fromkeys(one.file for one in report.findings):
            other = homes.setdefault((report.form, file), report)
            if other is not report:
                raise ReportError(
                    f"{report.path}: has findings in {file}, as {other.path} has: these are not shards of one run"
                )
        found[report.form].append(report)
    return found


def merged_findings(reports: Sequence[Report]) -> list[ReportedFinding[Any]]:
    """Return the findings of reports in the order of the report on the whole run: by files."""
    # Those of one file are in one report, where they have their order.
    return sorted((one for report in reports for one in report.findings), key=lambda one: one.file)


def _any_form() -> str:
    """Return the names of the forms for a message."""
    *others, last = MERGEABLE
    return f"{', '.join(others)} or {last}"
