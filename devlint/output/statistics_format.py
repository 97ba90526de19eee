"""The output format `statistics`: the number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a line `count CODE name` for each rule that has findings, the rule with most findings first."""
    style = TerminalStyle(context.color)
    counts = Counter((diagnostic.code, diagnostic.name, diagnostic.severity) for diagnostic in diagnostics)
    wide = len(str(max(counts.values(), default=0)))
    for (code, name, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0][0])):
        yield f"{count:>{wide}}  {style.severity(severity, code)}  {name}\n"
