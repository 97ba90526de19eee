"""The documentation site can be built, all its links lead somewhere, and it needs nothing but itself."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from devlint.linter.rule_listing import all_rule_metadata

from .examples import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import build_site


class Page(HTMLParser):
    """A page of the site: its links, its anchors, the files that it loads, and its text without code."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.prose = ""
        self._skipped = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        self._skipped += tag in ("code", "script", "style")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        self.loaded += [values["src"]] if values.get("src") else []
        self.loaded += [values["href"]] if tag == "link" and values.get("href") else []

    def handle_endtag(self, tag):
        self._skipped -= tag in ("code", "script", "style")

    def handle_data(self, data):
        self.prose += "" if self._skipped else data


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[Path, Page]:
    """The pages of the site by their paths."""
    pytest.importorskip("zensical", reason="the extra `docs` is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    build_site.build(folder / "site")
    return {path: Page(path) for path in (folder / "site").rglob("*.html")}


def test_every_page_has_its_place() -> None:
    placed = [name for section in build_site.SECTIONS.values() for name in section.values()]
    rules = {f"rules/{rule.code}.md" for rule in all_rule_metadata()}
    assert sorted(placed) == sorted(set(build_site.pages()) - rules - {"rules/index.md"})


def test_codes_of_rules_are_links_to_their_pages() -> None:
    text = "# DEV101\n\n{} `DEV101` [DEV101](a.md)\n\n```\nDEV101\n```\nDEV9\n"
    linked = build_site._linked(text.format("DEV101"), {"DEV101"}, "r/")
    assert linked == text.format("[DEV101](r/DEV101.md)")


def test_lists_are_as_the_generator_wants_them() -> None:
    text = "a:\n- b\n  c\n\n  ```x\n  d\n  ```\n- e\n\nf\n1. g\n   h\n"
    spaced = "a:\n\n- b\n    c\n\n    ```x\n    d\n    ```\n\n- e\n\nf\n\n1. g\n    h\n"
    assert build_site._spaced(text) == spaced


def test_every_link_leads_somewhere(site: dict[Path, Page]) -> None:
    lost: dict[str, list[str]] = defaultdict(list)
    for path, page in site.items():
        for link in (link for link in page.links if not re.match(r"https?://", link)):
            target, _, anchor = link.partition("#")
            other = path if not target else (path.parent / unquote(target)).resolve()
            if other not in site or (anchor and unquote(anchor) not in site[other].anchors):
                lost[path.name].append(link)
    assert lost == {}


def test_nothing_is_loaded_from_elsewhere(site: dict[Path, Page]) -> None:
    for path, page in site.items():
        assert all((path.parent / name).resolve().is_file() for name in page.loaded), page.loaded


def test_each_rule_has_a_page_with_its_bug_and_output(site: dict[Path, Page]) -> None:
    pages = {f"{path.parent.name}/{path.stem}": page for path, page in site.items()}
    for rule in all_rule_metadata():
        assert f"{rule.name} ({rule.code})" in pages[f"rules/{rule.code}"].prose
    assert "https://github.com/ray-project/ray/issues/11294" in pages["rules/DEV113"].links


def test_no_markdown_is_left(site: dict[Path, Page]) -> None:
    for path, page in site.items():
        assert re.findall(r"```|\]\(|\*\*|^ *- \w", page.prose, re.MULTILINE) == [], path.name
