"""The analysis of a program: interpret its files abstractly, pass the events to the rules, collect the diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from devlint.cache.store import ProjectCache
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.tensor_files import files_without_tensors
from devlint.linter.analysis_report import AnalysisReport
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.dependency_groups import files_of_shard
from devlint.linter.diagnostics import diagnostics_of
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.parallel_outlines import outline_in_processes
from devlint.linter.progress import Progress, no_progress
from devlint.linter.project_texts import FilesBelow, no_files
from devlint.linter.run_work import FileTime, RunWork
from devlint.linter.shard import Shard
from devlint.linter.stored_findings import StoredFindings
from devlint.linter.stored_indexes import StoredIndexes
from devlint.linter.worker_pool import (
    ProgramInputs,
    analyse_in_processes,
    outgrows_one_process,
    processes_for,
    start_method,
)
from devlint.syntax.index import index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source

_SIZE_WITHOUT_TENSORS: Final = 10
"""The number of characters of a file that does not mention torch which are as much work as one of a file that does."""


@with_deep_stack
def analyse_files(
    paths: Sequence[Path],
    *,
    codes: frozenset[str],
    src: Sequence[Path] = (),
    models: Sequence[Path] = (),
    stdin: tuple[str, bytes] | None = None,
    progress: Progress = no_progress,
    names: Mapping[Path, str] | None = None,
    texts: Mapping[Path, bytes] = MappingProxyType({}),
    cache: ProjectCache | None = None,
    jobs: int = 1,
    files_below: FilesBelow = no_files,
    shard: Shard | None = None,
    timed: bool = False,
) -> AnalysisReport:
    """Analyse files together, so that imports between them are followed, and return the diagnostics and failures.

    `codes` are the codes of the rules to run; `names` the file names to report, by path; `stdin` a file name, and the
    bytes to analyse under that name; `src` further folders in which imports are searched; `models` files that describe
    other libraries; `progress` is told what is done; `texts` replace the contents of the files at these paths. At most
    `jobs` processes analyse the files, fewer where there is little to do. A file whose result is in the `cache` is not
    analysed again. `files_below` finds the other files of the project. With a `shard`, all files make the program, and
    the report is on those of the shard. With `timed`, the time of each definition is measured besides that of each
    file.
    """
    progress("Reading", 0, len(paths))
    shown = [(path, (names or {}).get(path, path.as_posix())) for path in paths]
    indexes = StoredIndexes(cache.store, texts) if cache is not None else None
    program = Program(shown, src, texts, reader=indexes)
    if stdin is not None:
        _add_text(program, *stdin)
    analyser = FileAnalyser(program, codes, models, timed=timed)
    results = [analyser.broken(path) for path in program.broken_files]
    aside = frozenset(files_without_tensors(program, analyser.facts.tensor_libraries))
    program.set_aside(aside)
    method = start_method()
    if method == "fork":
        outline_in_processes(program, jobs)
    stored = None
    if cache is not None and indexes is not None:
        stored = StoredFindings(cache, program, analyser.facts, indexes, codes, src, models)
    given = program.given_paths
    if shard is not None:
        given = files_of_shard(program, shard, partial(_work_in, program))
    found: dict[Path, FileFindings] = {}
    for number, path in enumerate(given):
        progress("Reading", number, len(given))
        if path in aside:
            # It is only parsed, which other processes would have to do as well.
            known: FileFindings | None = analyser.parse(path)
        else:
            known = stored.find(path) if stored is not None else None
        if known is not None:
            found[path] = known
    missing = [path for path in given if path not in found]
    weights = {path: _work_in(program, path) for path in missing} if stdin is None else {}
    processes = processes_for([*weights.values()], jobs, method)
    times: list[FileTime] = []

    def count(time: FileTime) -> None:
        times.append(time)
        progress("Checking", len(times), len(missing))

    if processes > 1 or outgrows_one_process([*weights.values()], method):
        inputs = ProgramInputs(shown, codes, src, models, dict(texts), aside, timed)
        found |= analyse_in_processes(analyser, inputs, weights, processes, method, count, progress)
    else:
        for path in missing:
            progress("Checking", len(times), len(missing), program.name_of(path))
            found[path], time = analyser.analyse_timed(path)
            times.append(time)
    if stored is not None:
        for path in missing:
            stored.keep(path, found[path])
    results += [found[path] for path in given]
    is_reproducible = stored is not None and stored.are_complete
    progress("Comparing the findings", 0, 0)
    report = report_on(results, program, codes, files_below, is_reproducible=is_reproducible)
    set_aside = sum(path in aside for path in given)
    from_cache = len(given) - len(missing) - set_aside
    return replace(report, work=RunWork(tuple(times), from_cache, set_aside, processes))


def imported_files(paths: Sequence[Path], src: Sequence[Path] = ()) -> list[Path]:
    """Return the other files of a program that some of its files import, directly or through other files, sorted."""
    program = Program([(path, path.as_posix()) for path in paths], src)
    return sorted(ImportGraph(program).reached_from(program.given_paths) - {path.resolve() for path in paths})


def shard_paths(files: Sequence[tuple[Path, str]], src: Sequence[Path], shard: Shard) -> list[Path]:
    """Return those of some files, given with their names to show, that a run over all of them analyses in a shard."""
    program = Program(files, src)
    return files_of_shard(program, shard, partial(_work_in, program))


def _work_in(program: Program, path: Path) -> int:
    """Return about how much work the analysis of a file is, in characters of code about tensors."""
    source = program.source(path)
    if source is None:
        return 0
    return len(source.text) if "torch" in source.text else len(source.text) // _SIZE_WITHOUT_TENSORS


def report_on(
    results: Sequence[FileFindings],
    program: Program,
    codes: frozenset[str],
    files_below: FilesBelow = no_files,
    *,
    is_reproducible: bool = False,
) -> AnalysisReport:
    """Return the report on the analyses of given files of a program."""
    errors = {(one.filename, one.where, one.message): one for result in results for one in result.errors}
    unparsed = dict.fromkeys(one for result in results for one in result.unparsed_statements)
    return AnalysisReport(
        diagnostics_of(results, program, codes, files_below),
        tuple(errors.values()),
        tuple(unparsed),
        len(results),
        program.disk,
        program.read_files,
        is_reproducible,
    )


def _add_text(program: Program, name: str, data: bytes) -> None:
    """Add a file with the given name and content to the program.

    If the content does not parse, it is recorded as a broken file.
    """
    try:
        program.add(Path(name), index_source(decode_source(data, name)))
    except SourceError as error:
        program.broken_files[Path(name)] = name, error
