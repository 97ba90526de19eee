"""The made parts of docs/portability.md: the port of its script, and its tables."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

from devlint import cli
from devlint.semantics.accelerators import Kind, all_replacements, all_without_equivalent, version_text

PAGE = Path(__file__).parents[2] / "docs" / "portability.md"
_SCRIPT = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def script(page: str) -> str:
    """Return the script that the page ports."""
    found = _SCRIPT.search(page)
    assert found is not None
    return found[1]


def ported(text: str) -> tuple[str, str, str]:
    """Return the difference that a port of a script makes, the report on it, and the ported script."""
    here = Path.cwd()
    difference, report = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(text)
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(difference), contextlib.redirect_stderr(io.StringIO()):
                cli.invoke(["port", "-j", "1", "--diff", "train.py"])
            with contextlib.redirect_stdout(report):
                cli.invoke(["port", "-j", "1", "train.py"])
        finally:
            os.chdir(here)
        return difference.getvalue(), report.getvalue(), path.read_text()


def replacements() -> str:
    """Return the table of what replaces what."""
    rows = []
    for one in all_replacements():
        notes = [f"it {one.also}"] if one.also else []
        notes += [one.note] if one.note else []
        if one.lacking:
            notes.append(f"lacking in {', '.join(one.lacking)}")
        if one.result_without is not None and one.kind is Kind.FUNCTION:
            notes.append("raises without an accelerator: the port checks before")
        elif one.result_without is not None:
            notes.append("that of `torch.cuda` does not raise without CUDA: the port leaves it")
        by = one.by if "`" in one.by else f"`{one.by}`"
        rows.append(f"| `{one.name}` | {by} | {version_text(one.since)} | {'; '.join(notes)} |")
    return "\n".join(["| CUDA | any accelerator | torch | notes |", "|---|---|---|---|", *rows])


def without() -> str:
    """Return the table of what has no equivalent."""
    rows = [f"| `{name}` | {reason} |" for name, reason in all_without_equivalent().items()]
    return "\n".join(["| CUDA | why |", "|---|---|", *rows])


def refreshed(page: str) -> str:
    """Return the page with its made parts made anew."""
    difference, report, _ = ported(script(page))
    for language, text in (("diff", difference), ("text", report)):
        start = f"```{language}\n"
        before, _, rest = page.partition(start)
        page = f"{before}{start}{text}```{rest.partition('```')[2]}"
    for name, table in (("replacements", replacements()), ("none", without())):
        start, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, _, rest = page.partition(start)
        page = f"{before}{start}{table}\n{end}{rest.partition(end)[2]}"
    return page


def write() -> None:
    """Write the page."""
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
