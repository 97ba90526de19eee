"""Parts of HTML pages about findings, for all pages that show some: prose, marked source lines, steps, help and fix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from devlint.diagnostic import Diagnostic, Region
from devlint.output.code_frame import code_frame
from devlint.output.fix_diff import Change, fix_diff
from devlint.output.full_format import labelled_hints
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place, format_row_and_column

_WIDTH = 160
"""The columns of a source line that are shown."""
_BREAKABLE = re.compile(r"[/\\_.-](?=\w)")
"""The signs in a path behind which a line may break."""
_QUOTED = re.compile("`([^`]+)`")
_CLASSES = {Change.KEPT: "kept", Change.ADDED: "added", Change.REMOVED: "removed"}


def page_style(*own: str) -> str:
    """Return the style of a page of findings: what all of them share, and the page's own style sheets."""
    shared = files("devlint.output").joinpath("findings.css").read_text(encoding="utf-8")
    return "".join((shared, *own))


def prose(text: str) -> str:
    """Return a text as HTML, with the parts between back quotes as `<code>` elements."""
    return _QUOTED.sub(r"<code>\1</code>", escape(text))


def command_html(command: str) -> str:
    """Return a command as HTML. Its lines break between words, and not behind the hyphens of its options."""
    words = (f'<span class="word">{escape(word)}</span>' for word in command.split(" "))
    return f"<code>{' '.join(words)}</code>"


def path_html(path: str) -> str:
    """Return a path as HTML. A line that is too short for it breaks between its parts, not in the middle of a word."""
    return _BREAKABLE.sub(r"\g<0><wbr>", escape(path))


def frame_html(region: Region, context: ReportContext, context_lines: int) -> Iterator[str]:
    """Yield the HTML of a region's source lines, with line numbers and with the region marked."""
    lines = list(
        code_frame(context.lines(region.filename, region.cell), region, context_lines=context_lines, width=_WIDTH)
    )
    if not lines:
        return
    yield '<pre tabindex="0">'
    for line in lines:
        if line is None:
            yield '<span class="number">...</span>\n'
            continue
        shown = line.shown
        mark = f"<mark>{escape(shown.marked)}</mark>" if shown.marked else ""
        yield f'<span class="number">{line.number}</span>{escape(shown.before)}{mark}{escape(shown.after)}\n'
    yield "</pre>\n"


def steps_html(diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    """Yield the HTML of the steps of a finding's trace as a list, each with its place and its source lines."""
    if not diagnostic.trace:
        return
    yield "<ol>\n"
    for note in diagnostic.trace:
        elsewhere = note.region.filename != diagnostic.region.filename
        where = escape(format_place(note.region) if elsewhere else format_row_and_column(note.region))
        yield f'<li><p>{prose(note.message)} <span class="place"><code>{where}</code></span></p>\n'
        yield from frame_html(note.region, context, 0)
        yield "</li>\n"
    yield "</ol>\n"


def hints_html(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the HTML of what a finding assumes, of its help and of its fix."""
    for label, text in labelled_hints(diagnostic):
        yield f"<p><strong>{label}:</strong> {prose(text)}</p>\n"


def difference_html(diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    """Yield the HTML of the lines that the fix of a finding takes out and puts in; nothing for no fix."""
    lines = list(fix_diff(diagnostic, context.lines))
    if not lines:
        return
    yield '<pre class="diff" tabindex="0" aria-label="What the fix changes">'
    for line in lines:
        if line is None:
            yield '<span class="kept">...</span>'
            continue
        number = f'<i class="number">{line.number}</i>'
        yield f'<span class="{_CLASSES[line.change]}">{number}{line.change.value} {escape(line.text)}</span>'
    yield "</pre>\n"
