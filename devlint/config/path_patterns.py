"""Gitignore-style patterns that are anchored at a directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns as `.gitignore` has them, read relative to `root`."""

    root: Path
    spec: GitIgnoreSpec

    @classmethod
    def of(cls, root: Path, lines: Iterable[str]) -> Patterns:
        """Compile the lines; a line that is no pattern raises `ValueError`."""
        return cls(root, GitIgnoreSpec.from_lines(lines))

    def verdict(self, path: Path, *, directory: bool) -> bool | None:
        """Whether the path is matched (True), excepted by a `!` pattern (False) or not spoken of (None)."""
        return self.spec.check_file(self._relative(path, directory)).include

    def below(self, path: Path) -> Patterns:
        """These patterns without those that match `path`, a directory that the user asked for by name."""
        if self.root.is_relative_to(path):
            return self
        name = self._relative(path, directory=True)
        kept = [pattern for pattern in self.spec.patterns if pattern.match_file(name) is None]
        return Patterns(self.root, GitIgnoreSpec(kept))

    def _relative(self, path: Path, directory: bool) -> str:
        name = os.path.relpath(path, self.root) if path.is_relative_to(self.root) else path.as_posix().lstrip("/")
        return Path(name).as_posix() + ("/" if directory else "")
