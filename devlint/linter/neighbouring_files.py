"""The files of a project that import some of its files, or are imported by them: where a change may do harm."""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import Final

from devlint.config.settings import Settings
from devlint.interpreter.program.disk_reads import DiskReads
from devlint.interpreter.program.program import Program
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.project_texts import project_folder

_MAX_CANDIDATES: Final = 2000
"""In a larger project, files are not searched for those that import others."""
_MAX_NEIGHBOURS: Final = 40
"""The most files that are analysed beside those that the user named; the nearest count."""


def neighbouring_files(
    files: Sequence[DiscoveredFile], settings_for: Callable[[Path], Settings]
) -> Sequence[DiscoveredFile]:
    """Return the other files of a project that import some files, or that these import, directly or through others.

    The search for them goes by the settings of the project's folders, as `settings_for` returns them.
    """
    given = {Path(os.path.realpath(file.path)) for file in files}
    below = Discovery(settings_for, lambda _: None).find([project_folder(given, DiskReads())])
    around = {Path(os.path.realpath(one.path)): one for one in itertools.islice(below, _MAX_CANDIDATES)}
    if given >= around.keys() or len(around) == _MAX_CANDIDATES:
        return []
    src = list(dict.fromkeys(folder for file in files for folder in file.settings.src if folder.is_dir()))
    program = Program([(path, path.as_posix()) for path in {*given, *around}], src)
    importers: dict[Path, set[Path]] = defaultdict(set)
    for path in around:
        for imported in program.imports_at_most(path):
            importers[imported].add(path)
    used = _nearest(given, lambda path: program.imports_at_most(path) & around.keys())
    using = _nearest(given, lambda path: importers.get(path, set()))
    in_turn = (path for pair in itertools.zip_longest(used, using) for path in pair if path is not None)
    return [around[path] for path in itertools.islice(dict.fromkeys(in_turn), _MAX_NEIGHBOURS)]


def _nearest(given: set[Path], neighbours: Callable[[Path], Set[Path]]) -> Iterator[Path]:
    """Yield the files that are reached from the given ones by one step or more, the nearest first."""
    seen, pending = set(given), sorted(given)
    while pending:
        pending = sorted(set[Path]().union(*map(neighbours, pending)) - seen)
        seen.update(pending)
        yield from pending
