"""The output format `html`: a self-contained HTML page that shows all findings, file by file, and can filter them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from devlint.diagnostic import Diagnostic, Severity
from devlint.output.fix_summary import MARK, fix_summary
from devlint.output.full_format import summary
from devlint.output.html_parts import (
    command_html,
    difference_html,
    frame_html,
    hints_html,
    page_style,
    path_html,
    prose,
    steps_html,
)
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_row_and_column
from devlint.version import __version__

_PARTS = ("html.css", "html.js")
"""The style and the script of the page, which are written into it."""
_CONTEXT = 2
_HEADS = "".join(f'<th scope="col">{title}</th>' for title in ("Rule", "Name", "Findings"))
_ALL_OR_NONE = '<button type="button" value="all">all</button>\n<button type="button" value="none">none</button>\n'
"""The buttons that tick all rules, or none."""


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield an HTML page: facts of the run, the rules with findings as filters, then the findings of each file."""
    style, script = (files("devlint.output").joinpath(name).read_text(encoding="utf-8") for name in _PARTS)
    total = escape(summary(diagnostics, context.checked))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>devlint: {total}</title>\n<style>\n{page_style(style)}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>devlint</h1>\n<p>{total} {_fixable(diagnostics, context)}</p>\n"
    yield from _facts(context)
    yield "</header>\n"
    yield from _contents(diagnostics)
    yield from _filters(diagnostics)
    yield "<main>\n"
    numbered = enumerate(diagnostics, 1)
    for filename, group in groupby(numbered, key=lambda one: one[1].region.filename):
        found = list(group)
        count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        yield f"<section>\n<h2>{path_html(filename)} <small>{count}</small></h2>\n"
        for number, diagnostic in found:
            yield from _finding(number, diagnostic, context)
        yield "</section>\n"
    yield f"</main>\n<footer>devlint {__version__}</footer>\n"
    yield f"<script>\n{script}</script>\n" if diagnostics else ""
    yield "</body>\n</html>\n"


def _fixable(diagnostics: Sequence[Diagnostic], context: ReportContext) -> str:
    """Return the HTML of how many findings can be fixed, and by which options."""
    told = fix_summary(diagnostics, context).removeprefix(MARK)
    return re.sub(r"--[\w-]+", r'<code class="option">\g<0></code>', escape(told.strip()))


def _facts(context: ReportContext) -> Iterator[str]:
    """Yield the HTML of a list with the date, the command and the configuration of the run."""
    if context.run is None:
        return
    began = context.run.began
    date = f'<time datetime="{began.isoformat(timespec="seconds")}">{began:%Y-%m-%d %H:%M}</time>'
    configuration = context.run.configuration
    yield f"<dl>\n<dt>Date</dt><dd>{date}</dd>\n"
    yield f"<dt>Command</dt><dd>{command_html(context.run.command)}</dd>\n"
    written = f"<code>{escape(configuration)}</code>" if configuration else "defaults, no file"
    yield f"<dt>Configuration</dt><dd>{written}</dd>\n</dl>\n"


def _contents(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the HTML of a table of the rules that have findings: their numbers, and links to their first findings."""
    if not diagnostics:
        return
    counts = Counter((diagnostic.code, diagnostic.name) for diagnostic in diagnostics)
    codes = [diagnostic.code for diagnostic in diagnostics]
    yield f"<table>\n<thead><tr>{_HEADS}</tr></thead>\n<tbody>\n"
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
        yield _ALL_OR_NONE if kind == "rule" and len(values) > 1 else ""
        yield "</fieldset>\n"
    yield f'<output id="shown">{len(diagnostics)} shown</output>\n</form>\n'


def _finding(number: int, diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    """Yield the HTML of one finding: message, marked source lines, steps of the trace, help, and fix as a diff."""
    severity = diagnostic.severity.value
    data = f'class="{severity}" data-severity="{severity}" data-rule="{escape(diagnostic.code)}"'
    yield f'<article id="finding-{number}" {data}>\n'
    yield f'<h3><span class="code">{severity} {escape(diagnostic.code)}</span> {prose(diagnostic.message)}</h3>\n'
    facts = f"{diagnostic.name}, {diagnostic.confidence.value}"
    where = format_row_and_column(diagnostic.region)
    yield f'<p class="place"><code>{escape(where)}</code> <span>{escape(facts)}</span></p>\n'
    yield from frame_html(diagnostic.region, context, _CONTEXT)
    yield from steps_html(diagnostic, context)
    yield from hints_html(diagnostic)
    yield from difference_html(diagnostic, context)
    yield "</article>\n"
