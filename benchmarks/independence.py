"""Check that what devlint finds from a file depends on the program only.

    python benchmarks/independence.py FOLDER...

Analyses the files of each folder in order, in reverse order, each of some files alone, and in new processes, whose sets
have another order. Prints the files whose results differ, and exits with status 1 if there are any.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.file_findings import FileFindings
from devlint.linter.rule_loader import all_rules
from devlint.linter.worker_pool import ProgramInputs, analyse_in_processes

CODES = frozenset(rule.code for rule in all_rules())
ALONE = 20
"""The number of files of each folder that are analysed alone."""


def _in_order(inputs: ProgramInputs, paths: Iterable[Path]) -> dict[Path, FileFindings]:
    """Return the results for some files, analysed in this order."""
    analyser = inputs.analyser()
    return {path: analyser.analyse(path) for path in paths}


def _different(one: Mapping[Path, FileFindings], other: Mapping[Path, FileFindings]) -> list[Path]:
    """Return the files of `other` whose results are not those of `one`."""
    return [path for path in other if one[path] != other[path]]


@with_deep_stack
def check(folder: Path) -> bool:
    """Return whether the results for a folder's files are the same in all ways to analyse them; print what differs."""
    files = sorted(folder.rglob("*.py"))
    inputs = ProgramInputs([(path, path.relative_to(folder).as_posix()) for path in files], CODES)
    analyser = inputs.analyser()
    given = analyser.program.given_paths
    first = _in_order(inputs, given)
    print(f"{folder.name}: {len(given)} files, {sum(len(one.findings) for one in first.values())} findings", flush=True)
    ways = {"in reverse order": _in_order(inputs, given[::-1]), "alone": {}}
    for path in random.Random(0).sample(given, min(ALONE, len(given))):
        ways["alone"] |= _in_order(inputs, [path])
    sizes = {path: path.stat().st_size for path in given}
    ways["in new processes"] = analyse_in_processes(analyser, inputs, sizes, 2, "spawn")
    different = [(way, path) for way, found in ways.items() for path in _different(first, found)]
    for way, path in different:
        print(f"  {path.relative_to(folder)} is another {way}")
    return not different


def main() -> None:
    """Check each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    results = [check(folder.resolve()) for folder in parser.parse_args().folders]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
