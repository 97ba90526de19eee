"""Findings to write down, and a shorthand for making them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from devlint.diagnostic import (
    Applicability,
    AssumptionKind,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Edit,
    Fix,
    Note,
    Position,
    Region,
    Severity,
)
from devlint.output import find_format
from devlint.output.report_context import ReportContext
from devlint.rule_metadata import RuleMetadata

TRAIN = """\
import torch


def train(loader):
    weight = torch.ones(3, device="cuda")
    for batch in loader:
        shift = torch.zeros(3)
        shift.to("cuda")
        loss = weight + shift
    return (
        loss
    )
"""
SOURCES = {"src/train.py": TRAIN, "src/data.py": "import torch\nbatch = torch.zeros(3)\n"}


def region(row: int, column: int, end_row: int, end_column: int, filename: str = "src/train.py") -> Region:
    return Region(filename, Position(row, column), Position(end_row, end_column))


MIXED = Diagnostic(
    code="DEV101",
    name="mixed-device-op",
    severity=Severity.ERROR,
    confidence=Confidence.CERTAIN,
    message="`weight` is on cuda:0 and `shift` on the host",
    region=region(9, 16, 9, 30),
    trace=(
        Note("`weight` is created on cuda:0", region(5, 14, 5, 42)),
        Note("`shift` is created on the host, the default device", region(7, 17, 7, 31)),
    ),
    help="create it there: `torch.zeros(3, device=weight.device)`",
    fingerprint="f1",
)
DISCARDED = Diagnostic(
    code="DEV201",
    name="discarded-transfer",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    message="the moved tensor is thrown away",
    region=region(8, 9, 8, 25),
    assumptions=(
        AssumptionNote(AssumptionKind.TENSOR, "`shift` is a tensor", region(7, 9, 7, 14)),
        AssumptionNote(AssumptionKind.CONDITION, "`debug` holds", None),
    ),
    fix=Fix(
        'Assign the result: `shift = shift.to("cuda")`',
        Applicability.SAFE,
        (Edit("shift = ", Position(8, 9), Position(8, 9)),),
    ),
    fingerprint="f2",
)
ELSEWHERE = Diagnostic(
    code="DEV103",
    name="unregistered-tensor",
    severity=Severity.INFO,
    confidence=Confidence.POSSIBLE,
    message="`loss` may stay behind",
    region=region(10, 12, 12, 6),
    trace=(Note("`batch` is made here", region(2, 1, 2, 23, "src/data.py")),),
)
RULES = {
    "DEV101": RuleMetadata(
        "DEV101", "mixed-device-op", Severity.ERROR, True, False, "Two devices.", "Two devices.\n\nWhy"
    ),
    "DEV103": RuleMetadata("DEV103", "unregistered-tensor", Severity.INFO, False, False, "Left.", "Left behind." * 100),
    "DEV201": RuleMetadata("DEV201", "discarded-transfer", Severity.WARNING, True, True, "Lost.", "Lost."),
}
FINDINGS = (DISCARDED, MIXED, ELSEWHERE)


@pytest.fixture
def render() -> Callable[..., str]:
    """The text of a report in the given format."""

    def run(
        name: str,
        findings: Sequence[Diagnostic] = FINDINGS,
        sources: Mapping[str, str] = SOURCES,
        **circumstances: object,
    ) -> str:
        page = ReportContext(
            rules=RULES,
            lines=lambda filename, cell: sources.get(filename, "").split("\n"),
            checked=4,
            **circumstances,  # type: ignore[arg-type]
        )
        return "".join(find_format(name)(findings, page))

    return run
