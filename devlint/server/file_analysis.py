"""Analysis results for one file, with all positions converted to the text that the editor shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from devlint.diagnostic import Diagnostic, Edit, Fix, Note, Position, Region
from devlint.server.error_recovery import RecoveredText
from devlint.server.expression_info import DeviceOrigin, ExpressionInfo
from devlint.server.program_files import ProgramFiles
from devlint.syntax.index import Statement
from devlint.syntax.line_starts import Lines

OriginRegions: TypeAlias = Mapping[tuple[Statement, int], Region]
"""The regions of origins, by top-level statement and offset in the statement."""


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """The analysis results for one file: findings, and descriptions of expressions.

    A description tells in words the device and the dtype of the values of an expression. Rows, columns and offsets are
    those of `text`, the editor's text. `regions` maps each device origin to which the descriptions refer to its region
    in the source code.
    """

    text: str
    diagnostics: Sequence[Diagnostic]
    infos: Sequence[LocatedInfo]
    regions: OriginRegions

    def region_of(self, origin: DeviceOrigin) -> Region | None:
        """Return the source region where a value got its device, or None if the program has no such place."""
        return self.regions.get((origin.unit, origin.offset)) if origin.unit is not None else None


@dataclass(frozen=True, slots=True)
class LocatedInfo:
    """The description of an expression and its values, with the expression's offsets in the editor's text."""

    start: int
    end: int
    info: ExpressionInfo


def located_infos(
    recovered: RecoveredText, infos: Mapping[Statement, Sequence[ExpressionInfo]]
) -> Iterator[LocatedInfo]:
    """Yield the descriptions of the expressions in a text, in the order of the text, with offsets in the editor's text.

    Expressions that the editor no longer shows are left out.
    """
    for unit in recovered.index.statements:
        for info in infos.get(unit, ()):
            start, end = unit.start + info.start, unit.start + info.end
            if recovered.has_unparsable_spans:
                first, last = recovered.editor_offset(start), recovered.editor_offset(end - 1)
                if first is None or last is None:
                    continue
                start, end = first, last + 1
            yield LocatedInfo(start, end, info)


class EditorProjection:
    """A converter that moves findings from positions in the analysed texts to positions in the editor's texts."""

    def __init__(self, open_text_of: Callable[[str], RecoveredText | None]) -> None:
        self._open_text_of = open_text_of
        self._lines: dict[str, tuple[RecoveredText, Lines, Lines] | None] = {}

    def diagnostics(self, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield findings at their positions in the editor's text; leave out those in code that is no longer shown."""
        for one in found:
            region = self.region(one.region)
            if region is not None:
                notes = ((note, self.region(note.region)) for note in one.trace)
                trace = tuple(Note(note.message, place) for note, place in notes if place is not None)
                moved = (replace(each, region=place) for each in one.others if (place := self.region(each.region)))
                yield replace(one, region=region, trace=trace, fix=self._fix(one), others=tuple(moved))

    def region(self, region: Region) -> Region | None:
        """Return a source region moved to the text that the editor shows, or None if its code is no longer shown."""
        known = self._text_with_errors(region.filename)
        if known is None:
            return region
        start, end = (self._position(known, place) for place in (region.start, region.end))
        return Region(region.filename, start, end) if start is not None and end is not None else None

    def _fix(self, diagnostic: Diagnostic) -> Fix | None:
        """Return a finding's fix with its edits moved to the editor's text; None if edited code is not shown there."""
        fix, known = diagnostic.fix, self._text_with_errors(diagnostic.region.filename)
        if fix is None or known is None:
            return fix
        edits = []
        for edit in fix.edits:
            start, end = (self._position(known, place) for place in (edit.start, edit.end))
            if start is None or end is None:
                return None
            edits.append(Edit(edit.content, start, end))
        return replace(fix, edits=tuple(edits))

    def _text_with_errors(self, filename: str) -> tuple[RecoveredText, Lines, Lines] | None:
        """Return an open text in which some statements do not parse, with the line starts of its two versions.

        The first version is the text that is analysed, the second the text that the editor shows. Return None for all
        other files: their analysed text is the editor's text.
        """
        if filename not in self._lines:
            recovered = self._open_text_of(filename)
            self._lines[filename] = (
                _with_lines(recovered) if recovered is not None and recovered.has_unparsable_spans else None
            )
        return self._lines[filename]

    def _position(self, known: tuple[RecoveredText, Lines, Lines], place: Position) -> Position | None:
        """Convert a position in the analysed text to one in the editor's text; return None if it is not shown."""
        recovered, analysed_lines, editor_lines = known
        offset = recovered.editor_offset(analysed_lines.start(place.row) + place.column - 1)
        return None if offset is None else editor_lines.position(offset)


def _with_lines(recovered: RecoveredText) -> tuple[RecoveredText, Lines, Lines]:
    """Return a text together with the line starts of its analysed version and of the editor's version."""
    return recovered, Lines.of(recovered.analysed), Lines.of(recovered.text)


def referenced_texts(
    analyses: Iterable[FileAnalysis], regions: OriginRegions, text_of: Callable[[str], str]
) -> Mapping[str, str]:
    """Return the texts of all files to which the given findings and descriptions refer, by file name."""
    names = {note.region.filename for analysis in analyses for one in analysis.diagnostics for note in one.trace}
    names |= {region.filename for region in regions.values()}
    return {name: text_of(name) for name in names}


def origin_regions(infos: Mapping[Statement, Sequence[ExpressionInfo]], files: ProgramFiles) -> OriginRegions:
    """Return the source regions, in the editor's texts, of all device origins to which descriptions refer."""
    regions: dict[tuple[Statement, int], Region] = {}
    lines: dict[str, Lines] = {}
    origins = {
        (origin.unit, origin.offset): origin.filename
        for found in infos.values()
        for info in found
        for described in info.values
        for origin in described.origins
        if origin.unit is not None
    }
    for (unit, offset), name in origins.items():
        if name not in lines:
            lines[name] = Lines.of(files.text(name))
        recovered = files.recovered_text(Path(name))
        shown = unit.start + offset
        if recovered is not None and recovered.has_unparsable_spans:
            offset_shown = recovered.editor_offset(shown)
            if offset_shown is None:
                continue
            shown = offset_shown
        position = lines[name].position(shown)
        regions[unit, offset] = Region(name, position, position)
    return regions
