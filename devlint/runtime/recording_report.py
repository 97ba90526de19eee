"""The report of a recorded program run, as text and as JSON: findings with verdicts, transfers, waits and a census."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from devlint.output.json_format import diagnostic_as_json
from devlint.runtime.census import LeftBehind
from devlint.runtime.device_coverage import coverage_object, device_coverage
from devlint.runtime.line_costs import LineCost
from devlint.runtime.outcome_texts import with_relative_paths
from devlint.runtime.recorded_run import RecordedRun
from devlint.runtime.report_wording import relative_path
from devlint.runtime.text_report import text_report
from devlint.runtime.verdicts import Outcome


class Report(RecordedRun):
    """The report of what a recorder collected; complete once the recording is over."""

    __slots__ = ()

    def full(self, *, color: bool = False, everything: bool = False, columns: int | None = None) -> Iterator[str]:
        """Yield the report as text, in parts; `everything` lifts the limits on its length.

        `columns` is the width of the terminal that shows it, None where none does.
        """
        return text_report(self, color=color, everything=everything, columns=columns)

    def json(self) -> str:
        """Return the report as text in JSON."""
        steps = self.waits_per_step
        return json.dumps(
            {
                "device": self.device,
                "ended": self.ended.what if self.ended is not None else None,
                "operators": self.recorder.operators,
                "peak_bytes": self.peak,
                "findings": [_outcome_object(outcome) for outcome in self.outcomes],
                "lines": [_cost_object(cost) for cost in self.costs],
                "waits_per_step": asdict(steps) if steps is not None else None,
                "left_behind": [_left_object(left) for left in self.left_behind],
                "notes": self.remarks,
                "device_coverage": coverage_object(device_coverage(self.recorder, Path.cwd()), Path.cwd()),
            },
            indent=2,
        )


def _outcome_object(outcome: Outcome) -> dict[str, object]:
    """Return a finding with its verdict and evidence as a dict for the JSON report."""
    return {
        **diagnostic_as_json(with_relative_paths(outcome.diagnostic)),
        "verdict": outcome.verdict.value,
        "evidence": {
            "count": outcome.count,
            "bytes": outcome.nbytes,
            "seconds": outcome.seconds,
            "detail": outcome.detail,
            "after_going_on": outcome.after_going_on,
        },
    }


def _cost_object(cost: LineCost) -> dict[str, object]:
    """Return the transfers and waits of one source line as a dict for the JSON report."""
    return {
        "filename": relative_path(cost.filename),
        "line": cost.line,
        "source": cost.source,
        "transfers": cost.transfers,
        "bytes": cost.nbytes,
        "waits": cost.waits,
        "seconds": cost.seconds,
        "kinds": cost.kinds,
    }


def _left_object(left: LeftBehind) -> dict[str, object]:
    """Return a tensor that a module left behind as a dict for the JSON report."""
    steps = [
        {"message": step.message, "filename": relative_path(step.site.filename), "line": step.site.line}
        for step in left.steps
        if step.site is not None
    ]
    return {**asdict(left), "shape": list(left.shape), "steps": steps}
