"""The output format `sarif`: SARIF 2.1.0 for GitHub code scanning, with each finding's trace as a SARIF code flow."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from devlint.diagnostic import Applicability, Diagnostic, Edit, Fix, Position, Region, Severity
from devlint.output.github_line_hash import line_hashes
from devlint.output.report_context import ReportContext
from devlint.rule_metadata import RuleMetadata
from devlint.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_LONGEST_DESCRIPTION = 1024
"""The most characters that GitHub accepts in a full description."""

Object = dict[str, object]


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a SARIF log with one run, which holds the findings, and their rules with their documentation."""
    run = _Run(context, {diagnostic.code for diagnostic in diagnostics})
    return log_text([_rule(metadata) for metadata in run.rules], [run.result(diagnostic) for diagnostic in diagnostics])


def log_text(rules: Sequence[Object], results: Sequence[Object]) -> Iterator[str]:
    """Yield the text of a SARIF log with one run, which has these rules and these results."""
    driver = {"name": "devlint", "semanticVersion": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
    yield "\n"


class _Run:
    """A builder of the results of one SARIF run, with their rules and a cache of GitHub's line hashes.

    Rules without a finding are left out: their documentation would be most of the report.
    """

    def __init__(self, context: ReportContext, codes: Container[str]) -> None:
        self._context = context
        self.rules = [rule for code, rule in context.rules.items() if code in codes]
        self._indices = {rule.code: index for index, rule in enumerate(self.rules)}
        self._hashes = cache(lambda filename, cell: line_hashes(context.lines(filename, cell)))

    def result(self, diagnostic: Diagnostic) -> Object:
        """Return a finding as a SARIF result: message, location, fingerprints, trace and fix."""
        place = self._location(diagnostic.region)
        steps = [self._location(note.region, note.message) for note in diagnostic.trace]
        last = self._location(diagnostic.region, diagnostic.message)
        text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
        result: Object = {
            "ruleId": diagnostic.code,
            "level": _LEVELS[diagnostic.severity],
            "message": {"text": text},
            "locations": [place],
            "partialFingerprints": self._fingerprints(diagnostic),
            "properties": {
                "confidence": diagnostic.confidence.value,
                "assumptions": [one.message for one in diagnostic.assumptions],
            },
        }
        if diagnostic.code in self._indices:
            result["ruleIndex"] = self._indices[diagnostic.code]
        if steps:
            result["relatedLocations"] = [{"id": number, **step} for number, step in enumerate(steps, 1)]
            flow = [{"location": step} for step in (*steps, last)]
            result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
        if diagnostic.fix and diagnostic.fix.applicability is not Applicability.DISPLAY:
            result["fixes"] = [self._fix(diagnostic.region, diagnostic.fix)]
        return result

    def _fingerprints(self, diagnostic: Diagnostic) -> Object:
        """Return the fingerprints of a finding by name: GitHub's hash of its line, and devlint's own fingerprint."""
        region = diagnostic.region
        hashes = self._hashes(region.filename, region.cell)
        found: Object = {}
        if region.start.row <= len(hashes):
            found["primaryLocationLineHash"] = hashes[region.start.row - 1]
        if diagnostic.fingerprint:
            found["devlint/v1"] = diagnostic.fingerprint
        return found

    def _location(self, region: Region, message: str | None = None) -> Object:
        """Return a region of a file as a SARIF location, with a message if one is given."""
        physical: Object = {"artifactLocation": self._artifact(region), "region": _region(region.start, region.end)}
        return {"physicalLocation": physical, **({"message": {"text": message}} if message else {})}

    def _artifact(self, region: Region) -> Object:
        """Return the file of a region as a SARIF artifact location, with its path as a URI."""
        path = self._context.relative(region.filename)
        uri = Path(path).as_uri() if Path(path).is_absolute() else quote(path, errors="surrogateescape")
        return {"uri": uri}

    def _fix(self, region: Region, fix: Fix) -> Object:
        """Return the fix of a finding, in the file of `region`, as a SARIF object."""
        replacements = [_replacement(edit) for edit in fix.edits]
        change = {"artifactLocation": self._artifact(region), "replacements": replacements}
        return {"description": {"text": fix.message}, "artifactChanges": [change]}


def _rule(metadata: RuleMetadata) -> Object:
    """Return the metadata of a rule as a SARIF reporting descriptor, which holds the rule's documentation."""
    tags = ["pytorch", *([metadata.topic] if metadata.topic else [])]
    return {
        "id": metadata.code,
        "name": metadata.name,
        "shortDescription": {"text": metadata.summary},
        "fullDescription": {"text": metadata.summary[:_LONGEST_DESCRIPTION]},
        "help": {"text": metadata.doc, "markdown": metadata.doc},
        "defaultConfiguration": {"level": _LEVELS[metadata.severity], "enabled": metadata.default},
        "properties": {"tags": tags, "precision": "high", "problem.severity": _PROBLEMS[metadata.severity]},
    }


def _region(start: Position, end: Position) -> Object:
    """Return the range between two positions in a file as a SARIF region."""
    return {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}


def _replacement(edit: Edit) -> Object:
    """Return one edit of a fix as a SARIF replacement: the deleted region and the inserted content."""
    return {"deletedRegion": _region(edit.start, edit.end), "insertedContent": {"text": edit.content}}
