"""One of the runs that `devlint run --device emulated:all` compares, in a process of its own.

`python -m devlint.runtime.single_run REQUEST` runs the program, and writes how it ended to the file that the request
names. The request and the result are JSON, as `device_comparison` writes and reads them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from devlint.runtime.backends import BACKENDS, emulated_kind
from devlint.runtime.error_reports import first_line, user_sites
from devlint.runtime.going_on import going_on
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.program_runner import ProgramEnd, RunRequest, execute
from devlint.runtime.record_and_emulate import emulate, record, without_accelerators


def run_once(request: RunRequest) -> dict[str, Any]:
    """Run a program on one kind of device, and return how it ended and the digests of what it trained."""
    stepped: dict[int, Optimizer] = {}

    def remember(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        stepped[id(optimizer)] = optimizer

    hook = register_optimizer_step_post_hook(remember)
    here = Path.cwd()
    with _devices(request) as session:
        if session is not None:
            # A real device that is seeded draws other numbers than the host. The comparison is about everything else.
            session.own_generators = False
        with (
            going_on(session) if session is not None and request.keep_going else nullcontext(),
            record() if session is not None else nullcontext() as report,
        ):
            end = execute(request)
        digests = [_digest(value) for optimizer in stepped.values() for value in _parameters(optimizer)]
    hook.remove()
    os.chdir(here)
    host_only = report is not None and report.host_only
    return {"status": end.status, **_stop(end), "parameters": digests, "host_only": host_only}


def _devices(request: RunRequest) -> AbstractContextManager[Any]:
    """Return the context manager in which there are only the devices of the request, or none at all for `cpu`."""
    kind = emulated_kind(request.device)
    if kind is None:
        return without_accelerators()
    return emulate(1 if BACKENDS[kind].single else request.devices, kind)


def _parameters(optimizer: Optimizer) -> list[torch.Tensor]:
    """Return the parameters that an optimizer trains, in its order."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _digest(value: torch.Tensor) -> str:
    """Return a digest of a tensor's dtype, shape and bytes."""
    host = value.detach().cpu().contiguous()
    data = host.reshape(-1).view(torch.uint8).numpy().tobytes()
    return hashlib.sha256(repr((host.dtype, tuple(host.shape))).encode() + data).hexdigest()


def _stop(end: ProgramEnd) -> dict[str, Any]:
    """Return where and why an exception ended the program, as parts of the result; nothing if none did."""
    if end.error is None:
        return {}
    places = user_sites(end.error.__traceback__)
    return {
        "error": f"{type(end.error).__name__}: {first_line(str(end.error))}",
        "emulated": not isinstance(end.error, NotEmulated),
        "filename": places[0].filename if places else None,
        "line": places[0].line if places else None,
    }


def main() -> None:
    """Run the program that the request on the command line asks for."""
    asked = json.loads(sys.argv[1])
    result = Path(asked.pop("result"))
    folder = str(Path.cwd())
    if folder in sys.path[:1]:
        del sys.path[0]  # `python -m` puts it there, but the program was not started so
    asked["arguments"] = tuple(asked["arguments"])
    found = run_once(RunRequest(**asked))
    result.write_text(json.dumps(found), encoding="utf-8")
    sys.stdout.flush()
    sys.exit(found["status"])


if __name__ == "__main__":
    main()
