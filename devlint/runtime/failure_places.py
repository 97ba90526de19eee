"""Where a program would fail according to a finding of the static analysis. It needs no torch."""

from __future__ import annotations

from devlint.diagnostic import Diagnostic, Region

REPORTED_AT_ORIGIN = frozenset(
    f"DEV{number}" for number in (103, 104, 105, 113, 114, 115, 201, 202, 203, 301, 407, 604)
)
"""Rules that report where a tensor was made; the last trace note tells where the program fails."""


def failure_region(finding: Diagnostic) -> Region:
    """Return the source region where the program would fail according to a finding.

    That is the finding's own region, but the region of its last explaining note if its rule reports where a tensor was
    made.
    """
    return finding.trace[-1].region if finding.code in REPORTED_AT_ORIGIN and finding.trace else finding.region
