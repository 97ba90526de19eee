"""What an entry of the gallery is: a bug in a public project, and how a run shows it."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bug:
    """A bug that devlint finds in a public project.

    The entry's function `show(device)` makes the smallest sensible use of the code. On the accelerator it raises the
    error that is expected, or returns what can be observed. On the host the same use works.
    """

    project: str
    """`owner/name` on GitHub, or the name of a package."""
    commit: str
    """The commit, or the version of the package."""
    file: str
    row: int
    """The row that devlint reports."""
    code: str
    what: str
    """What happens to whom, in one sentence."""
    expected: str
    """Part of the message of the error, or of what is observed."""
    raised_at: int = 0
    """The row of the file at which the error leaves the project's code or passes through; 0 is `row`."""
    observed: bool = False
    """Whether nothing is raised: the run shows a wrong result, or a statement without effect."""
    on_host_too: bool = False
    """Whether the host shows it as well, because the bug is one of dtypes."""
    inside: str = ""
    """The folder of the checkout from which the project's modules are imported."""

    @property
    def folder(self) -> str:
        """The name of the folder of checkouts that holds the project."""
        return self.project.replace("/", "+") if "/" in self.project else f"{self.project}-{self.commit}"

    @property
    def link(self) -> str | None:
        """The address of the row on GitHub; None for a package, which its name and version identify."""
        if "/" not in self.project:
            return None
        return f"https://github.com/{self.project}/blob/{self.commit}/{self.file}#L{self.row}"


def entry_at(path: Path) -> Bug:
    """Return what an entry's file says of its bug."""
    bug = runpy.run_path(str(path))["ENTRY"]
    assert isinstance(bug, Bug), path
    return bug


def entry_paths() -> list[Path]:
    """Return the files of the entries, sorted by name."""
    return sorted((Path(__file__).parent / "entries").glob("*.py"))
