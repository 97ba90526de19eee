"""The report of a recorded program run as one HTML page.

It shows the findings with verdicts, a timeline, and a table of transfers and waits by source line, with bars.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path

from devlint.runtime.coverage_table import coverage_table
from devlint.runtime.recorder import TimelineEvent
from devlint.runtime.recording_report import (
    LineCost,
    Report,
    evidence_texts,
    format_bytes,
    format_duration,
    relative_path,
)
from devlint.runtime.verdicts import Outcome, Verdict
from devlint.version import __version__

_WIDTH, _LANE = 1000, 34
_LANES = (("up", "to the device"), ("down", "to the host"), ("wait", "the host waits"), ("finding", "findings"))
"""The lanes of the timeline with their titles, from top to bottom."""


def render_page(report: Report) -> str:
    """Return a recording report as a complete HTML document that loads no other files."""
    return "".join(_page_parts(report))


def _page_parts(report: Report) -> Iterator[str]:
    """Yield the parts of the HTML document that shows a recording report."""
    style = files("devlint.runtime").joinpath("run.css").read_text(encoding="utf-8")
    outcomes = report.outcomes
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>devlint run</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    moved = sum(cost.nbytes for cost in report.costs)
    waits = sum(cost.waits for cost in report.costs)
    device = report.device or "the host"
    facts = f"{report.recorder.operators} operators on {device}, {format_bytes(moved)} moved, {waits} waits"
    yield f"<header><h1>devlint run</h1><p>{escape(facts)}</p></header>\n<main>\n"
    yield "".join(f'<p class="quiet">{escape(text)}</p>\n' for text in report.remarks)
    yield f"<h2>Findings ({len(outcomes)})</h2>\n"
    for outcome in outcomes:
        yield from _finding_html(outcome)
    yield "<h2>Timeline</h2>\n"
    yield from _timeline_drawing(report.recorder.timeline)
    yield "<h2>Transfers and waits by line</h2>\n"
    yield from _cost_table(report.costs)
    yield "<h2>Device coverage</h2>\n"
    yield from coverage_table(report.recorder, Path.cwd())
    yield f"</main>\n<footer><p>devlint {__version__}</p></footer>\n</body>\n</html>\n"


def _finding_html(outcome: Outcome) -> Iterator[str]:
    """Yield the HTML of one finding in parts: verdict, message, evidence, source line and trace notes."""
    found = outcome.diagnostic
    verdict = outcome.verdict.value
    where = f"{relative_path(found.region.filename)}:{found.region.start.row}"
    facts = [where, *evidence_texts(outcome)] if outcome.verdict is not Verdict.OBSERVED else [where]
    facts += [outcome.detail] if outcome.detail and outcome.detail not in found.message else []
    yield f'<article class="{found.severity.value}">\n<p><span class="verdict {verdict}">{verdict}</span> '
    yield f"<strong>{escape(found.code)}</strong> {escape(found.message)}</p>\n"
    yield f'<p class="place">{escape(" · ".join(facts))}</p>\n'
    yield _source_line_html(found.region.filename, found.region.start.row)
    if found.trace:
        yield "<ol>\n"
        for note in found.trace:
            place = f"{relative_path(note.region.filename)}:{note.region.start.row}"
            yield f'<li>{escape(note.message)} <span class="place">{escape(place)}</span></li>\n'
        yield "</ol>\n"
    yield "</article>\n"


def _source_line_html(filename: str, line: int) -> str:
    """Return a line of a source file as an HTML element, or the empty string if the line is blank."""
    text = linecache.getline(filename, line).strip()
    return f"<pre>{escape(text)}</pre>\n" if text else ""


def _lane_of_event(event: TimelineEvent) -> str:
    """Return the name of the timeline row in which an event is drawn: "up", "down", "wait" or "finding".

    A transfer is "down" if it ends on the host and otherwise "up".
    """
    if event.kind == "transfer":
        return "down" if event.what.endswith("cpu") else "up"
    return event.kind


def _timeline_drawing(events: list[TimelineEvent]) -> Iterator[str]:
    """Yield the timeline of transfers, waits and findings as an SVG drawing, in parts."""
    if not events:
        yield '<p class="quiet">Nothing was moved and nothing was waited for.</p>\n'
        return
    end = max(event.start for event in events) or 1e-9
    height = _LANE * len(_LANES) + 20
    yield f'<div class="wide"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="timeline">\n'
    for index, (_, title) in enumerate(_LANES):
        y = _LANE * (index + 1) - 4
        yield f'<text x="0" y="{y - 8}">{title}</text><line x1="120" x2="{_WIDTH}" y1="{y}" y2="{y}"/>\n'
    lanes = [lane for lane, _ in _LANES]
    for event in _events_to_draw(events, end):
        lane = _lane_of_event(event)
        x = 120 + (_WIDTH - 125) * event.start / end
        y = _LANE * (lanes.index(lane) + 1) - 22
        place = f"{relative_path(event.site.filename)}:{event.site.line}" if event.site else ""
        label = (
            f"{event.what} {format_bytes(event.nbytes) if event.nbytes else ''} {place} at {event.start * 1000:.1f} ms"
        )
        yield f'<rect class="{lane}" x="{x:.1f}" y="{y}" width="2.5" height="18">'
        yield f"<title>{escape(label)}</title></rect>\n"
    yield f'<text x="120" y="{height - 4}">0</text>'
    yield f'<text x="{_WIDTH - 60}" y="{height - 4}">{end * 1000:.0f} ms</text>\n'
    yield "</svg></div>\n"


def _events_to_draw(events: list[TimelineEvent], end: float) -> list[TimelineEvent]:
    """Return the timeline events to draw: at most one for each horizontal pixel of each lane."""
    kept: dict[tuple[str, int], TimelineEvent] = {}
    for event in events:
        kept.setdefault((_lane_of_event(event), int(_WIDTH * event.start / end)), event)
    return list(kept.values())


def _cost_table(costs: list[LineCost]) -> Iterator[str]:
    """Yield the HTML table of transfers and waits by source line, in parts.

    Bars show each line's bytes and waits relative to the line with the most.
    """
    if not costs:
        yield '<p class="quiet">None.</p>\n'
        return
    most_bytes = max(*(cost.nbytes for cost in costs), 1)
    most_waits = max(*(cost.waits for cost in costs), 1)
    timed = any(cost.seconds for cost in costs)
    heads = ("Line", *(("Time",) if timed else ()), "Moved", "Transfers", "Waits", "What", "")
    yield f'<div class="wide"><table>\n<tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>\n'
    for cost in costs:
        place = f"{relative_path(cost.filename)}:{cost.line}"
        yield f'<tr><td><span class="place">{escape(place)}</span><br><code>{escape(cost.source)}</code></td>'
        numbers = [format_duration(cost.seconds)] if timed else []
        numbers += [format_bytes(cost.nbytes), str(cost.transfers), str(cost.waits)]
        yield "".join(f'<td class="number">{number}</td>' for number in numbers)
        yield f'<td>{escape(cost.kinds)}</td><td class="bars">'
        for kind, share in (("up", cost.nbytes / most_bytes), ("wait", cost.waits / most_waits)):
            if share:
                yield f'<span class="bar {kind}" style="width:{100 * share:.1f}%"></span>'
        yield "</td></tr>\n"
    yield "</table></div>\n"
