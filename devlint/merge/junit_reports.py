"""Reports in the form `junit`: a test suite for each file, with a failed test for each finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias
from xml.etree.ElementTree import Element, ParseError, fromstring

from devlint.merge.reported_finding import ReportedFinding, ReportError, check_version
from devlint.output.junit_format import PACKAGE, VERSION_PROPERTY, report_text

JunitFinding: TypeAlias = "ReportedFinding[Element]"


def read(text: str) -> list[JunitFinding]:
    """Return the findings of a report. Raise ReportError if the text is none."""
    try:
        root = fromstring(text)
    except ParseError as problem:
        raise ReportError(f"damaged: {problem}") from None
    suites = root.findall("testsuite")
    if root.tag != "testsuites" or not suites or any(suite.get("package") != PACKAGE for suite in suites):
        raise ReportError("not a JUnit report of devlint")
    for suite in suites:
        versions = [one.get("value") for one in suite.iter("property") if one.get("name") == VERSION_PROPERTY]
        check_version(*versions or ["of an unknown version"])
    return [_finding(suite, case) for suite in suites for case in suite.findall("testcase") if len(case)]


def write(findings: Sequence[JunitFinding]) -> Iterator[str]:
    """Yield the text of a report on findings, which are in their order."""
    by_file = groupby(findings, key=lambda one: one.file)
    return report_text((file, [one.data for one in group]) for file, group in by_file)


def _finding(suite: Element, case: Element) -> JunitFinding:
    """Return the finding that a failed test of a suite describes."""
    return ReportedFinding(suite.get("name", ""), case.get("name", "").removeprefix(f"{PACKAGE}."), case)
