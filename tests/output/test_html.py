from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from devlint import cli
from devlint.output.report_context import RunFacts

from .conftest import DISCARDED, MIXED, region

VOID = {"wbr", "meta", "input"}


class Page(HTMLParser):
    """Reads a page: its text, what is marked, and whether every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.marked: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        named = dict(attrs)
        self.links += [named["href"]] if named.get("href") else []
        self.ids += [named["id"]] if named.get("id") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open[-1:] == ["mark"]:
            self.marked.append(data)


def test_a_page_tells_each_finding_with_its_code_and_its_story(render):
    page = Page(render("html"))
    assert page.open == []
    assert page.marked == [
        'shift.to("cuda")',
        "weight + shift",
        'torch.ones(3, device="cuda")',
        "torch.zeros(3)",
        "(",
        "loss",
        ")",
        "batch = torch.zeros(3)",
    ]
    assert "Found 1 error, 1 warning, 1 info in 1 file (4 checked)." in page.text
    assert "help: create it there: torch.zeros(3, device=weight.device)" in page.text
    assert 'safe fix: Assign the result: shift = shift.to("cuda")' in page.text
    assert "<code>torch.zeros(3, device=weight.device)</code>" in render("html")
    assert {link.removeprefix("#") for link in page.links} == set(page.ids) - {"shown"}


def test_what_the_code_says_stays_text(render):
    odd = replace(MIXED, message="<script>alert(1)</script>", trace=(), region=region(1, 1, 1, 9, "<b>.py"))
    text = render("html", [odd], {"<b>.py": "<script>"})
    assert "<script>" not in text.partition("<footer>")[0]
    assert Page(text).marked == ["<script>"]


def test_nothing_found(render):
    page = Page(render("html", []))
    assert "No findings in 4 files." in page.text
    assert page.ids == []


def test_findings_stand_under_their_file_and_can_be_chosen_by_rule_and_severity(render):
    text = render("html", [replace(MIXED, region=region(1, 1, 1, 2, "src/data.py"), trace=()), DISCARDED, MIXED])
    sections = re.findall(r"<section>(.*?)</section>", text.replace("<wbr>", ""), re.DOTALL)
    assert [re.search(r"<h2>(\S+) <small>(.*?)</small>", one).groups() for one in sections] == [
        ("src/data.py", "1 finding"),
        ("src/train.py", "2 findings"),
    ]
    assert re.findall(r'data-severity="(\w+)" data-rule="(\w+)"', text) == [
        ("error", "DEV101"),
        ("warning", "DEV201"),
        ("error", "DEV101"),
    ]
    assert re.findall(r'data-kind="(\w+)" value="(\w+)" checked', text) == [
        ("severity", "error"),
        ("severity", "warning"),
        ("rule", "DEV101"),
        ("rule", "DEV201"),
    ]


def test_a_fix_is_a_difference_of_lines(render):
    text = render("html", [DISCARDED])
    (diff,) = re.findall(r'<pre class="diff".*?</pre>', text)
    lines = re.findall(r'<span class="(\w+)"><i class="number">(\d+)</i>(.*?)</span>', diff)
    assert [(kind, int(row), unescape(code)) for kind, row, code in lines] == [
        ("kept", 7, "          shift = torch.zeros(3)"),
        ("removed", 8, '-         shift.to("cuda")'),
        ("added", 8, '+         shift = shift.to("cuda")'),
        ("kept", 9, "          loss = weight + shift"),
    ]


def test_a_fix_of_lines_that_are_gone_is_no_difference(render):
    assert "diff" not in render("html", [DISCARDED], {"src/train.py": ""}).partition("<main>")[2]


def test_the_page_tells_of_its_run(render):
    facts = RunFacts(datetime(2026, 1, 2, 3, 4), "devlint check --select 'DEV1,DEV2' <src>", "pyproject.toml")
    page = Page(render("html", run=facts))
    assert "Date2026-01-02 03:04" in page.text
    assert "Commanddevlint check --select 'DEV1,DEV2' <src>" in page.text
    assert "Configurationpyproject.toml" in page.text
    assert "defaults, no file" in render("html", run=replace(facts, configuration=None))


def test_a_run_of_the_command_writes_itself_down(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.ones(3)\nx.cuda()\n")
    (tmp_path / "devlint.toml").write_text("")
    monkeypatch.setattr("sys.argv", ["devlint", "check", "a.py", "--output-format", "html:out.html"])
    assert cli.invoke(["check", "a.py", "--output-format", "html:out.html"]) == 1
    text = (tmp_path / "out.html").read_text()
    assert "Commanddevlint check a.py --output-format html:out.html\n" in Page(text).text
    assert "devlint.toml</code></dd>" in text


def _colors(css: str) -> list[dict[str, str]]:
    """The colours by name, first of the light scheme, then of the dark one."""
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in css.split("@media", 2)[:2])
    assert light.keys() == dark.keys()
    return [light, dark]


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


ON_PAGE = ("text", "quiet", "link", "error", "warning", "info")
PAIRS = [
    *((name, "page") for name in ON_PAGE),
    *((name, "code") for name in ("text", "quiet")),
    *(("text", f"{name}-mark") for name in ("error", "warning", "info")),
    *((name, ground) for name in ("text", "quiet") for ground in ("added", "removed")),
]


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_every_text_has_the_contrast_that_wcag_asks_for(text, ground):
    css = files("devlint.output").joinpath("findings.css").read_text()
    for scheme in _colors(css):
        assert _contrast(scheme[text], scheme[ground]) >= 4.5
    # Every colour is one of these: no text can have another one.
    css += files("devlint.output").joinpath("html.css").read_text()
    assert len(re.findall(r"#[0-9a-f]{3,8}\b", css)) == 2 * len(_colors(css)[0])
