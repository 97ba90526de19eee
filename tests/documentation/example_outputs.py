"""What devlint prints of the example of each rule.

Where a run on the emulated device shows what the rule says, that is the report of the run; else it is the finding.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from devlint import cli
from devlint.documentation import rule_page
from devlint.linter.rule_listing import all_rule_metadata
from devlint.rule_metadata import RuleMetadata

from ..runtime.conftest import _forked as run_forked

FILE: Final = Path(__file__).parents[2] / "devlint" / "documentation" / rule_page.OUTPUTS
_EXAMPLE: Final = re.compile(r"^## Example\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^── ([\w -]+) ──$", re.MULTILINE)
_REPORT: Final = re.compile(r"^(?:── |devlint: )", re.MULTILINE)
"""The beginning of the report of a run, below the traceback of the program."""
_NOT_RUN: Final = frozenset({"DEV111"})
"""The rules whose example does not end on the emulated device: it has no memory to share with a loader's processes."""
_NOT_SHOWN: Final = frozenset({"refuted", "not-reached"})
"""The sections of a report with findings of which the run shows nothing."""


def printed(arguments: list[str], program: str) -> str:
    """What a command prints on a terminal where the example stands in a file, without the program's own output."""

    def work() -> str:
        report, ignored = io.StringIO(), io.StringIO()
        os.environ |= {"COLUMNS": "120", "NO_COLOR": "1"}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, rule_page.EXAMPLE_FILE).write_text(program, encoding="utf-8")
            os.chdir(folder)
            running = arguments[0] == "run"
            with contextlib.redirect_stderr(report), contextlib.redirect_stdout(ignored if running else report):
                cli.invoke(arguments)
            return report.getvalue().replace(f"{Path(folder).resolve()}{os.sep}", "")

    text: str = run_forked(work)
    return text


def is_shown(code: str, report: str) -> bool:
    """Return whether the report of a run says that what a rule finds has happened."""
    _, *parts = _SECTION.split(report)
    sections = zip(parts[::2], parts[1::2], strict=True)
    return any(title not in _NOT_SHOWN and f"[{code}]" in text for title, text in sections)


def output(rule: RuleMetadata) -> dict[str, str]:
    """The command line and the output for the example of a rule."""
    found = _EXAMPLE.search(rule.doc)
    assert found is not None, rule.code
    file = rule_page.EXAMPLE_FILE
    devices = ["--devices", "2"] if "cuda:1" in found[1] else []
    arguments = ["run", "--device", "emulated", *devices, file]
    text = printed(arguments, found[1]) if rule.code not in _NOT_RUN else ""
    if is_shown(rule.code, text):
        # Without the traceback: it shows where torch is installed.
        found_report = _REPORT.search(text)
        assert found_report is not None
        text = text[found_report.start() :]
    else:
        arguments = ["check", "--select", rule.code, file]
        text = printed(["check", "--no-cache", "--isolated", "--output-format", "full", *arguments[1:]], found[1])
    return {"command": f"devlint {' '.join(arguments)}", "output": text.rstrip("\n")}


def outputs() -> dict[str, dict[str, str]]:
    """The outputs of the examples by the rules' codes."""
    return {rule.code: output(rule) for rule in all_rule_metadata()}


def write() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(outputs(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
