"""The published packages that devlint is measured on, unpacked where they can be read."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

VERSIONS: Final = {"timm": "1.0.31", "accelerate": "1.15.0", "lightning": "2.6.6", "torchmetrics": "1.9.0"}
"""What the figures of this folder were taken from."""


def wheel(name: str, folder: Path) -> Path:
    """The wheel of a package in a folder, downloaded if it is not there."""
    pattern = f"{name}-{VERSIONS[name]}-*.whl"
    if not list(folder.glob(pattern)):
        download = ["pip", "download", "-q", "--no-deps", "--only-binary=:all:", f"{name}=={VERSIONS[name]}"]
        subprocess.run([sys.executable, "-m", *download, "-d", str(folder)], check=True)
    return next(folder.glob(pattern))


def unpacked(name: str, folder: Path) -> Path:
    """The sources of a package: `folder/NAME`, downloaded and unpacked there unless they lie there already."""
    place = folder / name
    if not place.is_dir():
        with zipfile.ZipFile(wheel(name, folder)) as archive:
            archive.extractall(folder)
    return place
