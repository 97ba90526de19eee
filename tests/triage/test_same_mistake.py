"""Runs over different files of a program report one mistake at different places, and a baseline knows all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devlint.cli import invoke

KNOWN = ("--baseline", "known.json")
MASKS = """
import torch

class Masks:
    def __init__(self):
        self.mask = torch.ones(3)
"""
MAIN = """
import torch
from masks import Masks
from helper import blend

masks = Masks()
image = torch.rand(3, device="cuda")
inside = image * masks.mask
blend(image, masks.mask)
"""
OTHER = """
import torch
from masks import Masks
from main import image

masks = Masks()
outside = image - masks.mask
"""
HELPER = """
def blend(left, right):
    return left + right
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A run of devlint in a folder with a program of one mistake: a mask that stays on the host."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"masks": MASKS, "main": MAIN, "other": OTHER, "helper": HELPER}.items():
        Path(f"{name}.py").write_text(text)

    def devlint(*arguments: str) -> tuple[list[str], str]:
        invoke(["check", "--no-cache", "--output-format", "concise", *arguments])
        said = capsys.readouterr()
        return [" ".join(line.split(":")[:2]) for line in said.out.splitlines()], said.err

    return devlint


def edit(name: str, old: str, new: str) -> None:
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new))


def test_a_part_of_the_program_reports_the_mistake_elsewhere(run):
    assert run()[0] == ["main.py 8"]
    assert run("other.py")[0] == ["other.py 7"]


def test_a_baseline_of_the_whole_knows_the_mistake_in_a_part(run):
    run(*KNOWN, "--update-baseline")
    (entry,) = json.loads(Path("known.json").read_text())["findings"]
    assert {one["file"] for one in entry["same"]} == {"other.py", "helper.py", "main.py"}  # there by the call
    for given in (["other.py"], ["helper.py", "other.py"], ["."], ["main.py"]):
        found, said = run(*given, *KNOWN)
        assert (found, "gone" in said) == ([], False), given


def test_a_baseline_of_a_part_knows_the_mistake_in_the_whole(run):
    run("other.py", *KNOWN, "--update-baseline")
    found, said = run(*KNOWN)
    assert (found, "gone" in said) == ([], False)


def test_a_run_without_the_called_file_reports_the_call_which_is_known(run):
    edit("main.py", "inside = image * masks.mask\n", "")
    Path("other.py").unlink()
    for given, first, then in ((["."], "helper.py 3", ["main.py"]), (["main.py"], "main.py 8", ["."])):
        Path("known.json").unlink(missing_ok=True)
        assert run(*given)[0] == [first]
        run(*given, *KNOWN, "--update-baseline")
        assert run(*then, *KNOWN)[0] == []
    edit("main.py", "masks.mask)", "masks.mask)\nblend(image, torch.zeros(3))")
    assert run("main.py", *KNOWN)[0] == ["main.py 9"]


def test_another_mistake_is_new(run):
    run(*KNOWN, "--update-baseline")
    edit("other.py", "outside =", "mine = torch.zeros(3) + image\noutside =")
    assert run("other.py", *KNOWN)[0] == ["other.py 7"]
    assert run(*KNOWN)[0] == ["other.py 7"]


def test_a_mended_mistake_is_gone(run):
    run(*KNOWN, "--update-baseline")
    edit("masks.py", "torch.ones(3)", 'torch.ones(3, device="cuda")')
    assert run(*KNOWN)[1].count("gone") == 1
    assert run("main.py", *KNOWN)[1].count("gone") == 1
    assert "gone" not in run("other.py", *KNOWN)[1]


def test_what_only_a_caller_brings_to_light_is_not_gone_without_it(run):
    edit("main.py", "inside = image * masks.mask\n", "")
    Path("other.py").unlink()
    run(*KNOWN, "--update-baseline")
    (entry,) = json.loads(Path("known.json").read_text())["findings"]
    assert (entry["file"], entry["through"]) == ("helper.py", ["main.py"])
    assert "gone" not in run("helper.py", *KNOWN)[1]
    # Nor does an update of that file alone forget it.
    run("helper.py", *KNOWN, "--update-baseline")
    assert run(*KNOWN)[0] == []
    edit("main.py", "masks.mask)", "image)")
    assert "gone" not in run("helper.py", *KNOWN)[1]
    assert run("helper.py", "main.py", *KNOWN)[1].count("gone") == 1
    Path("main.py").unlink()
    assert run("helper.py", *KNOWN)[1].count("gone") == 1
