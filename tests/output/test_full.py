from __future__ import annotations

import re
from dataclasses import replace

import click
import pytest

from devlint.diagnostic import (
    Applicability,
    AssumptionKind,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Fix,
    Note,
    Position,
    Region,
    Severity,
)


def finding(source_region: tuple[int, int, int, int], **changes: object) -> Diagnostic:
    row, column, end_row, end_column = source_region
    region = Region("a.py", Position(row, column), Position(end_row, end_column))
    return replace(
        Diagnostic("DEV101", "mixed-device-op", Severity.ERROR, Confidence.CERTAIN, "no", region),
        **changes,  # type: ignore[arg-type]
    )


def framed(text: str) -> str:
    """The lines of the first frame."""
    return text.split("\n   |\n", 1)[1].split("\n\n", 1)[0]


EXPECTED = """\
warning[DEV201] [*] discarded-transfer (likely): the moved tensor is thrown away
  --> src/train.py:8:9
   |
 7 |         shift = torch.zeros(3)
 8 |         shift.to("cuda")
   |         ^^^^^^^^^^^^^^^^
 9 |         loss = weight + shift
   |
   = assumes: that `shift` is a tensor and that `debug` holds
   = safe fix: Assign the result: `shift = shift.to("cuda")`

error[DEV101] mixed-device-op: `weight` is on cuda:0 and `shift` on the host
  --> src/train.py:9:16
   |
 8 |         shift.to("cuda")
 9 |         loss = weight + shift
   |                ^^^^^^^^^^^^^^
10 |     return (
   |
  1. `weight` is created on cuda:0
 5 |     weight = torch.ones(3, device="cuda")
   |              ----------------------------
  2. `shift` is created on the host, the default device
 7 |         shift = torch.zeros(3)
   |                 --------------
   |
   = help: create it there: `torch.zeros(3, device=weight.device)`

info[DEV103] unregistered-tensor (possible): `loss` may stay behind
  --> src/train.py:10:12
   |
 9 |         loss = weight + shift
10 |     return (
   |            ^
11 |         loss
   |         ^^^^
12 |     )
   |     ^
   |
  1. `batch` is made here
  --> src/data.py:2:1
 2 | batch = torch.zeros(3)
   | ----------------------

Found 1 error, 1 warning, 1 info in 1 file (4 checked).
[*] 1 fixable with --fix
"""


def test_findings_with_their_frames_steps_and_advice(render):
    assert render("full") == EXPECTED


def test_colours_change_nothing_but_the_colours(render):
    colored = render("full", color=True)
    assert colored != EXPECTED
    assert click.unstyle(colored) == EXPECTED


def test_a_terminal_need_not_break_a_word(render):
    text = render("full", width=60, on_terminal=True)
    prose = [line for line in text.splitlines() if "|" not in line and "-->" not in line]
    assert all(len(line) <= 60 for line in prose)
    words = [word for line in prose for word in line.split()]
    assert words == [
        word for line in EXPECTED.splitlines() if "|" not in line and "-->" not in line for word in line.split()
    ]
    assert render("full", width=60).count("\n") == EXPECTED.count("\n")


def test_closing_lines_and_groups_are_broken_between_words(render):
    safe = Fix("Make it", Applicability.SAFE, ())
    found = [
        finding((1, 1, 1, 2), fix=safe),
        finding((2, 1, 2, 2), fix=replace(safe, applicability=Applicability.UNSAFE)),
    ]
    for form in ("full", "grouped"):
        text = render(form, found, width=40, on_terminal=True)
        assert text.endswith("[*] 1 fixable with --fix, 1 more with\n--unsafe-fixes\n")
    grouped = render("grouped", width=40, on_terminal=True)
    assert all(len(line) <= 40 for line in grouped.splitlines())
    assert grouped.split() == render("grouped", width=40).split()
    assert render("grouped", width=40) == render("grouped")


def test_unsafe_fixes_are_marked_where_they_are_asked_for(render):
    unsafe = Fix("Make it", Applicability.UNSAFE, ())
    found = [finding((1, 1, 1, 2), fix=unsafe)]
    assert render("full", found).splitlines()[-1] == "1 fixable with --fix --unsafe-fixes"
    assert "[*]" not in render("full", found)
    asked = render("full", found, unsafe_fixes=True)
    assert "error[DEV101] [*] mixed" in asked
    assert asked.splitlines()[-1] == "[*] 1 fixable with --fix --unsafe-fixes"


def test_what_is_only_shown_counts_as_no_fix(render):
    shown = [finding((1, 1, 1, 2), fix=Fix("Make it", Applicability.DISPLAY, ()))]
    assert "fixable" not in render("full", shown)


def test_nothing_found(render):
    assert render("full", []) == "No findings in 4 files.\n"


@pytest.mark.parametrize(
    ("line", "columns", "expected"),
    [
        ("\tx = y", (2, 3), " 1 |     x = y\n   |     ^"),
        ("x\t= y\t+ z", (5, 8), " 1 | x    = y    + z\n   |        ^^^^^^"),
        ('s = "日本語"; x = y', (12, 13), ' 1 | s = "日本語"; x = y\n   |               ^'),
        ('"日本" + y', (1, 5), ' 1 | "日本" + y\n   | ^^^^^^'),
        ("cafe\u0301 + y", (9, 10), " 1 | cafe\u0301 + y\n   |        ^"),
        ("x = '\u202e'; y", (10, 11), " 1 | x = '\ufffd'; y\n   |          ^"),
        ("\x0cx = '\x1b[31m'", (2, 3), " 1 | \u240cx = '\u241b[31m'\n   |  ^"),
        ("x = y", (6, 6), " 1 | x = y\n   |      ^"),
        ("x = y", (5, 99), " 1 | x = y\n   |     ^"),
    ],
)
def test_marks_stand_below_what_is_meant(render, line, columns, expected):
    text = render("full", [finding((1, columns[0], 1, columns[1]))], {"a.py": line})
    assert framed(text) == expected


def test_a_long_line_is_cut_around_what_is_meant(render):
    line = "x = [" + "1, " * 1000 + "bad, " + "2, " * 1000 + "]"
    column = line.index("bad") + 1
    text = render("full", [finding((1, column, 1, column + 3))], {"a.py": line}, width=60)
    shown, marks = framed(text).splitlines()
    assert len(shown) <= 60
    assert shown[5:8] == shown[-3:] == "..."
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "bad"


def test_a_line_is_cut_at_its_end_where_what_is_meant_stands_at_its_beginning(render):
    text = render("full", [finding((1, 1, 1, 4))], {"a.py": "bad = [" + "1, " * 100}, width=60)
    shown, marks = framed(text).splitlines()
    assert shown.startswith(" 1 | bad = [1, ")
    assert shown.endswith("...")
    assert len(shown) <= 60
    assert marks == "   | ^^^"


@pytest.mark.parametrize("width", range(40, 80, 3))
def test_source_lines_are_cut_between_words(render, width):
    source = (
        "outputs = compute_outputs(model, first_batch)\nlosses = criterion(outputs.logits, targets.to(device)).sum()\n"
    )
    names = set(re.findall(r"\w+", source))
    for word in re.finditer(r"criterion|targets\.to|sum", source.splitlines()[1]):
        found = [finding((2, word.start() + 1, 2, word.end() + 1))]
        text = framed(render("full", found, {"a.py": source}, width=width, on_terminal=True))
        lines = [line for line in text.splitlines() if line[:2].strip()]
        assert all(len(line) <= width for line in lines)
        assert {name for line in lines for name in re.findall(r"\w+", line[4:])} <= names
        assert word[0] in lines[1]


def test_wide_characters_are_cut_by_their_width(render):
    text = render("full", [finding((1, 1, 1, 2))], {"a.py": "x" + "日" * 100}, width=60)
    shown = framed(text).splitlines()[0]
    assert len(shown) + shown.count("日") <= 60


def test_a_long_region_is_shown_by_its_beginning_and_its_end(render):
    source = "\n".join(f"line{number}" for number in range(1, 21))
    text = render("full", [finding((3, 1, 15, 7))], {"a.py": source})
    numbers = [line[:2] for line in framed(text).splitlines() if line[:2].strip()]
    assert numbers == [" 2", " 3", " 4", " 5", " 6", "..", "15", "16"]


def test_a_file_that_cannot_be_read_again_has_no_frame(render):
    text = render(
        "full", [finding((3, 1, 3, 5), trace=(Note("made", Region("b.py", Position(1, 1), Position(1, 2))),))]
    )
    assert "  --> a.py:3:1\n   |\n" in text
    assert "  1. made\n  --> b.py:1:1\n" in text


def test_the_gutter_is_as_wide_as_the_largest_number(render):
    source = "\n".join(["x = 1"] * 1234)
    text = render("full", [finding((1234, 1, 1234, 2))], {"a.py": source})
    assert "1234 | x = 1\n     | ^" in text
    assert "    --> a.py:1234:1\n     |\n" in text


def test_help_of_several_lines_is_aligned(render):
    text = render("full", [finding((1, 1, 1, 2), help="write\nx = y")], {"a.py": "x"})
    assert "   = help: write\n           x = y\n" in text


def test_a_notebook_is_told_with_its_cell(render):
    region = Region("a.ipynb", Position(1, 1), Position(1, 2), cell=3)
    text = render("full", [replace(finding((1, 1, 1, 2)), region=region)], {"a.ipynb": "x"})
    assert "  --> a.ipynb:cell 3:1:1\n" in text


def test_a_tensor_and_its_device_are_one_assumption(render):
    tensor = AssumptionNote(AssumptionKind.TENSOR, "`x` is a tensor", None)
    placed = AssumptionNote(AssumptionKind.CALLER, "`x` is on an accelerator", None)
    other = AssumptionNote(AssumptionKind.CALLER, "`y` is on an accelerator", None)
    told = render("full", [replace(finding((5, 14, 5, 42)), assumptions=(tensor, placed, other))])
    assert "= assumes: that `x` is a tensor on an accelerator and that `y` is on an accelerator\n" in told
    told = render("full", [replace(finding((5, 14, 5, 42)), assumptions=(tensor, other))])
    assert "= assumes: that `x` is a tensor and that `y` is on an accelerator\n" in told
