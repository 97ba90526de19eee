"""The executed examples of each rule: programs of which a test asserts that the rule reports them, or is silent.

`python -m tests.rules.examples` prints the table. The examples are those of a rule's page (`Example`, `Use instead`),
the programs `BAD` and `GOOD` of the rule's test, and the fixtures: a program with a comment `# error: DEVnnn` is a bad
one, and a program of a case under `fixtures/cases` is a bad one and, repaired, a good one.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from devlint.linter.rule_loader import all_rules
from devlint.rule import Rule

from .programs import EXPECTED

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REPORTED = re.compile(r"# error: (DEV\d{3})")
HERE = Path(__file__).parent
FIXTURES = HERE.parents[1] / "fixtures"


def bad_examples() -> Counter[str]:
    """The number of programs that a rule is asserted to report, by its code."""
    found = Counter(code for rule in all_rules() for code in [rule.code] * len(_blocks(rule, "Example")))
    for codes, programs in _programs("BAD").items():
        for program in programs:
            hits = filter(None, map(EXPECTED.search, program.splitlines()))
            found.update({code for hit in hits for code in hit[1].split()} or codes)
    for page in FIXTURES.rglob("*.md"):
        for program in BLOCK.findall(page.read_text()):
            found.update(set(REPORTED.findall(program)))
    found.update(_cases())
    return found


def good_examples() -> Counter[str]:
    """The number of programs like a bad one of which a rule is asserted to be silent, by its code."""
    found = Counter(code for rule in all_rules() for code in [rule.code] * len(_blocks(rule, "Use instead")))
    for codes, programs in _programs("GOOD").items():
        for code in codes:
            found[code] += len(programs)
    found.update(_cases())
    return found


def _blocks(rule: type[Rule], title: str) -> list[str]:
    _, *parts = re.split(r"^## (.+)$", rule.documentation(), flags=re.MULTILINE)
    return BLOCK.findall(dict(zip(parts[::2], parts[1::2], strict=True)).get(title, ""))


def _programs(name: str) -> dict[tuple[str, ...], list[str]]:
    """The programs of one name in the tests of rules, by the codes of the rules that a test is about."""
    found = {}
    for path in sorted(HERE.glob("test_dev*.py")):
        codes = tuple(f"DEV{number}" for number in re.findall(r"\d{3}", path.stem))
        module = importlib.import_module(f"{__package__}.{path.stem}")
        found[codes] = list(getattr(module, name, {}).values())
    return found


def _cases() -> Iterator[str]:
    """The codes of the bugs in the cases, one for each case that devlint does not miss."""
    for path in FIXTURES.glob("cases/*/*/case.json"):
        case = json.loads(path.read_text())
        if "missed" not in case:
            yield case["family"]


def main() -> None:
    """Print the numbers of the examples of each rule."""
    bad, good = bad_examples(), good_examples()
    rows = [f"| {rule.code} {rule.name} | {bad[rule.code]} | {good[rule.code]} |" for rule in all_rules()]
    sys.stdout.write("\n".join(["| rule | bad | good |", "|---|---:|---:|", *rows, ""]))


if __name__ == "__main__":
    main()
