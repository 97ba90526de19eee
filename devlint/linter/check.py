"""From files to the findings that their settings want: the way that every front door takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from devlint.diagnostic import Diagnostic
from devlint.linter.discovery import DiscoveredFile
from devlint.linter.source_lines import SourceLines
from devlint.triage.fingerprint import add_fingerprints

if TYPE_CHECKING:
    from devlint.linter.program_analysis import AnalysisReport, InternalError, UnparsedStatement

Progress = Callable[[int, int], None]
"""Is told how many files of how many are done."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check has found.

    `diagnostics` are sorted and know their fingerprints; `errors` are devlint's own failures; `unread` the
    statements that libcst cannot parse; `checked` counts files; `sources` has the lines that a report quotes.
    """

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    unread: tuple[UnparsedStatement, ...]
    checked: int
    sources: SourceLines


def check_files(
    files: Sequence[DiscoveredFile],
    text: bytes | None = None,
    progress: Progress | None = None,
    texts: Mapping[str, bytes] = MappingProxyType({}),
) -> CheckResult:
    """Check the files together; `text` is what the only one of them holds, where that is no file on the disk.

    `texts` says by its name what a file holds, where that is not what lies on the disk.
    """
    if not files:
        return CheckResult((), (), (), 0, SourceLines({}, {}))
    texts = texts if text is None else {files[0].name: text}
    sources = SourceLines({file.name: file.path for file in files}, texts)
    report = _analyse(files, text, progress, texts)
    kept = add_fingerprints(_wanted(report.diagnostics, files), sources.lines)
    return CheckResult(tuple(kept), report.errors, report.unread, report.checked, sources)


def _analyse(
    files: Sequence[DiscoveredFile], text: bytes | None, progress: Progress | None, texts: Mapping[str, bytes]
) -> AnalysisReport:
    # The analysis brings libcst along, which who only lists files or asks for help need not wait for.
    from devlint.linter.program_analysis import analyse_files

    settings = list({id(file.settings): file.settings for file in files}.values())
    codes = frozenset[str]().union(*(each.codes for each in settings))
    src = list(dict.fromkeys(folder for each in settings for folder in each.src if folder.is_dir()))
    models = list(dict.fromkeys(path for each in settings for path in each.models))
    if text is not None:
        return analyse_files([], codes=codes, src=src, models=models, stdin=(files[0].name, text), progress=progress)
    names = {file.path: file.name for file in files}
    held = {file.path: texts[file.name] for file in files if file.name in texts}
    return analyse_files(list(names), codes=codes, src=src, models=models, progress=progress, names=names, texts=held)


def _wanted(diagnostics: Sequence[Diagnostic], files: Sequence[DiscoveredFile]) -> list[Diagnostic]:
    """The findings that the settings of their own file want, as these rank them."""
    by_name = {file.name: file for file in files}
    known = ((diagnostic, by_name.get(diagnostic.region.filename)) for diagnostic in diagnostics)
    judged = (file.settings.judge(diagnostic, file.path) for diagnostic, file in known if file)
    return [diagnostic for diagnostic in judged if diagnostic]
