"""The made tables of docs/certainty.md and docs/configuration.md."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from devlint.config.config_options import CONFIG_KEYS

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from first_sight import VERDICTS, decided  # noqa: E402

_START, _END = "<!-- {} -->\n", "<!-- end -->"


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The lines of a record in `benchmarks`."""
    text = (ROOT / "benchmarks" / name).read_text(encoding="utf-8")
    yield from map(json.loads, text.splitlines())


def table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    all_lines = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in all_lines)


def _shares(verdicts: Sequence[str]) -> list[str]:
    """The number of findings that were read, then how many of them had each verdict, with percentages."""
    counts = Counter(verdicts)
    return [str(len(verdicts)), *(f"{counts[one]} ({100 * counts[one] / len(verdicts):.0f} %)" for one in VERDICTS)]


def samples() -> str:
    """The table of the samples of repositories: their size, and how many of the findings in them are true."""
    parts: list[tuple[int, int, list[str]]] = []
    for row in rows("first_sight.jsonl"):
        if "repositories" in row:
            found = row["repositories"]
            parts.append((len(found), sum(one["lines"] for one in found), []))
        elif verdict := decided(row):
            parts[-1][2].append(verdict)
    lines = [[number, count, f"{size:,}", *_shares(read)] for number, (count, size, read) in enumerate(parts, 1)]
    counts, sizes, read = zip(*parts, strict=True)
    every = [one for each in read for one in each]
    lines.append(["all", sum(counts), f"{sum(sizes):,}", *_shares(every)])
    return table(["sample", "repositories", "lines", "findings read", *VERDICTS], lines)


def _grouped(name: str, key: str, title: str, order: Sequence[str] = ()) -> str:
    """The table of the findings in a record by one of their attributes."""
    groups: Mapping[str, list[str]] = defaultdict(list)
    for row in rows(name):
        if "repositories" not in row and (verdict := decided(row)):
            groups[row[key]].append(verdict)
    return table([title, "findings read", *VERDICTS], [[one, *_shares(groups[one])] for one in order or sorted(groups)])


def settings() -> str:
    """The table of the settings."""
    return table(
        ["setting", "value", "meaning"],
        [[f"`{key.name}`", _value(key.kind.schema), key.help] for key in CONFIG_KEYS],
    )


def _value(schema: Mapping[str, Any]) -> str:
    """What a JSON schema allows, in words."""
    if "enum" in schema:
        return ", ".join(f'`"{one}"`' for one in schema["enum"])
    if schema["type"] == "array":
        return "a list of strings"
    if schema["type"] == "object":
        return f"a table: a string for each key, each with {_value(schema['additionalProperties'])}"
    return {"string": "a string", "boolean": "`true` or `false`"}[schema["type"]]


TABLES: Final = {
    "samples": samples,
    "confidence": lambda: _grouped("first_sight.jsonl", "confidence", "confidence", ["certain", "likely"]),
    "codes": lambda: _grouped("first_sight.jsonl", "code", "rule"),
    "cost": lambda: _grouped("first_sight_cost.jsonl", "code", "rule"),
    "portability": lambda: _grouped("first_sight_portability.jsonl", "code", "rule"),
    "settings": settings,
}
"""The functions that make the tables, by the names of the marks before them."""


def refreshed(page: str) -> str:
    """The page with its tables made anew."""
    for name, make in TABLES.items():
        start = _START.format(name)
        if start in page:
            before, _, rest = page.partition(start)
            page = f"{before}{start}{make()}\n{_END}{rest.partition(_END)[2]}"
    return page
