"""Errors that only a run showed, written as cases: a small program, and what was seen.

Such an error is what the linter missed. The program has those statements of the user's files that the error passed
through and that made its operands, with what they use of their own files. It shows how the tensors met; whether it runs
alone depends on what it imports.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from devlint.diagnostic import Severity
from devlint.runtime.call_sites import Site
from devlint.runtime.device_coverage import path_below
from devlint.runtime.observation_diagnostics import diagnostic_of, region_of
from devlint.runtime.recorder import Observation
from devlint.runtime.recording_report import Report
from devlint.runtime.verdicts import Verdict

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def export_cases(report: Report, folder: Path) -> list[Path]:
    """Write each error that no static finding predicted to a folder of its own, and return these folders."""
    observed = [one.diagnostic for one in report.outcomes if one.verdict is Verdict.OBSERVED]
    wanted = {(one.code, one.region) for one in observed if one.severity is Severity.ERROR}
    written: list[Path] = []
    for (code, site), group in report.recorder.observations.items():
        if site is not None and (code, region_of(site)) in wanted:
            place = folder / re.sub(r"\W+", "-", f"{code} {Path(site.filename).stem} {site.function} {site.line}")
            place.mkdir(parents=True, exist_ok=True)
            program = _program(group[0])
            (place / "program.py").write_text(program, encoding="utf-8")
            (place / "seen.json").write_text(json.dumps(_seen(group, program), indent=2) + "\n", encoding="utf-8")
            written.append(place)
    return written


def _seen(group: list[Observation], program: str) -> dict[str, object]:
    """Return what was seen of an error as a dict for JSON: its rule, its message, and the history of its operands.

    `row` is the line of the program that raised it, if one line has its text.
    """
    first, found = group[0], diagnostic_of(group)
    site = first.site
    line = _lines(site.filename)[site.line - 1] if site is not None else ""
    rows = [row for row, text in enumerate(program.splitlines(), 1) if text == line]
    return {
        "code": first.code,
        "name": found.name,
        "raised": first.raised,
        "message": first.message,
        "count": len(group),
        "row": rows[0] if len(rows) == 1 else None,
        "came_through": [f"{path_below(one.filename, Path.cwd())}:{one.line}" for one in first.through],
        "history": [
            {"what": step.text, "where": f"{path_below(step.site.filename, Path.cwd())}:{step.site.line}"}
            for step in first.steps
            if step.site is not None
        ],
    }


def _program(seen: Observation) -> str:
    """Return the text of the small program for an error: the parts of its files, those of the innermost file first."""
    sites = [*seen.through, *(step.site for step in seen.steps if step.site is not None)]
    if seen.site is not None:
        sites.insert(0, seen.site)
    by_file: dict[str, list[Site]] = {}
    for site in sites:
        by_file.setdefault(site.filename, []).append(site)
    parts = [part for name, there in by_file.items() if (part := _file_part(name, there)) is not None]
    defined = frozenset(name for part in parts for name in part.defines)
    imports = dict.fromkeys(text for part in parts for text in part.imports(defined))
    head = f"# {seen.raised or seen.code}: {seen.message}\n"
    return head + "\n".join(imports) + "\n" + "".join(f"\n\n{part.text}" for part in parts) + "\n"


@dataclass(frozen=True, slots=True)
class _FilePart:
    """The part of a source file that a small program keeps: its text, the names it defines, and the file's imports."""

    text: str
    defines: frozenset[str]
    used: frozenset[str]
    import_nodes: tuple[ast.Import | ast.ImportFrom, ...]

    def imports(self, defined: frozenset[str]) -> Iterator[str]:
        """Yield the imports of names that the part uses, without those that the program itself defines."""
        for node in self.import_nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            inside = defined if isinstance(node, ast.ImportFrom) else frozenset[str]()
            names = [one for one in node.names if one.name not in inside and (_bound(one) in self.used)]
            if names and isinstance(node, ast.Import):
                yield ast.unparse(ast.Import(names))
            elif names and isinstance(node, ast.ImportFrom):
                yield ast.unparse(ast.ImportFrom(node.module, names, node.level))


def _bound(alias: ast.alias) -> str:
    """Return the name that an imported name is bound to in the importing file."""
    return alias.asname or alias.name.partition(".")[0]


def _file_part(filename: str, sites: Iterable[Site]) -> _FilePart | None:
    """Return what a small program keeps of a file, or None if the file cannot be read.

    That is the statements in which something happened, and those whose names they use.
    """
    lines = _lines(filename)
    try:
        tree = ast.parse("".join(f"{line}\n" for line in lines))
    except SyntaxError:
        return None
    rows = {site.line for site in sites}
    top = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    kept = {node for node in top if not rows.isdisjoint(_rows(node))}
    used: set[str] = set()
    while True:
        texts = {node: _kept_rows(node, rows) for node in kept}
        used = {name for node in kept for name in _names(node, texts[node])}
        more = {node for node in top if node not in kept and not used.isdisjoint(_defines(node))}
        if not more:
            break
        kept |= more
    chosen = sorted(kept, key=lambda node: node.lineno)
    text = "\n\n".join("\n".join(lines[row - 1] for row in sorted(texts[node])) for node in chosen)
    imports = tuple(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return _FilePart(text, frozenset(name for node in chosen for name in _defines(node)), frozenset(used), imports)


def _rows(node: ast.stmt) -> range:
    """Return the lines of a statement, with those of its decorators."""
    decorators = node.decorator_list if isinstance(node, _SCOPES) else []
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _kept_rows(node: ast.stmt, rows: set[int]) -> set[int]:
    """Return the lines of a statement that are kept: of a class, only the methods that are needed.

    These are the methods in which something happened, the special ones, and those that the kept ones mention.
    """
    if not isinstance(node, ast.ClassDef):
        return set(_rows(node))
    methods = [one for one in node.body if isinstance(one, _FUNCTIONS)]
    kept = [one for one in methods if one.name.startswith("__") or not rows.isdisjoint(_rows(one))]
    while True:
        mentioned = {one.attr for method in kept for one in ast.walk(method) if isinstance(one, ast.Attribute)}
        more = [one for one in methods if one not in kept and one.name in mentioned]
        if not more:
            break
        kept += more
    left_out = {row for one in methods if one not in kept for row in _rows(one)}
    return set(_rows(node)) - left_out if kept or len(methods) < len(node.body) else set(_rows(node))


def _names(node: ast.stmt, rows: set[int]) -> Iterator[str]:
    """Yield the names that the kept lines of a statement use."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.lineno in rows:
            yield one.id


def _defines(node: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a file defines."""
    if isinstance(node, _SCOPES):
        return {node.name}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _lines(filename: str) -> list[str]:
    """Return the lines of a source file; none if it cannot be read."""
    try:
        return Path(filename).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
