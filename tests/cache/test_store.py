from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from devlint.cache.store import Store, is_cache, prune

KEY = "ab" + "0" * 62
OTHER = "cd" + "1" * 62


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def entry(store: Store) -> Path:
    (found,) = (path for path in store.folder.rglob("*") if path.is_file() and path.parent.name == KEY[:2])
    return found


def test_what_is_written_is_read(store):
    assert store.read(KEY) is None
    store.write(KEY, {"a": [1, None, "ä\ud800"]})
    assert Store(store.folder).read(KEY) == {"a": [1, None, "ä\ud800"]}
    assert store.read(OTHER) is None
    assert store.problem is None


def test_the_last_writer_wins(store):
    for value in range(3):
        Store(store.folder).write(KEY, value)
    assert store.read(KEY) == 2


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:-1] + b"?", bytes.swapcase]
)
def test_a_damaged_entry_is_none(store, damage):
    store.write(KEY, [1, 2, 3])
    entry(store).write_bytes(damage(entry(store).read_bytes()))
    assert store.read(KEY) is None
    store.write(KEY, [4])
    assert store.read(KEY) == [4]


def test_an_entry_under_another_key_is_none(store):
    store.write(KEY, [1])
    store.write(OTHER, [2])
    path = next(path for path in store.folder.rglob("*") if path.parent.name == OTHER[:2])
    path.write_bytes(entry(store).read_bytes())
    assert store.read(OTHER) is None


def test_the_folder_is_marked_and_no_part_of_the_repository(store):
    store.write(KEY, 1)
    assert is_cache(store.folder)
    assert (store.folder / ".gitignore").read_text() == "*\n"


def test_another_folder_is_left_alone(tmp_path):
    (tmp_path / "important").write_text("")
    store = Store(tmp_path)
    store.write(KEY, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["important"]
    assert "not empty" in (store.problem or "")


def test_a_file_in_place_of_the_folder_is_no_failure(tmp_path):
    (tmp_path / "cache").write_text("")
    store = Store(tmp_path / "cache")
    assert store.read(KEY) is None
    store.write(KEY, 1)
    assert store.problem is not None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_that_cannot_be_written_is_read(store):
    store.write(KEY, 1)
    store.folder.chmod(0o555)
    entry(store).parent.chmod(0o555)
    try:
        again = Store(store.folder)
        again.write(KEY, 2)
        assert (again.read(KEY), again.problem is None) == (1, False)
    finally:
        store.folder.chmod(0o755)
        entry(store).parent.chmod(0o755)


def test_entries_that_were_not_used_for_longest_go_first(store):
    for number in range(8):
        store.write(f"{number}" * 64, "x" * 10)
        path = next(path for path in store.folder.rglob("*") if path.name == f"{number}" * 62)
        os.utime(path, (number, number))
    size = path.stat().st_size
    prune(store.folder, 9 * size)
    assert all(store.read(f"{number}" * 64) for number in range(8))
    for number in range(8):
        os.utime(path.parent.parent / (f"{number}" * 2) / (f"{number}" * 62), (number, number))
    prune(store.folder, 4 * size)
    assert [number for number in range(8) if store.read(f"{number}" * 64)] == [5, 6, 7]
    assert is_cache(store.folder)


def test_the_size_is_bounded_once_a_day(store, monkeypatch):
    monkeypatch.setattr("devlint.cache.store.MAX_SIZE", 100)
    for number in range(8):
        store.write(f"{number}" * 64, "x" * 10)
    assert all(store.read(f"{number}" * 64) for number in range(8))
    before = time.time() - 2 * 24 * 60 * 60
    os.utime(store.folder / ".pruned", (before, before))
    Store(store.folder).write("8" * 64, 1)
    assert sum(store.read(f"{number}" * 64) is not None for number in range(8)) < 2
    assert store.read("8" * 64) == 1


def test_a_use_is_noted(store):
    store.write(KEY, 1)
    os.utime(entry(store), (1, 1))
    store.read(KEY)
    assert entry(store).stat().st_mtime > 1
