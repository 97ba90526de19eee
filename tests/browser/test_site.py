"""What readers do on the documentation site in a browser, opened from the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .open_page import OpenPage


def test_the_site_follows_the_colours_of_the_system(open_page: Callable[..., OpenPage], site: Path) -> None:
    page = open_page(site / "index.html", scheme="light")
    schemes = []
    for scheme in ("dark", "light", "dark"):
        page = open_page(site / "faq.html", scheme=scheme)
        schemes.append(page.run("return document.body.dataset.mdColorScheme"))
    assert schemes == ["slate", "default", "slate"]


def test_tables_without_titles_have_no_empty_head(open_page: Callable[..., OpenPage], site: Path) -> None:
    page = open_page(site / "index.html")
    assert page.find("table") and not any(one.is_displayed() for one in page.find("thead"))
    page = open_page(site / "configuration.html")
    assert page.seen("th")[:3] == ["setting", "value", "meaning"]


@pytest.mark.parametrize("width", [400, 800])
def test_no_button_lies_over_the_text_of_a_narrow_page(
    open_page: Callable[..., OpenPage], site: Path, width: int
) -> None:
    page = open_page(site / "rules" / "DEV202.html", width=width)
    page.run("window.scrollTo(0, 300)")
    boxes = "return [...document.querySelectorAll('{}')].map((one) => one.getBoundingClientRect().toJSON())"
    ((button,), (bar,), (title,)) = (
        page.run(boxes.format(one)) for one in (".md-sidebar-button", ".md-header", ".md-header__title")
    )
    assert bar["top"] <= button["top"] and button["bottom"] <= bar["bottom"]
    assert title["right"] <= button["left"]
    assert page.seen(".md-nav--secondary a") == []
    page.run("document.querySelector('.md-sidebar-button').click()")
    assert "Example" in page.seen(".md-nav--secondary a")


@pytest.mark.parametrize("width", [400, 1280])
def test_no_word_of_code_in_a_table_is_broken(open_page: Callable[..., OpenPage], site: Path, width: int) -> None:
    page = open_page(site / "features.html", width=width)
    assert len(page.find("td code")) > 50
    assert page.run("return measure.broken('td code')") == []
    assert page.measure("overflow")["pixels"] <= 0
