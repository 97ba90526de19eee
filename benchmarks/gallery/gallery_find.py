"""Ask devlint itself for the bugs of the gallery: `devlint check` must report each at its row."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from gallery_bug import Bug


def _reported(checkout: Path, targets: Iterable[str]) -> set[tuple[str, int, str]]:
    options = ["check", "--isolated", "--exit-zero", "--output-format", "json"]
    command = [sys.executable, "-m", "devlint", *options, *sorted(set(targets))]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return {(item["filename"], item["location"]["row"], item["code"]) for item in found}


def not_reported(bugs: Iterable[Bug], checkouts: Path) -> list[Bug]:
    """Return the bugs that devlint does not report, in their files or, failing that, in the whole checkout."""
    missing: list[Bug] = []
    for folder, group in groupby(sorted(bugs, key=lambda bug: bug.folder), key=lambda bug: bug.folder):
        left = list(group)
        for targets in ([bug.file for bug in left], ["."]):
            reported = _reported(checkouts / folder, targets) if left else set()
            left = [bug for bug in left if (bug.file, bug.row, bug.code) not in reported]
        missing += left
    return missing
