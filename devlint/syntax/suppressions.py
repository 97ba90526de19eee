"""Search for the comments with which a user silences findings, and for the rows that each comment covers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from devlint.diagnostic import Position
from devlint.syntax.comments import CodeLine, Comment, CommentLayout, read_comment_layout
from devlint.syntax.directive_advice import ATTEMPT_MARKER, VERBS, MisspeltDirective, misspelt_directives
from devlint.syntax.index import FileIndex
from devlint.syntax.source import Source

SuppressionKind = Literal["noqa", "line", "file", "block"]

_MARKER = re.compile(rf"noqa|devlint:|{ATTEMPT_MARKER}", re.IGNORECASE)
_ATTEMPT = re.compile(ATTEMPT_MARKER, re.IGNORECASE)
_NEAR_CODE: Final = re.compile(r"dev(?<!\wdev)(?=[0-9oil])(?=[0-9a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{3}\b")
NEAR_CODE: Final = re.compile(_NEAR_CODE.pattern, re.IGNORECASE)
"""What is nearly the code of a rule of devlint: a letter stands where a digit should."""
# The form that flake8 accepts: if something other than a code follows the colon, the comment silences everything.
_CODES = r"(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?"
_NOQA = re.compile(rf"#\s*noqa\b{_CODES}", re.IGNORECASE)
_FILE_NOQA = re.compile(rf"#\s*flake8[:=]\s*noqa\b{_CODES}", re.IGNORECASE)
_DIRECTIVE = re.compile(
    rf"#\s*devlint:\s*(?P<verb>{'|'.join(VERBS)})\s*"
    r"(?:\[(?P<codes>[^\[\]]*)\]\s*)?(?:--\s*(?P<reason>[^#]*)|(?=#|$))"
)
_CODE = re.compile(r"[A-Za-z]+[0-9]*")


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that silences findings, with the rows that it covers and the reason that it gives.

    `codes` are the rules that the comment names; if empty, it silences all rules. An upper-case item means every rule
    code that begins with it; a lower-case item is a rule's name.
    """

    kind: SuppressionKind
    codes: frozenset[str]
    first_row: int
    last_row: int
    region: tuple[Position, Position]
    reason: str | None = None

    def silences(self, code: str, name: str) -> bool:
        """Return whether the comment silences the rule with a given code and name: it names that rule, or no rule."""
        return not self.codes or any(word_names_rule(item, code, name) for item in self.codes)

    def reaches(self, first_row: int, last_row: int) -> bool:
        """Return whether the comment covers a finding on the rows `first_row` to `last_row`.

        A comment for a block must cover the first row of the finding, any other comment at least one of its rows.
        """
        if self.kind == "block":
            return self.first_row <= first_row <= self.last_row
        return self.first_row <= last_row and first_row <= self.last_row


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All comments of a file that silence findings, and those that look like one, in the order of the text."""

    all: tuple[Suppression, ...] = ()
    misspelt: tuple[MisspeltDirective, ...] = ()

    def covers(self, code: str, name: str, first_row: int, last_row: int) -> Suppression | None:
        """Return the first comment that silences a finding of a rule on some rows, or None if no comment does."""
        for suppression in self.all:
            if suppression.reaches(first_row, last_row) and suppression.silences(code, name):
                return suppression
        return None


@dataclass(frozen=True, slots=True)
class _Directive:
    """A comment, or a part of one, that gives an instruction to a linter, such as `# noqa` or `# devlint: ignore`."""

    verb: str
    codes: frozenset[str]
    reason: str | None
    comment: Comment
    start: int
    end: int

    @property
    def region(self) -> tuple[Position, Position]:
        """The start and end positions of the linter directive in the file."""
        column = self.comment.column + 1
        return Position(self.comment.row, column + self.start), Position(self.comment.row, column + self.end)


def may_suppress(text: str, *, noqa: bool = True) -> bool:
    """Return whether a text may hold a comment that silences findings; without `noqa`, one that devlint alone reads.

    A `noqa` comment with what is nearly a code of devlint's rules counts as such a comment.
    """
    # Patterns that begin with a letter are searched fast if its case counts.
    lowered = text.lower()
    if "devlint:" in lowered or _ATTEMPT.search(lowered):
        return True
    return "noqa" in lowered if noqa else _NEAR_CODE.search(lowered) is not None


def find_suppressions(source: Source, index: FileIndex) -> Suppressions:
    """Return all comments of a file that silence findings, with the rows that each comment covers."""
    if not may_suppress(source.text):
        return Suppressions()
    layout = read_comment_layout(index, _MARKER)
    by_comment = [(comment, [*_directives(comment)]) for comment in layout.comments]
    directives = [directive for _, inside in by_comment for directive in inside]
    enables = [directive for directive in directives if directive.verb == "enable" and directive.comment.alone]
    last_row = len(index.lines.starts)
    found: list[Suppression] = []
    for directive in directives:
        found += _suppressions(directive, enables, layout, last_row)
    misspelt = [
        one
        for comment, inside in by_comment
        for one in misspelt_directives(comment, {directive.start for directive in inside})
    ]
    return Suppressions(tuple(found), tuple(misspelt))


def _directives(comment: Comment) -> Iterator[_Directive]:
    """Yield the linter directives, such as `noqa` or `devlint: ignore`, in a comment; a comment may hold several."""
    whole = _FILE_NOQA.match(comment.text)
    if whole is not None:
        yield _noqa("file-noqa", whole, comment)
    for found in _NOQA.finditer(comment.text):
        yield _noqa("noqa", found, comment)
    for found in _DIRECTIVE.finditer(comment.text):
        codes = _normalised((found["codes"] or "").split(","))
        if found["codes"] is not None and not codes:
            # Empty brackets name no rule, and must not silence all rules.
            continue
        reason = (found["reason"] or "").strip() or None
        yield _Directive(
            found["verb"], codes, reason, comment, found.start(), found.start() + len(found.group().rstrip())
        )


def _noqa(verb: str, found: re.Match[str], comment: Comment) -> _Directive:
    """Return the linter directive in a comment that the pattern for `noqa` comments has matched."""
    codes = _normalised(re.split(r"[,\s]+", found["codes"] or ""))
    return _Directive(verb, codes, None, comment, found.start(), found.start() + len(found.group().rstrip(", ")))


def _suppressions(
    directive: _Directive, enables: Iterable[_Directive], layout: CommentLayout, last_row: int
) -> Iterator[Suppression]:
    """Yield the suppressions that one linter directive stands for, each with the rows that it covers."""
    comment = directive.comment
    beside = CodeLine(comment.first_row, comment.last_row, comment.indentation)
    match directive.verb:
        case "noqa":
            yield _suppression("noqa", directive, beside)
        case "ignore":
            yield _suppression("line", directive, beside)
        case "disable" if not comment.alone:
            yield _suppression("line", directive, beside)
        case "ignore-next-line":
            following = (
                line for line in (layout.physical if comment.inside else layout.logical) if line.first_row > comment.row
            )
            yield _suppression("line", directive, next(following, beside))
        case "file-ignore" if comment.alone:
            yield _suppression("file", directive, CodeLine(1, last_row, 0))
        case "file-noqa" if comment.alone:
            yield _suppression("noqa", directive, CodeLine(1, last_row, 0))
        case "disable":
            yield from _block_suppressions(directive, enables, layout, last_row)


def _block_suppressions(
    disable: _Directive, enables: Iterable[_Directive], layout: CommentLayout, last_row: int
) -> Iterator[Suppression]:
    """Yield the suppressions that a `disable` comment makes for the rows from its own to the end of its effect.

    The effect ends for each rule code at an `enable` comment for it, at the latest at the end of the indented block.
    """
    comment = disable.comment
    outside = (
        line.first_row
        for line in layout.logical
        if line.first_row > comment.row and line.indentation < comment.indentation
    )
    end = next(outside, last_row + 1) - 1
    codes = disable.codes
    for enable in enables:
        if not comment.row < enable.comment.row <= end:
            continue
        closed = codes & enable.codes if codes and enable.codes else codes
        if closed == codes:
            end = enable.comment.row
            break
        if closed:
            yield _suppression("block", disable, CodeLine(comment.row, enable.comment.row, 0), closed)
            codes -= closed
    yield _suppression("block", disable, CodeLine(comment.row, end, 0), codes)


def _suppression(
    kind: SuppressionKind, directive: _Directive, rows: CodeLine, codes: frozenset[str] | None = None
) -> Suppression:
    """Return the suppression that a linter directive makes for some rows and rule codes.

    If `codes` is None, these are the codes that the directive names.
    """
    codes = directive.codes if codes is None else codes
    return Suppression(kind, codes, rows.first_row, rows.last_row, directive.region, directive.reason)


def _normalised(items: Iterable[str]) -> frozenset[str]:
    """Return the rules that a suppression comment lists: codes in upper case, rule names in lower case."""
    return frozenset(normalize_word(item) for item in items if item.strip())


def word_names_rule(item: str, code: str, name: str) -> bool:
    """Return whether an item of a suppression comment means a rule: by its name, its code or a prefix of the code."""
    return item == name or (_is_code(item) and code.startswith(item))


def normalize_word(written: str) -> str:
    """Return an item of a suppression comment in its normal spelling: codes in upper case, rule names in lower case."""
    written = written.strip()
    return written.upper() if _is_code(written) else written.lower()


def _is_code(item: str) -> bool:
    """Return whether an item of a suppression comment has the form of a rule code or of a prefix of one."""
    return _CODE.fullmatch(item) is not None
