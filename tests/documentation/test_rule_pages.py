"""The pages of the rules are sound HTML and say what the documentation says; no link of devlint leads nowhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from devlint.documentation.markdown_html import to_html
from devlint.documentation.page_folder import INDEX, write_pages
from devlint.linter.rule_listing import all_rule_metadata
from devlint.rule_metadata import RuleMetadata

from .examples import ROOT

RULES = all_rule_metadata()
VOID = frozenset({"meta", "br"})
CODE = '<pre tabindex="0"><code class="text">'
PAIRS = (("text", "ground"), ("text", "panel"), ("link", "ground"), ("link", "panel"), ("quiet", "ground"))
"""The colours of texts with those behind them, by their names in the style sheet."""


class Page(HTMLParser):
    """A page of HTML: its text, its code blocks and its links. Raises AssertionError where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.code = [""]
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "pre":
            self.code.append("")
        self.links += [value for name, value in attrs if name == "href" and value]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "pre" in self.open:
            self.code[-1] += data


def words(text: str) -> str:
    """The words of a text in Markdown, without code blocks and marks."""
    return " ".join(re.sub(r"[`*]", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("sys.platform", "linux")
        return write_pages(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_says_what_the_documentation_says(rule: RuleMetadata, folder: Path) -> None:
    page = Page((folder / f"{rule.code}.html").read_text(encoding="utf-8"))
    said = " ".join(page.text.replace("*", "").replace("`", "").split())
    for part in re.split(r"^## .+\n|^```.*?^```$", rule.doc, flags=re.MULTILINE | re.DOTALL):
        assert words(part) in said
    for block in re.findall(r"^```python\n(.*?)^```$", rule.doc, re.MULTILINE | re.DOTALL):
        assert block in page.code


def test_links_lead_to_pages(folder: Path) -> None:
    for path in folder.iterdir():
        links = Page(path.read_text(encoding="utf-8")).links
        assert [link for link in links if "://" not in link and not (folder / link).is_file()] == []
    assert len(Page((folder / INDEX).read_text(encoding="utf-8")).links) == len(RULES)


def test_pages_are_written_once(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("devlint.documentation.page_folder.user_cache_folder", lambda: folder.parents[2])
        assert write_pages(RULES) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# A <b>\n\none\ntwo", "<h1>A &lt;b&gt;</h1>\n<p>one two</p>\n"),
        ("`a < *b*` and *c*", "<p><code>a &lt; *b*</code> and <em>c</em></p>\n"),
        ("`` a ` b `` **c**", "<p><code>a ` b</code> <strong>c</strong></p>\n"),
        ("a * b * c", "<p>a * b * c</p>\n"),
        ("[x](https://a.b/c?d=1&e=2)", '<p><a href="https://a.b/c?d=1&amp;e=2">x</a></p>\n'),
        ("DEV101 `DEV101` DEV999", '<p><a href="DEV101.html">DEV101</a> <code>DEV101</code> DEV999</p>\n'),
        ("- a\n  b\n- c\n\nd", "<ul>\n<li>a b</li>\n<li>c</li>\n</ul>\n<p>d</p>\n"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"),
        ("a\n```\n# <\n\n- y\n```\nb", f"<p>a</p>\n{CODE}# &lt;\n\n- y\n</code></pre>\n<p>b</p>\n"),
    ],
)
def test_markdown(markdown: str, html: str) -> None:
    assert to_html(markdown, {"DEV101"}) == html


def luminance(color: str) -> float:
    """The relative luminance of a colour, as the guidelines for accessible web pages (WCAG 2) define it."""
    digits = color if len(color) == 6 else "".join(2 * digit for digit in color)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_texts_can_be_read_in_light_and_dark() -> None:
    style = (ROOT / "devlint" / "documentation" / "page.css").read_text(encoding="utf-8")
    schemes = [dict(re.findall(r"--(\w+): #([0-9a-f]+);", block)) for block in re.findall(r":root \{(.+?)\}", style)]
    assert len(schemes) == 2
    for colors in schemes:
        for text, ground in PAIRS:
            darker, lighter = sorted((luminance(colors[text]), luminance(colors[ground])))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (text, ground)


def test_no_address_that_nobody_owns_is_given() -> None:
    suffixes = {".py", ".md", ".json", ".ts", ".toml", ".yaml", ".lua", ".el"}
    folders = [ROOT / name for name in ("devlint", "rules", "docs", "editors")]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes and path.is_file()]
    ours = [path for path in (*paths, ROOT / "README.md") if "node_modules" not in path.parts]
    told = {path: re.findall(r"https?://[\w.-]*devlint[\w./-]*", path.read_text(encoding="utf-8")) for path in ours}
    assert {path: addresses for path, addresses in told.items() if addresses} == {}
