"""The output format `full`: each finding with its source lines, its trace in numbered steps, and its fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Applicability, Confidence, Diagnostic, Fix, Region, Severity
from devlint.output.broken_lines import NARROWEST, broken_lines, broken_text
from devlint.output.code_frame import code_frame
from devlint.output.finding_text import assumed_text
from devlint.output.fix_summary import fix_mark, fix_summary
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle, format_place

_CONTEXT = 1
_PRIMARY, _SECONDARY = "^", "-"
_APPLICABILITY = {
    Applicability.SAFE: "safe fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.DISPLAY: "suggestion",
}


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a block of lines for each finding, then a line with the numbers of findings and files.

    If some findings can be fixed, they are marked with `[*]`, and a last line counts them.
    """
    yield from blocks(diagnostics, context)
    style = TerminalStyle(context.color)
    for line in broken_lines(summary(diagnostics, context.checked), context, 0, 0):
        yield style.strong(line) + "\n"
    if fixable := fix_summary(diagnostics, context):
        yield broken_text(fixable, context)


def blocks(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a block of lines for each finding, and nothing else."""
    style = TerminalStyle(context.color)
    for diagnostic in diagnostics:
        yield "\n".join(_Block(diagnostic, context, style).lines()) + "\n\n"


def summary(diagnostics: Sequence[Diagnostic], checked: int) -> str:
    """Return a sentence with the number of findings of each severity and the numbers of affected and checked files."""
    if not diagnostics:
        return f"No findings in {_count(checked, 'file')}."
    by_severity = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [_count(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    files = len({diagnostic.region.filename for diagnostic in diagnostics})
    return f"Found {', '.join(parts)} in {_count(files, 'file')} ({checked} checked)."


def labelled_hints(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """Yield (label, text) for a finding's assumptions, its help and its fix."""
    if diagnostic.assumptions:
        yield "assumes", assumed_text(diagnostic)
    if diagnostic.help:
        yield "help", diagnostic.help
    if diagnostic.fix:
        yield (
            _APPLICABILITY[diagnostic.fix.applicability],
            diagnostic.fix.message + _elsewhere(diagnostic, diagnostic.fix),
        )


def _elsewhere(diagnostic: Diagnostic, fix: Fix) -> str:
    """Return where a fix begins, in parentheses, if it changes none of the lines of its finding; else no text."""
    region = diagnostic.region
    if not fix.edits or any(
        edit.cell == region.cell and edit.start.row <= region.end.row and region.start.row <= edit.end.row
        for edit in fix.edits
    ):
        return ""
    first = min(fix.edits, key=lambda edit: (edit.cell or 0, edit.start))
    return f" ({format_place(Region(region.filename, first.start, first.end, first.cell))})"


def _count(number: int, noun: str) -> str:
    """Return a number with a noun in singular or plural, such as "1 file" or "2 files"."""
    return f"{number} {noun}" if number == 1 or noun == "info" else f"{number} {noun}s"


class _Block:
    """The lines about one finding in the format `full`. Line numbers stand in a column at the left, the gutter.

    The gutter has the same width for all source lines that are shown with the finding.
    """

    def __init__(self, diagnostic: Diagnostic, context: ReportContext, style: TerminalStyle) -> None:
        self._diagnostic = diagnostic
        self._context = context
        self._style = style
        regions = [diagnostic.region, *(note.region for note in diagnostic.trace)]
        self._gutter = max(2, *(len(str(region.end.row + _CONTEXT)) for region in regions))

    def lines(self) -> Iterator[str]:
        """Yield the lines about the finding: headline, marked source lines, steps of the trace, help and fix."""
        diagnostic, style = self._diagnostic, self._style
        headline = style.severity(diagnostic.severity, f"{diagnostic.severity.value}[{diagnostic.code}]")
        mark = fix_mark(diagnostic, self._context)
        rank = len(f"{diagnostic.severity.value}[{diagnostic.code}] ")
        sure = "" if diagnostic.confidence is Confidence.CERTAIN else f" ({diagnostic.confidence.value})"
        first, *rest = broken_lines(f"{mark}{diagnostic.name}{sure}: {diagnostic.message}", self._context, rank, 4)
        yield f"{headline} {style.strong(first)}"
        yield from (f"    {style.strong(line)}" for line in rest)
        yield self._arrow(diagnostic.region)
        frame = list(self._frame(diagnostic.region, _PRIMARY, _CONTEXT))
        yield from [self._bar(""), *frame] if frame else []
        yield from self._steps()
        yield from self._advice()

    def _steps(self) -> Iterator[str]:
        """Yield the lines of the numbered steps of the finding's trace, each with its source lines."""
        before = self._diagnostic.region
        if self._diagnostic.trace:
            yield self._bar("")
        for number, note in enumerate(self._diagnostic.trace, 1):
            indent = self._gutter + 3
            first, *rest = broken_lines(note.message, self._context, indent, indent)
            yield f"{self._style.frame(f'{number:>{self._gutter + 1}}.')} {first}"
            yield from (" " * indent + line for line in rest)
            if (note.region.filename, note.region.cell) != (before.filename, before.cell):
                yield self._arrow(note.region)
            yield from self._frame(note.region, _SECONDARY, 0)
            before = note.region

    def _advice(self) -> Iterator[str]:
        """Yield the lines with what the finding assumes, its help and its fix."""
        given = list(labelled_hints(self._diagnostic))
        if given:
            yield self._bar("")
        for label, text in given:
            sign = self._style.frame(" " * self._gutter + " =")
            indent = self._gutter + len(label) + 5
            first, *rest = (
                part for line in text.splitlines() for part in broken_lines(line, self._context, indent, indent)
            )
            yield f"{sign} {self._style.strong(label + ':')} {first}"
            yield from (" " * indent + line for line in rest)

    def _frame(self, region: Region, mark: str, context_lines: int) -> Iterator[str]:
        """Yield the source lines of a region as text, with marks such as `^^^^` below each line of the region."""
        lines = self._context.lines(region.filename, region.cell)
        width = max(NARROWEST, self._context.width) - self._gutter - len(" | ")
        for line in code_frame(lines, region, context_lines=context_lines, width=width):
            if line is None:
                yield self._style.frame("." * self._gutter)
                continue
            number = self._style.frame(f"{line.number:>{self._gutter}} |")
            yield f"{number} {line.shown.text}".rstrip()
            if line.meant:
                # An empty region, between two characters or at the end of a line, gets one mark.
                marks = mark * max(1, line.shown.width)
                yield self._bar(" " * line.shown.column + self._colored_marks(marks))

    def _colored_marks(self, marks: str) -> str:
        """Return the marks below a source line in colour.

        The marks `^` of the finding itself have the colour of its severity, the marks `-` of a trace step that of line
        numbers.
        """
        if marks.startswith(_PRIMARY):
            return self._style.severity(self._diagnostic.severity, marks)
        return self._style.frame(marks)

    def _arrow(self, region: Region) -> str:
        """Return the line `--> file:row:column` for the start of a region."""
        return f"{' ' * self._gutter}{self._style.frame('-->')} {format_place(region)}"

    def _bar(self, text: str) -> str:
        """Return a line without a line number: an empty gutter, the bar `|`, and the text."""
        return f"{' ' * self._gutter} {self._style.frame('|')} {text}".rstrip()
