"""The files of the workspace that findings are wanted of though nobody has opened them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from devlint.config.settings import Settings
from devlint.linter.discovery import Discovery
from devlint.server.preferences import Book, Mode

LOGGER: Final = logging.getLogger("devlint")

SUFFIXES: Final = (".py", ".pyi")
"""Clients cannot show findings in the cells of a notebook that they have not opened."""


def survey(folders: Iterable[Path], book: Book) -> Mapping[Path, Settings]:
    """The files in the folders for which the client has asked so, as the command line would find them."""
    return dict(found for folder in folders for found in _below(folder, book))


def _below(folder: Path, book: Book) -> Iterator[tuple[Path, Settings]]:
    resolver, preferences = book.resolver(folder), book.preferences(folder)
    if resolver is None or preferences.mode is not Mode.WORKSPACE:
        return
    for one in Discovery(resolver.settings_for, LOGGER.warning).find([folder]):
        path = one.path.resolve()
        # A folder within this one may have preferences of its own.
        if path.suffix in SUFFIXES and book.preferences(path) is preferences:
            yield path, one.settings
