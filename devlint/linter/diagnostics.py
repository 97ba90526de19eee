"""The diagnostics of a run: the findings of all given files, without duplicates and without those that are suppressed.

A suppression is a comment that silences findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from devlint.diagnostic import AssumptionKind, AssumptionNote, Diagnostic
from devlint.fixes.fix_context import FixContext
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.file_findings import FileFindings, LocatedFinding
from devlint.linter.finding_locations import BROKEN_FILE_CODE
from devlint.linter.finding_merge import one_for_each_bug, surest_findings, with_assumptions
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unused_suppressions import UNUSED_CODE, FindingRows, unused_suppressions
from devlint.syntax.suppressions import find_suppressions

DEVELOPMENT_CODES = frozenset({BROKEN_FILE_CODE, "DEV901", "DEV902"})
"""The codes of the rules about devlint itself, which ask for no caller."""


def diagnostics_of(results: Sequence[FileFindings], program: Program, codes: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Return the sorted diagnostics of a run: all findings of the rules in the given files that no comment suppresses.

    `results` are those of the given files, in their order; `codes` are the codes of the rules that were run.
    """
    given = {module.filename: module for path in program.given_paths if (module := program.load(path)) is not None}
    found = _with_callers(surest_findings(results), given, UncalledDefinitions(program))
    reported = [one.diagnostic for one in one_for_each_bug(found)]
    reported += [diagnostic for result in results for diagnostic in result.broken]
    return tuple(sorted(_unsuppressed(reported, given, codes), key=lambda one: one.order))


def _with_callers(
    found: Iterable[LocatedFinding], given: Mapping[str, ModuleInfo], uncalled: UncalledDefinitions
) -> Iterator[LocatedFinding]:
    """Yield the findings; those in code that nothing in its project calls assume that somebody calls it."""
    for one in found:
        region, known = one.diagnostic.region, one.diagnostic.assumptions
        asked = one.diagnostic.code not in DEVELOPMENT_CODES
        name = uncalled.name_at(given[region.filename], region.start.row) if asked else None
        if name is not None:
            assumed = AssumptionNote(AssumptionKind.CALLED, f"somebody calls `{name}`", None)
            one = with_assumptions(one, (*known, assumed))
        yield one


def _unsuppressed(
    reported: Iterable[Diagnostic], given: Mapping[str, ModuleInfo], codes: frozenset[str]
) -> list[Diagnostic]:
    """Return the diagnostics that no suppression comment silences.

    If the rule for unused suppressions is selected, also return a diagnostic for each comment that silences nothing.
    """
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in reported:
        by_file[one.region.filename].append(one)
    kept: list[Diagnostic] = []
    for filename in {*by_file, *(given if UNUSED_CODE in codes else ())}:
        found, module = by_file[filename], given.get(filename)
        if module is None:
            kept += found
            continue
        source = module.index.source
        suppressions = find_suppressions(source, module.index)
        rows = [FindingRows.of(one, source) for one in found]
        kept += [one for one, row in zip(found, rows, strict=True) if not row.is_silenced_by(suppressions)]
        if UNUSED_CODE in codes:
            kept += unused_suppressions(FixContext(module.index), suppressions, rows, codes)
    return kept
