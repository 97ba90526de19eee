"""Training programs that need CUDA, run before and after their port, on emulated accelerators and on the host."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from devlint.port.cuda_uses import Outcome

from .programs import port_files

torch = pytest.importorskip("torch")

from devlint.runtime import emulate  # noqa: E402
from devlint.runtime.record_and_emulate import EMULATED_KINDS  # noqa: E402

FOLDER = Path(__file__).parent / "cuda_programs"
PROGRAMS = [*sorted(one.stem for one in FOLDER.glob("*.py")), "package"]
OTHERS = tuple(kind for kind in EMULATED_KINDS if kind != "cuda") if "xpu" in EMULATED_KINDS else ()
"""The accelerators besides CUDA whose whole module is emulated."""


def files_of(name: str) -> dict[str, str]:
    """Return the texts of the files of a program by their names."""
    folder = FOLDER / name
    paths = sorted(folder.glob("*.py")) if folder.is_dir() else [FOLDER / f"{name}.py"]
    return {"main.py" if len(paths) == 1 else path.name: path.read_text() for path in paths}


def printed(folder: Path, kind: str | None) -> str:
    """Return what the program in a folder prints, on an emulated accelerator of a kind or on the host."""
    options: dict[str, Any] = {} if kind == "cuda" else {"kind": kind}
    before = set(sys.modules)
    text = io.StringIO()
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(text), emulate(**options) if kind else contextlib.nullcontext():
            runpy.run_path(str(folder / "main.py"), run_name="__main__")
    finally:
        sys.path.remove(str(folder))
        for one in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[one], "__file__", "")):
                del sys.modules[one]
    return text.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_port_runs_on_every_accelerator_and_computes_the_same(name: str, tmp_path: Path) -> None:
    files = files_of(name)
    old, new = tmp_path / "old", tmp_path / "new"
    done = port_files(old, files, checked=True)
    assert not done.count(Outcome.FOR_HUMAN), done.uses
    expected = printed(old, "cuda")
    assert len(expected) > 20
    with pytest.raises((AssertionError, RuntimeError, AttributeError, TypeError)):
        printed(old, None)
    new.mkdir()
    for filename, document in done.after.items():
        (new / filename).write_bytes(document.data)
    for filename in files.keys() - done.after.keys():
        (new / filename).write_text(files[filename])
    for kind in ("cuda", None, *OTHERS):
        assert printed(new, kind) == expected, kind
