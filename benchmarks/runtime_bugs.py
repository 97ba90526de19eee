"""Device bugs of public packages that were found by running them: show each again, and ask `devlint check` for it.

    python benchmarks/runtime_bugs.py CHECKOUTS [PROJECT...] [--fetch] [--check]

`runtime_bugs.jsonl` holds one bug a line: the project and its version, the file and the row at which the error leaves
the project's code, what happens, a part of the error, how it was seen, and a driver, which uses the code as a user does
who has moved it to a GPU. Nothing of a project's code is copied. Each driver is run as those of the gallery are: on the
emulated device it must end with the error, through the row, and on the host it must run through.

With `--check` nothing is run: devlint is asked for the bugs at its default settings. A bug is found if a finding, or a
step of its trace, lies at the row of the error or at `made`, where the tensor that is in the way is made. `check` in
the record is what devlint said at first sight, before anything was learnt from the bug.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "gallery"))

from gallery_bug import Bug, entry_at
from gallery_fetch import fetch
from gallery_run import trouble

RECORD = Path(__file__).parent / "runtime_bugs.jsonl"
Row = dict[str, Any]


def recorded() -> list[Row]:
    """Return the bugs of the record, those of one project beside one another."""
    rows = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: (row["project"], row["file"], row["row"]))


def as_bug(row: Row) -> Bug:
    """Return a bug of the record as one of the gallery."""
    return Bug(row["project"], row["version"], row["file"], row["row"], row["check"] or "", row["what"], row["error"])


def entry_text(row: Row) -> str:
    """Return the file that the gallery runs: the entry, and the driver."""
    return f"from gallery_bug import Bug\n\nENTRY = {as_bug(row)!r}\n\n{row['driver']}"


def _reports(checkout: Path) -> Iterator[tuple[str, set[tuple[str, int]]]]:
    """Yield the code of each finding in a checkout, with the places that it names: its own and those of its trace."""
    options = ["check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json", "."]
    command = [sys.executable, "-m", "devlint", *options]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    for found in json.loads(done.stdout):
        steps = [found, *found["trace"]]
        yield found["code"], {(step["filename"], step["location"]["row"]) for step in steps}


def _places(row: Row) -> set[tuple[str, int]]:
    """Return where a finding about a bug may be."""
    made = row.get("made")
    name, _, number = made.rpartition(":") if made else ("", "", "0")
    return {(row["file"], row["row"]), (name or row["file"], int(number) or row["row"])}


def ask_devlint(rows: list[Row], checkouts: Path) -> None:
    """Print what devlint reports of each bug, and the numbers found at first sight and now."""
    now = 0
    for folder, group in groupby(rows, key=lambda row: as_bug(row).folder):
        reports = list(_reports(checkouts / folder))
        for row in group:
            code = next((code for code, places in reports if places & _places(row)), None)
            now += code is not None
            print(f"{row['project']} {row['file']}:{row['row']}: {code}, at first sight {row['check']}", flush=True)
    first = sum(row["check"] is not None for row in rows)
    print(f"{first} of {len(rows)} found at first sight, {now} now")


def run(rows: list[Row], checkouts: Path) -> int:
    """Run the drivers, print what each shows, and return how many do not show their bug."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows):
            path = Path(folder) / f"bug_{number}.py"
            path.write_text(entry_text(row), encoding="utf-8")
            said = trouble(entry_at(path), path, checkouts)
            failed += bool(said)
            print(f"{'FAILS' if said else 'shown'} {row['project']} {row['file']}:{row['row']} {said}", flush=True)
    projects = len({row["project"] for row in rows})
    print(f"{len(rows) - failed} of {len(rows)} shown, in {projects} projects")
    return failed


def main() -> int:
    """Run the drivers, or ask devlint, and return 1 if a driver does not show its bug."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, help="folder with OWNER+NAME and PACKAGE-VERSION")
    parser.add_argument("projects", nargs="*", help="all if none is given")
    parser.add_argument("--fetch", action="store_true", help="first download the projects that are missing")
    parser.add_argument("--check", action="store_true", help="ask devlint for the bugs; do not run the drivers")
    options = parser.parse_args()
    rows = [row for row in recorded() if not options.projects or row["project"] in options.projects]
    if options.fetch:
        options.checkouts.mkdir(parents=True, exist_ok=True)
        for row in rows:
            fetch(as_bug(row), options.checkouts)
    if options.check:
        ask_devlint(rows, options.checkouts)
        return 0
    return min(run(rows, options.checkouts), 1)


if __name__ == "__main__":
    sys.exit(main())
