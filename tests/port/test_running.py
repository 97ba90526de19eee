"""Training programs that need CUDA, run before and after their port, on emulated accelerators and on the host."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
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


HOST = "host"


def files_of(name: str) -> dict[str, str]:
    """Return the texts of the files of a program by their names."""
    folder = FOLDER / name
    paths = sorted(folder.glob("*.py")) if folder.is_dir() else [FOLDER / f"{name}.py"]
    return {"main.py" if len(paths) == 1 else path.name: path.read_text() for path in paths}


def printed(folder: Path) -> str:
    """Return what the program in a folder prints when it runs, or the error that ends it."""
    text = io.StringIO()
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(text):
            runpy.run_path(str(folder / "main.py"), run_name="__main__")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        sys.path.remove(str(folder))
        for one in set(sys.modules) - known:
            if str(folder) in str(getattr(sys.modules[one], "__file__", "")):
                del sys.modules[one]
    return text.getvalue()


@dataclass(frozen=True)
class Outputs:
    """What each program prints before and after its port, by its name and the kind of accelerator."""

    before: Mapping[tuple[str, str], str]
    after: Mapping[tuple[str, str], str]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """Run all programs on the host and on every emulated accelerator, before their port and after it.

    Each kind of accelerator has a child of this process: the name of the private backend stays there.
    """
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        files = files_of(name)
        done = port_files(folder / "before" / name, files, checked=True)
        assert not done.count(Outcome.FOR_HUMAN), done.uses
        (folder / "after" / name).mkdir(parents=True)
        for filename, text in files.items():
            after = done.after[filename].data if filename in done.after else text.encode()
            (folder / "after" / name / filename).write_bytes(after)

    def run_all(kind: str) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {"before": {}, "after": {}}
        with emulate(kind=kind) if kind != HOST else contextlib.nullcontext():
            for state, name in itertools.product(found, PROGRAMS):
                found[state][name] = printed(folder / state / name)
        return found

    all_found = {kind: run_forked(partial(run_all, kind)) for kind in (HOST, *BACKENDS)}
    states = [
        {(name, kind): text for kind, found in all_found.items() for name, text in found[state].items()}
        for state in ("before", "after")
    ]
    return Outputs(*states)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_needs_cuda(name: str, outputs: Outputs) -> None:
    assert "Error" not in outputs.before[name, "cuda"]
    assert len(outputs.before[name, "cuda"].splitlines()) >= 1
    for kind in (HOST, "xpu"):
        assert re.match(r"\w*Error: .*(CUDA|cuda)", outputs.before[name, kind]), outputs.before[name, kind]


@pytest.mark.parametrize("kind", [HOST, *BACKENDS])
@pytest.mark.parametrize("name", PROGRAMS)
def test_its_port_computes_the_same_everywhere(name: str, kind: str, outputs: Outputs) -> None:
    assert outputs.after[name, kind] == outputs.before[name, "cuda"]
