"""Measure recall on public code: seed one bug at a time into real files, and count those that devlint reports.

    python benchmarks/seeded_bugs.py CHECKOUTS... [--per-operator 60] [--seed 7] [--jobs 2] [--record FILE] [--only OP]

Each directory of CHECKOUTS is a repository. `seeded_operators.py` changes one place of one file: each operator has a
precondition that makes the change a bug by construction, and that looks only at the file's syntax. The places are drawn
at random, at most six of one repository and operator, each text only once. devlint runs at its default settings on the
file as it is and as changed, and follows its imports. Where it reports nothing new, it runs on the file together with
the four nearest files that import it, directly or through others.

A changed program is **found** if devlint reports something of DEV1 to DEV3 (DEV2 for DISCARD and LOOP) that it did not
report before, at the changed statement or where the changed value is used, or with such a place in the trace.

RECORD gets one JSON object for each changed program: repository, file, row, operator, before, after, found, codes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

from seeded_operators import OPERATORS, Mutation, mutations_of
from tensor_flow import MOVES_INPUTS

from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.diagnostic import Diagnostic, Region
from devlint.interpreter.program.program import Program
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.diagnostics import diagnostics_of
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.rule_listing import all_rule_metadata
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source_reading import decode_source, read_source

PER_REPOSITORY: Final = 6
"""The most changes of one operator in one repository."""
ENTERED: Final = 4
"""The most files that are entered beside the changed one."""
NO_USERS_CODE: Final = re.compile(r"(^|/)(tests?|testing|unittests?)(/|$)|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")
"""The paths of tests, which usually stay on the host."""
LARGEST: Final = 200_000
"""The bytes of the largest file in which places are sought."""


IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
"""An import statement: dots, module and names of `from`; or modules."""


def _imported(match: re.Match[str]) -> tuple[int, list[str]]:
    """Return the number of dots of an import, and the dotted names that may be modules."""
    dots, module, names, modules = match.groups()
    if modules is not None:
        return 0, [one.split()[0] for one in modules.split(",") if one.strip()]
    given = [one.split()[0] for one in names.strip("()").split(",") if one.strip()]
    return len(dots), [*([module] if module else []), *(f"{module}.{one}" if module else one for one in given)]


@dataclass(frozen=True)
class Site:
    """A place where a repository may be changed."""

    repository: str
    file: str
    mutation: Mutation


class Checkout:
    """A repository whose files are indexed once and analysed again and again, each time with another changed file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        resolver = Resolver(all_rule_metadata(), Options(), cwd=folder, config=None, isolated=True)
        files = Discovery(resolver.settings_for, lambda text: None).find([folder])
        self.files: dict[Path, DiscoveredFile] = {one.path.resolve(): one for one in files if one.path.suffix == ".py"}
        self._paths = {str(one): one for one in self.files}
        self._indexes: dict[Path, FileIndex] = {}
        self._importers: dict[Path, set[Path]] | None = None
        self._before: dict[tuple[Path, ...], list[Diagnostic]] = {}

    def index(self, path: Path, name: str) -> FileIndex:
        """Return the index of a file as it is on the disk."""
        if path not in self._indexes:
            self._indexes[path] = index_source(read_source(path, name))
        return self._indexes[path]

    def with_importers(self, path: Path) -> list[Path]:
        """Return a file and the nearest files that import it, directly or through others."""
        if self._importers is None:
            self._importers = defaultdict(set)
            for one in self.files:
                for imported in self._imports_of(one):
                    self._importers[imported].add(one)
        found, waiting = [path], deque([path])
        while waiting:
            for one in sorted(self._importers.get(waiting.popleft(), ())):
                if one not in found and len(found) <= ENTERED:
                    found.append(one)
                    waiting.append(one)
        return found

    def _imports_of(self, path: Path) -> Iterator[Path]:
        """Yield the files of the repository that a file imports, looked up from all folders above it."""
        above = [one for one in path.parents if one == self.folder or self.folder in one.parents]
        for level, names in map(_imported, IMPORT.finditer(path.read_text(errors="replace"))):
            for name in names:
                for base in [path.parents[level - 1]] if level else above:
                    place = f"{base}/{name.replace('.', '/')}"
                    yield from (
                        self._paths[one] for one in (f"{place}.py", f"{place}/__init__.py") if one in self._paths
                    )

    def findings_before(self, entered: Sequence[Path]) -> list[Diagnostic]:
        """Return devlint's findings of DEV1 to DEV3 in some files as they are."""
        key = tuple(entered)
        if key not in self._before:
            self._before[key] = self.findings(entered, None)
        return self._before[key]

    @with_deep_stack
    def findings(self, entered: Sequence[Path], text: bytes | None) -> list[Diagnostic]:
        """Return devlint's findings of DEV1 to DEV3 in some files; a given text replaces that of the first."""
        path = entered[0]
        codes = frozenset[str]().union(*(one.settings.codes for one in self.files.values()))
        shown = [(one, one.relative_to(self.folder).as_posix()) for one in entered]
        changed = None if text is None else index_source(decode_source(text, path.relative_to(self.folder).as_posix()))

        def index(one: Path, name: str) -> FileIndex:
            return changed if changed is not None and one == path else self.index(one, name)

        program = Program(shown, self.files[path].settings.src, index=index)
        analyser = FileAnalyser(program, codes)
        results = [analyser.analyse(one.resolve()) for one in entered]
        by_name = {name: self.files[one] for one, name in shown}
        judged = (
            by_name[one.region.filename].settings.judge(one, by_name[one.region.filename].path)
            for one in diagnostics_of(results, program, codes)
            if one.region.filename in by_name
        )
        return [one for one in judged if one is not None and one.code.startswith(("DEV1", "DEV2", "DEV3"))]


def sites_of(folder: Path, only: frozenset[str]) -> list[Site]:
    """Return the places of a repository that the operators may change."""
    found: list[Site] = []
    files = Checkout(folder).files
    wraps = any(MOVES_INPUTS.search(one.read_text(encoding="utf-8", errors="replace")) for one in files)
    for path in files:
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes()
        if b"torch" not in data or len(data) > LARGEST or NO_USERS_CODE.search(name):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                changes = mutations_of(data.decode(), only, given_models_move_inputs=wraps)
                found += [Site(folder.as_posix(), name, one) for one in changes]
        except (SyntaxError, ValueError, RecursionError):
            continue
    return found


def draw(sites: Sequence[Site], most: int, seed: int) -> list[Site]:
    """Return at most so many places of each operator, at random, few of one repository and each text only once."""
    drawn: list[Site] = []
    for operator in OPERATORS:
        chosen = sorted(
            (one for one in sites if one.mutation.operator == operator),
            key=lambda one: (one.repository, one.file, one.mutation.start),
        )
        random.Random(f"{seed}/{operator}").shuffle(chosen)
        counts: Counter[str] = Counter()
        seen: set[tuple[str, str]] = set()
        kept: list[Site] = []
        for one in chosen:
            text = _statement(Path(one.repository, one.file).read_text().splitlines(), one.mutation)
            key = (Path(one.file).name, text)
            if key in seen or counts[one.repository] == PER_REPOSITORY or len(kept) == most:
                continue
            seen.add(key)
            counts[one.repository] += 1
            kept.append(one)
        drawn += kept
    return drawn


def _statement(lines: Sequence[str], mutation: Mutation) -> str:
    return "\n".join(lines[mutation.row - 1 : mutation.last_row]).strip()


def new_findings(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], file: str, last_row: int, added: int
) -> list[Diagnostic]:
    """Return the findings that were not there before a change, which added rows behind a row of a file."""

    def old_row(region: Region) -> int:
        row = region.start.row
        return row - added if region.filename == file and row > last_row + max(added, 0) else row

    known = {(one.code, one.region.filename, one.region.start.row) for one in before}
    return [one for one in after if (one.code, one.region.filename, old_row(one.region)) not in known]


def is_found(new: Sequence[Diagnostic], file: str, lines: Sequence[str], mutation: Mutation, added: int) -> bool:
    """Return whether new findings concern a change: one touches the changed statement, or a line with its names."""
    codes = ("DEV2",) if mutation.operator in ("DISCARD", "LOOP") else ("DEV1", "DEV2", "DEV3")
    last = mutation.last_row + max(added, 0)
    names = [re.compile(rf"(?<![\w.]){re.escape(one)}(?!\w)") for one in mutation.names]
    rows = {row for row, line in enumerate(lines, 1) if any(one.search(line) for one in names)}

    def touches(region: Region) -> bool:
        if region.filename != file:
            return False
        covered = range(region.start.row, region.end.row + 1)
        return any(mutation.row <= row <= last or row in rows for row in covered)

    return any(
        one.code.startswith(codes) and any(map(touches, (one.region, *(note.region for note in one.trace))))
        for one in new
    )


def _runs(checkout: Checkout, path: Path) -> Iterator[list[Path]]:
    """Yield the files of each run: the changed file alone, then with those that import it."""
    yield [path]
    together = checkout.with_importers(path)
    if len(together) > 1:
        yield together


def judge(folder: str, sites: Sequence[Site]) -> list[dict[str, Any]]:
    """Run devlint on the changed programs of one repository and return their lines of the record."""
    checkout, rows = Checkout(Path(folder)), []
    for site in sites:
        start, mutation = time.monotonic(), site.mutation
        path = checkout.folder / site.file
        data = path.read_bytes()
        changed, added = mutation.apply(data), mutation.added_rows(data)
        lines, found = changed.decode().splitlines(), False
        for entered in _runs(checkout, path):
            before, after = checkout.findings_before(entered), checkout.findings(entered, changed)
            new = new_findings(before, after, site.file, mutation.last_row, added)
            found = is_found(new, site.file, lines, mutation, added)
            if found:
                break
        rows.append(
            {
                "repository": checkout.folder.name.replace("+", "/", 1),
                "file": site.file,
                "row": mutation.row,
                "operator": mutation.operator,
                "before": _statement(data.decode().splitlines(), mutation),
                "after": "\n".join(lines[mutation.row - 1 : mutation.last_row + added]).strip(),
                "found": found,
                "codes": sorted({one.code for one in new}),
                "seconds": round(time.monotonic() - start, 1),
            }
        )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table: operator, number of changed programs, number and share of those found."""
    yield f"{'operator':<12}{'valid':>6}{'found':>7}{'%':>6}"
    for name in [one for one in OPERATORS if any(row["operator"] == one for row in rows)] + ["total"]:
        mine = [row for row in rows if name in (row["operator"], "total")]
        found = sum(row["found"] for row in mine)
        yield f"{name:<12}{len(mine):>6}{found:>7}{100 * found / max(len(mine), 1):>6.0f}"


def main() -> None:
    """Draw places, change them one at a time, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--per-operator", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--only", choices=OPERATORS, action="append", help="an operator; repeat it for several")
    options = parser.parse_args()
    only = frozenset(options.only or OPERATORS)
    folders = [one.resolve() for each in options.checkouts for one in sorted(each.iterdir()) if one.is_dir()]
    with ProcessPoolExecutor(options.jobs) as pool:
        sites = [one for found in pool.map(sites_of, folders, [only] * len(folders)) for one in found]
        by_folder: dict[str, list[Site]] = defaultdict(list)
        for site in draw(sites, options.per_operator, options.seed):
            by_folder[site.repository].append(site)
        print(f"{sum(map(len, by_folder.values()))} places of {len(sites)} drawn", file=sys.stderr, flush=True)
        rows: list[dict[str, Any]] = []
        for found in pool.map(judge, by_folder, by_folder.values()):
            rows += found
            if options.record is not None:
                options.record.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            if found:
                print(
                    f"{found[0]['repository']}: {sum(row['found'] for row in found)} of {len(found)}",
                    file=sys.stderr,
                    flush=True,
                )
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
