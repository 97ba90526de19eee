"""What is known of one open text: findings and facts, where the editor shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from devlint.diagnostic import Diagnostic, Edit, Fix, Note, Position, Region
from devlint.server.drafts import Draft
from devlint.server.facts import Fact, Origin
from devlint.server.files import Files
from devlint.syntax.index import Statement
from devlint.syntax.line_starts import Lines

Places: TypeAlias = Mapping[tuple[Statement, int], Region]
"""Where offsets in statements stand in the program."""


@dataclass(frozen=True, slots=True)
class View:
    """One look at one text. Rows, columns and offsets are those of `text`.

    `places` are where the offsets in statements stand that the facts tell of.
    """

    text: str
    diagnostics: Sequence[Diagnostic]
    facts: Sequence[Shown]
    places: Places

    def place(self, origin: Origin) -> Region | None:
        """Where in the program something has its device from."""
        return self.places.get((origin.unit, origin.offset)) if origin.unit is not None else None


@dataclass(frozen=True, slots=True)
class Shown:
    """A fact, and where it stands in the text."""

    start: int
    end: int
    fact: Fact


def shown_facts(draft: Draft, facts: Mapping[Statement, Sequence[Fact]]) -> Iterator[Shown]:
    """The facts about the statements of a text, in its order, where the editor shows what they speak of."""
    for unit in draft.index.statements:
        for fact in facts.get(unit, ()):
            start, end = unit.start + fact.start, unit.start + fact.end
            if draft.is_patched:
                first, last = draft.shown(start), draft.shown(end - 1)
                if first is None or last is None:
                    continue
                start, end = first, last + 1
            yield Shown(start, end, fact)


class Glass:
    """Shows findings in kept texts as they are in the texts that stand in the editor."""

    def __init__(self, draft_of: Callable[[str], Draft | None]) -> None:
        self._draft_of = draft_of
        self._lines: dict[str, tuple[Draft, Lines, Lines] | None] = {}

    def diagnostics(self, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The findings, without those in stretches that the editor does not show any more."""
        for one in found:
            region = self.region(one.region)
            if region is not None:
                notes = ((note, self.region(note.region)) for note in one.trace)
                trace = tuple(Note(note.message, place) for note, place in notes if place is not None)
                yield replace(one, region=region, trace=trace, fix=self._fix(one))

    def region(self, region: Region) -> Region | None:
        """Where a region is shown."""
        known = self._known(region.filename)
        if known is None:
            return region
        start, end = (self._position(known, place) for place in (region.start, region.end))
        return Region(region.filename, start, end) if start is not None and end is not None else None

    def _fix(self, diagnostic: Diagnostic) -> Fix | None:
        """The fix, if all that it edits is shown."""
        fix, known = diagnostic.fix, self._known(diagnostic.region.filename)
        if fix is None or known is None:
            return fix
        edits = []
        for edit in fix.edits:
            start, end = (self._position(known, place) for place in (edit.start, edit.end))
            if start is None or end is None:
                return None
            edits.append(Edit(edit.content, start, end))
        return replace(fix, edits=tuple(edits))

    def _known(self, filename: str) -> tuple[Draft, Lines, Lines] | None:
        """A text of which not all is kept, with the lines of both states."""
        if filename not in self._lines:
            draft = self._draft_of(filename)
            self._lines[filename] = _measured(draft) if draft is not None and draft.is_patched else None
        return self._lines[filename]

    def _position(self, known: tuple[Draft, Lines, Lines], place: Position) -> Position | None:
        draft, kept, shown = known
        offset = draft.shown(kept.start(place.row) + place.column - 1)
        return None if offset is None else shown.position(offset)


def _measured(draft: Draft) -> tuple[Draft, Lines, Lines]:
    return draft, Lines.of(draft.kept), Lines.of(draft.text)


def texts_of(views: Iterable[View], places: Places, text_of: Callable[[str], str]) -> Mapping[str, str]:
    """The texts of all files that findings and facts tell of."""
    names = {note.region.filename for view in views for one in view.diagnostics for note in one.trace}
    names |= {region.filename for region in places.values()}
    return {name: text_of(name) for name in names}


def places_of(facts: Mapping[Statement, Sequence[Fact]], files: Files) -> Places:
    """All places that facts tell of, as the editor shows them."""
    places: dict[tuple[Statement, int], Region] = {}
    lines: dict[str, Lines] = {}
    origins = {
        (origin.unit, origin.offset): origin.filename
        for found in facts.values()
        for fact in found
        for account in fact.accounts
        for origin in account.origins
        if origin.unit is not None
    }
    for (unit, offset), name in origins.items():
        if name not in lines:
            lines[name] = Lines.of(files.text(name))
        draft = files.draft(Path(name))
        shown = unit.start + offset
        if draft is not None and draft.is_patched:
            there = draft.shown(shown)
            if there is None:
                continue
            shown = there
        position = lines[name].position(shown)
        places[unit, offset] = Region(name, position, position)
    return places
