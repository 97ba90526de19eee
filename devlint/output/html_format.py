"""The output format `html`: a self-contained HTML page that shows all findings, file by file, and can filter them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from devlint.diagnostic import Diagnostic, Region, Severity
from devlint.output.code_frame import code_frame
from devlint.output.fix_diff import Change, fix_diff
from devlint.output.fix_summary import fix_summary
from devlint.output.full_format import labelled_hints, summary
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place, format_row_and_column
from devlint.version import __version__

_PARTS = ("html.css", "html.js")
"""The style and the script of the page, which are written into it."""
_CONTEXT = 2
_WIDTH = 160
_QUOTED = re.compile("`([^`]+)`")
_CLASSES = {Change.KEPT: "kept", Change.ADDED: "added", Change.REMOVED: "removed"}


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield an HTML page: facts of the run, the rules with findings as filters, then the findings of each file."""
    style, script = (files("devlint.output").joinpath(name).read_text(encoding="utf-8") for name in _PARTS)
    total = escape(summary(diagnostics, context.checked))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>devlint: {total}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>devlint</h1>\n<p>{total} {escape(fix_summary(diagnostics, context))}</p>\n"
    yield from _facts(context)
    yield "</header>\n"
    yield from _contents(diagnostics)
    yield from _filters(diagnostics)
    yield "<main>\n"
    numbered = enumerate(diagnostics, 1)
    for filename, group in groupby(numbered, key=lambda one: one[1].region.filename):
        found = list(group)
        count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        yield f"<section>\n<h2>{escape(filename)} <small>{count}</small></h2>\n"
        for number, diagnostic in found:
            yield from _finding(number, diagnostic, context)
        yield "</section>\n"
    yield f"</main>\n<footer>devlint {__version__}</footer>\n"
    yield f"<script>\n{script}</script>\n" if diagnostics else ""
    yield "</body>\n</html>\n"


def _facts(context: ReportContext) -> Iterator[str]:
    """Yield the HTML of a list with the date, the command and the configuration of the run."""
    if context.run is None:
        return
    began = context.run.began
    date = f'<time datetime="{began.isoformat(timespec="seconds")}">{began:%Y-%m-%d %H:%M}</time>'
    configuration = context.run.configuration
    yield f"<dl>\n<dt>Date</dt><dd>{date}</dd>\n"
    yield f"<dt>Command</dt><dd><code>{escape(context.run.command)}</code></dd>\n"
    written = f"<code>{escape(configuration)}</code>" if configuration else "defaults, no file"
    yield f"<dt>Configuration</dt><dd>{written}</dd>\n</dl>\n"


def _contents(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the HTML of a table of the rules that have findings: their numbers, and links to their first findings."""
    if not diagnostics:
        return
    counts = Counter((diagnostic.code, diagnostic.name) for diagnostic in diagnostics)
    codes = [diagnostic.code for diagnostic in diagnostics]
    yield "<table>\n<thead><tr><th>Rule</th><th>Name</th><th>Findings</th></tr></thead>\n<tbody>\n"
    for (code, name), count in sorted(counts.items()):
        link = f'<a href="#finding-{codes.index(code) + 1}">{escape(code)}</a>'
        yield f"<tr><td>{link}</td><td>{escape(name)}</td><td>{count}</td></tr>\n"
    yield "</tbody>\n</table>\n"


def _filters(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the HTML of the boxes that choose which severities and rules are shown; a script shows the form."""
    if not diagnostics:
        return
    found = {diagnostic.severity for diagnostic in diagnostics}
    severities = [severity.value for severity in Severity if severity in found]
    yield "<form hidden>\n"
    for title, kind, values in (
        ("Severity", "severity", severities),
        ("Rule", "rule", sorted({one.code for one in diagnostics})),
    ):
        yield f"<fieldset><legend>{title}</legend>\n"
        for value in values:
            box = f'<input type="checkbox" data-kind="{kind}" value="{escape(value)}" checked>'
            yield f"<label>{box} {escape(value)}</label>\n"
        yield "</fieldset>\n"
    yield f'<output id="shown">{len(diagnostics)} shown</output>\n</form>\n'


def _finding(number: int, diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    """Yield the HTML of one finding: message, marked source lines, steps of the trace, help, and fix as a diff."""
    severity = diagnostic.severity.value
    data = f'class="{severity}" data-severity="{severity}" data-rule="{escape(diagnostic.code)}"'
    yield f'<article id="finding-{number}" {data}>\n'
    yield f'<h3><span class="code">{severity} {escape(diagnostic.code)}</span> {_prose(diagnostic.message)}</h3>\n'
    facts = f"{diagnostic.name}, {diagnostic.confidence.value}"
    where = format_row_and_column(diagnostic.region)
    yield f'<p class="place"><code>{escape(where)}</code> <span>{escape(facts)}</span></p>\n'
    yield from _frame(diagnostic.region, context, _CONTEXT)
    if diagnostic.trace:
        yield "<ol>\n"
        for note in diagnostic.trace:
            elsewhere = note.region.filename != diagnostic.region.filename
            where = escape(format_place(note.region) if elsewhere else format_row_and_column(note.region))
            yield f'<li><p>{_prose(note.message)} <span class="place"><code>{where}</code></span></p>\n'
            yield from _frame(note.region, context, 0)
            yield "</li>\n"
        yield "</ol>\n"
    for label, text in labelled_hints(diagnostic):
        yield f"<p><strong>{label}:</strong> {_prose(text)}</p>\n"
    yield from _difference(diagnostic, context)
    yield "</article>\n"


def _difference(diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
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


def _prose(text: str) -> str:
    """Return a text as HTML, with the parts between back quotes as `<code>` elements."""
    return _QUOTED.sub(r"<code>\1</code>", escape(text))


def _frame(region: Region, context: ReportContext, context_lines: int) -> Iterator[str]:
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
