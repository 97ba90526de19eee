"""`--fix` and its relatives, from the command line to the file."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint import cli

BAD = "import torch\n\nx = torch.ones(3)\nx.cuda()\nx.half()\n"
SAFE = BAD.replace("x.cuda()", "x = x.cuda()")
ALL = SAFE.replace("x.half()", "x = x.half()")


@pytest.fixture
def devlint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs devlint in a directory with a bad `a.py`; only DEV201 is on."""
    (tmp_path / "a.py").write_text(BAD)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = cli.invoke(["check", "--isolated", "--select", "DEV201", *arguments])
        return (status, *capfd.readouterr())

    return run


CLEAN = "note: no findings in 1 file\n"
Run = Callable[..., tuple[int, str, str]]


def text(path: str = "a.py") -> str:
    return Path(path).read_text()


def test_safe_fixes_are_applied_and_the_rest_is_reported(devlint: Run) -> None:
    status, out, err = devlint("--fix")
    assert (status, text()) == (1, SAFE)
    assert err == "note: 1 finding fixed in a.py\nnote: 1 fixable with --fix --unsafe-fixes\n"
    assert [line[:8] for line in out.splitlines()] == ["a.py:5:1"]


def test_unsafe_fixes_are_applied_when_asked_for(devlint: Run) -> None:
    assert devlint("--fix", "--unsafe-fixes") == (0, "", "note: 2 findings fixed in a.py\n" + CLEAN)
    assert text() == ALL
    assert devlint("--fix", "--unsafe-fixes") == (0, "", CLEAN)


def test_without_fix_nothing_is_changed(devlint: Run) -> None:
    status, out, err = devlint("--unsafe-fixes", "--output-format", "json")
    assert (status, text()) == (1, BAD)
    assert [one["fix"]["applicability"] for one in json.loads(out)] == ["safe", "unsafe"]
    assert err == "note: no file was changed: --unsafe-fixes needs --fix\n"


def test_unsafe_fixes_alone_are_shown_and_not_made(devlint: Run) -> None:
    status, out, err = devlint("--unsafe-fixes")
    assert (status, text()) == (1, BAD)
    assert "-x.cuda()\n-x.half()\n+x = x.cuda()\n+x = x.half()\n" in out
    assert err.splitlines() == [
        "note: 2 findings would be fixed in a.py",
        "note: no file was changed: --unsafe-fixes needs --fix to make these changes",
    ]
    (Path("a.py")).write_text(ALL)
    status, out, err = devlint("--unsafe-fixes")
    assert (status, out) == (0, "")
    assert err.endswith("needs --fix to change any, and there is nothing that it would change\n")


def test_the_summary_names_the_files_that_are_written(devlint: Run) -> None:
    Path("b.py").write_text(BAD)
    Path("right.py").write_text(ALL)
    assert devlint("--diff")[2] == "note: 2 findings would be fixed in a.py, b.py\n"
    for name in ("c", "d"):
        Path(f"{name}.py").write_text(BAD)
    assert devlint("--fix-only")[2] == "note: 4 findings fixed in 4 files\n"


def test_a_fix_that_leaves_the_lines_of_its_finding_says_where_it_begins(devlint: Run) -> None:
    Path("a.py").write_text('import torch\n\nmask = torch.ones(3)\ntorch.rand(3, device="cuda") * mask\n')
    out = devlint("--extend-select", "DEV101", "--output-format", "full")[1]
    assert '   = unsafe fix: Pass `device="cuda"` to `torch.ones` (a.py:3:20)\n' in out
    Path("a.py").write_text('import torch\n\ntorch.rand(3, device="cuda") * torch.ones(3)\n')
    out = devlint("--extend-select", "DEV101", "--output-format", "full")[1]
    assert 'Pass `device="cuda"` to `torch.ones`\n' in out


def test_unsafe_fixes_alone_fail_where_a_finding_has_no_fix(devlint: Run) -> None:
    Path("a.py").write_text('import torch\ntorch.rand(3, device="cuda", generator=torch.Generator())\n')
    assert devlint("--extend-select", "DEV109", "--unsafe-fixes")[:2] == (1, "")


def test_a_report_marks_and_counts_what_can_be_fixed(devlint: Run) -> None:
    _, out, err = devlint()
    assert ["[*]" in line for line in out.splitlines()] == [True, False]
    assert err == "note: [*] 1 fixable with --fix, 1 more with --unsafe-fixes\n"
    _, out, _ = devlint("--output-format", "full")
    assert out.splitlines()[-1] == "[*] 1 fixable with --fix, 1 more with --unsafe-fixes"
    assert devlint("--quiet")[2] == ""


def test_fix_only_reports_nothing(devlint: Run) -> None:
    assert devlint("--fix-only") == (0, "", "note: 1 finding fixed in a.py\n")
    assert text() == SAFE


def test_a_diff_changes_nothing(devlint: Run) -> None:
    status, out, err = devlint("--diff")
    assert (status, text(), err) == (1, BAD, "note: 1 finding would be fixed in a.py\n")
    assert out.splitlines()[:3] == ["--- a.py", "+++ a.py", "@@ -1,5 +1,5 @@"]
    assert "-x.cuda()\n+x = x.cuda()\n" in out
    done = subprocess.run(["patch", "-p0"], input=out, capture_output=True, text=True, check=False)
    assert (done.returncode, text()) == (0, SAFE)
    assert devlint("--diff")[:2] == (0, "")


def test_what_goes_with_a_fix_is_counted(devlint: Run) -> None:
    """Moving `x` mends what `x` meets later too, so that fewer fixes are made than findings have one."""
    Path("a.py").write_text(
        "import torch\n\nx = torch.ones(3)\nx.cuda()\ny = torch.ones(3, device='cuda')\nx + y\n", encoding="utf-8"
    )
    both = ("--extend-select", "DEV101")
    assert devlint(*both)[2] == "note: [*] 1 fixable with --fix, 1 more with --unsafe-fixes\n"
    assert devlint(*both, "--diff")[2] == "note: 1 finding would be fixed in a.py, and with it 1 more\n"
    assert devlint(*both, "--fix", "--unsafe-fixes") == (
        0,
        "",
        "note: 1 finding fixed in a.py, and with it 1 more\n" + CLEAN,
    )


def test_what_was_fixed_is_listed(devlint: Run) -> None:
    _, _, err = devlint("--fix", "--unsafe-fixes", "--show-fixes")
    assert err.splitlines() == [
        "note: 2 findings fixed in a.py",
        "  a.py:",
        "    2 x DEV201 (discarded-transfer)",
        "note: no findings in 1 file",
    ]


def test_what_a_fix_led_to_is_listed_too(devlint: Run) -> None:
    Path("a.py").write_text("import torch\n\nx = torch.ones(3)\nx.to('cuda')\ny = torch.ones(3)\nprint(x + y)\n")
    _, _, err = devlint("--extend-select", "DEV101", "--fix", "--unsafe-fixes", "--show-fixes")
    assert "y = torch.ones(3, device=x.device)" in text()
    assert err.splitlines() == [
        "note: 2 findings fixed in a.py",
        "  a.py:",
        "    1 x DEV101 (mixed-device-op)",
        "    1 x DEV201 (discarded-transfer)",
        "note: no findings in 1 file",
    ]


@pytest.mark.parametrize(("device", "is_kept"), [("cpu", False), ("cuda", True)])
@pytest.mark.parametrize("other", ["importing", "imported"])
def test_a_fix_may_do_no_harm_in_another_file(devlint: Run, other: str, device: str, is_kept: bool) -> None:
    """Only `a.py` is named; `b.py` adds its `x`, which a fix puts on cuda, to a tensor that is there or is not."""
    lost, adds = "x = torch.ones(3)\nx.to('cuda')\n", f"x + torch.ones(3, device='{device}')"
    if other == "importing":
        a, b = f"import torch\n\n{lost}", f"import torch\n\nfrom a import x\n\nprint({adds})\n"
    else:
        a, b = (
            f"import torch\n\nfrom b import add\n\n{lost}add(x)\n",
            f"import torch\n\ndef add(x):\n    return {adds}\n",
        )
    Path("a.py").write_text(a)
    Path("b.py").write_text(b)
    status, out, err = devlint("--extend-select", "DEV101", "--fix", "--unsafe-fixes", "a.py")
    assert text("b.py") == b
    if is_kept:
        assert (status, out, err) == (0, "", "note: 1 finding fixed in a.py\n" + CLEAN)
        assert text() == a.replace("x.to(", "x = x.to(")
    else:
        assert err.splitlines()[0].startswith("note: not fixed, for it would not help: a.py:")
        assert (status, text()) == (1, a)
        assert "b.py" not in out


def test_a_rule_that_is_off_fixes_nothing(devlint: Run) -> None:
    assert devlint("--fix", "--ignore", "DEV201") == (0, "", CLEAN)
    assert text() == BAD


def test_what_a_baseline_knows_is_not_fixed(devlint: Run) -> None:
    devlint("--baseline", "known.json", "--update-baseline")
    Path("a.py").write_text(BAD + "y = torch.ones(3)\ny.cuda()\n")
    assert devlint("--baseline", "known.json", "--fix")[0] == 0
    assert text() == BAD + "y = torch.ones(3)\ny = y.cuda()\n"


def test_the_standard_input_comes_out_fixed(devlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.replace("\n", "\r\n").encode())))
    status, out, err = devlint("--fix", "-", "--stdin-filename", "b.py")
    assert (status, out) == (1, SAFE.replace("\n", "\r\n"))
    assert err.startswith("note: 1 finding fixed\nb.py:5:1: DEV201")


def test_a_file_that_changes_meanwhile_is_left_alone(devlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from devlint.repair import file_replacement

    def edit_then_write(path: Path, before: bytes, after: bytes) -> None:
        path.write_text("print('mine')\n")
        file_replacement.replace_file(path, before, after)

    monkeypatch.setattr("devlint.cli.fix_mode.replace_file", edit_then_write)
    status, _, err = devlint("--fix")
    assert (status, text()) == (2, "print('mine')\n")
    assert "error: a.py: it has changed on disk meanwhile, and is left alone" in err


def test_fixes_do_not_go_with_a_new_baseline(devlint: Run) -> None:
    assert devlint("--fix", "--baseline", "known.json", "--update-baseline")[0] == 2


COMMENTED = BAD.replace("x.cuda()", "x.cuda()  # devlint: ignore[DEV201]").replace(
    "x.half()", "x.half()  # devlint: ignore[DEV201]"
)


def test_comments_are_added_and_nothing_is_left(devlint: Run) -> None:
    assert devlint("--add-ignore") == (0, "", "note: 2 findings silenced in a.py\n" + CLEAN)
    assert text() == COMMENTED
    assert devlint("--add-ignore") == (0, "", CLEAN)
    assert devlint() == (0, "", CLEAN)


def test_comments_give_a_reason(devlint: Run) -> None:
    assert devlint("--add-ignore=known for years", "a.py")[0] == 0
    assert text() == COMMENTED.replace("[DEV201]", "[DEV201] -- known for years")


def test_comments_can_be_shown_first(devlint: Run) -> None:
    status, out, err = devlint("--add-ignore", "--diff")
    assert (status, text(), err) == (1, BAD, "note: 2 findings would be silenced in a.py\n")
    assert [line for line in out.splitlines() if line.startswith("+x")] == [
        "+x.cuda()  # devlint: ignore[DEV201]",
        "+x.half()  # devlint: ignore[DEV201]",
    ]


@pytest.mark.parametrize("arguments", [("--add-ignore", "--fix"), ("--add-ignore=#1",), ("--add-ignore=a\nb",)])
def test_comments_that_make_no_sense(devlint: Run, arguments: tuple[str, ...]) -> None:
    status, _, err = devlint(*arguments)
    assert (status, text()) == (2, BAD)
    assert "--add-ignore" in err
