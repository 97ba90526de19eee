"""The child process of `devlint confirm`: it runs drivers, which are small programs, and says what each one shows.

`python -m devlint.runtime.driven_runs` reads a request from its standard input, one JSON object on a line, and answers
with a line for each but the first, which gives the device and the findings. What a driver itself prints is dropped.
`devlint.confirm.driver_process` is the other end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import torch

from devlint.runtime.backends import emulated_kind
from devlint.runtime.call_sites import Site
from devlint.runtime.driven_evidence import Claim, claims_in, evidence_on
from devlint.runtime.error_reports import first_line, report_uncaught_error, user_sites
from devlint.runtime.going_on import going_on
from devlint.runtime.line_coverage import LineCoverage
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.program_runner import note_error
from devlint.runtime.record_and_emulate import emulate, record
from devlint.runtime.runtime_session import RuntimeSession

try:
    import resource
except ImportError:  # there is none on Windows
    resource = None  # type: ignore[assignment]

PLACES = 12
"""The number of places, innermost first, that are told of an error."""


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""
    first = json.loads(requests.readline())
    claims = claims_in(first)
    folder = None
    for line in requests:
        asked = json.loads(line)
        if folder not in (None, asked.get("folder", folder)):
            forget_modules_in(Path(asked["project"]))
        folder = asked.get("folder", folder)
        said = _run_driver(asked["driver"], asked["name"], first["device"], claims)
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def forget_modules_in(project: Path) -> None:
    """Take the modules of a project from Python's table, so that the next import loads what its path leads to."""
    places = {name: _place_of(module) for name, module in sys.modules.items()}
    for name, place in places.items():
        if place is not None and Path(place).is_relative_to(project):
            del sys.modules[name]


def _place_of(module: ModuleType) -> str | None:
    """Return the file of a module, or the first folder of a package without one; None if there is neither."""
    known = getattr(module, "__dict__", {})  # some modules answer any question with an attribute of their own
    file = known.get("__file__")
    if isinstance(file, str):
        return file
    try:
        return next((str(one) for one in known.get("__path__", ())), None)
    except KeyError:  # the package around a package without a file is gone
        return None


def _run_driver(text: str, name: str, device: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """Run a driver, which goes on after errors of devices on an emulated one, and return what it shows."""
    Path(name).write_text(text, encoding="utf-8")  # tracebacks and columns are read from it
    error: BaseException | None = None
    kind = emulated_kind(device)
    lines = LineCoverage(on_error=note_error)
    path = sys.path[:]
    with (
        emulate(1, kind) if kind is not None else nullcontext() as session,
        _going_on(session),
        record() as report,
        lines,
    ):
        try:
            exec(compile(text, name, "exec"), {"__name__": "__driver__", "__file__": name})
        except SystemExit as leaving:
            error = leaving
        except Exception as problem:
            error = problem
            if session is not None:
                report_uncaught_error(session, problem)
    sys.path[:] = path
    report.ran = frozenset(lines.ran)
    evidence = evidence_on(report, claims)
    return {"error": _error_object(error), "ran": len(lines.ran), "evidence": evidence}


def _going_on(session: RuntimeSession | None) -> AbstractContextManager[None]:
    """Return the context manager in which a driver goes on after errors; a real device cannot."""
    return nullcontext() if session is None else going_on(session)


def _error_object(error: BaseException | None) -> dict[str, Any] | None:
    """Return an exception as a JSON object: type, message, and the places in the user's code, innermost first."""
    if error is None:
        return None
    message = "\n".join(str(error).splitlines()[:4])
    return {
        "type": type(error).__name__,
        "message": message[:600],
        "first_line": first_line(str(error))[:300],
        "emulated": not isinstance(error, NotEmulated),
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
        "places": [_place(site) for site in user_sites(error.__traceback__)[:PLACES]],
    }


def _place(site: Site) -> list[Any]:
    """Return a place as a JSON list: file, line, function."""
    return [site.filename, site.line, site.function]


def limit_memory(megabytes: int) -> None:
    """Limit the memory that this process may ask for, where the operating system can."""
    if resource is not None:
        most = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


@contextmanager
def answers_only() -> Iterator[IO[str]]:
    """Context manager that keeps the standard output for answers; what drivers print goes nowhere."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        yield answers


def main() -> None:
    """Serve the process that has started this one."""
    limit_memory(int(sys.argv[1]))
    torch.set_num_threads(1)  # the tensors are small, and a driver shall not take the whole machine
    if sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]  # `python -m` puts it there
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a driver that asks its user gets no answer
    with answers_only() as answers:
        serve(requests, answers)


if __name__ == "__main__":
    main()
