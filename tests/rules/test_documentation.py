"""Every rule is documented, and its documentation is true: the examples are executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from devlint.diagnostic import Severity
from devlint.linter.rule_loader import all_rules
from devlint.rule import Rule

from .programs import lint

SECTIONS = (
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "How it is confirmed at run time",
    "Known limits",
)
FIX = "Fix safety"
RULES = [rule for rule in all_rules() if rule.code != "DEV902"]
"""All but the rule that answers a question: nothing is bad there, and nothing to be used instead."""
CATALOGUE = Path(__file__).parents[3] / "shared" / "rules.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections(rule: type[Rule]) -> dict[str, str]:
    _, *parts = re.split(r"^## (.+)$", rule.documentation(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def blocks(title: str) -> list[object]:
    return [
        pytest.param(rule, block, id=f"{rule.code}-{number}")
        for rule in RULES
        for number, block in enumerate(BLOCK.findall(sections(rule).get(title, "")), 1)
    ]


@pytest.mark.parametrize(("rule", "block"), blocks("Example"))
def test_each_example_is_reported(rule: type[Rule], block: str, tmp_path: Path) -> None:
    assert {one.code for one in lint(block, frozenset({rule.code}), tmp_path)} == {rule.code}


@pytest.mark.parametrize(("rule", "block"), blocks("Use instead"))
def test_what_to_use_instead_is_silent(rule: type[Rule], block: str, tmp_path: Path) -> None:
    assert [one.message for one in lint(block, frozenset({rule.code}), tmp_path)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_documentation_is_complete(rule: type[Rule]) -> None:
    told = sections(rule)
    assert tuple(title for title in told if title != FIX) == SECTIONS
    assert (FIX in told) == rule.fixable
    assert all(text.strip() for text in told.values())
    assert BLOCK.search(told["Example"]) and BLOCK.search(told["Use instead"])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_summary_is_one_sentence(rule: type[Rule]) -> None:
    assert re.fullmatch(r"\S.{10,100}\.", rule.summary())
    assert rule.documentation().splitlines()[1:2] == [""]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_s_file_bears_its_code_and_name(rule: type[Rule]) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.__module__ == f"devlint.rules.{rule.code.lower()}_{rule.name.replace('-', '_')}"


def test_codes_and_names_are_unique() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)


def catalogue() -> Iterator[tuple[str, str, Severity, bool]]:
    """The rows of the catalogue's tables: code, name, severity, default."""
    letters = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}
    for line in CATALOGUE.read_text().splitlines():
        match line.split(" | "):
            case [code, name, letter, "on" | "off" as default, *_] if code.startswith("| DEV"):
                yield code[2:], name, letters[letter], default == "on"
            case [code, name, letter, *_] if code.startswith("| DEV"):
                yield code[2:], name, letters[letter], False


@pytest.mark.skipif(not CATALOGUE.exists(), reason="the catalogue is not here")
def test_rules_are_as_the_catalogue_says() -> None:
    listed = {code: (name, severity, default) for code, name, severity, default in catalogue()}
    rules = {rule.code: (rule.name, rule.severity, rule.default) for rule in all_rules() if rule.code in listed}
    assert rules == {code: listed[code] for code in rules}
    assert len(rules) > 10
