"""Diagnostics for comments that silence no finding (DEV901), with fixes, and for those not understood (DEV903)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from devlint.config.rule_selection import UNKNOWN_CODE, UNUSED_CODE, suggested_rule
from devlint.diagnostic import Applicability, Confidence, Diagnostic, Edit, Fix, Position, Severity
from devlint.fixes.fix_context import FixContext
from devlint.linter.rule_listing import all_rule_metadata
from devlint.syntax.source import Source
from devlint.syntax.suppressions import NEAR_CODE, Suppression, Suppressions, normalize_word, word_names_rule

UNUSED_NAME: Final = "unused-suppression"
_UNSURE: Final = "remove it; it is not needed unless a finding shows only when other files are checked as well"
"""The name of the rule for unused suppressions."""
UNKNOWN_NAME: Final = "unknown-suppression"
"""The name of the rule for suppressions that are not understood."""
SELF_CHECK_PREFIX: Final = "DEV9"
"""The prefix of the rules about devlint itself, whose findings differ from run to run."""
OWN_PREFIX: Final = "DEV"
"""The beginning of the codes of devlint's own rules, by which they are known in comments shared with other linters."""
_LIST: Final = re.compile(r"(?<=\[)[^\[\]]*(?=\])|(?<=noqa:).+", re.IGNORECASE)
"""The list of rules in a suppression comment: in brackets, or after `noqa:`."""


@dataclass(frozen=True, slots=True)
class FindingRows:
    """The rule of a finding and the source rows of the finding, by which a suppression comment applies to it or not."""

    code: str
    name: str
    first_row: int
    last_row: int

    @staticmethod
    def of(one: Diagnostic, source: Source) -> FindingRows:
        """Return the rule and the source rows of the given diagnostic."""
        first = source.row(one.region)
        return FindingRows(one.code, one.name, first, first + one.region.end.row - one.region.start.row)

    def is_silenced_by(self, suppressions: Suppressions) -> bool:
        """Return whether any of the suppression comments of the file silences the finding."""
        return suppressions.covers(self.code, self.name, self.first_row, self.last_row) is not None


def judged_suppressions(
    context: FixContext, suppressions: Suppressions, rows: Sequence[FindingRows], codes: frozenset[str]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each suppression comment in which something silences no finding or is not understood.

    A comment silences nothing at all, or lists a word that silences nothing (DEV901); or it names no rule, or is
    misspelt (DEV903). Of `noqa` comments, which are shared with other linters, only the codes of devlint's rules are
    judged, and as misspelt only those with a letter for a digit. Only those of the two rules speak that are among
    `codes`.
    """
    by_region: dict[tuple[Position, Position], list[Suppression]] = defaultdict(list)
    for one in suppressions.all:
        by_region[one.region].append(one)
    for region, group in by_region.items():
        words = frozenset[str]().union(*(one.codes for one in group))
        shared = group[0].kind == "noqa"
        own = {word for word in words if word.startswith(OWN_PREFIX)} if shared else words or {""}
        if UNKNOWN_CODE in codes and not _is_allowed(suppressions, region[0].row, UNKNOWN_CODE, UNKNOWN_NAME):
            named = _near_codes(context, region) if shared else _unknown_words(context, region, words)
            yield from _unknown(context, region, named)
        unused = {word for word in own if _is_covered_by_run(word, codes) and not _is_used(word, group, rows)}
        unused -= {word for word in unused if not shared and _is_unknown(word)}
        if unused and UNUSED_CODE in codes and not _is_allowed(suppressions, region[0].row, UNUSED_CODE, UNUSED_NAME):
            yield _diagnostic(context, region, unused, words)
    for attempt in suppressions.misspelt if UNKNOWN_CODE in codes else ():
        message = f"`{attempt.written}` silences nothing: {attempt.advice}"
        place = context.index.source.region(*attempt.region)
        yield Diagnostic(UNKNOWN_CODE, UNKNOWN_NAME, Severity.WARNING, Confidence.CERTAIN, message, place)


def _unknown(context: FixContext, region: tuple[Position, Position], named: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic (DEV903) for a suppression comment with words that name no rule, if it has any."""
    if named:
        meant = [suggested for word in named if (suggested := suggested_rule(word, all_rule_metadata()))]
        message = f"there is no rule {', '.join(f'`{word}`' for word in named)}"
        message += f" (did you mean {', '.join(f'`{word}`' for word in meant)}?)" if meant else ""
        place = context.index.source.region(*region)
        yield Diagnostic(UNKNOWN_CODE, UNKNOWN_NAME, Severity.WARNING, Confidence.CERTAIN, message, place)


def _unknown_words(context: FixContext, region: tuple[Position, Position], words: frozenset[str]) -> list[str]:
    """Return those words of a devlint comment, as they are written, that name no rule."""
    unknown = {word for word in words if _is_unknown(word)}
    return [word for word in _listed_words(_written(context, region)) if normalize_word(word) in unknown]


def _near_codes(context: FixContext, region: tuple[Position, Position]) -> list[str]:
    """Return the words in the list of a `noqa` comment that are nearly codes of devlint's rules.

    The list may go on behind the comment's region, which ends at the first word that is no code.
    """
    start = context.index.lines.start(region[0].row) + region[0].column - 1
    comment = context.text[start + 1 : context.next_line(start)].partition("#")[0]
    return NEAR_CODE.findall(comment.partition(":")[2])


def _is_unknown(word: str) -> bool:
    """Return whether a word of a suppression comment names no rule."""
    return bool(word) and not any(word_names_rule(word, one.code, one.name) for one in all_rule_metadata())


def _is_used(word: str, group: Iterable[Suppression], rows: Sequence[FindingRows]) -> bool:
    """Return whether a word of a suppression comment silences a finding.

    An empty word stands for a comment without a list.
    """
    return any(
        one.reaches(row.first_row, row.last_row)
        for one in group
        if not word or word in one.codes
        for row in rows
        if not word or word_names_rule(word, row.code, row.name)
    )


def _is_covered_by_run(word: str, codes: frozenset[str]) -> bool:
    """Return whether this run of devlint executed the rules whose findings a word of a suppression comment silences.

    These are all rules that the word names, or at least those of them that are on by default. Otherwise the word may be
    needed in a run with more rules, and is not reported as unused.
    """
    rules = [rule for rule in all_rule_metadata() if not word or word_names_rule(word, rule.code, rule.name)]
    if word and any(rule.code.startswith(SELF_CHECK_PREFIX) for rule in rules):
        return False
    default_rules = [rule for rule in rules if rule.default and not rule.code.startswith(SELF_CHECK_PREFIX)] or rules
    return all(rule.code in codes for rule in default_rules)


def _is_allowed(suppressions: Suppressions, row: int, code: str, name: str) -> bool:
    """Return whether a suppression comment silences a rule about such comments, by its name, on the given row."""
    return any(one.codes and one.reaches(row, row) and one.silences(code, name) for one in suppressions.all)


def _diagnostic(
    context: FixContext, region: tuple[Position, Position], unused: set[str], words: frozenset[str]
) -> Diagnostic:
    """Return the diagnostic (DEV901) for a suppression comment of which the words `unused` silence no finding."""
    start, end = (context.index.lines.start(place.row) + place.column - 1 for place in region)
    written = _written(context, region)
    listed = _listed_words(written)
    named = ", ".join(f"`{word}`" for word in listed if normalize_word(word) in unused)
    if unused == (words or {""}):
        message = f"`{written}` silences nothing"
    else:
        message = f"{named} in `{written}` silences nothing"
    fix = Fix("Remove it", Applicability.SAFE, (_removal_edit(context, start, end, unused),))
    place = context.index.source.region(*region)
    return Diagnostic(
        UNUSED_CODE, UNUSED_NAME, Severity.WARNING, Confidence.LIKELY, message, place, help=_UNSURE, fix=fix
    )


def _removal_edit(context: FixContext, start: int, end: int, unused: set[str]) -> Edit:
    """Return the edit that removes the unused words from the bracketed list of a suppression comment.

    If no word of the list remains, the edit removes the whole comment.
    """
    found = _LIST.search(context.text, start, end)
    left = [word for word in _listed_words(context.text[start:end]) if normalize_word(word) not in unused]
    if found and left:
        space = " " if found.group().startswith(" ") else ""
        return context.edit(*found.span(), space + ", ".join(left))
    first, last = context.line_start(start), context.next_line(start)
    finish = last - len(context.text[first:last]) + len(context.text[first:last].rstrip("\r\n"))
    if context.text[end:finish].strip():
        return context.edit(start, finish - len(context.text[end:finish].lstrip()), "")
    before = context.text[first:start].rstrip()
    if before or context.index.source.cells is not None:
        return context.edit(first + len(before), finish, "")
    return context.edit(first, last, "")


def _written(context: FixContext, region: tuple[Position, Position]) -> str:
    """Return the text of a region of a file."""
    start, end = (context.index.lines.start(place.row) + place.column - 1 for place in region)
    return context.text[start:end]


def _listed_words(written: str) -> list[str]:
    """Return the words in the list of a suppression comment, spelled as in the comment; no words without a list."""
    found = _LIST.search(written)
    return [word for word in re.split(r"[,\s]+", found.group()) if word] if found else []
