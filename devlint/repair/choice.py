"""Which fixes can be applied together: none that touches another, or the place that another's finding tells of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from devlint.diagnostic import Diagnostic, Edit, Position, Region


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Part of a file; two that merely touch are not apart, for what is put between them belongs to one of them."""

    start: Position
    end: Position

    def meets(self, other: _Stretch) -> bool:
        return self.start <= other.end and other.start <= self.end


class Choice:
    """The fixes chosen so far."""

    def __init__(self) -> None:
        self.chosen: list[Diagnostic] = []
        self._edits: dict[str, set[Edit]] = defaultdict(set)
        self._edited: dict[str, list[_Stretch]] = defaultdict(list)
        self._told: dict[str, list[_Stretch]] = defaultdict(list)

    def take(self, diagnostic: Diagnostic) -> bool:
        """Choose the fix of a finding, if it goes with those that are chosen already; whether it does."""
        assert diagnostic.fix is not None
        filename = diagnostic.region.filename
        # An edit that another fix makes as well, such as an added import, is made once.
        edits = [edit for edit in diagnostic.fix.edits if edit not in self._edits[filename]]
        edited = [_Stretch(edit.start, edit.end) for edit in edits]
        story = [diagnostic.region, *(note.region for note in diagnostic.trace)]
        if (
            _any_meet(edited, self._edited[filename])
            or _any_meet(edited, self._told[filename])
            or any(_any_meet([_stretch(region)], self._edited[region.filename]) for region in story)
        ):
            return False
        self.chosen.append(diagnostic)
        self._edits[filename].update(edits)
        self._edited[filename] += edited
        for region in story:
            self._told[region.filename].append(_stretch(region))
        return True


def _stretch(region: Region) -> _Stretch:
    return _Stretch(region.start, region.end)


def _any_meet(some: Iterable[_Stretch], others: Iterable[_Stretch]) -> bool:
    return any(one.meets(other) for one in some for other in others)
