"""Absolute paths that code writes out, and whether they lead to the files of its author."""

from __future__ import annotations

import pytest

from devlint.syntax.own_paths import has_own_path


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/model.pt",
        "/Users/me/Desktop",
        "/mnt/disk1/data",
        "/scratch/me/index.tsv",
        "/cluster/work/me/run.42/model.ckpt",
        "D:/data/model.pt",
        "C:\\\\Users\\\\me",
    ],
)
def test_files_of_the_author(path: str) -> None:
    assert has_own_path(f"torch.load('{path}')")


@pytest.mark.parametrize(
    "text",
    [
        *("model.pt", "./data/model.pt", "/tmp/model.pt", "/usr/share/dict/words.txt", "/dev/null", "/proc/meminfo"),
        *("/v1/chat/completions", "/observations/images", "https://host/home/me/model.pt", "/", "a/b.c", "cuda:0"),
    ],
)
def test_other_texts(text: str) -> None:
    assert not has_own_path(f'open("{text}")')
