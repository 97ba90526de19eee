"""The output format `azure`: logging commands that Azure Pipelines shows as issues of a build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic, Severity
from devlint.output.report_context import ReportContext

_MESSAGE = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({";": "%3B", "]": "%5D"})


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield an Azure Pipelines command `task.logissue` for each finding.

    Azure Pipelines knows errors and warnings only, so any finding that is not an error becomes a warning.
    """
    for diagnostic in diagnostics:
        region = diagnostic.region
        properties = {
            "type": "error" if diagnostic.severity is Severity.ERROR else "warning",
            "sourcepath": region.filename,
            "linenumber": str(region.start.row),
            "columnnumber": str(region.start.column),
            "code": diagnostic.code,
        }
        listed = "".join(f"{key}={value.translate(_PROPERTY)};" for key, value in properties.items())
        message = f"{diagnostic.message} ({diagnostic.name})".translate(_MESSAGE)
        yield f"##vso[task.logissue {listed}]{message}\n"
