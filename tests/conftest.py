"""Settings for all tests."""

from __future__ import annotations

import gc
import signal

import pytest

# A shell starts background jobs with SIGINT ignored, and their child processes inherit that. Tests that interrupt a
# process need the default; a handler set here becomes the default in the processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what lives to the end: the tests, torch, the parsed fixtures.

    It went through all of that again and again, for about a sixth of the time of the tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def _empty_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("empty"))


@pytest.fixture
def outside_of_a_project(monkeypatch: pytest.MonkeyPatch, _empty_folder: str) -> None:
    """Work in an empty folder: devlint takes a text without a path for a file of the project in the working folder.

    It would search all of this repository for callers, to no avail.
    """
    monkeypatch.chdir(_empty_folder)
