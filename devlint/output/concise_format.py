"""The output format `concise`: one line for each finding, in the form of compiler messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.finding_text import named_rule
from devlint.output.fix_summary import fix_mark
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle, format_place


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a line `file:row:column: CODE message (name)` for each finding. CODE and name are those of its rule.

    The message begins with `[*]` where `--fix` would fix the finding. The confidence of a finding that is not certain
    stands behind the name: `(name, likely)`.
    """
    style = TerminalStyle(context.color)
    for diagnostic in diagnostics:
        code = style.severity(diagnostic.severity, diagnostic.code)
        place, mark = style.place(format_place(diagnostic.region)), style.strong(fix_mark(diagnostic, context))
        yield f"{place}: {code} {mark}{diagnostic.message} ({named_rule(diagnostic)})\n"
