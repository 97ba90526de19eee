"""`pylint`: the text that tools read which know pylint's parseable format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], page: ReportContext) -> Iterator[str]:
    """`file:row: [CODE(name)] message`."""
    for diagnostic in diagnostics:
        region = diagnostic.region
        yield f"{region.filename}:{region.start.row}: [{diagnostic.code}({diagnostic.name})] {diagnostic.message}\n"
