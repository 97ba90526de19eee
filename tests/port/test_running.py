"""Training programs that need CUDA, run before and after their port, on emulated accelerators and on the host."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

import pytest

from devlint.port.cuda_uses import Outcome

from ..runtime.conftest import _forked as run_forked
from .programs import port_files

torch = pytest.importorskip("torch")

from devlint.runtime import emulate  # noqa: E402
from devlint.runtime.backends import BACKENDS  # noqa: E402

FOLDER = Path(__file__).parent / "cuda_programs"
PROGRAMS = [*sorted(one.stem for one in FOLDER.glob("*.py")), "package"]


def files_of(name: str) -> dict[str, str]:
    """Return the texts of the files of a program by their names."""
    folder = FOLDER / name
    paths = sorted(folder.glob("*.py")) if folder.is_dir() else [FOLDER / f"{name}.py"]
    return {"main.py" if len(paths) == 1 else path.name: path.read_text() for path in paths}


def printed(folder: Path, kind: str | None) -> str:
    """Return what the program in a folder prints, on an emulated accelerator of a kind or on the host.

    It runs in a child of this process: the name of the private backend, and the modules of the program, stay there.
    """

    def work() -> str:
        text = io.StringIO()
        sys.path.insert(0, str(folder))
        with contextlib.redirect_stdout(text), emulate(kind=kind) if kind else contextlib.nullcontext():
            runpy.run_path(str(folder / "main.py"), run_name="__main__")
        return text.getvalue()

    result = run_forked(work)
    assert isinstance(result, str)
    return result


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_port_runs_on_every_accelerator_and_computes_the_same(name: str, tmp_path: Path) -> None:
    files = files_of(name)
    old, new = tmp_path / "old", tmp_path / "new"
    done = port_files(old, files, checked=True)
    assert not done.count(Outcome.FOR_HUMAN), done.uses
    expected = printed(old, "cuda")
    assert len(expected) > 20
    for kind in (None, "xpu"):
        with pytest.raises(AssertionError, match=r"CUDA|cuda"):
            printed(old, kind)
    new.mkdir()
    for filename, document in done.after.items():
        (new / filename).write_bytes(document.data)
    for filename in files.keys() - done.after.keys():
        (new / filename).write_text(files[filename])
    for kind in (None, *BACKENDS):
        assert printed(new, kind) == expected, kind
