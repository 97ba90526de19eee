"""Comments that begin like an instruction to devlint and are none, with advice on how to write them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from devlint.diagnostic import Position
from devlint.syntax.comments import Comment

VERBS: Final = ("ignore-next-line", "ignore", "file-ignore", "disable", "enable")
"""The words with which an instruction to devlint begins, after `# devlint:`."""

_VERBS_ELSEWHERE: Final = {
    "ignore-line": "ignore",
    "disable-line": "ignore",
    "ignore-next": "ignore-next-line",
    "disable-next": "ignore-next-line",
    "disable-next-line": "ignore-next-line",
    "ignore-file": "file-ignore",
    "disable-file": "file-ignore",
    "file-disable": "file-ignore",
    "skip-file": "file-ignore",
}
"""Words of other linters, and what they are called here."""

_RULE: Final = r"(?:DEV[0-9]\w*|[a-z0-9]+(?:-[a-z0-9]+)+)"
"""What may name a rule: the beginning of a code, or words with hyphens."""
_ATTEMPT: Final = re.compile(
    r"#\s*(?P<tool>d[\w-]{4,8})(?P<mark>\s*[:;=]|\s)\s*(?P<verb>[a-z][\w-]*)"
    r"(?:\s*(?P<list>\[(?P<listed>[^\[\]#]*)\])"
    rf"|\s*[:=]?\s*[\[({{<]\s*(?P<wrapped>{_RULE}(?:[,\s]+{_RULE})*)\s*[\])}}>]?"
    r"|\s*[:=]?\s*(?P<bare>DEV[0-9]\w*(?:[,\s]+DEV[0-9]\w*)*))?"
    r"\s*(?P<rest>[^#]*)",
    re.IGNORECASE,
)
"""What was meant as an instruction: the list of rules in brackets, in other brackets or without, and the rest."""
ATTEMPT_MARKER: Final = r"#\s*d[\w-]{4,8}(?:\s*[:;=]|\s)\s*(?:ig|di|en|fi|sk)[\w-]*\s*[:=]?\s*(?:[\[({<]|DEV[0-9])"
"""What stands in a text if an instruction without a colon, or with a misspelt name of the tool, does.

It is narrow, because files that have it are read even if nothing is found in them.
"""
_LEAST_LIKENESS: Final = 0.85
"""How much like `devlint` a word is that misspells it: one letter is missing, added or wrong."""
_INFLECTED: Final = re.compile(r"(?:ignor|disabl|enabl)(?:es|ed|ing)", re.IGNORECASE)
"""Forms of the words that stand in sentences about devlint."""


_BETWEEN: Final = re.compile(r"[,\s]+")
"""What stands between the rules of a list."""


@dataclass(frozen=True, slots=True)
class MisspeltDirective:
    """A comment that begins like an instruction to devlint and is none, with advice on how to write it."""

    written: str
    advice: str
    region: tuple[Position, Position]


def misspelt_directives(comment: Comment, understood: Collection[int]) -> Iterator[MisspeltDirective]:
    """Yield what a comment says to devlint and devlint does not understand.

    `understood` are the offsets in the comment at which instructions begin that it does understand.
    """
    for found in _ATTEMPT.finditer(comment.text):
        advice = _advice(found) if found.start() not in understood else None
        if advice is None:
            continue
        written = found.group()[: found.start("rest") - found.start()].rstrip()
        column = comment.column + 1 + found.start()
        region = Position(comment.row, column), Position(comment.row, column + len(written))
        yield MisspeltDirective(written, advice, region)


def _advice(found: re.Match[str]) -> str | None:
    """Return how to write what was meant as an instruction; None for a sentence about devlint."""
    word, rest = found["verb"].lower(), found["rest"].strip()
    rules = found["listed"] or found["wrapped"] or found["bare"]
    is_addressed = found["tool"].lower() == "devlint" and found["mark"] == ":"
    if not is_addressed and not _is_instruction_without_address(found, rules):
        return None
    verb = _verb_meant(word)
    if verb is None:
        return f"the words are {', '.join(VERBS)}" if is_addressed and found["list"] is not None else None
    if _INFLECTED.fullmatch(word) and rest and rules is None:
        return None
    if found["list"] is not None and not (rules or "").strip(" ,"):
        return "no rule stands in the brackets"
    is_list_right = found["list"] is not None or rules is None
    is_reason_right = not rest or rest.startswith("--")
    if is_list_right and is_addressed and found["tool"] == "devlint":
        if found["verb"] in VERBS:
            return "a reason follows after `--`"
        if word not in _VERBS_ELSEWHERE and is_reason_right:
            return f"did you mean `{verb}`?"
    listed = f"[{', '.join(re.split(_BETWEEN, rules.strip()))}]" if rules is not None else ""
    reason = f" {rest}" if rest.startswith("--") else f" -- {rest}" if rest else ""
    return f"write `# devlint: {verb}{listed}{reason}`"


def _is_instruction_without_address(found: re.Match[str], rules: str | None) -> bool:
    """Return whether an attempt that does not begin with `devlint:` is an instruction to devlint and no sentence.

    It lists rules, and names a tool like devlint. Without brackets, nothing but a reason may follow the rules.
    """
    listed = _BETWEEN.split((rules or "").strip())
    if not all(re.fullmatch(_RULE, one, re.IGNORECASE) for one in listed):
        return False
    if difflib.SequenceMatcher(None, found["tool"].lower(), "devlint").ratio() < _LEAST_LIKENESS:
        return False
    word, rest = found["verb"].lower(), found["rest"].strip()
    is_sentence = bool(rest) and not rest.startswith("--")
    return found["list"] is not None or ((word in VERBS or word in _VERBS_ELSEWHERE) and not is_sentence)


def _verb_meant(word: str) -> str | None:
    """Return the word that another word stands for or misspells; None if it is like none."""
    if word in VERBS:
        return word
    close = difflib.get_close_matches(word, VERBS, n=1)
    return _VERBS_ELSEWHERE.get(word) or (close[0] if close else None)
