"""The Python files and notebooks meant by the paths on the command line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.config.config_error import ConfigError
from devlint.config.path_patterns import Patterns
from devlint.config.settings import Settings

SUFFIXES = (".py", ".pyi", ".ipynb")
"""What is analysed in a directory; a file that is named on the command line may have any other."""


@dataclass(frozen=True, slots=True)
class DiscoveredFile:
    """A file to analyse: its absolute path, its name as it is reported, and the settings that hold for it."""

    path: Path
    name: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory to walk: where it is, how it is called, and the `.gitignore` files above it, outermost first."""

    place: Path
    shown: Path
    ignores: tuple[Patterns, ...]


class Discovery:
    """Walks the given paths. `settings_for` answers for a directory; `complain` takes what could not be read."""

    def __init__(self, settings_for: Callable[[Path], Settings], complain: Callable[[str], None]) -> None:
        self._settings_for = settings_for
        self._complain = complain
        self._seen: set[str] = set()

    def find(self, paths: Sequence[Path]) -> Iterator[DiscoveredFile]:
        """Every file meant by the paths, each once, in a settled order."""
        for path in paths:
            place = Path(os.path.abspath(path))
            if not path.exists():
                self._complain(f"{path}: no such file or directory")
                continue
            if path.is_char_device() or path.is_block_device():
                # Reading one may never end.
                self._complain(f"{path}: neither a file nor a directory")
                continue
            directory = path.is_dir()
            settings = self._settings(place if directory else place.parent)
            if settings is None or (settings.force_exclude and is_excluded(settings, place, directory=directory)):
                continue
            found = self._walk(place, path) if directory else iter([DiscoveredFile(place, path.as_posix(), settings)])
            yield from (file for file in found if self._first_time(file))

    def text(self, name: str) -> Iterator[DiscoveredFile]:
        """The file of this name, whose content does not come from the disk; nothing where settings leave it out."""
        place = Path(os.path.abspath(name))
        settings = self._settings(place.parent)
        if settings is not None and not (settings.force_exclude and is_excluded(settings, place)):
            yield DiscoveredFile(place, Path(name).as_posix(), settings)

    def _walk(self, root: Path, shown: Path) -> Iterator[DiscoveredFile]:
        """What there is to analyse below a directory. Links to directories are not followed: no link makes a loop."""
        waiting = [_Directory(root, shown, tuple(patterns.below(root) for patterns in _ignores_above(root)))]
        links: list[DiscoveredFile] = []
        while waiting:
            directory = waiting.pop()
            settings = self._settings(directory.place)
            if settings is None:
                continue
            exclude = tuple(patterns.below(root) for patterns in settings.exclude)
            ignores = (*directory.ignores, *_gitignore(directory.place)) if settings.respect_gitignore else ()
            deeper = []
            for entry in self._entries(directory.place):
                place, name = Path(entry.path), directory.shown / entry.name
                folder = entry.is_dir(follow_symlinks=False)
                if not folder and not (entry.name.endswith(SUFFIXES) and place.is_file()):
                    continue
                if _any(exclude, place, folder) or _innermost(ignores, place, folder):
                    continue
                if folder:
                    deeper.append(_Directory(place, name, ignores))
                elif entry.is_symlink():
                    links.append(DiscoveredFile(place, name.as_posix(), settings))
                else:
                    yield DiscoveredFile(place, name.as_posix(), settings)
            waiting += reversed(deeper)
        yield from links

    def _entries(self, place: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(place) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as problem:
            self._complain(f"{place}: {problem.strerror}")
            return []

    def _settings(self, directory: Path) -> Settings | None:
        try:
            return self._settings_for(directory)
        except ConfigError as problem:
            self._complain(str(problem))
            return None

    def _first_time(self, file: DiscoveredFile) -> bool:
        real = os.path.realpath(file.path)
        new = real not in self._seen
        self._seen.add(real)
        return new


def is_excluded(settings: Settings, place: Path, *, directory: bool = False) -> bool:
    """Whether the settings leave out this path, or a directory that it lies in."""
    return _any(settings.exclude, place, directory)


def _any(exclude: Sequence[Patterns], place: Path, directory: bool) -> bool:
    return any(patterns.verdict(place, directory=directory) for patterns in exclude)


def _innermost(ignores: Sequence[Patterns], place: Path, directory: bool) -> bool:
    """What the innermost `.gitignore` that speaks of the path says."""
    verdicts = (patterns.verdict(place, directory=directory) for patterns in reversed(ignores))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _ignores_above(root: Path) -> Iterator[Patterns]:
    """The `.gitignore` files between the top of the repository and `root`, which has its own still to come."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if top is None:
        return
    yield from _read_patterns(top, top / ".git" / "info" / "exclude")
    for folder in reversed(root.parents):
        if folder.is_relative_to(top):
            yield from _gitignore(folder)


def _gitignore(folder: Path) -> Iterator[Patterns]:
    yield from _read_patterns(folder, folder / ".gitignore")


def _read_patterns(root: Path, path: Path) -> Iterator[Patterns]:
    """The patterns of an ignore file, if there is one; like git, pass over a file or a line that means nothing."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    try:
        yield Patterns.of(root, lines)
    except ValueError:
        for line in lines:
            with contextlib.suppress(ValueError):
                yield Patterns.of(root, [line])
