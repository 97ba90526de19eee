"""Selection of the rules that are on, by the settings `select`, `extend-select` and `ignore`.

Each setting is a list of selectors, such as `DEV1`, `PORTABILITY` (a group) or the name of a rule. Where two selectors
match a rule, the more specific one wins; on a tie, `ignore` wins. Upper and lower case are the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from devlint.rule_metadata import GROUPS, RuleMetadata

ALL = "ALL"
UNREADABLE = "DEV900"
"""The code for a file that cannot be read. On unless ignored, so that no file is skipped in silence."""
UNUSED_CODE = "DEV901"
"""The code for a suppression that silences nothing."""
UNKNOWN_CODE = "DEV903"
"""The code for a comment that is meant to silence findings and is not understood."""
REVEALED = "DEV902"
"""The code of answers to `reveal_placement` in the code. Always on."""

_PLAIN_CODE = re.compile(r"[a-z]+\d+")
_CODE_LIKE = re.compile(r"[a-z]+\d")
_CODE_PREFIX = re.compile(r"([A-Z]+)\d*")
_AS_DIGITS = str.maketrans("oilsbz", "011582")
"""Letters that look like digits, in lower case, and those digits."""


class UnknownSelectorError(ValueError):
    """An error for a rule selector that matches no rule of devlint."""

    def __init__(self, selector: str, suggestion: str | None) -> None:
        hint = f" (did you mean `{suggestion}`?)" if suggestion else ""
        super().__init__(f"unknown rule `{selector}`{hint}")


@dataclass(frozen=True, slots=True)
class SelectionLayer:
    """The rule selectors of one source of configuration, such as a file or the command line.

    A layer with `select` replaces what the layers before it selected.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def selectors(self) -> tuple[str, ...]:
        """All selectors in `select`, `extend-select` and `ignore` together."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


def selector_matches(selector: str, rule: RuleMetadata) -> bool:
    """Return whether a selector (`ALL`, a group, a rule's code, the beginning of one, or a name) matches a rule."""
    return selector_precision(selector, rule) is not None


def selector_precision(selector: str, rule: RuleMetadata) -> int | None:
    """Return how specifically a selector names a rule, None if the selector does not match the rule.

    The number is 0 for `ALL`, and larger for a more specific selector. A group is as specific as the beginning of the
    codes of its rules.
    """
    if selector.lower() == rule.name:
        return len(rule.code)
    selector = selector.upper()
    if selector == ALL:
        return 0
    selector = GROUPS.get(selector, selector)
    prefix = _CODE_PREFIX.fullmatch(selector)
    letters = _CODE_PREFIX.fullmatch(rule.code)
    if prefix and letters and prefix[1] == letters[1] and rule.code.startswith(selector):
        return len(selector)
    return None


def check_selectors(selectors: Iterable[str], rules: Sequence[RuleMetadata]) -> None:
    """Raise UnknownSelectorError for the first selector that matches none of the rules."""
    for selector in selectors:
        if selector.upper() != ALL and not any(selector_matches(selector, rule) for rule in rules):
            raise UnknownSelectorError(selector, suggested_rule(selector, rules))


def suggested_rule(written: str, rules: Sequence[RuleMetadata]) -> str | None:
    """Return the selector that was probably meant by one that names no rule; None if none is near.

    A code with other digits is not near: of two numbers no one tells which was meant. A word that names begin with
    stands for the first of them. Letters that look like digits stand for them, and an `X` at the end for any digits.
    """
    folded = written.casefold()
    typed = _code_with_digits(folded, rules)
    if typed is not None:
        return typed
    if _PLAIN_CODE.fullmatch(folded):
        codes = [rule.code for rule in rules if _is_one_letter_apart(folded, rule.code.casefold())]
        return min(codes, default=None)
    known = [ALL, *GROUPS, *(rule.code for rule in rules), *(rule.name for rule in rules)]
    by_folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.8 if _CODE_LIKE.match(folded) else 0.7)
    if close:
        return by_folded[close[0]]
    return next((rule.name for rule in rules if rule.name.startswith(f"{folded}-")), None)


def _code_with_digits(folded: str, rules: Sequence[RuleMetadata]) -> str | None:
    """Return the code, or the beginning of codes, that a word means in which letters stand where digits should."""
    codes = {rule.code.casefold(): rule.code for rule in rules}
    for code in codes:
        start = len(code.rstrip("0123456789"))
        if folded != code and code == folded[:start] + folded[start:].translate(_AS_DIGITS):
            return codes[code]
    beginning = folded.rstrip("x")
    if beginning != folded and _PLAIN_CODE.fullmatch(beginning) and any(code.startswith(beginning) for code in codes):
        return beginning.upper()
    return None


def _is_one_letter_apart(one: str, other: str) -> bool:
    """Return whether one of two words is the other without one of its letters."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return any(longer[:index] + longer[index + 1 :] == shorter for index in range(len(longer)))


def selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleMetadata]) -> frozenset[str]:
    """Return the codes of the rules that are on after all layers of selectors are applied.

    A layer is one source of configuration. Later layers override earlier ones.
    """
    chosen = {rule.code for rule in rules if rule.default}
    always = {rule.code for rule in rules if rule.code in (UNREADABLE, REVEALED)}
    chosen |= always
    for layer in layers:
        if layer.select is not None:
            chosen = set(always)
        chosen = {rule.code for rule in rules if _is_on_after(layer, rule, rule.code in chosen)}
    return frozenset(chosen | (always & {REVEALED}))


def explicitly_selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleMetadata]) -> frozenset[str]:
    """Return the codes of the rules that `select` or `extend-select` of some layer asks for, also what they inform of.

    A layer is one source of configuration. Rules that are on only by default are left out, and so are rules with
    `info_by_name` that only a group or the beginning of their code selects.
    """
    wanted = [selector for layer in layers for selector in (*(layer.select or ()), *layer.extend_select)]
    precisions = {rule: _best_precision(wanted, rule) for rule in rules}
    return frozenset(
        rule.code
        for rule, precision in precisions.items()
        if precision is not None and (precision >= len(rule.code) or not rule.info_by_name)
    )


def _is_on_after(layer: SelectionLayer, rule: RuleMetadata, before: bool) -> bool:
    """Return whether a rule is on after the selectors of one layer are applied.

    `before` says whether it was on before.
    """
    wanted = _best_precision((*(layer.select or ()), *layer.extend_select), rule)
    unwanted = _best_precision(layer.ignore, rule)
    if wanted is None and unwanted is None:
        return before
    return unwanted is None or (wanted is not None and wanted > unwanted)


def _best_precision(selectors: Iterable[str], rule: RuleMetadata) -> int | None:
    """Return the precision of that one of the selectors which names the rule most specifically, None if none names it.

    The precision is a number that is larger for a more specific selector.
    """
    found = [value for selector in selectors if (value := selector_precision(selector, rule)) is not None]
    return max(found, default=None)
