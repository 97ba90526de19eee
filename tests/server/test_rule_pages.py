from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from devlint.documentation import page_folder
from devlint.server import rule_pages


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Iterator[Path]:
    """The cache folder of a user, of whom the server knows nothing yet."""
    folder = tmp_path / "a cache"
    monkeypatch.setattr(page_folder, "user_cache_folder", lambda: folder)
    rule_pages._folder.cache_clear()
    yield folder
    rule_pages._folder.cache_clear()


def page_at(address: str | None) -> Path:
    assert address is not None
    return Path(unquote(urlsplit(address).path))


def test_a_rule_has_an_address(cache):
    assert "(DEV201)</h1>" in page_at(rule_pages.rule_page_address("DEV201")).read_text(encoding="utf-8")
    assert rule_pages.rule_page_address("DEV999") is None
    assert rule_pages.rule_page_address("discarded-transfer") is None


def test_a_page_that_was_deleted_is_written_when_it_is_wanted(cache):
    page = page_at(rule_pages.rule_page_address("DEV201"))
    shutil.rmtree(cache)
    assert page_at(rule_pages.rule_page_address("DEV201")) == page
    assert not page.exists()
    assert page_at(rule_pages.write_rule_page("DEV201")) == page
    assert page.exists()


def test_there_is_no_address_where_nothing_can_be_written(cache):
    cache.write_text("")
    assert rule_pages.rule_page_address("DEV201") is None
    assert rule_pages.write_rule_page("DEV201") is None
