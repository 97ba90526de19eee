"""The output format `grouped`: the name of each file, followed by the findings in that file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from devlint.diagnostic import Diagnostic
from devlint.output.broken_lines import broken_lines, broken_text
from devlint.output.finding_text import named_rule
from devlint.output.fix_summary import MARK, fix_mark, fix_summary
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle, format_row_and_column

_INDENT: Final = 4
"""The blanks before what is left of a message that a terminal has no room for in its line."""


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
            told = f"{fix_mark(diagnostic, context)}{diagnostic.message} ({named_rule(diagnostic)})"
            before = len("  ") + wide + len("  ") + long + len("  ")
            first, *rest = broken_lines(told, context, before, _INDENT)
            first = style.strong(MARK) + first.removeprefix(MARK) if first.startswith(MARK) else first
            yield f"  {style.place(f'{where:<{wide}}')}  {code}  {first}\n"
            yield from (f"{' ' * _INDENT}{line}\n" for line in rest)
        yield "\n"
    if fixable := fix_summary(diagnostics, context):
        yield broken_text(fixable, context)
