"""The report of `devlint confirm`: as text, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from devlint.confirm.driver_text import short_text
from devlint.confirm.judgement import Judgement, Verdict
from devlint.output.json_format import diagnostic_as_json
from devlint.output.terminal_style import TerminalStyle, format_place

_MOST_LINES = 6
"""The lines of a driver that the text shows."""


def text_report(judgements: Sequence[Judgement], *, color: bool = False) -> Iterator[str]:
    """Yield the report as text: for each finding a line, its verdict and the end of its driver; then the counts."""
    style = TerminalStyle(color)
    for one in judgements:
        found = one.finding
        code = style.severity(found.severity, found.code)
        yield f"{style.place(format_place(found.region))}: {code} {found.message} ({found.name})\n"
        reason = f": {one.reason}" if one.reason else ""
        yield f"  {style.strong(one.verdict.words)}{reason}\n"
        if one.driver and one.verdict is not Verdict.NOT_BUILDABLE:
            lines = short_text(one.driver).splitlines()
            yield from (f"    {line}\n" for line in lines[:_MOST_LINES])
            if len(lines) > _MOST_LINES:
                yield f"    ... and {len(lines) - _MOST_LINES} more lines\n"
        yield "\n"
    yield f"{style.strong(summary(judgements))}\n"


def summary(judgements: Sequence[Judgement]) -> str:
    """Return a sentence that counts the verdicts; those that no finding has are left out."""
    counts = Counter(one.verdict for one in judgements)
    noun = "finding" if len(judgements) == 1 else "findings"
    parts = ", ".join(f"{counts[one]} {one.words}" for one in Verdict if counts[one])
    return f"{len(judgements)} {noun}: {parts}" if parts else f"{len(judgements)} {noun}"


def json_report(judgements: Sequence[Judgement]) -> str:
    """Return the report as JSON: a list with an object for each finding."""
    return json.dumps([_as_json(one) for one in judgements], indent=2) + "\n"


def _as_json(one: Judgement) -> dict[str, object]:
    """Return a judgement as a JSON object: that of the finding, with the verdict and what it rests on."""
    seen = {"filename": one.filename, "row": one.row} if one.row is not None else None
    return {
        **diagnostic_as_json(one.finding),
        "verdict": one.verdict.value,
        "reason": one.reason,
        "driver": one.driver or None,
        "driver_origin": one.origin or None,
        "error": one.error or None,
        "seen_at": seen,
    }
