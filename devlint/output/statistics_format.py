"""The output format `statistics`: the number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.fix_summary import MARK, is_fixed_by_request
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a line `count CODE name` for each rule that has findings, the rule with most findings first.

    A line ends in `[*] 2`, for example, where `--fix` would fix two of the findings of its rule.
    """
    style = TerminalStyle(context.color)
    counts = Counter((diagnostic.code, diagnostic.name, diagnostic.severity) for diagnostic in diagnostics)
    fixed = Counter(diagnostic.code for diagnostic in diagnostics if is_fixed_by_request(diagnostic, context))
    wide = len(str(max(counts.values(), default=0)))
    for (code, name, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0][0])):
        fixable = fixed[code]
        yield f"{count:>{wide}}  {style.severity(severity, code)}  {name}{f'  {MARK} {fixable}' if fixable else ''}\n"
