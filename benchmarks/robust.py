"""Check that devlint analyses any Python program without a crash, a hang, or a file skipped in silence.

    python benchmarks/robust.py [NAME...] [--from DIR] [--torch]

NAME is `stdlib` (the standard library of the running Python, with its tests), `libcst` (the installed one, with its
tests), `timm`, `accelerate`, `lightning` or `torchmetrics`; the default is all of them. `--torch` adds the Python
sources of the installed torch. `--from` names the folder where wheels are unpacked.

All rules are on. Each part of a tree is checked in a process of its own; a part that takes too long is divided until
the files that cause the failure are known. The exit status is 1 if devlint failed anywhere.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import resource
import signal
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from wheels import VERSIONS, unpacked_package

import devlint

PART_SIZE = 150
"""The number of files checked together: enough to resolve imports, few enough to see which files take long."""
FILE_SECONDS = 60
"""The processor time that one file may take, in seconds."""
PART_SECONDS = 600
"""The processor time that the files of a part may take together, in seconds."""


@dataclass
class Tally:
    """The counts, failures and findings of the files of one tree."""

    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> bool:
        """Whether devlint itself failed on a file."""
        return bool(self.errors or self.failures)


def main() -> int:
    """Check the trees named on the command line and report on each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(_NAMES))
    parser.add_argument("--from", dest="folder", type=Path, help="where wheels lie unpacked, or are unpacked to")
    parser.add_argument("--torch", action="store_true", help="the Python sources of the installed torch, too")
    given = parser.parse_args()
    names = [*(given.names or _NAMES), *(["torch"] if given.torch else [])]
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            tally = Tally()
            files = sorted(_files_of(name, given.folder or Path(scratch)))
            for begin in range(0, len(files), PART_SIZE):
                _check_files(files[begin : begin + PART_SIZE], tally)
                print(f"{name}: {tally.files} of {len(files)}, {tally.seconds:.0f} s", file=sys.stderr, flush=True)
            _report(name, tally)
            failed |= tally.failed
    return int(failed)


_NAMES = ("stdlib", "libcst", *VERSIONS)


def _files_of(name: str, folder: Path) -> list[Path]:
    """Return the Python files of the tree with this name."""
    if name == "stdlib":
        root = Path(sysconfig.get_path("stdlib"))
        return [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    if name in VERSIONS:
        return list(unpacked_package(name, folder).rglob("*.py"))
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is not installed")
    return list(Path(spec.submodule_search_locations[0]).rglob("*.py"))


def _check_files(files: Sequence[Path], tally: Tally) -> None:
    """Check files together, in a process that is stopped when it takes too long; divide the files after a failure."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    limit = FILE_SECONDS if len(files) == 1 else PART_SECONDS
    process = context.Process(target=_check_in_process, args=(theirs, [str(path) for path in files], limit))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.start()
    theirs.close()
    try:
        result = ours.recv()
    except EOFError:
        result = None
    process.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    tally.seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if result is None and len(files) > 1:
        _check_files(files[: len(files) // 2], tally)
        _check_files(files[len(files) // 2 :], tally)
        return
    tally.files += len(files)
    tally.lines += sum(path.read_bytes().count(b"\n") for path in files)
    if result is None:
        slow = process.exitcode == -signal.SIGXCPU
        tally.failures.append(
            f"{files[0]}: " + (f"more than {FILE_SECONDS} s" if slow else f"status {process.exitcode}")
        )
        return
    tally.errors += [f"{error.filename}, {error.where}: {error.message}\n{error.traceback}" for error in result.errors]
    tally.failures += result.problems
    if result.checked != len(files):
        tally.failures.append(f"{len(files) - result.checked} files after {files[0]} were not checked")
    for finding in result.diagnostics:
        tally.found[finding.code] += 1
        if finding.code == "DEV900":
            tally.broken.append(f"{finding.region.filename}:{finding.region.start.row}: {finding.message}")


def _check_in_process(answer: Connection, files: Sequence[str], limit: int) -> None:
    """Check the files in a child process, under a limit of processor time, and send the result to the parent."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    answer.send(devlint.check_paths(files, select=["ALL"], isolated=True))
    answer.close()
    os._exit(0)


def _report(name: str, tally: Tally) -> None:
    """Print the counts, findings and failures of one tree."""
    speed = tally.lines / tally.seconds if tally.seconds else 0
    took = f"{tally.seconds:.0f} s of processor time ({speed:,.0f} lines/s)"
    print(f"{name}: {tally.files:,} files, {tally.lines:,} lines, {took}")
    print(f"  internal errors: {len(tally.errors)}; other failures: {len(tally.failures)}")
    print("  findings: " + (", ".join(f"{code} {count}" for code, count in sorted(tally.found.items())) or "none"))
    for line in tally.broken:
        print(f"  not read: {line}")
    for line in (*tally.failures, *tally.errors):
        print(f"  FAILED: {line}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
