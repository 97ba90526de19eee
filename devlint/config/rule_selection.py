"""Which rules are on: `select`, `extend-select` and `ignore`, weighed by how precisely they name a rule."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from devlint.rule_metadata import RuleCard

ALL = "ALL"
UNREADABLE = "DEV900"
"""A file that could not be read: on whatever is selected, for else the file would be skipped in silence."""
REVEALED = "DEV902"
"""The answer to a question in the code: always on."""

_CODE_PREFIX = re.compile(r"([A-Z]+)\d*")


class UnknownSelectorError(ValueError):
    """A selector that means no rule."""

    def __init__(self, selector: str, suggestion: str | None) -> None:
        hint = f" (did you mean `{suggestion}`?)" if suggestion else ""
        super().__init__(f"unknown rule `{selector}`{hint}")


@dataclass(frozen=True, slots=True)
class SelectionLayer:
    """One source of choices, such as a configuration file or the command line. `select`, when given, starts afresh."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def selectors(self) -> tuple[str, ...]:
        """Every selector the layer names."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


def selector_matches(selector: str, rule: RuleCard) -> bool:
    """Whether the selector (`ALL`, a code, the beginning of one, or a name) means this rule."""
    return selector_precision(selector, rule) is not None


def selector_precision(selector: str, rule: RuleCard) -> int | None:
    """How precisely the selector names this rule (0 for `ALL`), or None when it does not."""
    if selector == ALL:
        return 0
    if selector == rule.name:
        return len(rule.code)
    prefix = _CODE_PREFIX.fullmatch(selector)
    letters = _CODE_PREFIX.fullmatch(rule.code)
    if prefix and letters and prefix[1] == letters[1] and rule.code.startswith(selector):
        return len(selector)
    return None


def check_selectors(selectors: Iterable[str], rules: Sequence[RuleCard]) -> None:
    """Raise `UnknownSelectorError` for the first selector that means no rule."""
    for selector in selectors:
        if selector != ALL and not any(selector_matches(selector, rule) for rule in rules):
            known = [ALL, *(rule.code for rule in rules), *(rule.name for rule in rules)]
            by_folded = {name.casefold(): name for name in known}
            close = difflib.get_close_matches(selector.casefold(), by_folded, n=1, cutoff=0.7)
            raise UnknownSelectorError(selector, by_folded[close[0]] if close else None)


def selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleCard]) -> frozenset[str]:
    """The codes that are on after all layers, later ones having the last word."""
    chosen = {rule.code for rule in rules if rule.default}
    always = {rule.code for rule in rules if rule.code in (UNREADABLE, REVEALED)}
    chosen |= always
    for layer in layers:
        if layer.select is not None:
            chosen = set(always)
        chosen = {rule.code for rule in rules if _verdict(layer, rule, rule.code in chosen)}
    return frozenset(chosen | (always & {REVEALED}))


def explicitly_selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleCard]) -> frozenset[str]:
    """The codes of the rules that some layer selects, and that are not on by default only."""
    wanted = [selector for layer in layers for selector in (*(layer.select or ()), *layer.extend_select)]
    return frozenset(rule.code for rule in rules if _best(wanted, rule) is not None)


def _verdict(layer: SelectionLayer, rule: RuleCard, before: bool) -> bool:
    """What one layer makes of one rule: the more precise selector wins, and of two equal ones, `ignore`."""
    wanted = _best((*(layer.select or ()), *layer.extend_select), rule)
    unwanted = _best(layer.ignore, rule)
    if wanted is None and unwanted is None:
        return before
    return unwanted is None or (wanted is not None and wanted > unwanted)


def _best(selectors: Iterable[str], rule: RuleCard) -> int | None:
    found = [value for selector in selectors if (value := selector_precision(selector, rule)) is not None]
    return max(found, default=None)
