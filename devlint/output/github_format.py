"""The output format `github`: workflow commands that GitHub Actions shows as annotations of source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic, Severity
from devlint.output.finding_text import explanation_lines, headline
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a GitHub workflow command for each finding; its text holds the message, the trace and the help."""
    for diagnostic in diagnostics:
        start, end = diagnostic.region.start, diagnostic.region.end
        properties = {
            "title": f"devlint ({diagnostic.code})",
            "file": context.relative(diagnostic.region.filename),
            "line": str(start.row),
            "endLine": str(end.row),
        }
        # GitHub drops an annotation whose columns belong to different lines.
        if start.row == end.row:
            properties |= {"col": str(start.column), "endColumn": str(end.column)}
        listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
        text = "\n".join([f"{format_place(diagnostic.region)}: {headline(diagnostic)}", *explanation_lines(diagnostic)])
        yield f"::{_COMMANDS[diagnostic.severity]} {listed}::{text.translate(_MESSAGE)}\n"
