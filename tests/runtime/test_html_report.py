"""Tests of the report as an HTML page: what it shows, that it is well formed, and that its colours can be read."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from devlint.diagnostic import Applicability, Confidence, Diagnostic, Edit, Fix, Position, Region, Severity
from devlint.runtime import Report, emulate, record
from devlint.runtime.html_report import render_page
from devlint.runtime.recorder import TimelineEvent
from devlint.runtime.timeline_drawing import timeline_drawing

PROGRAM = """\
weight = torch.zeros(3)
x = torch.ones(3).to("cuda")
try:
    print(x * weight)
except RuntimeError:
    pass
"""
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Reads a page: its text, what is marked, its line numbers, and whether every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.marked: list[str] = []
        self.numbers: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1][0] == "mark":
            self.marked.append(data)
        if self.open[-1:] == [("span", "number")]:
            self.numbers.append(data)


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Report]:
    """Run a program with a bug on the emulated device, and return the report."""
    monkeypatch.chdir(tmp_path)
    linecache.clearcache()  # other tests have programs of this name
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")

    def played() -> Report:
        with emulate(), record() as report:
            exec(compile(PROGRAM, str(path), "exec"), {"torch": torch})
        return report

    return played


def test_the_page_shows_code_with_line_numbers_and_marks(play: Callable[[], Report]) -> None:
    page = Page(render_page(play()))
    assert page.open == []
    assert "x * weight" in page.marked and "torch.zeros(3)" in page.marked
    assert page.numbers[:5] == ["2", "3", "4", "5", "6"]
    assert page.text.index("Errors (1)") < page.text.index("Worth doing (1)") < page.text.index("Timeline")
    assert "created on the host by torch.zeros(), which names no device 1:10" in page.text


def test_help_and_fix_of_a_confirmed_finding_are_shown(play: Callable[[], Report], tmp_path: Path) -> None:
    region = Region(str(tmp_path / "program.py"), Position(4, 11), Position(4, 21))
    report = play()
    report.findings = [
        Diagnostic(
            *("DEV101", "mixed-device-op", Severity.ERROR, Confidence.CERTAIN, "they cannot be <combined>", region),
            help="move it with `weight.to(x.device)`",
            fix=Fix(
                "Move it",
                Applicability.UNSAFE,
                (Edit("weight.to(x.device)", Position(4, 15), Position(4, 21)),),
            ),
        )
    ]
    report.ran = frozenset((str(tmp_path / "program.py"), row) for row in range(1, 7))
    text = render_page(report)
    assert "they cannot be &lt;combined&gt;" in text
    assert "<strong>help:</strong> move it with <code>weight.to(x.device)</code>" in text
    assert "<strong>unsafe fix:</strong> Move it" in text
    assert '<span class="removed"><i class="number">4</i>-     print(x * weight)</span>' in text
    assert '<span class="added"><i class="number">4</i>+     print(x * weight.to(x.device))</span>' in text
    assert Page(text).text.count("confirmed") >= 2


def test_the_header_tells_what_was_run(play: Callable[[], Report]) -> None:
    report = play()
    report.about = (("Command", "devlint run a&b.py"),)
    words = " ".join(f'<span class="word">{word}</span>' for word in ("devlint", "run", "a&amp;b.py"))
    assert f"<dt>Command</dt><dd><code>{words}</code></dd>" in render_page(report)


def test_the_census_is_a_table() -> None:
    with emulate(), record() as report:
        model = nn.Linear(2, 2).to("cuda")
        model.mask = torch.ones(2)
        report.census(model)
    page = Page(render_page(report))
    assert "Left behind (1)" in page.text and "model.mask" in page.text


def test_an_emulated_run_shows_sizes_and_no_times(play: Callable[[], Report]) -> None:
    text = render_page(play())
    titles = re.findall("<title>(.*?)</title>", text.partition("<svg")[2])
    assert titles[0] == "cpu → cuda:0, 12 B, program.py:2, after 2 operators"
    assert ">operator 2<" in text
    assert not re.search(r"\d (ms|µs|s)\b", text.partition("</style>")[2])


def test_a_timed_run_begins_with_its_first_event() -> None:
    events = [TimelineEvent(5.0, 3, "wait", "item", 0, None), TimelineEvent(5.25, 9, "wait", "item", 0, None)]
    drawing = "".join(timeline_drawing(events, timed=True))
    assert "item, after 250 ms" in drawing and ">0 s<" in drawing and ">250 ms<" in drawing
    assert 'x="130.0"' in drawing


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def palettes() -> list[dict[str, str]]:
    """The colours that all reports share, with those of this one: of the light scheme, and of the dark one."""
    sheets = [
        files(room).joinpath(name)
        for room, name in (("devlint.output", "findings.css"), ("devlint.runtime", "run.css"))
    ]
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for sheet in sheets:
        first, second = re.findall(r":root \{(.*?)\}", sheet.read_text(encoding="utf-8"), re.DOTALL)
        light |= dict(re.findall(r"--([\w-]+): (#\w{6})", first))
        dark |= dict(re.findall(r"--([\w-]+): (#\w{6})", second))
    assert light.keys() == dark.keys()
    return [light, dark]


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_the_colours_have_the_contrast_that_wcag_asks_for(palette: dict[str, Any]) -> None:
    assert contrast(palette["good"], palette["page"]) >= 4.5
    for drawn in ("up", "down", "wait", "error"):
        assert contrast(palette[drawn], palette["page"]) >= 3, drawn
