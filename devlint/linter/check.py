"""The check of files as the interfaces of devlint run it: analyse the files, and keep the selected findings.

Interfaces are, for example, the command line, the Python interface and the flake8 plugin. The settings of each file
select its findings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from devlint.cache.store import ProjectCache
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.progress import Progress, no_progress
from devlint.linter.rule_listing import third_party_rules
from devlint.linter.run_work import NO_WORK, RunWork
from devlint.linter.shard import Shard
from devlint.linter.source_lines import SourceLines
from devlint.linter.stored_run import RunInputs, StoredRun
from devlint.triage.fingerprint import add_fingerprints

if TYPE_CHECKING:
    from devlint.interpreter.state.failures import InternalError, UnparsedStatement
    from devlint.linter.analysis_report import AnalysisReport

_MOST_FOLDERS: Final = 5_000
_MOST_FILES: Final = 1_000
"""The number of folders, and of files, from which on a run over some files does not look at the rest of a project."""


class _TooManyFoldersError(Exception):
    """The error that ends a search in too many folders."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check of some files.

    `diagnostics` are the selected findings, sorted and with their fingerprints; `errors` are failures of devlint
    itself; `unparsed_statements` are the statements without a tree; `checked` is the number of files;
    `sources` gives the source lines that a report quotes; `work` tells what was analysed, and in what time.
    """

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    unparsed_statements: tuple[UnparsedStatement, ...]
    checked: int
    sources: SourceLines
    work: RunWork = NO_WORK


def check_files(
    files: Sequence[DiscoveredFile],
    text: bytes | None = None,
    progress: Progress = no_progress,
    texts: Mapping[str, bytes] = MappingProxyType({}),
    cache: ProjectCache | None = None,
    jobs: int = 1,
    *,
    shard: Shard | None = None,
    timed: bool = False,
) -> CheckResult:
    """Analyse files together and return a `CheckResult` with the findings that the settings of the files select.

    `text` is the content of the only file, where that content is not on the disk. `texts` has the contents that replace
    those on the disk, by file name. `progress` is told what is done. What an earlier run has left in the `cache` is not
    analysed again. At most `jobs` processes analyse the files. With a `shard`, only the findings in its files are
    returned. With `timed`, the time of each definition is measured.
    """
    if not files:
        return CheckResult((), (), (), 0, SourceLines({}, {}))
    texts = texts if text is None else {files[0].name: text}
    sources = SourceLines({file.name: file.path for file in files}, texts)
    report = _analyse(files, text, progress, texts, cache, jobs, shard=shard, timed=timed)
    kept = add_fingerprints(_selected(report.diagnostics, files), sources.lines)
    return CheckResult(tuple(kept), report.errors, report.unparsed_statements, report.checked, sources, report.work)


def files_in_shard(files: Sequence[DiscoveredFile], shard: Shard) -> list[DiscoveredFile]:
    """Return those of some files whose findings a run over all of them reports in a shard."""
    # The import graph needs libcst, as the analysis does.
    from devlint.linter.program_analysis import shard_paths

    src = _source_folders(list({id(file.settings): file.settings for file in files}.values()))
    own = {*shard_paths([(file.path, file.name) for file in files], src, shard)}
    return [file for file in files if file.path.resolve() in own]


def _analyse(
    files: Sequence[DiscoveredFile],
    text: bytes | None,
    progress: Progress,
    texts: Mapping[str, bytes],
    cache: ProjectCache | None,
    jobs: int,
    *,
    shard: Shard | None,
    timed: bool,
) -> AnalysisReport:
    """Analyse files in one run, with all rules, source folders and model files that any file's settings name.

    Model files describe the functions of other libraries to devlint.
    """
    settings = list({id(file.settings): file.settings for file in files}.values())
    codes = frozenset[str]().union(*(each.codes for each in settings))
    src = _source_folders(settings)
    models = list(dict.fromkeys(path for each in settings for path in each.models))
    stored = None
    if cache is not None and text is None and not third_party_rules():
        real = {Path(os.path.realpath(file.path)): file.name for file in files}
        progress("Reading", 0, len(files))
        stored = StoredRun(cache, RunInputs(real, codes, src, models, texts, shard))
        found = stored.find()
        if found is not None:
            return found
    # The analysis imports libcst, which is slow and which listing files or printing help does not need.
    from devlint.linter.program_analysis import analyse_files

    files_below = partial(_files_below, settings[0])
    if text is not None:
        stdin = files[0].name, text
        return analyse_files(
            [],
            codes=codes,
            src=src,
            models=models,
            stdin=stdin,
            progress=progress,
            files_below=files_below,
            timed=timed,
        )
    names = {file.path: file.name for file in files}
    contents = {file.path: texts[file.name] for file in files if file.name in texts}
    report = analyse_files(
        list(names),
        codes=codes,
        src=src,
        models=models,
        progress=progress,
        names=names,
        texts=contents,
        cache=cache if stored is not None else None,
        jobs=jobs,
        files_below=files_below,
        shard=shard,
        timed=timed,
    )
    if stored is not None:
        stored.keep(report)
    return report


def _source_folders(settings: Sequence[Settings]) -> list[Path]:
    """Return the folders in which the settings of some files search for modules, without those that are not there."""
    return list(dict.fromkeys(folder for each in settings for folder in each.src if folder.is_dir()))


def _files_below(settings: Settings, folder: Path) -> Sequence[Path]:
    """Return the files that a run over a folder is given under some settings; none if there are too many folders."""
    folders = 0

    def settings_for(inner: Path) -> Settings:
        nonlocal folders
        folders += 1
        if folders > _MOST_FOLDERS:
            raise _TooManyFoldersError
        return settings

    try:
        found = [one.path for one in islice(Discovery(settings_for, lambda problem: None).find([folder]), _MOST_FILES)]
    except _TooManyFoldersError:
        return []
    return found if len(found) < _MOST_FILES else []


def _selected(diagnostics: Sequence[Diagnostic], files: Sequence[DiscoveredFile]) -> list[Diagnostic]:
    """Return the findings that the settings of their own file select, with the severity that these settings assign."""
    by_name = {file.name: file for file in files}
    known = ((diagnostic, by_name.get(diagnostic.region.filename)) for diagnostic in diagnostics)
    ranked = (file.settings.judge(diagnostic, file.path) for diagnostic, file in known if file)
    return [diagnostic for diagnostic in ranked if diagnostic]
