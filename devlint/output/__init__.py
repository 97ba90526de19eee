"""How findings are written down: one module for each format, over one frozen `Diagnostic`."""

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
"""The formats by name; the format `json-lines` is the module `devlint.output.json_lines_format`, and so on."""

WITHOUT_CELLS = frozenset({"sarif", "github", "gitlab", "azure", "pylint", "rdjson"})
"""The formats whose readers count the rows of the file that a notebook is, and know of no cells in it."""


def find_format(name: str) -> OutputFormat:
    """The format of this name, which is one of `FORMATS`."""
    module = importlib.import_module(f"devlint.output.{name.replace('-', '_')}_format")
    render: OutputFormat = module.render
    return render
