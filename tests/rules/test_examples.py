"""Each rule has executed examples: programs that it reports, and programs like them that it does not."""

from __future__ import annotations

import pytest

from devlint.linter.rule_loader import all_rules
from devlint.rule import Rule

from .examples import bad_examples, good_examples

RULES = [rule for rule in all_rules() if rule.code != "DEV902"]
"""All but the rule that answers a question of the program: it has no bad programs."""
BAD, GOOD = bad_examples(), good_examples()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_examples_of_both_kinds(rule: type[Rule]) -> None:
    assert (BAD[rule.code] >= 3, GOOD[rule.code] >= 5) == (True, True), (BAD[rule.code], GOOD[rule.code])
