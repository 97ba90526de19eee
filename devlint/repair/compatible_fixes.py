"""Choice of fixes that can be applied together.

Two fixes are incompatible if one edits text that the other edits, or text to which the other's finding refers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from devlint.diagnostic import Diagnostic, Edit, Position, Region

_File: TypeAlias = tuple[str, "int | None"]
"""A file's name and, in a notebook, the number of a cell."""


@dataclass(frozen=True, slots=True)
class _TextRange:
    """A range of text, between two positions, in a file or in a notebook cell."""

    file: _File
    start: Position
    end: Position

    def meets(self, other: _TextRange) -> bool:
        """Return whether this range and another range of the same file overlap or touch.

        Ranges that touch count as well: text inserted between them would belong to one of them, so edits of the two are
        not independent.
        """
        return self.start <= other.end and other.start <= self.end


class CompatibleFixes:
    """A selection of findings whose fixes can be applied together, to which findings are added one by one."""

    def __init__(self) -> None:
        self.chosen: list[Diagnostic] = []
        self._edits: set[tuple[str, Edit]] = set()
        self._steps: set[Region] = set()
        self._statements: set[tuple[str, str]] = set()
        self._edited: dict[_File, list[_TextRange]] = defaultdict(list)
        self._told: dict[_File, list[_TextRange]] = defaultdict(list)

    def take(self, diagnostic: Diagnostic) -> bool:
        """Add a finding to the selection if its fix is compatible with all fixes selected so far.

        Return whether the finding was added.
        """
        assert diagnostic.fix is not None
        filename = diagnostic.region.filename
        # An edit that a chosen fix makes as well, such as an added import, is made once.
        new = [edit for edit in diagnostic.fix.edits if (filename, edit) not in self._edits]
        edited = [_TextRange((filename, edit.cell), edit.start, edit.end) for edit in new]
        regions = [diagnostic.region, *(note.region for note in diagnostic.trace)]
        told = [_TextRange((region.filename, region.cell), region.start, region.end) for region in regions]
        statements = {(filename, edit.content.strip()) for edit in new if "\n" in edit.content or "\r" in edit.content}
        if statements & self._statements:
            # The fix inserts a statement that a chosen fix inserts too: one of them may be enough for both findings.
            return False
        steps = {note.region for note in diagnostic.trace}
        if steps & self._steps:
            # The finding shares a step of its trace with a chosen one: the chosen fix may remove both.
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


def _any_meet(some: Iterable[_TextRange], others: Mapping[_File, Sequence[_TextRange]]) -> bool:
    """Return whether any of some text ranges overlaps or touches any of the other text ranges."""
    return any(one.meets(other) for one in some for other in others.get(one.file, ()))
