"""The output format `junit`: a JUnit test report in which each finding is a failed test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from devlint.diagnostic import Diagnostic
from devlint.output.finding_text import explanation_lines, headline
from devlint.output.report_context import ReportContext
from devlint.output.terminal_style import format_place
from devlint.version import __version__

PACKAGE: Final = "org.devlint"
"""The package of all test suites, with which the names of the tests begin."""
VERSION_PROPERTY: Final = "devlint"
"""The name of the property of a test suite that has the version of devlint."""
_UNTIMED = "1970-01-01T00:00:00"
"""The schema requires a time stamp. It is constant, so that the same findings give the same report."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a JUnit report with a test suite for each file that has findings."""
    by_file = groupby(diagnostics, key=lambda diagnostic: diagnostic.region.filename)
    return report_text((filename, list(map(_failed_case, group))) for filename, group in by_file)


def report_text(cases_by_file: Iterable[tuple[str, Sequence[Element]]]) -> Iterator[str]:
    """Yield a JUnit report with a test suite for each file, which has the failed test cases of its findings.

    If there are no findings, the report has a single suite with a test that passes.
    """
    root = Element("testsuites")
    for filename, cases in cases_by_file:
        _add_suite(root, filename, cases, failures=len(cases))
    if not len(root):
        _add_suite(root, "devlint", [_case(PACKAGE, "devlint")], failures=0)
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield tostring(root, encoding="unicode") + "\n"


def _add_suite(root: Element, name: str, cases: Sequence[Element], *, failures: int) -> None:
    """Add a test suite for one file with its test cases to a JUnit report."""
    suite = SubElement(
        root,
        "testsuite",
        name=_clean(name),
        package=PACKAGE,
        id=str(len(root)),
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        time="0",
        timestamp=_UNTIMED,
        hostname="localhost",
    )
    SubElement(SubElement(suite, "properties"), "property", name=VERSION_PROPERTY, value=__version__)
    suite.extend(cases)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _failed_case(diagnostic: Diagnostic) -> Element:
    """Return the failed test case for a finding."""
    filename = diagnostic.region.filename
    case = _case(f"{PACKAGE}.{diagnostic.code}", PurePosixPath(filename).with_suffix("").as_posix())
    failure = SubElement(case, "failure", type=diagnostic.severity.value, message=_clean(diagnostic.message))
    lines = [f"{format_place(diagnostic.region)}: {headline(diagnostic)}", *explanation_lines(diagnostic)]
    failure.text = _clean("\n".join(lines))
    return case


def _case(name: str, classname: str) -> Element:
    """Return a test case of this name and class name."""
    return Element("testcase", name=name, classname=_clean(classname), time="0")


def _clean(text: str) -> str:
    """Return a text with every character that XML does not allow replaced by the replacement character."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
