"""What readers do with the reports in a browser: filter, follow links, open parts, use the keyboard, print."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .open_page import OpenPage

ENTER, SPACE, TAB = "\ue007", " ", "\ue004"
Opening = Callable[..., "OpenPage"]


@pytest.fixture
def check(open_page: Opening, reports: dict[str, Path]) -> OpenPage:
    """The report of `devlint check`."""
    return open_page(reports["check"])


@pytest.fixture
def run(open_page: Opening, reports: dict[str, Path]) -> OpenPage:
    """The report of `devlint run`."""
    return open_page(reports["run"])


def shown(page: OpenPage) -> Counter[str]:
    """The rules of the findings that are shown, each with their number."""
    return Counter(one.get_attribute("data-rule") for one in page.find("article") if one.is_displayed())


def test_unticked_rules_and_severities_are_hidden(check: OpenPage) -> None:
    everything = shown(check)
    assert everything["DEV101"] and everything["DEV601"] and everything["DEV403"]
    check.find("input[value=DEV601]")[0].click()
    assert shown(check) == everything - Counter({"DEV601": everything["DEV601"]})
    check.find("input[value=error]")[0].click()
    left = {one.get_attribute("data-severity") for one in check.find("article") if one.is_displayed()}
    assert "error" not in left and left
    assert check.seen("#shown") == [f"{shown(check).total()} shown"]


def test_all_rules_are_ticked_or_unticked_at_once(check: OpenPage) -> None:
    everything = shown(check)
    check.find("button[value=none]")[0].click()
    assert check.seen("article, section h2") == [] and check.seen("#shown") == ["0 shown"]
    check.find("input[value=DEV103]")[0].click()
    assert set(shown(check)) == {"DEV103"}
    check.find("button[value=all]")[0].click()
    assert shown(check) == everything


def test_a_link_to_a_hidden_finding_shows_it(check: OpenPage) -> None:
    check.find("button[value=none]")[0].click()
    link = next(one for one in check.find("td a") if one.text == "DEV106")
    link.click()
    assert set(shown(check)) == {"DEV106"}
    place = check.run("return document.querySelector(':target').getBoundingClientRect().y")
    assert 0 <= place < 900


def test_the_keyboard_reaches_and_works_the_filters(check: OpenPage) -> None:
    reached = []
    while not reached or reached[-1]["tag"] != "PRE":
        check.press(TAB)
        reached.append(check.measure("focused"))
        if reached[-1]["name"] == "DEV601":
            check.press(SPACE)
    names = [one["name"] for one in reached]
    assert {"error", "warning", "info", "DEV101", "DEV601", "all", "none"} <= set(names)
    assert all(one["width"] >= 2 and one["contrast"] >= 3 for one in reached), reached
    assert "DEV601" not in shown(check) and shown(check)


def test_lines_and_differences_are_seen_as_what_they_are(check: OpenPage) -> None:
    (diff,) = (one for one in check.find(".diff") if "batch = batch.to(device)" in one.text)
    colours = {
        kind: check.run(f"return getComputedStyle(document.querySelector('.diff .{kind}')).backgroundColor")
        for kind in ("kept", "removed", "added")
    }
    assert len(set(colours.values())) == 3
    assert "-     batch.to(device)" in diff.text and "+     batch = batch.to(device)" in diff.text
    assert check.seen("mark")


@pytest.mark.parametrize("name", ["check", "run"])
def test_no_word_of_the_command_is_broken(open_page: Opening, reports: dict[str, Path], name: str) -> None:
    page = open_page(reports[name], 400)
    command = next(one for one in page.find("dd code") if one.text.startswith("devlint"))
    heights = {one.size["height"] for one in command.find_elements("css selector", ".word")}
    assert len(heights) == 1 and command.size["height"] > max(heights), "one line each, and several lines in all"


@pytest.mark.parametrize("width", [400, 800, 1280])
@pytest.mark.parametrize("name", ["check", "run"])
def test_no_word_of_a_heading_of_a_table_is_broken(
    open_page: Opening, reports: dict[str, Path], name: str, width: int
) -> None:
    assert open_page(reports[name], width).measure("broken") == []


def test_folded_parts_open_by_the_keyboard(run: OpenPage) -> None:
    assert "Worth doing (1)" in run.seen("h2")
    folded = run.find("details pre")
    assert folded and not any(one.is_displayed() for one in folded)
    while run.measure("focused")["tag"] != "SUMMARY":
        run.press(TAB)
    run.press(ENTER)
    assert all(one.is_displayed() for one in run.find("details[open] pre"))


def test_the_text_of_the_timeline_stays_large_enough(open_page: Opening, reports: dict[str, Path]) -> None:
    for width in (400, 800, 1280):
        page = open_page(reports["run"], width)
        sizes = page.run(
            "return [...document.querySelectorAll('svg text')].map("
            "(one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
        )
        assert sizes and min(sizes) >= 11, width


@pytest.mark.parametrize("name", ["check", "run"])
def test_a_printed_report_is_dark_on_white_and_complete(
    open_page: Opening, reports: dict[str, Path], name: str
) -> None:
    page = open_page(reports[name], scheme="dark")
    page.set_media("print", 700, "dark")
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.measure("faint")["found"] == {}
    assert page.seen("form") == []
    assert page.run("return [...document.querySelectorAll('pre')].every((one) => one.checkVisibility())")
    assert page.measure("overflow") == {"pixels": 0, "wide": []}
    assert page.run("return [...document.querySelectorAll('pre')].every((one) => one.scrollWidth <= one.clientWidth)")


def test_both_reports_mark_and_date_alike(open_page: Opening, reports: dict[str, Path]) -> None:
    seen = []
    for name in ("check", "run"):
        page = open_page(reports[name])
        color = "return getComputedStyle(document.querySelector('{}')).backgroundColor"
        seen.append([page.run(color.format(place)) for place in ("article.error > pre mark", "article.error li mark")])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", page.seen("dd")[0])
    of_check, of_run = seen
    assert of_check == of_run and of_check[0] != of_check[1]


def test_a_run_shows_what_a_fix_changes(run: OpenPage) -> None:
    changes = [one.get_attribute("textContent") for one in run.find("article .diff .added")]
    assert any("device" in one for one in changes), changes
