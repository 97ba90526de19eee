"""Which fixes can be applied together: none that touches another, or a place that another's finding tells of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from devlint.diagnostic import Diagnostic, Edit, Position, Region

_File: TypeAlias = tuple[str, "int | None"]
"""A file, or a cell of a notebook."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Part of a file; two that merely touch are not apart, for what is put between them belongs to one of them."""

    file: _File
    start: Position
    end: Position

    def meets(self, other: _Stretch) -> bool:
        return self.start <= other.end and other.start <= self.end


class CompatibleFixes:
    """The fixes chosen so far."""

    def __init__(self) -> None:
        self.chosen: list[Diagnostic] = []
        self._edits: set[tuple[str, Edit]] = set()
        self._steps: set[Region] = set()
        self._statements: set[tuple[str, str]] = set()
        self._edited: dict[_File, list[_Stretch]] = defaultdict(list)
        self._told: dict[_File, list[_Stretch]] = defaultdict(list)

    def take(self, diagnostic: Diagnostic) -> bool:
        """Choose the fix of a finding, if it goes with those that are chosen already; whether it does."""
        assert diagnostic.fix is not None
        filename = diagnostic.region.filename
        # An edit that another fix makes as well, such as an added import, is made once.
        new = [edit for edit in diagnostic.fix.edits if (filename, edit) not in self._edits]
        edited = [_Stretch((filename, edit.cell), edit.start, edit.end) for edit in new]
        regions = [diagnostic.region, *(note.region for note in diagnostic.trace)]
        told = [_Stretch((region.filename, region.cell), region.start, region.end) for region in regions]
        statements = {(filename, edit.content.strip()) for edit in new if "\n" in edit.content or "\r" in edit.content}
        if statements & self._statements:
            # The same statement put in twice: the first may serve what comes after it as well.
            return False
        steps = {note.region for note in diagnostic.trace}
        if steps & self._steps:
            # What mends one of two findings with a cause in common may mend the other.
            return False
        if _any_meet(edited, self._edited) or _any_meet(edited, self._told) or _any_meet(told, self._edited):
            return False
        self._steps |= steps
        self._statements |= statements
        self.chosen.append(diagnostic)
        self._edits.update((filename, edit) for edit in new)
        for one in edited:
            self._edited[one.file].append(one)
        for one in told:
            self._told[one.file].append(one)
        return True


def _any_meet(some: Iterable[_Stretch], others: Mapping[_File, Sequence[_Stretch]]) -> bool:
    return any(one.meets(other) for one in some for other in others.get(one.file, ()))
