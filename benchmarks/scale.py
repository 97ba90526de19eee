"""Measure how the cost of `devlint check` grows with a project: sets of packages side by side, of several sizes.

    python benchmarks/scale.py FOLDER [--download] [--lines 100000 1000000 3000000] [--shards N] [--limit SECONDS]
    python benchmarks/scale.py FOLDER --groups

FOLDER has a folder for each unpacked package; with `--download`, the packages of `benchmarks/wheels.py` that are wheels
are put there first. A set takes them by name as long as they fit into its size, so that each set has all of the smaller
ones. One process checks a set, without a cache. With `--shards`, each shard is measured as well, one after the other,
and their merged report is compared with the one on the whole set. `--groups` prints of each package how many dependency
groups it has, and which part of its code is in the largest one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from process_cost import Cost, cost_of
from wheels import FIRST_SAMPLE, SECOND_SAMPLE, SOURCES_ONLY, VERSIONS, unpack, wheel

from devlint.interpreter.program.program import Program
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.dependency_groups import dependency_groups

SIZES: Final = (100_000, 1_000_000, 3_000_000)
UNDIVIDED: Final = 0.95
"""The part of a package's code in one dependency group from which on shards hardly divide it."""
OPTIONS: Final = ["--isolated", "--no-cache", "--jobs", "1", "--exit-zero", "--output-format", "json"]
MERGE: Final = ["merge", "--quiet", "--exit-zero", "--output-file"]


def download(folder: Path) -> None:
    """Put the packages that are published as wheels into a folder, each unpacked in a folder of its own."""
    for name in {**VERSIONS, **FIRST_SAMPLE, **SECOND_SAMPLE}.keys() - SOURCES_ONLY:
        if not (folder / name).is_dir():
            with tempfile.TemporaryDirectory() as archives:
                unpack(wheel(name, Path(archives)), folder / name)


def lines_of(package: Path) -> int:
    """Return the number of lines in the Python files of an unpacked package."""
    return sum(path.read_bytes().count(b"\n") for path in package.rglob("*.py"))


def packages_for(size: int, lines: Mapping[Path, int]) -> list[Path]:
    """Return packages with about `size` lines together, the first ones that fit."""
    chosen: list[Path] = []
    for package, count in lines.items():
        if count <= size:
            chosen.append(package)
            size -= count
    return chosen


def build(packages: Sequence[Path], folder: Path) -> Path:
    """Put the Python files of packages into a new folder, which is returned."""
    for package in packages:
        for path in package.rglob("*.py"):
            place = folder / path.relative_to(package.parent)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return folder


def run(arguments: Sequence[str], folder: Path, limit: float) -> Cost | None:
    """Run devlint in a folder; return what it took, None if it was stopped at the limit of wall time."""
    cost = cost_of([sys.executable, "-m", "devlint", *arguments], folder, limit)
    return cost if cost.status in (0, 2) else None  # 2: what cannot be analysed is told


def shown(cost: Cost) -> str:
    """Return what a run took, in columns: processor time and wall time in seconds, and the peak memory in GB."""
    return f"{cost.processor:8.0f} {cost.wall:8.0f} {cost.largest / 1000:7.2f}"


def measure(project: Path, lines: int, shards: int, limit: float) -> None:
    """Print what a run over a folder takes, and what each of its shards does."""
    files = sum(1 for _ in project.rglob("*.py"))
    whole = project.parent / "whole.json"
    print(f"{lines:9,} {files:7,}", end=" ", flush=True)
    cost = run(["check", ".", *OPTIONS, "--output-file", str(whole), "--quiet"], project, limit)
    if cost is None:
        print("stopped at the limit", flush=True)
        return
    print(f"{shown(cost)} {len(json.loads(whole.read_text())):8,} {lines / cost.processor:7,.0f}", flush=True)
    reports = []
    for number in range(1, shards + 1):
        shard, report = f"{number}/{shards}", project.parent / f"shard-{number}.json"
        told = run(["check", ".", *OPTIONS, "--output-file", str(report), "--shard", shard], project, limit)
        print(f"   shard {shard:>7}  {shown(told) if told else 'stopped at the limit'}", flush=True)
        reports.append(str(report))
    if shards and all(map(os.path.exists, reports)):
        merged = project.parent / "merged.json"
        run([*MERGE, str(merged), *reports], project, limit)
        same = merged.read_bytes() == whole.read_bytes()
        print(f"   the merged report is {'the same' if same else 'another'}", flush=True)


@with_deep_stack
def print_groups(packages: Sequence[Path]) -> None:
    """Print how each package divides into dependency groups, and how many packages hardly divide at all."""
    shares = []
    for package in packages:
        files = sorted(package.rglob("*.py"))
        program = Program([(path, path.as_posix()) for path in files])
        sizes = [sum(path.stat().st_size for path in group) for group in dependency_groups(program)]
        if sum(sizes):
            shares.append(max(sizes) / sum(sizes))
            print(
                f"{shares[-1]:7.1%} of {len(files):5,} files in the largest of {len(sizes):4,} groups: {package.name}"
            )
    undivided = sum(share > UNDIVIDED for share in shares)
    print(f"{undivided} of {len(shares)} packages have more than {UNDIVIDED:.0%} of their code in one group")


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--lines", type=int, nargs="+", default=SIZES)
    parser.add_argument("--shards", type=int, default=0)
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds of wall time for one run")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.download:
        download(given.folder)
    packages = [package for package in sorted(given.folder.iterdir()) if package.is_dir()]
    if given.groups:
        print_groups(packages)
        return
    lines = {package: lines_of(package) for package in packages}
    print("    lines   files processor     wall      GB findings  lines/s")
    for size in given.lines:
        chosen = packages_for(size, lines)
        with tempfile.TemporaryDirectory() as place:
            project = build(chosen, Path(place) / "project")
            measure(project, sum(lines[one] for one in chosen), given.shards, given.limit)


if __name__ == "__main__":
    main()
