"""One real bug of a public project for each rule of which one is known.

They come from what the repository holds already: bugs with an issue or a pull request (fixtures/cases and
benchmarks/dtype_bugs), issues, pull requests and commits of which no program is kept (told_bugs.json), bugs shown by a
run (benchmarks/gallery), and findings that readers found true (benchmarks/first_sight*.jsonl), in this order.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from devlint.documentation import rule_page

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "devlint" / "documentation" / rule_page.STORIES
TOLD: Final = Path(__file__).with_name("told_bugs.json")
CHOSEN: Final = {
    "DEV101": "split-resnet-labels",
    "DEV103": "adalora-ranknum",
    "DEV105": "gradient-penalty-alpha",
    "DEV106": "metric-logger-asarray",
    "DEV113": "sac-log-alpha-copy",
    "DEV302": "beam-scores-half",
    "DEV303": "darts-float64-buffer-mps",
    "DEV305": "beam-search-parent-index",
}
"""The case that tells most of a rule, where there are several; else it is the first."""
UNTOLD: Final = frozenset({"DEV900", "DEV901", "DEV902", "DEV903"})
"""Rules about devlint itself."""

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "gallery")]

from first_sight import decided  # noqa: E402
from gallery_bug import Bug, entry_at, entry_paths  # noqa: E402

Story = dict[str, str | None]


def cases() -> Iterator[tuple[str, str, Story]]:
    """The rule, the name and the story of each bug that has an issue or a pull request."""
    folders = (ROOT / "fixtures" / "cases", ROOT / "benchmarks" / "dtype_bugs")
    for path in (path for folder in folders for path in sorted(folder.rglob("case.json"))):
        case = json.loads(path.read_text(encoding="utf-8"))
        source = case["source"]
        story = {"project": source["repo"], "where": source["ref"], "what": case["note"], "url": source["url"]}
        yield case["family"], path.parent.name, story


def told_bugs() -> Iterator[tuple[str, str, Story]]:
    """The same of each bug that an issue, a pull request or a commit tells, without a program for it here."""
    for told in json.loads(TOLD.read_text(encoding="utf-8")):
        yield told.pop("code"), "", told


def shown_bugs() -> Iterator[tuple[str, str, Story]]:
    """The same of each bug of the gallery."""
    for path in entry_paths():
        bug: Bug = entry_at(path)
        repository = "/" in bug.project
        url = f"https://github.com/{bug.project}/blob/{bug.commit}/{bug.file}#L{bug.row}" if repository else None
        where = f"{Path(bug.file).name}:{bug.row}" if repository else f"{bug.commit}, {bug.file}:{bug.row}"
        yield bug.code, path.stem, {"project": bug.project, "where": where, "what": bug.what, "url": url}


def true_findings() -> Iterator[tuple[str, str, Story]]:
    """The same of each finding that readers found true."""
    for path in sorted((ROOT / "benchmarks").glob("first_sight*.jsonl")):
        commits: dict[str, str] = {}
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "repositories" in row:
                commits = {one["name"]: one["commit"] for one in row["repositories"]}
            elif decided(row) == "true":
                yield row["code"], "", _finding_story(row, commits[row["repository"]])


def _finding_story(row: Mapping[str, Any], commit: str) -> Story:
    url = f"https://github.com/{row['repository']}/blob/{commit}/{row['file']}#L{row['row']}"
    told = row["message"][0].upper() + row["message"][1:] if row["message"][0].isalpha() else row["message"]
    where = f"{Path(row['file']).name}:{row['row']}"
    return {"project": row["repository"], "where": where, "what": f"{told}.", "url": url}


def stories() -> dict[str, Story]:
    """The story of each rule that has one, by the rule's code."""
    found: dict[str, Story] = {}
    for code, name, story in (*cases(), *told_bugs(), *shown_bugs(), *true_findings()):
        if code not in UNTOLD and (code not in found or CHOSEN.get(code) == name):
            found[code] = story
    return dict(sorted(found.items()))


def text() -> str:
    """The content of the file."""
    return json.dumps(stories(), indent=1, ensure_ascii=False) + "\n"


def write() -> None:
    """Write the file."""
    FILE.write_text(text(), encoding="utf-8")
