"""The timeline of a recorded program as an SVG drawing: transfers, waits and findings in lanes.

On emulated devices, times mean nothing: the timeline counts operators, and what was moved tells its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from devlint.runtime.recorder import TimelineEvent
from devlint.runtime.report_wording import count_text, format_bytes, format_duration, relative_path

_WIDTH, _LANE, _LEFT, _RIGHT = 1000, 34, 130, 12
_LANES = (("up", "to the device"), ("down", "to the host"), ("wait", "the host waits"), ("finding", "findings"))
"""The lanes of the timeline with their titles, from top to bottom."""
_ROWS = {lane: row for row, (lane, _) in enumerate(_LANES)}


def timeline_drawing(events: Sequence[TimelineEvent], *, timed: bool) -> Iterator[str]:
    """Yield the drawing in parts, from the first event to the last.

    It goes by seconds if `timed` is set, and otherwise by operators.
    """
    if not events:
        yield '<p class="quiet">Nothing was moved and nothing was waited for.</p>\n'
        return
    places = [event.start if timed else float(event.operators) for event in events]
    first, last = min(places), max(places)
    extent = last - first or 1.0
    height = _LANE * len(_LANES) + 24
    yield f'<div class="wide" tabindex="0"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="timeline">\n'
    for row, (_, title) in enumerate(_LANES):
        y = _LANE * (row + 1) - 4
        yield f'<text x="0" y="{y - 6}">{title}</text><line x1="{_LEFT}" x2="{_WIDTH}" y1="{y}" y2="{y}"/>\n'
    drawn: set[tuple[str, int]] = set()
    for event, place in zip(events, places, strict=True):
        lane = _lane_of_event(event)
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place - first) / extent
        if (lane, int(x)) not in drawn:  # at most one for each pixel of a lane
            drawn.add((lane, int(x)))
            y = _LANE * (_ROWS[lane] + 1) - 22
            yield f'<rect class="{lane}" x="{x:.1f}" y="{y}" width="3" height="18">'
            yield f"<title>{escape(_label(event, place - first, timed=timed))}</title></rect>\n"
    ends = ("0 s", format_duration(extent)) if timed else (f"operator {first:,.0f}", f"operator {last:,.0f}")
    yield f'<text x="{_LEFT}" y="{height - 4}">{ends[0]}</text>'
    yield f'<text x="{_WIDTH}" y="{height - 4}" text-anchor="end">{ends[1]}</text>\n</svg></div>\n'


def _lane_of_event(event: TimelineEvent) -> str:
    """Return the name of the lane in which an event is drawn: "up", "down", "wait" or "finding".

    A transfer is "down" if it ends on the host and otherwise "up".
    """
    if event.kind == "transfer":
        return "down" if event.what.endswith("cpu") else "up"
    return event.kind


def _label(event: TimelineEvent, since: float, *, timed: bool) -> str:
    """Return what is told of an event: what it is, its size, its place, and when it was."""
    size = f", {format_bytes(event.nbytes)}" if event.nbytes else ""
    place = f", {relative_path(event.site.filename)}:{event.site.line}" if event.site else ""
    when = f"after {format_duration(since)}" if timed else f"after {count_text(event.operators, 'operator')}"
    return f"{event.what}{size}{place}, {when}"
