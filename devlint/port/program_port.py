"""The port of a program: its files are ported, analysed again, and kept where the analysis finds nothing new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from devlint.diagnostic import Edit
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.check import CheckResult, check_files
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.discovery import DiscoveredFile
from devlint.linter.progress import Progress, no_progress
from devlint.port.cuda_uses import CudaUse, Outcome
from devlint.port.file_port import port_file
from devlint.port.port_context import PortOptions, ProgramTraits
from devlint.port.program_traits import program_traits
from devlint.port.use_sites import MENTIONS_CUDA
from devlint.repair.document import Document
from devlint.syntax.index import index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source

_MAX_ROUNDS: Final = 5
"""The most times that a file is ported again because uses of CUDA stood inside one another."""


@dataclass(frozen=True, slots=True)
class PortedProgram:
    """The outcome of the port of a program: its files before and after, and what became of each use.

    `unreadable` are the files that could not be parsed, with the error.
    """

    before: Mapping[str, Document]
    after: Mapping[str, Document]
    uses: tuple[CudaUse, ...]
    unreadable: Mapping[str, str]

    @property
    def changed(self) -> list[str]:
        """The names of the files that the port changes."""
        return [name for name, document in self.before.items() if self.after[name].data != document.data]

    def count(self, outcome: Outcome) -> int:
        """Return how many uses had an outcome."""
        return sum(one.outcome is outcome for one in self.uses)


@with_deep_stack
def port_program(
    files: Sequence[DiscoveredFile],
    options: PortOptions,
    *,
    checked: bool = True,
    progress: Progress = no_progress,
    jobs: int = 1,
    texts: Mapping[str, Document] = MappingProxyType({}),
) -> PortedProgram:
    """Port files together and return the outcome; no file is written. `texts` replace files on the disk, by name.

    Where `checked`, the ported files are analysed, and a file with a finding that it did not have before is not ported.
    """
    replaced = {file.path: texts[file.name].data for file in files if file.name in texts}
    program = Program([(file.path, file.name) for file in files], texts=replaced)
    modules: dict[Path, ModuleInfo] = {}
    for path in program.given_paths:
        module = program.load(path)
        if module is not None:
            modules[path] = module
    traits = program_traits(modules, program)
    before: dict[str, Document] = {}
    after: dict[str, Document] = {}
    uses: dict[str, Sequence[CudaUse]] = {}
    for path, module in modules.items():
        if MENTIONS_CUDA.search(module.source.text):
            document = Document(module.filename, program.text_bytes(path))
            before[module.filename] = document
            after[module.filename], uses[module.filename] = _ported(document, module, options, traits[path])
    if checked:
        _withdraw(files, before, after, uses, progress, jobs)
    unreadable = {name: error.message for name, error in program.broken_files.values()}
    every = tuple(one for name in sorted(uses) for one in uses[name])
    return PortedProgram(before, after, every, unreadable)


def _ported(
    document: Document, module: ModuleInfo, options: PortOptions, traits: ProgramTraits
) -> tuple[Document, Sequence[CudaUse]]:
    """Return a file after its port, and what became of the uses of CUDA in it."""
    index, uses = module.index, list[CudaUse]()
    for round_ in range(_MAX_ROUNDS):
        result = port_file(index, options, traits)
        uses += [one for one in result.uses if not round_ or one.outcome is Outcome.PORTED]
        changed = document.edited(result.edits) if result.edits and document.takes(result.edits) else document
        if result.edits and changed is document:
            return document, [_left(one, "its cell or its encoding admits no edit") for one in uses]
        try:
            index = index_source(decode_source(changed.data, changed.filename))
        except SourceError as error:
            return document, [_left(one, f"the ported file does not parse: {error.message}") for one in uses]
        document = changed
        if result.is_finished:
            break
    return document, uses


def _left(use: CudaUse, reason: str) -> CudaUse:
    """Return a use as one that is left for a human, if it was ported."""
    if use.outcome is not Outcome.PORTED:
        return use
    return replace(use, outcome=Outcome.FOR_HUMAN, note=reason, edits=tuple[Edit]())


def _withdraw(
    files: Sequence[DiscoveredFile],
    before: Mapping[str, Document],
    after: dict[str, Document],
    uses: dict[str, Sequence[CudaUse]],
    progress: Progress,
    jobs: int,
) -> None:
    """Take back the port of the files that have more findings of a rule after it than before."""
    changed = [name for name in before if after[name].data != before[name].data]
    if not changed:
        return
    first = check_files(files, progress=progress, texts=_texts(before), jobs=jobs)
    for _ in range(_MAX_ROUNDS):
        second = check_files(files, texts=_texts(after), jobs=jobs)
        worse = _made_worse(first, second)
        taken = [name for name in changed if name in worse and after[name].data != before[name].data]
        if not taken:
            return
        for name in taken:
            after[name] = before[name]
            uses[name] = [_left(one, f"the port would bring a finding of {worse[name]}") for one in uses[name]]


def _made_worse(first: CheckResult, second: CheckResult) -> dict[str, str]:
    """Return the files that have more findings of a rule in the second analysis, each with the code of such a rule."""
    expected = Counter((one.region.filename, one.code) for one in first.diagnostics)
    found = Counter((one.region.filename, one.code) for one in second.diagnostics)
    return {name: code for (name, code), number in found.items() if number > expected[name, code]}


def _texts(documents: Mapping[str, Document]) -> Mapping[str, bytes]:
    """Return the contents of documents as bytes, by file name."""
    return {name: document.data for name, document in documents.items()}
