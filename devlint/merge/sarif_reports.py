"""Reports in the form `sarif`: a log with one run, which holds the findings and their rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from devlint.merge.reported_finding import ReportedFinding, ReportError, check_version
from devlint.output.sarif_format import Object, log_text


class _Result(NamedTuple):
    """A SARIF result with the description of its rule, if the log has one."""

    result: Object
    rule: Object | None


SarifFinding: TypeAlias = "ReportedFinding[_Result]"


def read(text: str) -> list[SarifFinding]:
    """Return the findings of a report. Raise ReportError if the text is none."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReportError(f"damaged: {problem}") from None
    try:
        (run,) = content["runs"]
        driver = run["tool"]["driver"]
        if driver["name"] != "devlint":
            raise ReportError(f"a log of {driver['name']}, and not of devlint")
        check_version(driver["semanticVersion"])
        rules = {rule["id"]: rule for rule in driver["rules"]}
        return [_finding(result, rules) for result in run["results"]]
    except (LookupError, TypeError, ValueError):
        raise ReportError("not a SARIF log of devlint") from None


def write(findings: Sequence[SarifFinding]) -> Iterator[str]:
    """Yield the text of a report on findings, which are in their order. The rules are sorted by their codes."""
    known = {one.code: one.data.rule for one in findings if one.data.rule is not None}
    numbers = {code: number for number, code in enumerate(sorted(known))}
    results = [
        {**one.data.result, "ruleIndex": numbers[one.code]} if one.code in numbers else one.data.result
        for one in findings
    ]
    return log_text([known[code] for code in numbers], results)


def _finding(result: Any, rules: Mapping[str, Object]) -> SarifFinding:
    """Return the finding that one result of a log describes."""
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return ReportedFinding(unquote(artifact["uri"]), result["ruleId"], _Result(result, rules.get(result["ruleId"])))
