"""The syntax indexes of files in the cache, with the facts that keys are made of: only changed files are parsed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from devlint.cache.digests import digest_of, digest_of_bytes, engine_digest
from devlint.cache.store import Store
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.file_reader import FileReader
from devlint.linter.file_facts import FileFacts, facts_of
from devlint.linter.json_records import from_json, to_json
from devlint.syntax.index import Binding, FileIndex, Statement, StatementFacts
from devlint.syntax.line_starts import Lines
from devlint.syntax.source import Source
from devlint.syntax.source_reading import decode_source, read_source


class StoredIndexes(FileReader):
    """The indexes of a program's files, from the store where the content of a file is known.

    `texts` replace the contents of the files at these paths.
    """

    def __init__(self, store: Store, texts: Mapping[Path, bytes]) -> None:
        super().__init__(texts)
        self._store = store
        self._contents: dict[Path, str] = {}
        self._facts: dict[Path, FileFacts] = {}

    def source(self, path: Path, name: str) -> Source:
        """Return the text of a file; raises SourceError for a file that cannot be read."""
        try:
            data = self._texts[path] if path in self._texts else path.read_bytes()
        except (OSError, ValueError):
            return read_source(path, name)
        self._contents[path] = digest_of_bytes(data)
        return decode_source(data, name)

    def index(self, path: Path, source: Source) -> FileIndex:
        """Return the index of a file that has a text; raises SourceError for a text that cannot be parsed."""
        stored = self._store.read(self._key(path)) if path in self._contents else None
        if stored is not None:
            try:
                index, facts = _read_entry(stored, source)
            except (TypeError, ValueError, LookupError):
                return super().index(path, source)
            self._facts[path] = facts
            return index
        return super().index(path, source)

    def has_index(self, path: Path) -> bool:
        """Return whether the index of a file that was read is in the store."""
        return path in self._contents and self._store.has(self._key(path))

    def is_plain(self, path: Path, source: Source) -> bool:
        """Return whether the running Python can parse the text of a file. A text that it can parse is remembered."""
        if path not in self._contents:
            return super().is_plain(path, source)
        key = digest_of(["plain", engine_digest(), path.suffix, self._contents[path]])
        if self._store.read(key) is True:
            return True
        is_plain = super().is_plain(path, source)
        if is_plain:
            self._store.write(key, True)
        return is_plain

    def facts(self, module: ModuleInfo) -> FileFacts | None:
        """Return the facts about a file; None if they cannot be told. They are stored for the next run."""
        index = module.index
        known = self._facts.get(module.path)
        if known is None and module.path in self._contents:
            known = facts_of(module)
            if known is not None:
                self._facts[module.path] = known
                self._store.write(self._key(module.path), _entry(index, known))
        return known

    def content(self, path: Path) -> str | None:
        """Return the digest of the content of a file as it was read; None for a file that was not read."""
        return self._contents.get(path)

    def _key(self, path: Path) -> str:
        """Return the key of the entry for the content of a file."""
        return digest_of(["index", engine_digest(), path.suffix, self._contents[path]])


def _entry(index: FileIndex, facts: FileFacts) -> object:
    """Return an index and the facts about its file as plain data."""
    statements = [
        [
            [
                one.kind,
                one.name,
                sorted(one.binds),
                sorted(one.mentions),
                [*map(to_json, one.imports)],
                sorted(one.globals),
            ],
            [one.bases, one.facts.depth, one.first_row, one.last_row, one.start, one.end],
        ]
        for one in index.statements
    ]
    return [index.docstring, index.newer_grammar, statements, to_json(facts)]


def _read_entry(data: object, source: Source) -> tuple[FileIndex, FileFacts]:
    """Return the index and the facts that plain data hold; raises an error of some kind if they do not."""
    docstring, newer_grammar, statements, facts = cast("list[Any]", data)
    read = tuple(
        Statement(
            StatementFacts(
                kind,
                name,
                frozenset(binds),
                frozenset(mentions),
                tuple(Binding(*binding) for binding in imports),
                frozenset(declared),
                tuple(bases),
                depth,
            ),
            first_row,
            last_row,
            source,
            start,
            end,
        )
        for (kind, name, binds, mentions, imports, declared), (
            bases,
            depth,
            first_row,
            last_row,
            start,
            end,
        ) in statements
    )
    index = FileIndex(source, Lines.of(source.text), read, docstring, newer_grammar)
    return index, from_json(FileFacts, facts)
