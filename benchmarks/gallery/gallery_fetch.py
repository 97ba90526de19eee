"""Bring the projects of the gallery to this machine: clone a repository at its commit, unpack a package's release."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gallery_bug import Bug


def _clone(bug: Bug, place: Path) -> None:
    address = f"https://github.com/{bug.project}"
    with tempfile.TemporaryDirectory() as folder:
        for command in ("init -q", f"fetch -q --depth=1 {address} {bug.commit}", f"checkout -q {bug.commit}"):
            subprocess.run(["git", *command.split()], cwd=folder, check=True)
        shutil.copytree(folder, place, symlinks=True)


def _unpack(bug: Bug, place: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        download = ["pip", "download", "-q", "--no-deps", "--prefer-binary", f"{bug.project}=={bug.commit}"]
        subprocess.run([sys.executable, "-m", *download, "-d", folder], check=True)
        (archive,) = Path(folder).iterdir()
        unpacked = Path(folder) / "unpacked"
        shutil.unpack_archive(archive, unpacked, "zip" if archive.suffix == ".whl" else None)
        source = unpacked if archive.suffix == ".whl" else next(unpacked.iterdir())
        shutil.move(source, place)


def fetch(bug: Bug, checkouts: Path) -> None:
    """Bring a bug's project into the folder of checkouts, unless it is there."""
    place = checkouts / bug.folder
    if not place.exists():
        (_clone if "/" in bug.project else _unpack)(bug, place)
