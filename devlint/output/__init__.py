"""Output formats of devlint's findings, one module for each format that users can choose."""

from __future__ import annotations

import importlib

from devlint.output.report_context import OutputFormat

FORMATS = (
    "concise",
    "full",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "azure",
    "pylint",
    "rdjson",
    "html",
    "statistics",
)
"""The names of the formats; `json-lines` is in the module `devlint.output.json_lines_format`, and so on."""

FOR_PEOPLE = frozenset({"concise", "full", "grouped", "statistics"})
"""The formats whose lines people read in a terminal."""

MERGEABLE = ("json", "sarif", "junit")
"""The formats whose reports on the shards of a run can be merged."""

WITHOUT_CELLS = frozenset({"sarif", "github", "gitlab", "azure", "pylint", "rdjson"})
"""The formats whose readers count rows of the notebook file and know nothing of cells."""


def find_format(name: str) -> OutputFormat:
    """Return the function that writes findings in the output format of this name, which is one of `FORMATS`."""
    module = importlib.import_module(f"devlint.output.{name.replace('-', '_')}_format")
    render: OutputFormat = module.render
    return render
