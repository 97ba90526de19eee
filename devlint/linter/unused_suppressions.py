"""Suppressions that silence nothing, and what is left of their comments without them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from devlint.diagnostic import Applicability, Confidence, Diagnostic, Edit, Fix, Position, Severity
from devlint.fixes.sheet import FixContext
from devlint.linter.rule_loader import all_rules
from devlint.rule_metadata import rule_url
from devlint.syntax.source import Source
from devlint.syntax.suppressions import Suppression, Suppressions, normalize_word, word_names_rule

UNUSED: Final = "DEV901"
NAME: Final = "unused-suppression"
ABOUT_DEVLINT: Final = "DEV9"
"""The beginning of the codes whose findings no single run can promise."""
_LIST: Final = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class FindingRows:
    """A finding as suppressions see it: the rule, and the rows of the text."""

    code: str
    name: str
    first_row: int
    last_row: int

    @staticmethod
    def of(one: Diagnostic, source: Source) -> FindingRows:
        """The spot of a finding in its file."""
        first = source.row(one.region)
        return FindingRows(one.code, one.name, first, first + one.region.end.row - one.region.start.row)

    def is_silenced_by(self, suppressions: Suppressions) -> bool:
        """Whether a comment silences the finding."""
        return suppressions.covers(self.code, self.name, self.first_row, self.last_row) is not None


def unused_suppressions(
    context: FixContext, suppressions: Suppressions, spots: Sequence[FindingRows], codes: frozenset[str]
) -> Iterator[Diagnostic]:
    """A finding for each comment of devlint's own of which some word, or all of it, silences nothing."""
    by_region: dict[tuple[Position, Position], list[Suppression]] = defaultdict(list)
    for one in suppressions.all:
        if one.kind != "noqa":
            by_region[one.region].append(one)
    for region, group in by_region.items():
        words = frozenset[str]().union(*(one.codes for one in group))
        idle = {each for each in words or {""} if _is_judged(each, codes) and not _is_used(each, group, spots)}
        if idle and not _is_meant(suppressions, region[0].row):
            yield _diagnostic(context, region, idle, words)


def _is_used(each: str, group: Iterable[Suppression], spots: Sequence[FindingRows]) -> bool:
    """Whether a word of a comment, the empty one of a comment without a list, silences a finding."""
    return any(
        one.reaches(spot.first_row, spot.last_row)
        for one in group
        if not each or each in one.codes
        for spot in spots
        if not each or word_names_rule(each, spot.code, spot.name)
    )


def _is_judged(each: str, codes: frozenset[str]) -> bool:
    """Whether this run would have found what a word silences: its rules were asked, at least those on by default."""
    rules = [rule for rule in all_rules() if not each or word_names_rule(each, rule.code, rule.name)]
    if each and any(rule.code.startswith(ABOUT_DEVLINT) for rule in rules):
        return False
    usual = [rule for rule in rules if rule.default and not rule.code.startswith(ABOUT_DEVLINT)] or rules
    return all(rule.code in codes for rule in usual)


def _is_meant(suppressions: Suppressions, row: int) -> bool:
    """Whether a comment says by name that it, or another on its row, may be unused."""
    return any(one.codes and one.reaches(row, row) and one.silences(UNUSED, NAME) for one in suppressions.all)


def _diagnostic(
    context: FixContext, region: tuple[Position, Position], idle: set[str], words: frozenset[str]
) -> Diagnostic:
    start, end = (context.index.lines.start(place.row) + place.column - 1 for place in region)
    written = context.text[start:end]
    unknown = sorted(
        each for each in idle if each and not any(word_names_rule(each, one.code, one.name) for one in all_rules())
    )
    listed = _listed(written)
    named = ", ".join(f"`{each}`" for each in listed if normalize_word(each) in idle)
    if idle == set(unknown):
        message, sure = f"there is no rule {named}, and `{written}` silences nothing by it", Confidence.CERTAIN
    elif idle == (words or {""}):
        message, sure = f"`{written}` silences nothing", Confidence.LIKELY
    else:
        message, sure = f"{named} in `{written}` silences nothing", Confidence.LIKELY
    fix = Fix("Take it out", Applicability.SAFE, (_taken_out(context, start, end, idle),))
    place = context.index.source.region(*region)
    return Diagnostic(UNUSED, NAME, Severity.WARNING, sure, message, place, fix=fix, url=rule_url(NAME))


def _taken_out(context: FixContext, start: int, end: int, idle: set[str]) -> Edit:
    """The list without its idle words; or, where none is left, the comment without the directive."""
    found = _LIST.search(context.text, start, end)
    left = [each for each in _listed(context.text[start:end]) if normalize_word(each) not in idle]
    if found and left:
        return context.edit(*found.span(1), ", ".join(left))
    first, last = context.line_start(start), context.next_line(start)
    finish = last - len(context.text[first:last]) + len(context.text[first:last].rstrip("\r\n"))
    if context.text[end:finish].strip():
        return context.edit(start, finish - len(context.text[end:finish].lstrip()), "")
    before = context.text[first:start].rstrip()
    if before or context.index.source.cells is not None:
        return context.edit(first + len(before), finish, "")
    return context.edit(first, last, "")


def _listed(written: str) -> list[str]:
    """The words of a directive's list as they are written."""
    found = _LIST.search(written)
    return [each.strip() for each in found[1].split(",") if each.strip()] if found else []
