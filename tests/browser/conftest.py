"""The browser, and the pages that are opened in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

    from .open_page import OpenPage

ROOT = Path(__file__).parents[2]
WITHOUT_DEVICE = {"CUDA_VISIBLE_DEVICES": ""}
"""Reports are made on emulated devices, wherever the tests run."""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The browser, which is one for all tests."""
    pytest.importorskip("selenium", reason="the extra `dev` is not installed: pip install -e '.[dev]'")
    from .open_page import start_browser

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with its driver is installed: apt-get install chromium chromium-driver")
    started = start_browser(program, driver, tmp_path_factory.mktemp("profile"))
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture(scope="session")
def open_page(browser: Chrome) -> Callable[..., OpenPage]:
    """Opens a page in the browser."""
    from .open_page import OpenPage

    return partial(OpenPage, browser)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs that are reported on: their names and lines are long."""
    folder = tmp_path_factory.mktemp("programs")
    shutil.copytree(Path(__file__).with_name("programs"), folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def reports(programs: Path) -> dict[str, Path]:
    """The HTML pages that devlint writes, by their names: of a check, of a run, and of rules."""
    environment = {**os.environ, **WITHOUT_DEVICE, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(programs / "cache")}
    commands = (
        ("check", "--no-cache", "--select=ALL", "--output-format=html:check.html", "training"),
        ("run", "--device=emulated", "--output-format=html:run.html", "training/short_training.py"),
    )
    for words in commands:
        subprocess.run([sys.executable, "-m", "devlint", *words], cwd=programs, env=environment, capture_output=True)
    writing = (
        "from devlint.documentation.page_folder import write_pages\n"
        "from devlint.linter.rule_listing import all_rule_metadata\n"
        "print(write_pages(all_rule_metadata()))"
    )
    command = [sys.executable, "-c", writing]
    done = subprocess.run(command, cwd=programs, env=environment, capture_output=True, text=True, check=True)
    rules = Path(done.stdout.strip())
    return {
        "check": programs / "check.html",
        "run": programs / "run.html",
        "rule": rules / "DEV101.html",
        "rules": rules / "index.html",
    }


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site."""
    pytest.importorskip("zensical", reason="the extra `docs` is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site") / "site"
    subprocess.run([sys.executable, ROOT / "docs" / "build_site.py", folder], check=True, capture_output=True)
    return folder
