"""The output format `json-lines`: one JSON object on each line, the same objects as in the format `json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.json_format import diagnostic_as_json
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a line for each finding: a JSON object with all data of the finding."""
    for diagnostic in diagnostics:
        yield json.dumps(diagnostic_as_json(diagnostic)) + "\n"
