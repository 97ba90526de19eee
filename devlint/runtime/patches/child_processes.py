"""Patches for child processes, which see the emulated devices too.

Forked ones inherit them. Those that start Python anew find them by two environment variables. What happens in a child
is not recorded, and a note in the report says so.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.utils.data import dataloader

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

VARIABLE = "DEVLINT_EMULATE"
"""The environment variable that tells a child process what to emulate: device type and number, such as `cuda:1`."""
STARTUP_FOLDER = Path(__file__).resolve().parents[1] / "startup"
"""The folder with the `sitecustomize.py` that every Python process runs at its start if `PYTHONPATH` names it."""
WORKERS_NOTE = "DataLoader workers: what happens in other processes is not recorded, but an error that ends one is"
"""The note on DataLoader workers in the report."""
PROCESSES_NOTE = "child processes: what happens in other processes is not recorded, but an error that is passed on is"
"""The note in the report on other processes that the program starts with multiprocessing."""
_PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
"""Matches the file name of a Python interpreter."""
_OPTIONS = re.compile(r"-(?=.)([A-Za-z?]*?)([cmWX].*|-.+|)", re.DOTALL)
"""Matches a word of options of Python's, such as `-uE` or `-Wignore`: its flags, and the option that ends it."""
_TAKE_THE_NEXT = frozenset({"W", "X", "-check-hash-based-pycs"})
"""The options of Python whose value may be the next word of the command."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Add a note to the report whenever the program starts processes; let them see the devices of the session."""
    loader: Any = dataloader._MultiProcessingDataLoaderIter
    patcher.replace(loader, "__init__", _noting(session, loader.__init__, WORKERS_NOTE))
    patcher.replace(BaseProcess, "start", _noting(session, BaseProcess.start, PROCESSES_NOTE, WORKERS_NOTE))
    if session.kind is not None:
        _pass_on(session, patcher)


def _noting(session: RuntimeSession, original: Callable[..., Any], note: str, or_else: str = "") -> Callable[..., Any]:
    """Return a function that adds a note to the reports and calls the original; `or_else` may stand in for the note."""

    def noting(self: Any, *args: Any, **kwargs: Any) -> Any:
        for recorder in session.recorders:
            if or_else not in recorder.notes:
                recorder.add_note(note)
        return original(self, *args, **kwargs)

    return noting


def _pass_on(session: RuntimeSession, patcher: Patcher) -> None:
    """Put what is emulated into the environment of this process and of those that it starts with another one."""
    value = f"{session.kind}:{session.device_count}"
    before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
    os.environ.update(_with_variables(os.environ, value))
    popen: Any = subprocess.Popen.__init__

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        option = _isolating_option(args[0] if args else kwargs.get("args", ()))
        for recorder in session.recorders if option else ():
            recorder.add_note(
                f"a child process was started by python {option}, so it does not see the emulated device: "
                "that option turns off what passes it on"
            )
        environment = kwargs.get("env")
        if environment is not None:
            kwargs["env"] = {**environment, **_with_variables(environment, value)}
        popen(self, *args, **kwargs)

    def restore() -> None:
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old

    patcher.replace(subprocess.Popen, "__init__", start)
    patcher.at_end(restore)


def _isolating_option(command: Any) -> str | None:
    """Return the option by which a command starts a Python that runs no `sitecustomize` of its environment, if any.

    `-E` and `-I` ignore the environment, `-S` starts without the module `site`.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else [os.fsdecode(word) for word in command]
    except (TypeError, ValueError):
        return None
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    options = iter(words[1:])
    for word in options:
        found = _OPTIONS.fullmatch(word)
        if found is None:
            return None
        flags, last = found.groups()
        isolating = next((flag for flag in flags if flag in "EIS"), None)
        if isolating is not None:
            return f"-{isolating}"
        if last.startswith(("c", "m")):
            return None
        if last in _TAKE_THE_NEXT:
            next(options, None)
    return None


def _with_variables(environment: Mapping[str, str], value: str) -> dict[str, str]:
    """Return the two variables by which a child process that gets this environment learns what to emulate."""
    others = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path != str(STARTUP_FOLDER)]
    return {VARIABLE: value, "PYTHONPATH": os.pathsep.join([str(STARTUP_FOLDER), *filter(None, others)])}
