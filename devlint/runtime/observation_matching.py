"""Matching of observations from a program run with findings of the static analysis: do both describe the same bug?"""

from __future__ import annotations

import os
from functools import lru_cache

from devlint.diagnostic import Diagnostic, Region
from devlint.runtime.call_sites import Site
from devlint.runtime.failure_places import REPORTED_AT_ORIGIN, failure_region
from devlint.runtime.recorder import Observation

MIXED_DEVICE_CODES = frozenset(
    f"DEV{number}" for number in (101, 102, 103, 104, 105, 107, 113, 114, 115, 201, 202, 203, 407, 604)
)
"""Rules about operands on different devices; an error of one confirms a finding of another."""
DTYPE_CODES = frozenset({"DEV301", "DEV302", "DEV303", "DEV304", "DEV305", "DEV609"})
"""Rules about operands of different dtypes; an error of one confirms a finding of another."""
MISSING_BACKEND_CODES = frozenset({"DEV601", "DEV605", "DEV606"})
"""Rules about code for one backend; the error that the backend is not there confirms a finding of any of them."""
MATCHED_BY_FILE = frozenset({"DEV110", "DEV111"})
"""Rules matched by file only, because the first error ends the worker or loader wherever it happens."""

FileLine = tuple[str, int]
"""A canonical file name and a line number."""


@lru_cache(None)
def canonical_path(filename: str) -> str:
    """Return the real path of a file, so that different names of one file compare equal."""
    return os.path.realpath(filename)


def lines_of(region: Region) -> list[FileLine]:
    """Return the lines that a source region covers, each as a real path and a line number."""
    return [(canonical_path(region.filename), row) for row in range(region.start.row, region.end.row + 1)]


def shows_finding(finding: Diagnostic, seen: Observation) -> bool:
    """Return whether an observation from a program run shows the bug that a finding of static analysis describes."""
    same = finding.code == seen.code
    places = (finding.region, *(note.region for note in finding.trace))
    if same and seen.code in MATCHED_BY_FILE:
        files = {canonical_path(place.filename) for place in places}
        return any(canonical_path(site.filename) in files for site in (seen.site, *seen.through) if site is not None)
    if seen.raised is None:
        return same and seen.site is not None and any(overlaps(seen.site, place) for place in places)
    if finding.code == "DEV105" and seen.code == "DEV109":
        # DEV105 expects an error where the new tensor is used, but its generator already fails in the factory.
        return seen.site is not None and covers(seen.site, finding.region)
    families = (MIXED_DEVICE_CODES, DTYPE_CODES, MISSING_BACKEND_CODES)
    if not (same or any(finding.code in family and seen.code in family for family in families)):
        return False
    place = failure_region(finding)
    if any(covers(site, place) for site in (seen.site, *seen.through) if site is not None):
        return True
    origins = (step.site for step in seen.steps if step.site is not None)
    return finding.code in REPORTED_AT_ORIGIN and any(_is_origin(site, finding) for site in origins)


def _is_origin(site: Site, finding: Diagnostic) -> bool:
    """Return whether a finding that is reported where a tensor is made is about the tensor made at a source location.

    Several may be made on one line, so the places of the story on that line decide. Without any, the line does.
    """
    if not _overlaps_lines(site, finding.region):
        return False
    places = [note.region for note in finding.trace if note.region != finding.region]
    told = [place for place in places if _overlaps_lines(site, place)]
    return not told or any(overlaps(site, place) for place in (finding.region, *told))


def _overlaps_lines(site: Site, region: Region) -> bool:
    """Return whether a source location and a source region have a line of the same file in common."""
    if canonical_path(site.filename) != canonical_path(region.filename):
        return False
    return site.line <= region.end.row and region.start.row <= (site.end_line or site.line)


def covers(site: Site, region: Region) -> bool:
    """Return whether the expression at a source location contains a source region.

    If the location has no columns, one line in common is enough.
    """
    if not _overlaps_lines(site, region):
        return False
    if not site.column:
        return True
    starts_before = (site.line, site.column) <= (region.start.row, region.start.column)
    return starts_before and (region.end.row, region.end.column) <= (site.end_line, site.end_column)


def overlaps(site: Site, region: Region) -> bool:
    """Return whether the expression at a source location overlaps a source region.

    If the location has no columns, one line in common is enough.
    """
    if not _overlaps_lines(site, region):
        return False
    if not site.column:
        return True
    before = (site.end_line, site.end_column) <= (region.start.row, region.start.column)
    return not before and (site.line, site.column) < (region.end.row, max(region.end.column, region.start.column + 1))
