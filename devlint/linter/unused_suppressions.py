"""Diagnostics (DEV901) for suppression comments that silence no finding, with fixes that remove these comments."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from devlint.config.rule_selection import UNUSED_CODE
from devlint.diagnostic import Applicability, Confidence, Diagnostic, Edit, Fix, Position, Severity
from devlint.fixes.fix_context import FixContext
from devlint.linter.rule_listing import all_rule_metadata
from devlint.syntax.source import Source
from devlint.syntax.suppressions import Suppression, Suppressions, normalize_word, word_names_rule

UNUSED_NAME: Final = "unused-suppression"
"""The name of the rule for unused suppressions."""
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


def unused_suppressions(
    context: FixContext, suppressions: Suppressions, rows: Sequence[FindingRows], codes: frozenset[str]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each suppression comment in which something silences no finding.

    That is a comment which silences nothing at all, which lists a word that silences nothing, or which is misspelt. Of
    `noqa` comments, which are shared with other linters, only the codes of devlint's rules are judged.
    """
    by_region: dict[tuple[Position, Position], list[Suppression]] = defaultdict(list)
    for one in suppressions.all:
        by_region[one.region].append(one)
    for region, group in by_region.items():
        words = frozenset[str]().union(*(one.codes for one in group))
        own = words or {""}
        if group[0].kind == "noqa":
            own = {word for word in words if word.startswith(OWN_PREFIX)}
        unused = {word for word in own if _is_covered_by_run(word, codes) and not _is_used(word, group, rows)}
        if unused and not _is_unused_allowed(suppressions, region[0].row):
            yield _diagnostic(context, region, unused, words)
    for attempt in suppressions.misspelt:
        message = f"`{attempt.written}` silences nothing: {attempt.advice}"
        place = context.index.source.region(*attempt.region)
        yield Diagnostic(UNUSED_CODE, UNUSED_NAME, Severity.WARNING, Confidence.CERTAIN, message, place)


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


def _is_unused_allowed(suppressions: Suppressions, row: int) -> bool:
    """Return whether a suppression comment silences the rule for unused suppressions, by name, on the given row."""
    return any(
        one.codes and one.reaches(row, row) and one.silences(UNUSED_CODE, UNUSED_NAME) for one in suppressions.all
    )


def _diagnostic(
    context: FixContext, region: tuple[Position, Position], unused: set[str], words: frozenset[str]
) -> Diagnostic:
    """Return the diagnostic (DEV901) for a suppression comment of which the words `unused` silence no finding."""
    start, end = (context.index.lines.start(place.row) + place.column - 1 for place in region)
    written = context.text[start:end]
    unknown = sorted(
        word
        for word in unused
        if word and not any(word_names_rule(word, one.code, one.name) for one in all_rule_metadata())
    )
    listed = _listed_words(written)
    named = ", ".join(f"`{word}`" for word in listed if normalize_word(word) in unused)
    if unused == set(unknown):
        message, sure = f"there is no rule {named}, and `{written}` silences nothing by it", Confidence.CERTAIN
        message += _suggestion(unknown)
    elif unused == (words or {""}):
        message, sure = f"`{written}` silences nothing", Confidence.LIKELY
    else:
        message, sure = f"{named} in `{written}` silences nothing", Confidence.LIKELY
    fix = Fix("Take it out", Applicability.SAFE, (_removal_edit(context, start, end, unused),))
    place = context.index.source.region(*region)
    return Diagnostic(UNUSED_CODE, UNUSED_NAME, Severity.WARNING, sure, message, place, fix=fix)


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


def _listed_words(written: str) -> list[str]:
    """Return the words in the list of a suppression comment, spelled as in the comment; no words without a list."""
    found = _LIST.search(written)
    return [word for word in re.split(r"[,\s]+", found.group()) if word] if found else []


def _suggestion(unknown: Sequence[str]) -> str:
    """Return a question whether existing rules were meant by words that name none; empty if nothing is close."""
    known = {word: word for one in all_rule_metadata() for word in (one.code, one.name)}
    close = [difflib.get_close_matches(word, known, n=1, cutoff=0.7) for word in unknown]
    meant = ", ".join(f"`{words[0]}`" for words in close if words)
    return f" (did you mean {meant}?)" if meant else ""
