"""The output format `grouped`: the name of each file, followed by the findings in that file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from devlint.diagnostic import Diagnostic
from devlint.output.finding_text import named_rule
from devlint.output.fix_summary import fix_mark, fix_summary
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle, format_row_and_column


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield the name of each file as a heading, then a line `row:column CODE message (name)` for each of its findings.

    The columns of these lines are aligned. The message begins with `[*]` where `--fix` would fix the finding, and the
    last line counts these findings.
    """
    style = TerminalStyle(context.color)
    for filename, group in groupby(diagnostics, key=lambda diagnostic: diagnostic.region.filename):
        rows = [(format_row_and_column(diagnostic.region), diagnostic) for diagnostic in group]
        wide = max(len(where) for where, _ in rows)
        long = max(len(diagnostic.code) for _, diagnostic in rows)
        yield f"{style.strong(filename)}:\n"
        for where, diagnostic in rows:
            code = style.severity(diagnostic.severity, f"{diagnostic.code:<{long}}")
            mark = style.strong(fix_mark(diagnostic, context))
            told = f"{mark}{diagnostic.message} ({named_rule(diagnostic)})"
            yield f"  {style.place(f'{where:<{wide}}')}  {code}  {told}\n"
        yield "\n"
    if fixable := fix_summary(diagnostics, context):
        yield f"{fixable}\n"
