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
        name = os.path.relpath(path, self.root) if path.is_relative_to(self.root) else path.as_posix().lstrip("/")
        return Path(name).as_posix() + ("/" if directory else "")
