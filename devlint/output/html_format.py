"""The output format `html`: a self-contained HTML page that shows all findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from devlint.diagnostic import Diagnostic
from devlint.output.full_format import summary
from devlint.output.html_parts import frame_html, hints_html, prose, steps_html
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place
from devlint.version import __version__

_CONTEXT = 2


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield an HTML page: a table with the number of findings of each rule, then each finding with trace and fix."""
    style = files("devlint.output").joinpath("html.css").read_text(encoding="utf-8")
    total = escape(summary(diagnostics, context.checked))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>devlint: {total}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    yield f"<header><h1>devlint</h1><p>{total}</p></header>\n"
    yield from _contents(diagnostics)
    yield "<main>\n"
    for number, diagnostic in enumerate(diagnostics, 1):
        yield from _finding(number, diagnostic, context)
    yield f"</main>\n<footer>devlint {__version__}</footer>\n</body>\n</html>\n"


def _contents(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the HTML of a table of the rules that have findings: their numbers, and links to their first findings."""
    if not diagnostics:
        return
    counts = Counter((diagnostic.code, diagnostic.name, diagnostic.severity.value) for diagnostic in diagnostics)
    codes = [diagnostic.code for diagnostic in diagnostics]
    yield "<table>\n<tr><th>Rule</th><th>Name</th><th>Findings</th></tr>\n"
    for (code, name, severity), count in sorted(counts.items()):
        link = f'<a href="#finding-{codes.index(code) + 1}">{escape(code)}</a>'
        yield f'<tr class="{severity}"><td>{link}</td><td>{escape(name)}</td><td>{count}</td></tr>\n'
    yield "</table>\n"


def _finding(number: int, diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    """Yield the HTML of one finding: message, marked source lines, steps of the trace, help and fix."""
    yield f'<article id="finding-{number}" class="{diagnostic.severity.value}">\n'
    yield f'<h2><span class="code">{escape(diagnostic.code)}</span> {prose(diagnostic.message)}</h2>\n'
    facts = f"{diagnostic.name}, {diagnostic.severity.value}, {diagnostic.confidence.value}"
    yield f'<p class="place"><code>{escape(format_place(diagnostic.region))}</code> <span>{escape(facts)}</span></p>\n'
    yield from frame_html(diagnostic.region, context, _CONTEXT)
    yield from steps_html(diagnostic, context)
    yield from hints_html(diagnostic)
    yield "</article>\n"
