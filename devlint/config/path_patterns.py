"""Patterns of paths in the syntax of `.gitignore`, relative to a directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of paths in the syntax of `.gitignore`, relative to the directory `root`."""

    root: Path
    spec: GitIgnoreSpec

    @classmethod
    def of(cls, root: Path, lines: Iterable[str]) -> Patterns:
        """Return the patterns in these lines, relative to the directory `root`.

        Raises ValueError for an invalid line.
        """
        return cls(root, GitIgnoreSpec.from_lines(lines))

    def verdict(self, path: Path, *, directory: bool) -> bool | None:
        """Return True if a pattern matches the path, False if a `!` pattern excepts it, None if no pattern applies.

        With `directory`, the path is that of a directory.
        """
        return self.spec.check_file(self._relative(path, directory)).include

    def below(self, path: Path) -> Patterns:
        """Return these patterns without those that match the directory `path`, which a user named on the command line.

        A directory that the user names is searched even if a pattern excludes it.
        """
        if self.root.is_relative_to(path):
            return self
        name = self._relative(path, directory=True)
        kept = [pattern for pattern in self.spec.patterns if pattern.match_file(name) is None]
        return Patterns(self.root, GitIgnoreSpec(kept))

    def _relative(self, path: Path, directory: bool) -> str:
        root, text = f"{self.root}{os.sep}", os.fspath(path)
        if text.startswith(root) and os.pardir not in text:  # A search asks this of every file, and paths are slow.
            name = text[len(root) :].replace(os.sep, "/")
        elif path.is_relative_to(self.root):
            name = Path(os.path.relpath(path, self.root)).as_posix()
        else:
            name = path.as_posix().lstrip("/")
        return name + ("/" if directory else "")
