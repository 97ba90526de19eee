"""What is read from the texts of the rules is what their classes say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from devlint.linter.rule_listing import all_rule_metadata
from devlint.linter.rule_loader import all_rules
from devlint.rule import Rule
from devlint.rule_metadata import RuleMetadata


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_text_of_a_rule_says_what_its_class_says(rule: type[Rule]) -> None:
    read = {one.code: one for one in all_rule_metadata()}
    assert read[rule.code] == RuleMetadata.of(rule)


def test_every_rule_is_listed_once() -> None:
    assert [one.code for one in all_rule_metadata()] == [rule.code for rule in all_rules()]


def test_a_listing_of_the_rules_imports_neither_the_interpreter_nor_libcst() -> None:
    code = (
        "import sys; from devlint.linter.rule_listing import all_rule_metadata; all_rule_metadata();"
        "print([name for name in ('libcst', 'devlint.interpreter', 'devlint.rule') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
