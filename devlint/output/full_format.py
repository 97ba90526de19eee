"""`full`: each finding with its code, its story in numbered steps, and what to write instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Applicability, Confidence, Diagnostic, Region, Severity
from devlint.output.code_frame import code_frame
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import TerminalStyle, format_place

_CONTEXT = 1
_PRIMARY, _SECONDARY = "^", "-"
_APPLICABILITY = {
    Applicability.SAFE: "safe fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.DISPLAY: "suggestion",
}


def render(diagnostics: Sequence[Diagnostic], page: ReportContext) -> Iterator[str]:
    """One block for each finding, and a line that counts them."""
    style = TerminalStyle(page.color)
    for diagnostic in diagnostics:
        yield "\n".join(_Block(diagnostic, page, style).lines()) + "\n\n"
    yield style.strong(summary(diagnostics, page.checked)) + "\n"


def summary(diagnostics: Sequence[Diagnostic], checked: int) -> str:
    """How many findings of each severity there are, in how many files."""
    if not diagnostics:
        return f"No findings in {_count(checked, 'file')}."
    by_severity = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [_count(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    files = len({diagnostic.region.filename for diagnostic in diagnostics})
    return f"Found {', '.join(parts)} in {_count(files, 'file')} ({checked} checked)."


def labelled_hints(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What there is to say besides the story, each thing with its label."""
    if diagnostic.help:
        yield "help", diagnostic.help
    if diagnostic.fix:
        yield _APPLICABILITY[diagnostic.fix.applicability], diagnostic.fix.message
    if diagnostic.confidence is Confidence.POSSIBLE:
        yield "note", "devlint is not sure of this (confidence: possible)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "info" else f"{number} {noun}s"


class _Block:
    """The lines about one finding. All line numbers share one gutter."""

    def __init__(self, diagnostic: Diagnostic, page: ReportContext, style: TerminalStyle) -> None:
        self._diagnostic = diagnostic
        self._page = page
        self._style = style
        regions = [diagnostic.region, *(note.region for note in diagnostic.trace)]
        self._gutter = max(2, *(len(str(region.end.row + _CONTEXT)) for region in regions))

    def lines(self) -> Iterator[str]:
        """The headline, the frame, the steps, and what to write instead."""
        diagnostic, style = self._diagnostic, self._style
        headline = style.severity(diagnostic.severity, f"{diagnostic.severity.value}[{diagnostic.code}]")
        yield f"{headline} {style.strong(f'{diagnostic.name}: {diagnostic.message}')}"
        yield self._arrow(diagnostic.region)
        frame = list(self._frame(diagnostic.region, _PRIMARY, _CONTEXT))
        yield from [self._bar(""), *frame] if frame else []
        yield from self._steps()
        yield from self._advice()

    def _steps(self) -> Iterator[str]:
        before = self._diagnostic.region
        if self._diagnostic.trace:
            yield self._bar("")
        for number, note in enumerate(self._diagnostic.trace, 1):
            yield f"{self._style.frame(f'{number:>{self._gutter + 1}}.')} {note.message}"
            if (note.region.filename, note.region.cell) != (before.filename, before.cell):
                yield self._arrow(note.region)
            yield from self._frame(note.region, _SECONDARY, 0)
            before = note.region

    def _advice(self) -> Iterator[str]:
        given = list(labelled_hints(self._diagnostic))
        if given:
            yield self._bar("")
        for label, text in given:
            sign = self._style.frame(" " * self._gutter + " =")
            first, *rest = text.splitlines()
            yield f"{sign} {self._style.strong(label + ':')} {first}"
            yield from (" " * (self._gutter + len(label) + 5) + line for line in rest)

    def _frame(self, region: Region, mark: str, context: int) -> Iterator[str]:
        lines = self._page.lines(region.filename, region.cell)
        width = max(40, self._page.width - self._gutter - len(" | "))
        for line in code_frame(lines, region, context=context, width=width):
            if line is None:
                yield self._style.frame("." * self._gutter)
                continue
            number = self._style.frame(f"{line.number:>{self._gutter}} |")
            yield f"{number} {line.shown.text}".rstrip()
            if line.meant:
                # A place between two characters, or at the end of a line, is marked all the same.
                marks = mark * max(1, line.shown.width)
                yield self._bar(" " * line.shown.column + self._marked(marks))

    def _marked(self, marks: str) -> str:
        if marks.startswith(_PRIMARY):
            return self._style.severity(self._diagnostic.severity, marks)
        return self._style.frame(marks)

    def _arrow(self, region: Region) -> str:
        return f"{' ' * self._gutter}{self._style.frame('-->')} {format_place(region)}"

    def _bar(self, text: str) -> str:
        return f"{' ' * self._gutter} {self._style.frame('|')} {text}".rstrip()
