"""The forms of the report of a recorded program: those of `devlint run` itself, and the formats of `devlint check`."""

from __future__ import annotations

from pathlib import Path

from devlint.linter.rule_listing import all_rule_metadata
from devlint.output import find_format
from devlint.output.report_context import ReportContext
from devlint.runtime.html_report import render_page
from devlint.runtime.outcome_texts import with_evidence, with_relative_paths
from devlint.runtime.recording_report import Report
from devlint.runtime.report_wording import source_lines
from devlint.triage.fingerprint import add_fingerprints


def render_report(
    report: Report, form: str, *, base: Path, color: bool = False, everything: bool = False, columns: int | None = None
) -> str:
    """Return the report of a recorded program in one of the formats that `devlint.output.FORMATS` names.

    `full`, `json` and `html` show all of the report. The other formats show the findings that were seen to happen, each
    with what was seen. `base` is the directory to which the services that read them resolve paths. `everything` lifts
    the limits on the length of `full`; `columns` is the width of the terminal that shows it, if one does.
    """
    if form == "full":
        return "".join(report.full(color=color, everything=everything, columns=columns))
    if form == "json":
        return report.json() + "\n"
    if form == "html":
        return render_page(report)
    seen = [with_relative_paths(with_evidence(outcome)) for outcome in report.outcomes if outcome.seen]
    context = ReportContext(
        lines=source_lines,
        color=color,
        checked=len({filename for filename, _ in report.ran}),
        rules={rule.code: rule for rule in all_rule_metadata()},
        base=base,
    )
    findings = list(add_fingerprints(sorted(seen, key=lambda found: found.order), source_lines))
    return "".join(find_format(form)(findings, context))
