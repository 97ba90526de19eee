"""Small programs that say themselves what is to be found in them.

A line that must be reported ends in a comment with the codes, `# DEV101` or `# DEV101 DEV203`; no other line may be. A
program may be several files: each begins with a line `# file: name.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.linter.program_analysis import analyse_files
from devlint.linter.rule_loader import all_rules

PRELUDE = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""
EXPECTED = re.compile(r"#((?: DEV\d{3})+)\s*$")
FILE = re.compile(r"^# file: (\S+)$", re.MULTILINE)

Finding = tuple[str, int, str]
"""A finding as the tests compare it: file, row, code."""


def lint(source: str, codes: frozenset[str], folder: Path | None = None) -> tuple[Diagnostic, ...]:
    """Every finding with one of the codes; `folder` is where a program of several files is written to."""
    files = split(source)
    if len(files) == 1:
        ((name, text),) = files.items()
        report = analyse_files([], codes=codes, stdin=(name, text.encode()))
    else:
        assert folder is not None
        paths = [folder / name for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        names = dict(zip(paths, files, strict=True))
        report = analyse_files(paths, codes=codes, src=[folder], names=names)
    assert not report.errors, report.errors[0].traceback
    return report.diagnostics


def split(source: str) -> dict[str, str]:
    """The files of a program by name; a program that names none is one file."""
    parts = FILE.split(source)
    if len(parts) == 1:
        return {"program.py": source}
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def family(prefix: str) -> frozenset[str]:
    """The codes of all rules whose code starts so."""
    return frozenset(rule.code for rule in all_rules() if rule.code.startswith(prefix))


def expected(source: str, codes: frozenset[str]) -> set[Finding]:
    """What the program's comments say is to be found."""
    return {
        (name, row, code)
        for name, text in split(source).items()
        for row, line in enumerate(text.splitlines(), 1)
        if (match := EXPECTED.search(line))
        for code in match.group(1).split()
        if code in codes
    }


def check(source: str, prefix: str, folder: Path | None = None) -> tuple[Diagnostic, ...]:
    """Assert that a program holds what it says, of all rules whose code starts with `prefix`; return the findings."""
    source = FILE.sub(rf"\g<0>\n{PRELUDE}", source) if FILE.search(source) else PRELUDE + source
    codes = family(prefix)
    found = lint(source, codes, folder)
    seen = {(one.region.filename, one.region.start.row, one.code) for one in found}
    told = "\n".join(f"{one.region.filename}:{one.region.start.row} {one.code} {one.message}" for one in found)
    assert seen == expected(source, codes), f"found:\n{told or 'nothing'}"
    return found
