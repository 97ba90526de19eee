"""The report of a recorded program run as one HTML page.

It shows the findings with their source lines and steps, the census, transfers and waits by line, and a timeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from devlint.output.html_parts import (
    command_html,
    difference_html,
    frame_html,
    hints_html,
    page_style,
    prose,
    steps_html,
)
from devlint.output.report_context import ReportContext
from devlint.runtime.census import LeftBehind
from devlint.runtime.coverage_table import coverage_table
from devlint.runtime.html_tables import WIDE_TABLE, heads
from devlint.runtime.line_costs import LineCost, by_transfers, by_waits
from devlint.runtime.outcome_texts import (
    SeenSite,
    by_site,
    evidence_texts,
    seen_apart_from_tests,
    with_evidence,
    with_relative_paths,
)
from devlint.runtime.recording_report import Report
from devlint.runtime.report_wording import (
    count_text,
    format_bytes,
    format_duration,
    format_number,
    place_text,
    relative_path,
    share_text,
    source_lines,
)
from devlint.runtime.text_report import headline_parts
from devlint.runtime.timeline_drawing import timeline_drawing
from devlint.runtime.verdicts import Outcome, Verdict
from devlint.version import __version__

_CONTEXT_LINES = 2
_SOURCES = ReportContext(lines=source_lines)


def render_page(report: Report) -> str:
    """Return a recording report as a complete HTML document that loads no other files."""
    return "".join(_page_parts(report))


def _page_parts(report: Report) -> Iterator[str]:
    """Yield the parts of the HTML document that shows a recording report."""
    style = files("devlint.runtime").joinpath("run.css").read_text(encoding="utf-8")
    outcomes = report.outcomes
    headline = escape(", ".join(headline_parts(report, outcomes)))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>devlint run: {headline}</title>\n<style>\n{page_style(style)}</style>\n</head>\n<body>\n"
    yield f'<header><h1>devlint run</h1><p class="headline">{headline}</p>\n'
    yield from _about(report.about)
    yield "</header>\n<main>\n"
    yield "".join(f'<p class="quiet">{escape(text)}</p>\n' for text in report.remarks)
    elsewhere, in_tests = seen_apart_from_tests(outcomes)
    yield from _sites("Errors", by_site(one for one in elsewhere if one.fatal), folded=False)
    yield from _sites("Worth doing", by_site(one for one in elsewhere if not one.fatal), folded=True)
    yield from _sites("In test files", by_site(in_tests), folded=True)
    yield from _left_behind(report.left_behind)
    yield from _judged("Refuted", [one for one in outcomes if one.verdict is Verdict.REFUTED])
    yield from _judged("Not reached", [one for one in outcomes if one.verdict is Verdict.NOT_REACHED])
    yield "<h2>Timeline</h2>\n"
    yield from timeline_drawing(report.recorder.timeline, timed=not report.emulated)
    yield "<h2>Transfers by line</h2>\n"
    yield from _transfer_table(by_transfers(report.costs))
    yield "<h2>Waits by line</h2>\n"
    yield from _wait_table(report, by_waits(report.costs))
    yield "<h2>Device coverage</h2>\n"
    yield from coverage_table(report.recorder, Path.cwd())
    yield f"</main>\n<footer><p>devlint {__version__}</p></footer>\n</body>\n</html>\n"


def _about(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the HTML of what is known of the run itself, such as its date and its command; nothing if nothing is."""
    if facts:
        yield "<dl>\n"
        for name, value in facts:
            yield f"<dt>{escape(name)}</dt><dd>{command_html(value) if name == 'Command' else escape(value)}</dd>\n"
        yield "</dl>\n"


def _sites(title: str, sites: Sequence[SeenSite], *, folded: bool) -> Iterator[str]:
    """Yield the HTML of what was seen to happen, an element for each site; `folded` shows its code only on demand."""
    if not sites:
        return
    yield f"<h2>{title} ({len(sites)})</h2>\n"
    for site in sites:
        found = with_relative_paths(with_evidence(site.outcome))
        verdict = site.outcome.verdict.value
        message = found.message.removesuffix(f" ({site.outcome.count} times)")
        facts = [place_text(found.region), *([f"{site.count} times"] if site.count > 1 else [])]
        facts += [text for text in evidence_texts(site.outcome) if "times" not in text]
        head = f'<span class="verdict {verdict}">{verdict}</span> <strong class="code">{escape(found.code)}</strong> '
        head += f'{prose(message)} <span class="place">{escape(", ".join(facts))}</span>'
        yield f'<article class="{found.severity.value}">\n'
        yield f"<details><summary>{head}</summary>\n" if folded else f"<h3>{head}</h3>\n"
        yield from frame_html(found.region, _SOURCES, _CONTEXT_LINES)
        yield from steps_html(found, _SOURCES)
        yield from hints_html(found)
        yield from difference_html(found, _SOURCES)
        yield "</details>\n</article>\n" if folded else "</article>\n"


def _judged(title: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the HTML of findings of the static analysis that were not seen to happen, as a list that can be opened."""
    if not outcomes:
        return
    yield f"<details><summary><h2>{title} ({len(outcomes)})</h2></summary>\n<ul>\n"
    for outcome in outcomes:
        found = outcome.diagnostic
        detail = f" ({escape(outcome.detail)})" if outcome.detail else ""
        place = f'<span class="place">{escape(place_text(found.region))}{detail}</span>'
        yield f"<li><strong>{escape(found.code)}</strong> {prose(found.message)} {place}</li>\n"
    yield "</ul>\n</details>\n"


def _left_behind(left: Sequence[LeftBehind]) -> Iterator[str]:
    """Yield the HTML of the census: the tensors that stayed where they were when their modules were moved."""
    if not left:
        return
    yield f"<h2>Left behind ({len(left)})</h2>\n"
    yield '<p class="quiet">.to() and .cuda() move parameters and buffers only. These stayed where they were.</p>\n'
    yield WIDE_TABLE + heads("Tensor", "What", "Device", "Module on", "Made")
    for one in left:
        made = "; ".join(
            f"{step.message}, {relative_path(step.site.filename)}:{step.site.line}" for step in one.steps if step.site
        )
        yield f"<tr><td><code>{escape(one.path)}</code></td><td>{escape(f'{one.dtype} {list(one.shape)}')}</td>"
        yield f"<td>{escape(one.device)}</td><td>{escape(one.home)}</td><td>{escape(made)}</td></tr>\n"
    yield "</table></div>\n"


def _transfer_table(costs: Sequence[LineCost]) -> Iterator[str]:
    """Yield the HTML table of the lines that moved tensors, those with the most bytes first, with their shares."""
    moved = sum(cost.nbytes for cost in costs)
    if not costs:
        yield '<p class="quiet">Nothing was moved.</p>\n'
        return
    yield f'<p class="quiet">{format_bytes(moved)} in {count_text(sum(c.transfers for c in costs), "transfer")}.</p>\n'
    timed = any(cost.seconds for cost in costs)
    yield WIDE_TABLE + heads("Line", "What", *(["Time"] if timed else []), "Transfers", "Moved", "Share")
    for cost in costs:
        times = [format_duration(cost.seconds)] if timed else []
        yield _cost_row(cost, [*times, f"{cost.transfers:,}", format_bytes(cost.nbytes)], "up", cost.nbytes, moved)
    yield "</table></div>\n"


def _wait_table(report: Report, costs: Sequence[LineCost]) -> Iterator[str]:
    """Yield the HTML table of the lines at which the host waited, those with the most waits first, with shares."""
    waits = sum(cost.waits for cost in costs)
    if not costs:
        yield '<p class="quiet">The host did not wait.</p>\n'
        return
    steps = report.waits_per_step
    budget = f", {format_number(steps.median)} in a training step (median of {steps.steps:,})" if steps else ""
    yield f'<p class="quiet">{count_text(waits, "wait")}{budget}.</p>\n'
    timed = any(cost.seconds for cost in costs)
    yield WIDE_TABLE + heads("Line", "What", *(["Time"] if timed else []), "Waits", "Share")
    for cost in costs:
        times = [format_duration(cost.seconds)] if timed else []
        yield _cost_row(cost, [*times, f"{cost.waits:,}"], "wait", cost.waits, waits)
    yield "</table></div>\n"


def _cost_row(cost: LineCost, numbers: Sequence[str], kind: str, part: float, whole: float) -> str:
    """Return the row of one line in a table: the line, what it did, its numbers, and its share as a bar."""
    share = 100 * part / whole if whole else 0.0
    bar = f'<span class="bar {kind}" style="width:{share:.1f}%"></span>' if share else ""
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return (
        f'<tr><td><span class="place">{escape(relative_path(cost.filename))}:{cost.line}</span><br>'
        f"<code>{escape(cost.source)}</code></td><td>{escape(cost.kinds)}</td>{cells}"
        f'<td class="bars">{share_text(part, whole)}{bar}</td></tr>\n'
    )
