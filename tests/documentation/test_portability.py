"""docs/portability.md: its port is real, its script runs everywhere, its tables are those of the data."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest

from .examples import AGAIN
from .portability import PAGE, ported, refreshed, script

torch = pytest.importorskip("torch")

from devlint.runtime import emulate  # noqa: E402
from devlint.runtime.backends import BACKENDS  # noqa: E402

from ..runtime.conftest import _forked as run_forked  # noqa: E402

HOST = "host"


def test_the_page_says_what_a_port_does() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == refreshed(page), AGAIN


def test_the_script_of_the_page_runs_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = script(PAGE.read_text(encoding="utf-8"))
    paths = {"before": tmp_path / "before.py", "after": tmp_path / "after.py"}
    paths["before"].write_text(text)
    paths["after"].write_text(ported(text)[2])
    monkeypatch.chdir(tmp_path)

    def printed(state: str, kind: str) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), emulate(kind=kind) if kind != HOST else contextlib.nullcontext():
            runpy.run_path(str(paths[state]))["main"]([])
        return output.getvalue()

    expected = run_forked(lambda: printed("before", "cuda"))
    assert isinstance(expected, str)
    assert expected.startswith("epoch 0: loss ")
    with pytest.raises(AssertionError, match="CUDA"):
        run_forked(lambda: printed("before", HOST))
    for kind in (HOST, *BACKENDS):
        assert run_forked(lambda kind=kind: printed("after", kind)) == expected, kind
