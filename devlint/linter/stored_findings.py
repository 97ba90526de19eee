"""The results of single files in the cache: a file is analysed again only if something changed that its analysis reads.

Source locations in other files may have moved since: they are found again by the statements that hold them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from devlint.cache.digests import digest_of, digest_of_file, engine_digest
from devlint.cache.store import ProjectCache
from devlint.diagnostic import Diagnostic, Position, Region
from devlint.interpreter.program.constructor_data import Construction
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.program_facts import ProgramFacts
from devlint.linter.analysis_keys import AnalysisKeys
from devlint.linter.file_findings import (
    BugKey,
    FileFindings,
    LocatedFinding,
    LocatedOrigin,
    NodePlace,
    ProgramQuestion,
    SharedCause,
)
from devlint.linter.json_records import from_json, to_json
from devlint.linter.stored_indexes import StoredIndexes

Move: TypeAlias = Callable[[str, int], int]
"""A function from a file name and a row, as they were stored, to the row now; it raises LookupError where none is."""


class StoredFindings:
    """The stored results of the given files of one program.

    `codes` are those of the rules that are run, `src` and `models` the settings that change what is found.
    """

    def __init__(
        self,
        cache: ProjectCache,
        program: Program,
        facts: ProgramFacts,
        indexes: StoredIndexes,
        codes: frozenset[str],
        src: Sequence[Path],
        models: Sequence[Path],
    ) -> None:
        self._store = cache.store
        self._root = Path(os.path.realpath(cache.root))
        self.are_complete = True
        """Whether each given file has a key for its result, so that the keys tell all that the results depend on."""
        self._keys_by_path: dict[Path, str | None] = {}
        self._relatives: dict[Path, str] = {}
        self._program = program
        self._facts = facts
        self._indexes = indexes
        base = digest_of(
            [
                "findings",
                engine_digest(),
                sorted(codes),
                [self._relative(folder.resolve()) for folder in src],
                [digest_of_file(path) for path in models],
                self._naming(),
            ]
        )
        self._keys = AnalysisKeys(program, facts, indexes.facts, self._relative, base)

    def find(self, path: Path) -> FileFindings | None:
        """Return the stored result of a given file, or None if there is none that holds."""
        module, key = self._program.load(path), self._key(path)
        if module is not None and key is None:
            self.are_complete = False
        data = self._store.read(key) if key is not None else None
        if module is None or data is None:
            return None
        try:
            plain, layouts = cast("list[Any]", data)
            found = from_json(FileFindings, plain)
            if not all(map(self._has_answer, found.questions)):
                return None
            return _moved(found, self._moves(module.filename, layouts))
        except (TypeError, ValueError, LookupError):
            return None

    def keep(self, path: Path, found: FileFindings) -> None:
        """Store the result of a given file, unless something in devlint failed."""
        key = self._key(path)
        if key is None or found.errors or found.broken:
            return
        layouts = {name: self._layout(name, rows) for name, rows in _rows_by_file(found).items()}
        questions = tuple(replace(one, path=self._relative(Path(one.path))) for one in found.questions)
        self._store.write(key, [to_json(replace(found, questions=questions)), layouts])

    def _key(self, path: Path) -> str | None:
        """Return the key for the result of a given file; None if there is no safe one."""
        if path not in self._keys_by_path:
            module, content = self._program.load(path), self._indexes.content(path)
            self._keys_by_path[path] = None
            if module is not None and content is not None:
                self._keys_by_path[path] = self._keys.key_of(module, content)
        return self._keys_by_path[path]

    def _relative(self, path: Path) -> str:
        """Return a path as seen from the root of the project."""
        found = self._relatives.get(path)
        if found is None:
            found = self._relatives[path] = Path(os.path.relpath(path, self._root)).as_posix()
        return found

    def _naming(self) -> object:
        """Return how names to show are made of paths: what is put before the path from the root, or taken from it."""
        given = self._program.given_paths
        shown = [(self._relative(path), self._program.name_of(path)) for path in given]
        kinds = {_difference(*pair) for pair in shown}
        return [sorted(kinds), self._relative(Path.cwd())]

    def _has_answer(self, question: ProgramQuestion) -> bool:
        """Return whether a question to the program has the same answer now."""
        path = self._path(question.path)
        if question.construction is not None:
            asked = Construction(path, *question.construction)
            return self._facts.constructor_data.is_made_for(asked) is question.answer
        module = self._program.load(path)
        placed, transforms_only = self._facts.placed_datasets, question.transforms_only
        return module is not None and placed.are_around(module, transforms_only=transforms_only) is question.answer

    # Source locations in other files

    def _layout(self, name: str, rows: set[int] | None) -> object:
        """Return where the statements of a file are that hold some rows, as plain data.

        That is the file's path and content, and of each statement its rows and digest; None for the statements if rows
        of the file cannot be found again after a change.
        """
        module = self._program.by_filename(name)
        if module is None:
            raise LookupError(name)
        content, facts = self._indexes.content(module.path), self._indexes.facts(module)
        where = self._relative(module.path)
        if rows is None or facts is None or module.index.source.cells is not None:
            return [where, content, None]
        numbers = {_statement_around(module, row) for row in rows}
        found = sorted(number for number in numbers if number is not None)
        units = module.index.statements
        held = [[units[i].first_row, units[i].last_row, facts.digests[i]] for i in found]
        return [where, content, None if None in numbers else held]

    def _moves(self, own: str, layouts: Mapping[str, Any]) -> Move:
        """Return the function that finds rows of other files again; raises LookupError if a statement is gone."""
        shifts: dict[str, list[tuple[int, int, int]] | None] = {own: None}
        for name, (where, content, statements) in layouts.items():
            module = self._program.load(self._path(where))
            if module is None or module.filename != name:
                raise LookupError(where)
            same = name == own or self._indexes.content(module.path) == content
            shifts[name] = None if same else [*self._shifts(module, statements)]

        def move(name: str, row: int) -> int:
            found = shifts[name]
            if found is None:
                return row
            for first, last, by in found:
                if first <= row <= last:
                    return row + by
            raise LookupError(name, row)

        return move

    def _shifts(self, module: ModuleInfo, statements: Sequence[Any] | None) -> Iterator[tuple[int, int, int]]:
        """Yield the stored rows of each statement of a changed file, with the number of rows that it has moved by."""
        facts = self._indexes.facts(module)
        if statements is None or facts is None:
            raise LookupError(module.filename)
        for first, last, digest in statements:
            if facts.digests.count(digest) != 1:
                raise LookupError(module.filename)
            yield first, last, module.index.statements[facts.digests.index(digest)].first_row - first

    def _path(self, name: str) -> Path:
        """Return the path that is stored under a name relative to the root."""
        return Path(os.path.normpath(self._root / name))


def _difference(path: str, shown: str) -> tuple[str, str]:
    """Return what a shown name has before the part that it shares with a path, and what the path has there."""
    pairs = zip(path[::-1], shown[::-1], strict=False)
    common = next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(path), len(shown)))
    return shown[: len(shown) - common], path[: len(path) - common]


def _statement_around(module: ModuleInfo, row: int) -> int | None:
    """Return the number of the statement of a file that holds a row; None if there is none."""
    units = module.index.statements
    return next((i for i, one in enumerate(units) if one.first_row <= row <= one.last_row), None)


def _rows_by_file(found: FileFindings) -> dict[str, set[int] | None]:
    """Return the rows of each file that a result names; None for a file with rows that nothing can find again.

    Those are notebooks, whose rows count in cells, and files for which there are fixes: these depend on the whole file.
    """
    rows: dict[str, set[int] | None] = {}

    def note(name: str, row: int) -> int:
        known = rows.setdefault(name, set())
        if known is not None:
            known.add(row)
        return row

    _moved(found, note)
    for one in found.findings:
        if one.diagnostic.fix is not None or one.diagnostic.region.cell is not None:
            rows[one.diagnostic.region.filename] = None
    return rows


# Rows that move


def _moved(found: FileFindings, move: Move) -> FileFindings:
    """Return a result with other rows; a file's own rows are passed through `move` too."""
    return replace(
        found,
        findings=tuple(_moved_finding(one, move) for one in found.findings),
        withheld=frozenset((code, _moved_place(place, move)) for code, place in found.withheld),
        unparsed_statements=frozenset(
            replace(one, row=move(one.filename, one.row)) for one in found.unparsed_statements
        ),
    )


def _moved_finding(one: LocatedFinding, move: Move) -> LocatedFinding:
    """Return a finding with other rows."""
    cause = one.cause
    return replace(
        one,
        diagnostic=_moved_diagnostic(one.diagnostic, move),
        place=_moved_place(one.place, move),
        steps=tuple(_moved_place(place, move) for place in one.steps),
        subject=None if one.subject is None else _moved_key(one.subject, move),
        cause=None if cause is None else SharedCause(_moved_key(cause.key, move), cause.recurs),
        origins=frozenset(_moved_origin(origin, move) for origin in one.origins),
    )


def _moved_diagnostic(one: Diagnostic, move: Move) -> Diagnostic:
    """Return a diagnostic with other rows; the fix stays, for it is of an unchanged file."""

    return replace(
        one,
        region=_moved_region(one.region, move),
        trace=tuple(replace(note, region=_moved_region(note.region, move)) for note in one.trace),
        assumptions=tuple(
            note if note.region is None else replace(note, region=_moved_region(note.region, move))
            for note in one.assumptions
        ),
    )


def _moved_origin(origin: LocatedOrigin, move: Move) -> LocatedOrigin:
    """Return where an event happened, and the call that led to it, with other rows."""
    call = None if origin.call is None else _moved_region(origin.call, move)
    return replace(origin, row=move(origin.filename, origin.row) if origin.row else 0, call=call)


def _moved_region(region: Region, move: Move) -> Region:
    """Return a region of a file with other rows."""
    by = move(region.filename, region.start.row) - region.start.row
    if not by:
        return region
    start, end = (Position(place.row + by, place.column) for place in (region.start, region.end))
    return replace(region, start=start, end=end)


def _moved_place(place: NodePlace, move: Move) -> NodePlace:
    """Return the place of a syntax node with another row."""
    return replace(place, row=move(place.filename, place.row)) if place.row else place


def _moved_key(key: BugKey, move: Move) -> BugKey:
    """Return what findings have in common with other rows."""
    if isinstance(key, NodePlace):
        return _moved_place(key, move)
    return tuple(_moved_place(one, move) if isinstance(one, NodePlace) else one for one in key)
