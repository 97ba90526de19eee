"""The published packages that devlint is measured on, unpacked where they can be read."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

VERSIONS: Final = {"timm": "1.0.31", "accelerate": "1.15.0", "lightning": "2.6.6", "torchmetrics": "1.9.0"}
"""What the figures of this folder were taken from."""


def unpacked(name: str, folder: Path) -> Path:
    """The sources of a package: `folder/NAME`, downloaded and unpacked there unless they lie there already."""
    place = folder / name
    if not place.is_dir():
        wanted = f"{name}=={VERSIONS[name]}"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, wanted],
            check=True,
        )
        (wheel,) = folder.glob(f"{name}-{VERSIONS[name]}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return place
