"""Where the imports of the files in a folder are searched, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True, eq=False)
class ImportSearch:
    """The search for what the files in one folder import.

    `roots` are the folders in which absolute imports start. `resolved` has the file of each import by its text, with
    the dots before it, and None for what is not of the program. `held` says of the first names of absolute imports
    whether one of the roots has such a file or folder.
    """

    folder: Path
    roots: tuple[Path, ...]
    resolved: dict[str, Path | None] = field(default_factory=dict)
    held: dict[str, bool] = field(default_factory=dict)
