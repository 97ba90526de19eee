"""The output format `junit`: a JUnit test report in which each finding is a failed test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from devlint.diagnostic import Diagnostic
from devlint.output.finding_text import explanation_lines, headline
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place

_UNTIMED = "1970-01-01T00:00:00"
"""The schema requires a time stamp. It is constant, so that the same findings give the same report."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a JUnit report with a test suite for each file that has findings.

    If there are no findings, the report has a single suite with a test that passes.
    """
    root = Element("testsuites")
    for filename, group in groupby(diagnostics, key=lambda diagnostic: diagnostic.region.filename):
        _add_suite(root, filename, list(group))
    if not diagnostics:
        _add_suite(root, "devlint", [])
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield tostring(root, encoding="unicode") + "\n"


def _add_suite(root: Element, name: str, diagnostics: Sequence[Diagnostic]) -> None:
    """Add a test suite for one file to a JUnit report, with a failed test case for each finding in the file.

    Without findings, the suite has one test case that passes.
    """
    suite = SubElement(
        root,
        "testsuite",
        name=_clean(name),
        package="org.devlint",
        id=str(len(root)),
        tests=str(max(1, len(diagnostics))),
        failures=str(len(diagnostics)),
        errors="0",
        time="0",
        timestamp=_UNTIMED,
        hostname="localhost",
    )
    SubElement(suite, "properties")
    for diagnostic in diagnostics:
        case = _add_case(suite, f"org.devlint.{diagnostic.code}", PurePosixPath(name).with_suffix("").as_posix())
        failure = SubElement(case, "failure", type=diagnostic.severity.value, message=_clean(diagnostic.message))
        lines = [f"{format_place(diagnostic.region)}: {headline(diagnostic)}", *explanation_lines(diagnostic)]
        failure.text = _clean("\n".join(lines))
    if not diagnostics:
        _add_case(suite, "org.devlint", name)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _add_case(suite: Element, name: str, classname: str) -> Element:
    """Add a test case of this name and class name to a JUnit test suite, and return the test case's XML element."""
    return SubElement(suite, "testcase", name=name, classname=_clean(classname), time="0")


def _clean(text: str) -> str:
    """Return a text with every character that XML does not allow replaced by the replacement character."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
