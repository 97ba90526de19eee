"""The search for the Python files and notebooks to check, below the paths that the user names."""

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
"""The suffixes of the files that are analysed in a directory; a file named on the command line may have any other."""


@dataclass(frozen=True, slots=True)
class DiscoveredFile:
    """A file to check: its absolute path, its name in reports, and the settings that apply to it."""

    path: Path
    name: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory to search for files: its path, its name in reports, and git's ignore patterns from outside of it.

    The ignore patterns of the outermost directory come first.
    """

    place: Path
    shown: Path
    ignores: tuple[Patterns, ...]


class Discovery:
    """A search for the files to check below given paths.

    `settings_for` returns the settings of a directory; `complain` receives a message for each path that cannot be read.
    """

    def __init__(self, settings_for: Callable[[Path], Settings], complain: Callable[[str], None]) -> None:
        self._settings_for = settings_for
        self._complain = complain
        self._seen: set[str] = set()
        self._real_folders: dict[Path, str] = {}

    def find(self, paths: Sequence[Path]) -> Iterator[DiscoveredFile]:
        """Yield every file to check, each file once and in a fixed order.

        These are the files that the paths name and the files below the directories that the paths name. A path that
        cannot be read is reported and skipped.
        """
        for path in paths:
            place = Path(os.path.abspath(path))
            if not path.exists():
                self._complain(_missing(path))
                continue
            if path.is_char_device() or path.is_block_device():
                # Reading from a device may never end.
                self._complain(f"{path}: neither a file nor a directory")
                continue
            directory = path.is_dir()
            settings = self._settings(place if directory else place.parent)
            if settings is None or (settings.force_exclude and is_excluded(settings, place, directory=directory)):
                continue
            found = self._walk(place, path) if directory else iter([DiscoveredFile(place, path.as_posix(), settings)])
            yield from (file for file in found if self._is_new(file))

    def find_text(self, name: str) -> Iterator[DiscoveredFile]:
        """Yield the file with the given name, for a text that need not be on the disk.

        Nothing if the settings exclude it.
        """
        place = Path(os.path.abspath(name))
        settings = self._settings(place.parent)
        if settings is not None and not (settings.force_exclude and is_excluded(settings, place)):
            yield DiscoveredFile(place, Path(name).as_posix(), settings)

    def _walk(self, root: Path, shown: Path) -> Iterator[DiscoveredFile]:
        """Yield the Python files and notebooks to check below a directory, without those that are ignored or excluded.

        Links to directories are not followed, so that no cycle of links is possible. Links to files come last.
        """
        pending = [_Directory(root, shown, tuple(patterns.below(root) for patterns in _ignores_above(root)))]
        links: list[DiscoveredFile] = []
        while pending:
            directory = pending.pop()
            settings = self._settings(directory.place)
            if settings is None:
                continue
            exclude = tuple(patterns.below(root) for patterns in settings.exclude)
            ignores = (*directory.ignores, *_gitignore(directory.place)) if settings.respect_gitignore else ()
            folders = []
            for entry in self._entries(directory.place):
                place, name = Path(entry.path), directory.shown / entry.name
                folder = entry.is_dir(follow_symlinks=False)
                if not folder and not (entry.name.endswith(SUFFIXES) and place.is_file()):
                    continue
                if _matches_any(exclude, place, folder) or _is_ignored(ignores, place, folder):
                    continue
                if folder:
                    folders.append(_Directory(place, name, ignores))
                elif entry.is_symlink():
                    links.append(DiscoveredFile(place, name.as_posix(), settings))
                else:
                    yield DiscoveredFile(place, name.as_posix(), settings)
            pending += reversed(folders)
        yield from links

    def _entries(self, place: Path) -> list[os.DirEntry[str]]:
        """Return the entries of a directory, sorted by name.

        If the directory cannot be read, report that and return no entries.
        """
        try:
            with os.scandir(place) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as problem:
            self._complain(f"{place}: {problem.strerror}")
            return []

    def _settings(self, directory: Path) -> Settings | None:
        """Return the settings of a directory. If its configuration is invalid, report that and return None."""
        try:
            return self._settings_for(directory)
        except ConfigError as problem:
            self._complain(str(problem))
            return None

    def _is_new(self, file: DiscoveredFile) -> bool:
        """Return whether this search has not found a file before.

        Two names that lead to one file by links are one file.
        """
        real = self._real(file.path)
        new = real not in self._seen
        self._seen.add(real)
        return new

    def _real(self, path: Path) -> str:
        """Return the path of a file without links. Links above it are resolved once for its folder."""
        if path.is_symlink():
            return os.path.realpath(path)
        folder = path.parent
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder).rstrip(os.sep)
        return f"{self._real_folders[folder]}{os.sep}{path.name}"


def _missing(path: Path) -> str:
    """Return the complaint that there is no such path, for one function of a file the complaint that it is not one."""
    file, colons, function = str(path).partition("::")
    if colons and Path(file).is_file():
        return f"{path}: devlint checks whole files; check {file}, and look for {function} in the report"
    return f"{path}: no such file or directory"


def is_excluded(settings: Settings, place: Path, *, directory: bool = False) -> bool:
    """Return whether the exclude patterns of settings match a path, or a directory that contains the path."""
    return _matches_any(settings.exclude, place, directory)


def _matches_any(exclude: Sequence[Patterns], place: Path, directory: bool) -> bool:
    """Return whether at least one of the given exclude patterns matches a path."""
    return any(patterns.verdict(place, directory=directory) for patterns in exclude)


def _is_ignored(ignores: Sequence[Patterns], place: Path, directory: bool) -> bool:
    """Return whether `.gitignore` files ignore a path. The innermost file that has a pattern for the path decides."""
    verdicts = (patterns.verdict(place, directory=directory) for patterns in reversed(ignores))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _ignores_above(root: Path) -> Iterator[Patterns]:
    """Yield git's ignore patterns that apply to a directory from outside of it, those of the outermost directory first.

    They are those of the repository's file `.git/info/exclude` and of the `.gitignore` files in the parent directories.
    Outside of a repository there are none.
    """
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if top is None:
        return
    yield from _read_patterns(top, top / ".git" / "info" / "exclude")
    for folder in reversed(root.parents):
        if folder.is_relative_to(top):
            yield from _gitignore(folder)


def _gitignore(folder: Path) -> Iterator[Patterns]:
    """Yield the ignore patterns of the `.gitignore` file in a folder; yield nothing if the folder has no such file."""
    yield from _read_patterns(folder, folder / ".gitignore")


def _read_patterns(root: Path, path: Path) -> Iterator[Patterns]:
    """Yield the patterns of an ignore file such as `.gitignore`; yield nothing if the file does not exist.

    As git does, skip a file that cannot be read, and lines that are not valid patterns.
    """
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
