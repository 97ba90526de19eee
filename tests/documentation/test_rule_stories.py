"""The bugs and the outputs on the pages of the rules are those that are known, and that devlint prints."""

from __future__ import annotations

import sys

import pytest

from devlint.documentation.rule_page import example_outputs, rule_page, stories
from devlint.linter.rule_listing import all_rule_metadata
from devlint.rule_metadata import RuleMetadata

from . import stories as known
from .examples import AGAIN

RULES = all_rule_metadata()
OFTEN = RULES[::10]
"""The rules of which the outputs are made anew here: of all, it takes more than a minute."""


def test_the_stories_are_those_that_are_known() -> None:
    assert known.FILE.read_text(encoding="utf-8") == known.text(), AGAIN
    assert {rule.code for rule in RULES} - {*stories()} == known.UNTOLD
    assert all((story.url or "").startswith("https://github.com/") for story in stories().values())


def test_every_rule_has_an_output_that_names_it() -> None:
    assert {code for code, shown in example_outputs().items() if f"[{code}]" in shown.output} == {
        rule.code for rule in RULES
    }


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells no columns before 3.11")
@pytest.mark.parametrize("rule", OFTEN, ids=lambda rule: rule.code)
def test_outputs_are_real(rule: RuleMetadata) -> None:
    pytest.importorskip("torch")
    from .example_outputs import output

    shown = example_outputs()[rule.code]
    expected = {"command": shown.command, "output": shown.output}
    assert output(rule) == expected, AGAIN


def test_a_page_tells_the_bug_and_the_output() -> None:
    page = rule_page(next(rule for rule in RULES if rule.code == "DEV113"))
    assert "\n## A real bug\nThe alpha optimizer is given log_alpha on the host;" in page
    assert "[issue #11294](https://github.com/ray-project/ray/issues/11294)" in page
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles.index("## A real bug") == titles.index("## Why is this bad?") + 1
    assert page.index("$ devlint run --device emulated example.py") < page.index("## Use instead")
