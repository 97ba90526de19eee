"""What is read from the texts of the rules is what their classes say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from devlint.linter.rule_listing import all_rule_metadata, find_rule_metadata
from devlint.linter.rule_loader import all_rules
from devlint.rule import Rule
from devlint.rule_metadata import RuleMetadata


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_text_of_a_rule_says_what_its_class_says(rule: type[Rule]) -> None:
    read = {one.code: one for one in all_rule_metadata()}
    assert read[rule.code] == RuleMetadata.of(rule)


def test_every_rule_is_listed_once() -> None:
    assert [one.code for one in all_rule_metadata()] == [rule.code for rule in all_rules()]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_is_found_by_its_code_and_its_name_in_any_case(rule: type[Rule]) -> None:
    for wanted in (rule.code, rule.code.lower(), rule.name, rule.name.upper()):
        found = find_rule_metadata(wanted)
        assert found is not None and found.code == rule.code
    assert find_rule_metadata(rule.code[:-1]) is None


def test_a_rule_of_another_package_is_found(tmp_path: Path) -> None:
    info = tmp_path / "house_rules-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[devlint.rules]\nX100 = house_rules:NoCuda\n")
    (tmp_path / "house_rules.py").write_text(
        "from devlint.diagnostic import Severity\nfrom devlint.rule import Rule\n\n\n"
        'class NoCuda(Rule):\n    """Say nothing."""\n\n'
        "    code, name, severity = 'X100', 'no-cuda', Severity.INFO\n"
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from devlint.cli import main; sys.argv[1:] = sys.argv[2:]; main()"
    )
    for wanted in ("x100", "no-cuda"):
        command = [sys.executable, "-c", code, str(tmp_path), "rule", wanted]
        told = subprocess.run(command, capture_output=True, text=True)
        assert told.stdout.startswith("# no-cuda (X100)\n"), told.stderr


def test_a_listing_of_the_rules_imports_neither_the_interpreter_nor_libcst() -> None:
    code = (
        "import sys; from devlint.linter.rule_listing import all_rule_metadata; all_rule_metadata();"
        "print([name for name in ('libcst', 'devlint.interpreter', 'devlint.rule') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
