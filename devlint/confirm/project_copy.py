"""A copy of a project in a scratch folder, in which drivers run: what they write does not touch the project."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from devlint.confirm.source_files import SKIPPED
from devlint.diagnostic import Diagnostic, Region

LARGEST_FILE = 2_000_000
"""The bytes of the largest file that is copied, unless it is a Python file."""
MOST_BYTES = 300_000_000
"""The bytes that are copied at most."""


@dataclass(frozen=True, slots=True)
class ProjectCopy:
    """A project at `root`, and its copy at `place`."""

    root: Path
    place: Path

    def moved(self, finding: Diagnostic) -> Diagnostic:
        """Return a finding about the project as one about the copy."""
        return replace(
            finding,
            region=self._moved(finding.region),
            trace=tuple(replace(note, region=self._moved(note.region)) for note in finding.trace),
            fix=None,
        )

    def _moved(self, region: Region) -> Region:
        path = Path(os.path.realpath(region.filename))
        if not path.is_relative_to(self.root):
            return region
        return replace(region, filename=str(self.place / path.relative_to(self.root)))

    def in_project(self, text: str) -> str:
        """Return a text with the names of files of the copy as those of the project."""
        return text.replace(str(self.place), str(self.root))

    def original(self, filename: str) -> Path | None:
        """Return the file of the project that a file of the copy stands for; None for any other file."""
        path = Path(filename)
        return self.root / path.relative_to(self.place) if path.is_relative_to(self.place) else None


@contextmanager
def project_copy(root: Path) -> Iterator[ProjectCopy]:
    """Context manager that copies a project into a scratch folder, which it removes at the end.

    Large files that are not Python are left out, and so is what comes after `MOST_BYTES`.
    """
    with tempfile.TemporaryDirectory(prefix="devlint-confirm-", ignore_cleanup_errors=True) as scratch:
        place = Path(os.path.realpath(scratch)) / "project"
        _copy(root, place, [MOST_BYTES])
        yield ProjectCopy(root, place)


def _copy(folder: Path, target: Path, left: list[int]) -> None:
    """Copy what is in a folder; `left` holds the number of bytes that may still be copied."""
    target.mkdir(parents=True, exist_ok=True)
    for one in sorted(folder.iterdir()):
        if one.is_symlink() and not one.exists():
            continue
        if one.is_dir():
            if one.name not in SKIPPED and not one.is_symlink():
                _copy(one, target / one.name, left)
            continue
        size = one.stat().st_size
        if one.is_file() and (one.suffix == ".py" or size <= LARGEST_FILE) and size <= left[0]:
            left[0] -= size
            shutil.copyfile(one, target / one.name)
