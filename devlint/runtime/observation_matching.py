"""Whether something seen at run time is what a static finding speaks of."""

from __future__ import annotations

import os
from functools import lru_cache

from devlint.diagnostic import Diagnostic, Region
from devlint.runtime.call_sites import Site
from devlint.runtime.recorder import Observation

MIXED_DEVICE_CODES = frozenset(
    f"DEV{number}" for number in (101, 102, 103, 104, 105, 107, 113, 114, 115, 201, 202, 203, 407, 604)
)
DTYPE_CODES = frozenset({"DEV301", "DEV302", "DEV303", "DEV304", "DEV305"})
REPORTED_AT_ORIGIN = frozenset(
    f"DEV{number}" for number in (103, 104, 105, 113, 114, 115, 201, 202, 203, 301, 407, 604)
)
"""Reported where the tensor comes from; where it fails is the last step of the story."""
MATCHED_BY_FILE = frozenset({"DEV110", "DEV111"})
"""The first touch ends the worker or the loader, wherever in the file it is."""

FileLine = tuple[str, int]


@lru_cache(None)
def canonical_path(filename: str) -> str:
    """One name for each file."""
    return os.path.realpath(filename)


def lines_of(region: Region) -> list[FileLine]:
    """The lines of a region."""
    return [(canonical_path(region.filename), row) for row in range(region.start.row, region.end.row + 1)]


def failure_region(finding: Diagnostic) -> Region:
    """Where the finding says that the program fails."""
    return finding.trace[-1].region if finding.code in REPORTED_AT_ORIGIN and finding.trace else finding.region


def shows_finding(finding: Diagnostic, seen: Observation) -> bool:
    """Whether `seen` is the bug of the finding."""
    same = finding.code == seen.code
    places = (finding.region, *(note.region for note in finding.trace))
    if same and seen.code in MATCHED_BY_FILE:
        files = {canonical_path(place.filename) for place in places}
        return any(canonical_path(site.filename) in files for site in (seen.site, *seen.through) if site is not None)
    if seen.raised is None:
        return same and seen.site is not None and any(_overlaps(seen.site, place) for place in places)
    if finding.code == "DEV105" and seen.code == "DEV109":  # a factory meets its generator before its tensor is met
        return seen.site is not None and _covers(seen.site, finding.region)
    if not (
        same or any(finding.code in family and seen.code in family for family in (MIXED_DEVICE_CODES, DTYPE_CODES))
    ):
        return False
    place = failure_region(finding)
    if any(_covers(site, place) for site in (seen.site, *seen.through) if site is not None):
        return True
    origins = (step.site for step in seen.steps if step.site is not None)
    return finding.code in REPORTED_AT_ORIGIN and any(_overlaps_lines(site, finding.region) for site in origins)


def _overlaps_lines(site: Site, region: Region) -> bool:
    if canonical_path(site.filename) != canonical_path(region.filename):
        return False
    return site.line <= region.end.row and region.start.row <= (site.end_line or site.line)


def _covers(site: Site, region: Region) -> bool:
    """Whether the expression that was being evaluated holds the region: the whole line where columns are unknown."""
    if not _overlaps_lines(site, region):
        return False
    if not site.column:
        return True
    starts_before = (site.line, site.column) <= (region.start.row, region.start.column)
    return starts_before and (region.end.row, region.end.column) <= (site.end_line, site.end_column)


def _overlaps(site: Site, region: Region) -> bool:
    """Whether the expression that was being evaluated and the region have anything in common."""
    if not _overlaps_lines(site, region):
        return False
    if not site.column:
        return True
    before = (site.end_line, site.end_column) <= (region.start.row, region.start.column)
    return not before and (site.line, site.column) < (region.end.row, max(region.end.column, region.start.column + 1))
