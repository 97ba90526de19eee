"""Compare what generated programs do with what devlint says of them.

    python benchmarks/generated_programs.py [--programs 20000] [--seed 1] [--jobs 2] [--keep DIR] [--shrink]

Every seed becomes a small PyTorch program of one or two files. It is grown by being run, so about a third of the
programs end with an error about a device, a dtype or a gradient, and the others run to their end. Each is run on the
emulated device and analysed by devlint. `generated/comparison.py` says what counts as a miss, a false alarm and a wrong
reveal. With `--keep`, each program with a disagreement is written to a folder, and with `--shrink` it is shrunk before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from generated.comparison import STATIC, Disagreement, judge
from generated.emulated_runs import emulation
from generated.program_generator import GeneratedProgram, generate
from generated.shrinking import shrunk

from devlint.runtime.not_emulated import NotEmulated

CHUNK = 50
"""The number of programs that a process makes at a time."""


@dataclass
class Tally:
    """The counts of a set of programs, and those that disagree."""

    programs: int = 0
    not_judged: int = 0
    clean: int = 0
    crashed: Counter[str] = field(default_factory=Counter)
    reported: Counter[str] = field(default_factory=Counter)
    alarmed: int = 0
    conditional: int = 0
    asked: int = 0
    known: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    disagreeing: list[tuple[GeneratedProgram, Disagreement]] = field(default_factory=list)

    def __iadd__(self, other: Tally) -> Tally:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    @property
    def known_crashes(self) -> int:
        """The number of programs that crashed with an error that some static rule is about."""
        return sum(count for code, count in self.crashed.items() if code in STATIC)

    @property
    def reported_share(self) -> float:
        """The share of these crashes that devlint reports."""
        known = sum(count for code, count in self.reported.items() if code in STATIC)
        return known / max(self.known_crashes, 1)

    @property
    def alarmed_share(self) -> float:
        """The share of the clean programs that have a false alarm."""
        return self.alarmed / max(self.clean, 1)

    def __str__(self) -> str:
        rows = [f"{self.programs} programs: {self.clean} clean, {sum(self.crashed.values())} crashed, "]
        rows[0] += f"{self.not_judged} not judged (another error, or not emulated)"
        rows += [
            f"  {code}: {count} crashed, {self.reported[code]} reported{'' if code in STATIC else ' (no static rule)'}"
            for code, count in self.crashed.most_common()
        ]
        return "\n".join(
            [
                *rows,
                f"crashes reported: {self.reported_share:.2%} of {self.known_crashes}",
                f"clean programs with a false alarm: {self.alarmed} ({self.alarmed_share:.2%});"
                f" with claims about other callers only: {self.conditional}",
                f"wrong reveals: {self.kinds['wrong reveal']} of {self.asked};"
                f" known: {self.known / max(self.asked, 1):.1%}",
                f"internal errors: {self.kinds['internal error']}",
            ]
        )


def tally_of(seeds: range) -> Tally:
    """Generate, run, analyse and compare the programs of these seeds."""
    tally = Tally()
    torch.set_num_threads(1)
    with emulation():
        for seed in seeds:
            _count(tally, generate(seed))
    return tally


def _count(tally: Tally, program: GeneratedProgram) -> None:
    """Judge a program and add it to a tally."""
    verdict = judge(program)
    outcome = verdict.outcome
    tally.programs += 1
    kinds = {one.kind for one in verdict.disagreements}
    if not outcome.is_judged or isinstance(outcome.error, NotEmulated):
        tally.not_judged += 1
    elif outcome.code is None:
        tally.clean += 1
        tally.alarmed += "false alarm" in kinds
        tally.conditional += verdict.about_other_callers > 0 and "false alarm" not in kinds
    else:
        tally.crashed[outcome.code] += 1
        tally.reported[outcome.code] += verdict.reported
    tally.asked += verdict.asked
    tally.known += verdict.known
    tally.kinds.update(one.kind for one in verdict.disagreements)
    first = {(one.kind, one.code): one for one in reversed(verdict.disagreements)}
    tally.disagreeing += [(program, one) for one in first.values()]


def _keep(program: GeneratedProgram, one: Disagreement, folder: Path, *, shrink: bool) -> None:
    """Write a program that disagrees into a folder, with the disagreement as its first line."""
    if shrink:
        with emulation():
            program = shrunk(program, one)
            after = next(x for x in judge(program).disagreements if (x.kind, x.code) == (one.kind, one.code))
    else:
        after = one
    text = f"# seed {program.seed}: {after.kind} {after.code}: {' '.join(after.text.split())}\n"
    for name, source in program.files.items():
        text += f"# {name}\n{source}\n" if len(program.files) > 1 else source
    kind = one.kind.replace(" ", "_")
    (folder / f"{kind}_{one.code or 'x'}_{program.seed}.py").write_text(text, encoding="utf-8")


def _work(task: tuple[range, Path | None, bool]) -> Tally:
    """Return the tally of a chunk of seeds, after writing the programs that disagree."""
    seeds, folder, shrink = task
    tally = tally_of(seeds)
    if folder is not None:
        for program, one in tally.disagreeing:
            _keep(program, one, folder, shrink=shrink)
    return tally


def _tallies(tasks: list[tuple[range, Path | None, bool]], jobs: int) -> Iterator[Tally]:
    """Yield the tallies of all chunks, made by `jobs` processes."""
    if jobs == 1:
        yield from map(_work, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_work, tasks)


def main() -> int:
    """Compare the programs and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write programs that disagree to this folder")
    parser.add_argument("--shrink", action="store_true", help="shrink the programs that are kept")
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    end = given.seed + given.programs
    chunks = [range(start, min(start + CHUNK, end)) for start in range(given.seed, end, CHUNK)]
    started, tally = time.perf_counter(), Tally()
    for one in _tallies([(chunk, given.keep, given.shrink) for chunk in chunks], given.jobs):
        tally += one
        print(f"\r{tally.programs} programs", end="", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - started
    print(f"\n{tally}\n{given.programs / seconds:.1f} programs a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
