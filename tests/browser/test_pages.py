"""Every page can be read in a browser: at three widths, in light and dark colours, and by the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .open_page import OpenPage

WIDTHS = (400, 800, 1280)
SCHEMES = ("light", "dark")
REPORTS = ("check", "run", "rule", "rules")
OF_THE_SITE = ("index.html", "configuration.html", "rules/DEV101.html")


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> dict[str, Path]:
    """The pages by name."""
    name = request.getfixturevalue("page_name")
    if name in REPORTS:
        return request.getfixturevalue("reports")
    site = request.getfixturevalue("site")
    return {page: site / page for page in OF_THE_SITE}


@pytest.mark.parametrize("page_name", [*REPORTS, *OF_THE_SITE])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_can_be_read(
    open_page: Callable[..., OpenPage], pages: dict[str, Path], page_name: str, scheme: str
) -> None:
    page = open_page(pages[page_name], scheme=scheme)
    page.run("document.querySelectorAll('details').forEach((one) => one.open = true)")
    for width in WIDTHS:
        page.set_media("", width, scheme)
        assert page.measure("overflow") == {"pixels": 0, "wide": []}, width
        faint = page.measure("faint")
        assert faint["count"] > 10 and faint["found"] == {}, width
        if page_name in REPORTS:
            assert page.measure("unreachable") == [], width
    assert page.problems() == []
