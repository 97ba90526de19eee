from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from .conftest import MIXED, region

VOID = {"meta"}


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
    assert {link.removeprefix("#") for link in page.links} == set(page.ids)


def test_what_the_code_says_stays_text(render):
    odd = replace(MIXED, message="<script>alert(1)</script>", trace=(), region=region(1, 1, 1, 9, "<b>.py"))
    text = render("html", [odd], {"<b>.py": "<script>"})
    assert "<script>" not in text
    assert Page(text).marked == ["<script>"]


def test_nothing_found(render):
    page = Page(render("html", []))
    assert "No findings in 4 files." in page.text
    assert page.ids == []
