"""The output format `pylint`: the parseable text format of the linter pylint, which many tools read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a line `file:row: [CODE(name)] message` for each finding. CODE and name are those of its rule."""
    for diagnostic in diagnostics:
        region = diagnostic.region
        yield f"{region.filename}:{region.start.row}: [{diagnostic.code}({diagnostic.name})] {diagnostic.message}\n"
