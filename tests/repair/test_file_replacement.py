"""Repaired files on the disk: whole, with their mode, and never over what somebody else has written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devlint.repair.file_replacement import FileNotWritten, replace_file
from devlint.repair.unified_diff import unified_diff


def test_the_mode_and_the_link_are_kept(tmp_path: Path) -> None:
    place, link = tmp_path / "script.py", tmp_path / "link.py"
    place.write_bytes(b"before")
    place.chmod(0o751)
    link.symlink_to(place)
    replace_file(link, b"before", b"after")
    assert (place.read_bytes(), place.stat().st_mode & 0o777, link.is_symlink()) == (b"after", 0o751, True)
    assert sorted(tmp_path.iterdir()) == [link, place]


def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"newer")
    with pytest.raises(FileNotWritten, match="changed on disk meanwhile"):
        replace_file(place, b"before", b"after")
    assert place.read_bytes() == b"newer"


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotWritten, match="No such file"):
        replace_file(tmp_path / "a.py", b"before", b"after")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_behind_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileNotWritten, match="No space left"):
        replace_file(place, b"before", b"after")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"before"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may write everything")
def test_a_read_only_file_stays(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"before")
    place.chmod(0o444)
    with pytest.raises(FileNotWritten, match="read-only"):
        replace_file(place, b"before", b"after")
    assert place.read_bytes() == b"before"


def test_a_difference_is_one_that_patch_reads() -> None:
    lines = ["--- a.py\n", "+++ a.py\n", "@@ -1,3 +1,3 @@\n", " 1\r\n", "-2\r\n", "+x\r\n", " 3\n"]
    assert (
        "".join(unified_diff("a.py", "1\r\n2\r\n3", "1\r\nx\r\n3")) == "".join(lines) + "\\ No newline at end of file\n"
    )
    assert list(unified_diff("a.py", "same", "same")) == []
