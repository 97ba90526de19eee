"""`devlint port`, from the command line to the files and the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devlint import cli

from .programs import ACCELERATOR

TEXT = "import torch\n\nx = torch.ones(2).cuda()  # there\r\nprint(f(x.cuda(g())))\n"
AFTER = TEXT.replace("torch\n\n", f"torch\n\ndevice = {ACCELERATOR}\n\n", 1).replace("(2).cuda()", "(2).to(device)")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def devlint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs `devlint port` in a directory with one file."""
    (tmp_path / "a.py").write_bytes(TEXT.encode())
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = cli.invoke(["port", "-j", "1", *arguments])
        return (status, *capfd.readouterr())

    return run


def content() -> str:
    return Path("a.py").read_bytes().decode()


def test_files_are_changed_and_the_rest_is_reported(devlint: Run) -> None:
    status, out, err = devlint("a.py")
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        "a.py:4:9: left for a human: `x.cuda(g())`:"
        " its argument may be an index, a device or None, and `to` does nothing for None",
        "2 uses of CUDA: 1 ported, 0 left on purpose, 1 left for a human",
    ]
    assert content() == AFTER
    assert devlint("a.py")[1].splitlines()[-1] == "1 use of CUDA: 0 ported, 0 left on purpose, 1 left for a human"
    assert content() == AFTER


def test_the_difference_is_shown_and_nothing_is_written(devlint: Run) -> None:
    status, out, err = devlint("--diff", ".")
    assert (status, content()) == (1, TEXT)
    assert "+x = torch.ones(2).to(device)  # there\r\n" in out
    assert err.splitlines()[-1] == "2 uses of CUDA: 1 ported, 0 left on purpose, 1 left for a human"


def test_ported_uses_are_listed_when_asked_for(devlint: Run) -> None:
    _, out, _ = devlint("--diff", "--show-ported", "--device", "where", ".")
    assert "+where = torch.accelerator" in out


def test_a_file_that_does_not_parse_is_reported(devlint: Run) -> None:
    Path("b.py").write_text("x = cuda(\n")
    status, _, err = devlint("--no-check", ".")
    assert status == 2
    assert err.startswith("error: b.py: the file cannot be parsed")


def test_a_program_without_cuda_is_left(devlint: Run) -> None:
    Path("a.py").write_text("import torch\n")
    assert devlint() == (0, "0 uses of CUDA: 0 ported, 0 left on purpose, 0 left for a human\n", "")


@pytest.mark.parametrize("options", [["--min-torch", "new"], ["--device", "a.b"]])
def test_bad_options_are_refused(devlint: Run, options: list[str]) -> None:
    assert devlint(*options)[0] == 2
