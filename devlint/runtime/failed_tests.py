"""What the reports of failed tests say about devices: how the operands of a failed operator came to theirs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

from devlint.diagnostic import Diagnostic
from devlint.runtime.device_coverage import path_below
from devlint.runtime.error_reports import recorded_observation
from devlint.runtime.moved_tests import REASON
from devlint.runtime.observation_matching import canonical_path, shows_finding
from devlint.runtime.pytest_options import MARKER
from devlint.runtime.recorded_run import RecordedRun
from devlint.runtime.recorder import Observation

_SECTION = "devlint"
"""The title of the section with the story in the report of a test."""
_IF_KEPT = (
    "If the package kept that tensor, it is a bug; if the test passes on what it was given, the test would move it."
)
"""What to make of a host tensor that an earlier call has made."""


def add_story(report: Any, error: BaseException, *, moved: bool) -> None:
    """Add to the report of a failed test how the operands came to their devices, if devlint has recorded the error.

    `moved` tells that the session has moved what the test made, which the report then says too.
    """
    seen = recorded_observation(error)
    parts = [_story_text(seen)] if seen is not None else []
    parts += [_moved_text(seen)] if moved else []
    if parts:
        report.sections.append((_SECTION, "\n".join(parts)))


def name_findings(reports: Iterable[Any], run: RecordedRun, root: Path) -> None:
    """Let the reports of failed tests name the findings of the static analysis that their errors confirm.

    These are known only once all tests have run.
    """
    titles: dict[str, str] = {}
    for seen, *_ in run.recorder.observations.values():
        shown = [finding for finding in run.findings if shows_finding(finding, seen)]
        if shown:
            finding = next((one for one in shown if one.code == seen.code), shown[0])
            titles[_title(seen)] = _title_of_finding(finding, seen, root)
    for report in reports:
        report.sections = [
            (name, _retitled(text, titles) if name == _SECTION else text) for name, text in report.sections
        ]


def _title(seen: Observation) -> str:
    """Return the first line of the story of an error."""
    return f"{seen.code} at {seen.site}"


def _title_of_finding(finding: Diagnostic, seen: Observation, root: Path) -> str:
    """Return the first line of the story of an error that confirms a finding, with its place if that is another."""
    title, place = f"{finding.code} at {seen.site}", finding.region
    if seen.site is not None and (canonical_path(seen.site.filename), seen.site.line) == (
        canonical_path(place.filename),
        place.start.row,
    ):
        return title
    return f"{title}, reported at {path_below(place.filename, root)}:{place.start.row}"


def _retitled(story: str, titles: dict[str, str]) -> str:
    """Return a story with the title that takes the place of its own, if there is one."""
    title, line_end, steps = story.partition("\n")
    return titles.get(title, title) + line_end + steps


def _story_text(seen: Observation) -> str:
    """Return the story of an error as text for the report of a test."""
    steps = [f"  {step.text}: {step.site}" for step in seen.steps if step.site is not None]
    return "\n".join([_title(seen), *steps])


def _moved_text(seen: Observation | None) -> str:
    """Return the note on a failed test of which `--devlint=move` has moved the tensors."""
    text = (
        f"{REASON}: modules and tensors that tests make are on the accelerator; what the package makes without a "
        f"device stays on the host. If this test must stay there too, mark it with pytest.mark.{MARKER}."
    )
    if seen is None:
        return text
    running = {(site.filename, site.function) for site in seen.through}
    stayed = [
        step.site
        for step, after in zip_longest(seen.steps, seen.steps[1:])
        if step.message.startswith("created on the host") and not (after and after.message.startswith("moved"))
    ]
    earlier = [site for site in stayed if site is not None and (site.filename, site.function) not in running]
    return "\n".join([text, *(f"{REASON}: {site} ran in an earlier call. {_IF_KEPT}" for site in earlier)])
