"""The analysis of a program: interpret its files abstractly, pass the events to the rules, collect the diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from devlint.diagnostic import Diagnostic
from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.entry_points import analyse_file
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.tensor_files import files_without_tensors
from devlint.interpreter.state.analysis_state import InternalError, UnparsedStatement
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.diagnostics import diagnostics_of
from devlint.linter.rule_loader import all_rules
from devlint.linter.rule_runner import RuleRunner
from devlint.syntax.index import index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source

__all__ = ["AnalysisReport", "InternalError", "UnparsedStatement", "analyse_files"]


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """The result of one analysis of files by `analyse_files`.

    `diagnostics` are the findings, sorted; `errors` are failures of devlint itself; `unparsed_statements` are the
    statements that libcst cannot parse; `checked` is the number of files.
    """

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    unparsed_statements: tuple[UnparsedStatement, ...]
    checked: int


@with_deep_stack
def analyse_files(
    paths: Sequence[Path],
    *,
    codes: frozenset[str],
    src: Sequence[Path] = (),
    models: Sequence[Path] = (),
    stdin: tuple[str, bytes] | None = None,
    progress: Callable[[int, int], None] | None = None,
    names: Mapping[Path, str] | None = None,
    texts: Mapping[Path, bytes] = MappingProxyType({}),
) -> AnalysisReport:
    """Analyse files together, so that imports between them are followed, and return the diagnostics and failures.

    `codes` are the codes of the rules to run; `names` the file names to report, by path; `stdin` a file name, and the
    bytes to analyse under that name; `src` further folders in which imports are searched; `models` files that describe
    other libraries; `progress` is called with the number of analysed files and of all files; `texts` replace the
    contents of the files at these paths.
    """
    collector = RuleRunner(all_rules(), codes)
    shown = [(path, (names or {}).get(path, path.as_posix())) for path in paths]
    program = Program(shown, src, collector.record_broken_file, texts)
    if stdin is not None:
        _add_text(program, collector, *stdin)
    analysis = Analysis(program, collector.dispatch, models)
    given = program.given_paths
    program.set_aside(files_without_tensors(program, analysis.tensor_libraries))
    of_interest = frozenset(program.paths_of_interest)
    for done, path in enumerate(given):
        module = program.load(path)
        if module is not None and path in of_interest:
            analyse_file(analysis, module)
        if progress is not None:
            progress(done + 1, len(given))
    diagnostics = diagnostics_of(collector, program, analysis.contain_errors)
    return AnalysisReport(diagnostics, tuple(analysis.errors), tuple(analysis.unparsed_statements), len(given))


def _add_text(program: Program, collector: RuleRunner, name: str, data: bytes) -> None:
    """Add a file with the given name and content to the program.

    If the content does not parse, report a broken file.
    """
    try:
        program.add(Path(name), index_source(decode_source(data, name)))
    except SourceError as error:
        collector.record_broken_file(name, error)
