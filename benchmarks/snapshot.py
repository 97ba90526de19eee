"""Write down everything that devlint says about some folders, to compare two versions of devlint.

    python benchmarks/snapshot.py OUT FOLDER... [--values]

Runs every rule at every confidence on the Python files and notebooks of each folder, and writes one text file for
each folder to OUT: each diagnostic with its trace, help and fix, devlint's own failures, and the statements that libcst
cannot parse. With `--values` a digest of every value that the interpreter computed follows, and how often each
description of a value occurred. Run it with `PYTHONHASHSEED=0` on both versions, and compare with `diff -r`: two runs
of one version are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from devlint.domain.value import Value
from devlint.explain.value_descriptions import describe_value
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.frame import Frame
from devlint.linter.analysis_report import AnalysisReport
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.program_analysis import report_on
from devlint.linter.rule_loader import all_rules


class ValueDigest:
    """An observer that counts and hashes the description of every value."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.counts: Counter[str] = Counter()

    def see(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Add the value of an expression."""
        text = describe_value(value)
        self.counts[text] += 1
        self.hash.update(f"{type(node).__name__} {text}\n".encode())

    def bind(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Add the value that a target or a parameter is bound to."""
        self.hash.update(f"= {type(node).__name__} {describe_value(value)}\n".encode())


@with_deep_stack
def snapshot(folder: Path, *, values: bool) -> list[str]:
    """Return the lines that describe what devlint says about a folder."""
    os.chdir(folder)
    codes = frozenset(rule.code for rule in all_rules())
    paths = sorted((*Path().rglob("*.py"), *Path().rglob("*.ipynb")))
    program = Program([(path.absolute(), path.as_posix()) for path in paths])
    digest = ValueDigest() if values else None
    analyser = FileAnalyser(program, codes, (), digest)
    results = [analyser.analyse(path) for path in program.given_paths]
    return [*_lines(report_on(results, program, codes)), *_value_lines(digest)]


def _lines(report: AnalysisReport) -> Iterator[str]:
    for one in report.diagnostics:
        yield repr(one)
    for error in report.errors:
        yield f"failure: {error.filename} {error.where} {error.message}"
    for row in sorted((one.filename, one.row, one.message) for one in report.unparsed_statements):
        yield f"unparsed: {row}"


def _value_lines(digest: ValueDigest | None) -> Iterator[str]:
    if digest is not None:
        yield f"values: {digest.counts.total()} {digest.hash.hexdigest()}"
        yield from (f"{count} {text}" for text, count in sorted(digest.counts.items()))


def main() -> None:
    """Write one file for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--values", action="store_true", help="add a digest of every value computed")
    given = parser.parse_args()
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    for folder in [folder.absolute() for folder in given.folders]:
        lines = snapshot(folder, values=given.values)
        (out / f"{folder.name}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
        print(f"{folder.name}: {len(lines)} lines", flush=True)


if __name__ == "__main__":
    main()
