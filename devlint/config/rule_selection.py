"""Decide which rules are on, from `select`, `extend-select` and `ignore`.

The more specific selector wins; on a tie, `ignore` wins.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from devlint.rule_metadata import RuleMetadata

ALL = "ALL"
UNREADABLE = "DEV900"
"""The code for a file that cannot be read. On unless ignored, so that no file is skipped in silence."""
REVEALED = "DEV902"
"""The code of answers to `reveal_placement` in the code. Always on."""

_CODE_PREFIX = re.compile(r"([A-Z]+)\d*")


class UnknownSelectorError(ValueError):
    """An error for a selector that matches no rule."""

    def __init__(self, selector: str, suggestion: str | None) -> None:
        hint = f" (did you mean `{suggestion}`?)" if suggestion else ""
        super().__init__(f"unknown rule `{selector}`{hint}")


@dataclass(frozen=True, slots=True)
class SelectionLayer:
    """The selectors of one source, such as a configuration file or the command line.

    A layer with `select` replaces what earlier layers selected.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def selectors(self) -> tuple[str, ...]:
        """Every selector in the layer."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


def selector_matches(selector: str, rule: RuleMetadata) -> bool:
    """Return whether a selector (`ALL`, a code, the beginning of a code, or a name) matches a rule."""
    return selector_precision(selector, rule) is not None


def selector_precision(selector: str, rule: RuleMetadata) -> int | None:
    """Return how specifically a selector names a rule (0 for `ALL`, larger is more specific), None if it does not."""
    if selector == ALL:
        return 0
    if selector == rule.name:
        return len(rule.code)
    prefix = _CODE_PREFIX.fullmatch(selector)
    letters = _CODE_PREFIX.fullmatch(rule.code)
    if prefix and letters and prefix[1] == letters[1] and rule.code.startswith(selector):
        return len(selector)
    return None


def check_selectors(selectors: Iterable[str], rules: Sequence[RuleMetadata]) -> None:
    """Raise `UnknownSelectorError` for the first selector that matches no rule."""
    for selector in selectors:
        if selector != ALL and not any(selector_matches(selector, rule) for rule in rules):
            known = [ALL, *(rule.code for rule in rules), *(rule.name for rule in rules)]
            by_folded = {name.casefold(): name for name in known}
            close = difflib.get_close_matches(selector.casefold(), by_folded, n=1, cutoff=0.7)
            raise UnknownSelectorError(selector, by_folded[close[0]] if close else None)


def selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleMetadata]) -> frozenset[str]:
    """Return the codes of the rules that are on after all layers; later layers override earlier ones."""
    chosen = {rule.code for rule in rules if rule.default}
    always = {rule.code for rule in rules if rule.code in (UNREADABLE, REVEALED)}
    chosen |= always
    for layer in layers:
        if layer.select is not None:
            chosen = set(always)
        chosen = {rule.code for rule in rules if _verdict(layer, rule, rule.code in chosen)}
    return frozenset(chosen | (always & {REVEALED}))


def explicitly_selected_codes(layers: Iterable[SelectionLayer], rules: Sequence[RuleMetadata]) -> frozenset[str]:
    """Return the codes of the rules that some layer selects, leaving out rules that are only on by default."""
    wanted = [selector for layer in layers for selector in (*(layer.select or ()), *layer.extend_select)]
    return frozenset(rule.code for rule in rules if _best(wanted, rule) is not None)


def _verdict(layer: SelectionLayer, rule: RuleMetadata, before: bool) -> bool:
    """Return whether a rule is on after a layer, given whether it was on before."""
    wanted = _best((*(layer.select or ()), *layer.extend_select), rule)
    unwanted = _best(layer.ignore, rule)
    if wanted is None and unwanted is None:
        return before
    return unwanted is None or (wanted is not None and wanted > unwanted)


def _best(selectors: Iterable[str], rule: RuleMetadata) -> int | None:
    """Return the precision of the selector that names the rule most specifically, None if no selector names it."""
    found = [value for selector in selectors if (value := selector_precision(selector, rule)) is not None]
    return max(found, default=None)
