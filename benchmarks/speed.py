"""Measure what devlint costs for large packages, beside libcst's parser, ruff, mypy and pyright.

    python benchmarks/speed.py [NAME_OR_FOLDER...] [--from DIR] [--rounds N] [--only MEASURE,...] [--record FILE]
    python benchmarks/speed.py --brief FOLDER...

The script downloads the wheels of timm and transformers (`wheels.py` has the versions) without what they need, or takes
wheels or unpacked packages from `--from DIR`, and works on copies. Each command is a process of its own, and in each
round all are run in turn, so that a noisy machine affects all alike: `libcst.parse_module` of all files, with Python's
garbage collector and, as devlint does it, without; devlint without a cache, with a cache and nothing changed, with a
constant and a function added to a leaf file, and the same added to a root file, each in one process and with all
processors; `ruff`, `mypy` and `pyright` without a cache, which the extra `bench` installs. The type checkers are shown
an environment without packages. What is not installed is left out, and a line says so.

It prints the medians of processor time, wall time and peak memory, and what the targets ask. A row with the date and
all versions is added to `speed.jsonl`, unless `--only` leaves something out. `--brief` compares devlint in one process
with libcst's parser only. Before all that, the script compiles devlint to bytecode, as an installation does with every
tool here: where Python may write none (`PYTHONDONTWRITEBYTECODE`), each run from a checkout would compile it anew.
"""

from __future__ import annotations

import argparse
import compileall
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from process_cost import Cost, cost_of
from wheels import LARGE, VERSIONS, unpacked_package

ROOT: Final = Path(__file__).parents[1]
RECORD: Final = Path(__file__).with_name("speed.jsonl")
DEFAULT: Final = ("timm", "transformers")
EDITED: Final = {
    "timm": ("models/vgg.py", "layers/__init__.py"),
    "transformers": ("models/whisper/modeling_whisper.py", "utils/__init__.py"),
}
"""The file of a package that nothing else needs, and the file that most others import."""
ADDED: Final = "\n\n_ADDED_{number} = {number}\n\n\ndef _added_{number}(value):\n    return value + _ADDED_{number}\n"
"""The code that is added to a file, each time with another number, so that no earlier run has seen it."""
TOOLS: Final = ("ruff", "mypy", "pyright")
PARSE: Final = """
import gc, sys
from pathlib import Path
import libcst
if sys.argv[2:]:
    gc.disable()
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    try:
        libcst.parse_module(path.read_bytes())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
"""


@dataclass(frozen=True, slots=True)
class Measure:
    """A command whose cost is measured; `before` prepares it and `after` puts back what it has changed."""

    name: str
    command: Sequence[str]
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None


class Workplace:
    """A folder with a copy of a package, a cache, and an environment without packages for the type checkers."""

    def __init__(self, package: Path, folder: Path) -> None:
        self.name = package.name
        self.folder = folder
        self.copy = folder / package.name
        shutil.copytree(package, self.copy, ignore=shutil.ignore_patterns("__pycache__", ".devlint_cache"))
        (folder / "pyproject.toml").write_text("[tool.devlint]\n")
        venv.create(folder / "bare", with_pip=False)
        self._added = 0
        self._original = b""

    def python(self) -> str:
        """Return the Python of the environment without packages."""
        return str(self.folder / "bare" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))

    def devlint(self, *options: str) -> list[str]:
        """Return the command that checks the package."""
        return [sys.executable, "-m", "devlint", "check", "--exit-zero", "--quiet", *options, self.name]

    def add_code(self, name: str) -> None:
        """Add a constant and a function to a file of the package."""
        self._added += 1
        path = self.copy / name
        self._original = path.read_bytes()
        path.write_bytes(self._original + ADDED.format(number=self._added).encode())

    def take_back(self, name: str) -> None:
        """Give a file of the package the content that it had before."""
        (self.copy / name).write_bytes(self._original)

    def lines(self) -> int:
        """Return the number of lines of the package."""
        return sum(path.read_bytes().count(b"\n") for path in self.copy.rglob("*.py"))


def measures(work: Workplace, tools: Mapping[str, str]) -> Iterator[Measure]:
    """Yield what is measured for a package, in the order in which it is run."""
    parse = [sys.executable, "-c", PARSE, str(work.copy)]
    yield Measure("parse", parse)
    yield Measure("parse without collector", [*parse, "uncollected"])
    cached = [f"--cache-dir={work.folder / 'cache'}"]
    for jobs in ("1", "auto"):
        yield Measure(f"cold {jobs}", work.devlint("--no-cache", f"--jobs={jobs}"))
    for jobs in ("1", "auto"):
        yield Measure(f"warm {jobs}", work.devlint(*cached, f"--jobs={jobs}"))
    for kind, name in zip(("leaf", "root"), EDITED.get(work.name, ()), strict=False):
        for jobs in ("1", "auto"):
            yield Measure(
                f"{kind} {jobs}",
                work.devlint(*cached, f"--jobs={jobs}"),
                lambda name=name: work.add_code(name),  # type: ignore[misc]
                lambda name=name: work.take_back(name),  # type: ignore[misc]
            )
    others = {
        "ruff": ["check", "--isolated", "--no-cache", "--exit-zero"],
        "mypy": [
            "--config-file=",
            f"--cache-dir={os.devnull}",
            "--ignore-missing-imports",
            f"--python-executable={work.python()}",
        ],
        "pyright": [f"--pythonpath={work.python()}"],
    }
    for tool in tools:
        yield Measure(tool, [sys.executable, "-m", tool, *others[tool], work.name])


def installed_tools() -> dict[str, str]:
    """Return the versions of the other tools that work here; print why one is left out."""
    found = {}
    for tool in TOOLS:
        if importlib.util.find_spec(tool) is None:
            print(f"{tool} is left out: it is not installed (pip install '.[bench]')")
        elif subprocess.run([sys.executable, "-m", tool, "--version"], capture_output=True, check=False).returncode:
            print(f"{tool} is left out: it does not start (pyright needs node, and its own code from the network)")
        else:
            found[tool] = importlib.metadata.version(tool)
    return found


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each part of some costs."""
    fields = ("processor", "wall", "largest", "together")
    return Cost(0, *(statistics.median(getattr(cost, name) for cost in costs) for name in fields))


def run(work: Workplace, wanted: Sequence[Measure], rounds: int) -> dict[str, Cost]:
    """Return the medians of what is measured, by name; a run that fills the cache comes first."""
    if any(measure.name.startswith(("warm", "leaf", "root")) for measure in wanted):
        cost_of(work.devlint(f"--cache-dir={work.folder / 'cache'}"), work.folder)
    costs: dict[str, list[Cost]] = {measure.name: [] for measure in wanted}
    for number in range(rounds):
        for measure in wanted:
            measure.before()
            cost = cost_of(measure.command, work.folder)
            measure.after()
            costs[measure.name].append(cost)
            if measure.name.startswith(("cold", "warm", "leaf", "root", "parse")) and cost.status:
                raise SystemExit(f"{measure.name}: {' '.join(measure.command)} ended with status {cost.status}")
            print(f"  round {number + 1}, {measure.name}: {cost.processor:.2f} s, wall {cost.wall:.2f} s", flush=True)
    return {name: medians(found) for name, found in costs.items()}


def table(costs: Mapping[str, Cost]) -> Iterator[str]:
    """Yield the lines of a table of costs."""
    parse = costs.get("parse")
    yield f"  {'':24} processor s  x parse     wall s  largest process MB  all processes MB"
    for name, cost in costs.items():
        ratio = f"{cost.processor / parse.processor:8.2f}" if parse is not None else " " * 8
        yield f"  {name:24} {cost.processor:11.2f} {ratio} {cost.wall:10.2f} {cost.largest:19.0f} {cost.together:17.0f}"


def targets(costs: Mapping[str, Cost]) -> Iterator[str]:
    """Yield a line for each target of which both sides were measured, with what it asks and what was measured."""

    def ratio(what: str, one: str, other: str, part: str, most: float) -> Iterator[str]:
        if one in costs and other in costs:
            found = getattr(costs[one], part) / getattr(costs[other], part)
            yield f"  {what}: {found:.2f}, at most {most} {'met' if found <= most else 'MISSED'}"

    yield from ratio("cold, all processors, wall as a multiple of mypy's", "cold auto", "mypy", "wall", 1.0)
    yield from ratio("cold, processor time as a multiple of the parse", "cold 1", "parse", "processor", 1.3)
    yield from ratio("cold, processor time as a multiple of pyright's", "cold 1", "pyright", "processor", 0.3)
    yield from ratio("root file touched, wall as a part of cold", "root auto", "cold auto", "wall", 0.4)
    yield from ratio("root file touched, processor time as a part of cold", "root auto", "cold auto", "processor", 0.4)
    for name, most in (("warm auto", 1.0), ("leaf auto", 2.0)):
        if name in costs:
            met = "met" if costs[name].wall <= most else "MISSED"
            yield f"  {name}: {costs[name].wall:.2f} s of wall time, at most {most} s for timm {met}"
    for name in ("cold 1", "cold auto"):
        if name in costs:
            most = costs[name].together
            yield f"  {name}: {most:.0f} MB at the peak, at most 1200 MB {'met' if most <= 1200 else 'MISSED'}"


def row(work: Workplace, version: str, rounds: int, tools: Mapping[str, str], costs: Mapping[str, Cost]) -> str:
    """Return the row of a record: a line of JSON."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    facts = {
        "date": datetime.date.today().isoformat(),
        "package": work.name,
        "version": version,
        "lines": work.lines(),
        "devlint": commit.stdout.strip(),
        "python": platform.python_version(),
        "libcst": importlib.metadata.version("libcst"),
        **tools,
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "rounds": rounds,
        "costs": {
            name: [round(cost.processor, 2), round(cost.wall, 2), round(cost.largest), round(cost.together)]
            for name, cost in costs.items()
        },
    }
    return json.dumps(facts) + "\n"


def brief(folder: Path, rounds: int) -> str:
    """Return one line on devlint in one process for a folder, as a multiple of libcst's parser."""
    parse = [sys.executable, "-c", PARSE, str(folder)]
    lint = [sys.executable, "-m", "devlint", "--exit-zero", "--no-cache", "--jobs", "1", str(folder)]
    times = [[cost_of(command).processor for command in (parse, [*parse, "uncollected"], lint)] for _ in range(rounds)]
    plain, uncollected, linting = map(statistics.median, zip(*times, strict=True))
    return (
        f"{folder.name}: devlint {linting:.1f} s, {linting / plain:.2f} times parse_module ({plain:.1f} s),"
        f" {linting / uncollected:.2f} times that without the collector ({uncollected:.1f} s)"
    )


def compile_devlint() -> None:
    """Compile devlint and its rules to bytecode, where that has not been done yet."""
    for package in ("devlint", "rules"):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations if spec is not None else None) or ():
            compileall.compile_dir(folder, quiet=1)


def main() -> None:
    """Measure the packages, print a table for each, and add a row to the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=DEFAULT, help="names in wheels.py, or folders")
    parser.add_argument("--from", dest="source", type=Path, help="a folder with wheels or unpacked packages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="the beginnings of the names of measures, with commas: cold,parse,mypy")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file that gets a row for each package")
    parser.add_argument("--brief", action="store_true", help="only compare devlint in one process with the parser")
    given = parser.parse_args()
    compile_devlint()
    if given.brief:
        for name in given.packages:
            print(brief(Path(name), given.rounds), flush=True)
        return
    tools = installed_tools()
    only = tuple(given.only.split(",")) if given.only else ("",)
    with tempfile.TemporaryDirectory() as place:
        for name in given.packages:
            package = Path(name) if Path(name).is_dir() else unpacked_package(name, given.source or Path(place))
            version = {**VERSIONS, **LARGE}.get(package.name, "")
            work = Workplace(package, Path(tempfile.mkdtemp(dir=place)))
            print(f"{package.name} {version}: {work.lines():,} lines", flush=True)
            costs = run(work, [one for one in measures(work, tools) if one.name.startswith(only)], given.rounds)
            print(*table(costs), *targets(costs), sep="\n", flush=True)
            if only == ("",):
                with given.record.open("a", encoding="utf-8") as record:
                    record.write(row(work, version, given.rounds, tools, costs))


if __name__ == "__main__":
    main()
