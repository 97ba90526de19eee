"""The diagnostics of a run: the findings of all given files, without duplicates and without those that are suppressed.

A suppression is a comment that silences findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from devlint.config.rule_selection import UNKNOWN_CODE, UNUSED_CODE
from devlint.diagnostic import OF_CALLERS, AssumptionKind, AssumptionNote, Diagnostic, Severity
from devlint.fixes.fix_context import FixContext
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.building_methods import BuildingMethods
from devlint.linter.dataset_transforms import DatasetTransforms
from devlint.linter.file_findings import FileFindings, LocatedFinding
from devlint.linter.finding_locations import BROKEN_FILE_CODE
from devlint.linter.finding_merge import one_for_each_bug, surest_findings, with_assumptions, with_calls
from devlint.linter.host_callers import HostCallers
from devlint.linter.idle_code import IdleCode
from devlint.linter.project_texts import FilesBelow, no_files
from devlint.linter.reached_files import MAIN_GUARD, does_work
from devlint.linter.tested_classes import TestedClasses
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unread_values import UnreadValues
from devlint.linter.unset_parameters import UnsetParameters
from devlint.linter.untaken_branches import UntakenBranches
from devlint.linter.unused_suppressions import FindingRows, judged_suppressions
from devlint.syntax.suppressions import Suppressions, find_suppressions, may_suppress

DEVELOPMENT_CODES = frozenset({BROKEN_FILE_CODE, "DEV901", "DEV902", "DEV903"})
"""The codes of the rules about devlint itself, which ask for no caller."""
_LOST_PARAMETER: Final = "DEV113"
"""The code of the rule about a parameter that its module does not know, which matters where the parameter is read."""


def diagnostics_of(
    results: Sequence[FileFindings], program: Program, codes: frozenset[str], files_below: FilesBelow = no_files
) -> tuple[Diagnostic, ...]:
    """Return the sorted diagnostics of a run: all findings of the rules in the given files that no comment suppresses.

    `results` are those of the given files, in their order, or of some of them to which the analyses of the others do
    not get; `codes` are the codes of the rules that were run. `files_below` finds the other files of the project, which
    may call what the given files define.
    """
    given = {module.filename: module for path in program.given_paths if (module := program.load(path)) is not None}
    found = _with_callers(surest_findings(results), given, _Reach.of(program, given, results, files_below))
    comments = _Comments(given)
    reported = [_with_entries(one) for one in one_for_each_bug(found, comments.silence, partial(_is_script, given))]
    reported += [diagnostic for result in results for diagnostic in result.broken]
    analysed = [result.filename for result in results]
    return tuple(sorted(_unsuppressed(reported, analysed, given, codes, comments), key=lambda one: one.order))


@dataclass(frozen=True, slots=True)
class _Reach:
    """What is asked of the whole project: whether its runs reach code, and with which values."""

    uncalled: UncalledDefinitions
    unset: UnsetParameters
    host_callers: HostCallers
    tested: TestedClasses
    transforms: DatasetTransforms
    idle: IdleCode
    building: BuildingMethods
    untaken: UntakenBranches
    unread: UnreadValues

    @staticmethod
    def of(
        program: Program, given: Mapping[str, ModuleInfo], results: Sequence[FileFindings], files_below: FilesBelow
    ) -> _Reach:
        """Return the questions about the project of a program, with its given files by their names."""
        uncalled = UncalledDefinitions(program, files_below)
        unread = UnreadValues(program, uncalled)
        return _Reach(
            uncalled,
            UnsetParameters(uncalled, given),
            HostCallers(uncalled, given, results),
            TestedClasses(uncalled),
            DatasetTransforms(uncalled),
            IdleCode(program, uncalled, unread),
            BuildingMethods(uncalled),
            UntakenBranches(program, uncalled),
            unread,
        )

    def clauses_at(self, module: ModuleInfo, row: int) -> list[str]:
        """Return what somebody must do for the code at a row to run as it is supposed; nothing where a run reaches it.

        There is one clause at most.
        """
        name = self.uncalled.name_at(module, row)
        if name is not None:
            return [f"somebody calls `{name}`"]
        name = self.building.name_at(module, row)
        if name is not None:
            return [f"somebody calls `{name}` after the object has been built"]
        name = self.untaken.parameter_at(module, row)
        return [f"somebody passes another value for `{name}`"] if name is not None else []

    def host_clauses_at(self, module: ModuleInfo, row: int) -> list[str]:
        """Return what somebody must do for the code at a row to compute on an accelerator; nothing where a run may."""
        if self.host_callers.stays_on_host(module):
            return ["somebody moves to an accelerator what the script computes with"]
        if self.tested.stay_on_host(module, row):
            return ["somebody moves to an accelerator what the tests compute with"]
        if self.transforms.stay_on_host(module, row):
            return ["somebody applies the transform to tensors on an accelerator"]
        return []


def _is_script(given: Mapping[str, ModuleInfo], filename: str) -> bool:
    """Return whether a given file does something when it is run."""
    module = given.get(filename)
    return module is not None and (MAIN_GUARD.search(module.source.text) is not None or does_work(module))


def _with_entries(one: LocatedFinding) -> Diagnostic:
    """Return the diagnostic of a finding with the files whose analyses get to it, and the calls that lead to it."""
    return replace(with_calls(one).diagnostic, entries=tuple(each.entry for each in one.reached))


class _Comments:
    """The suppression comments of the given files, each file's read when it is first asked for."""

    def __init__(self, given: Mapping[str, ModuleInfo]) -> None:
        self._given = given
        self._found: dict[str, Suppressions] = {}

    def of_file(self, filename: str) -> Suppressions:
        """Return the suppression comments of one of the given files."""
        if filename not in self._found:
            module = self._given[filename]
            self._found[filename] = find_suppressions(module.source, module.index)
        return self._found[filename]

    def silence(self, one: Diagnostic) -> bool:
        """Return whether a comment suppresses a diagnostic."""
        filename = one.region.filename
        if filename not in self._given:
            return False
        return FindingRows.of(one, self._given[filename].source).is_silenced_by(self.of_file(filename))


def _with_callers(
    found: Iterable[LocatedFinding], given: Mapping[str, ModuleInfo], reach: _Reach
) -> Iterator[LocatedFinding]:
    """Yield the findings; those that an application does not reach by itself assume that somebody else does.

    Either nothing in the project calls the code, or only constructors do, or only with a value of a parameter that no
    call passes, or every call passes tensors that are on the host. Or nothing reads what has lost its meaning.
    """

    def uncalled_at(filename: str, row: int) -> list[str]:
        return reach.clauses_at(given[filename], row) if filename in given else []

    for one in found:
        region, code = one.diagnostic.region, one.diagnostic.code
        if code not in DEVELOPMENT_CODES:
            clauses = uncalled_at(region.filename, region.start.row)
            needed = [
                uncalled_at(origin.filename, origin.row)
                + [f"somebody passes `{each.name}`" for each in origin.parameters if reach.unset.is_unset(each)]
                + [
                    f"somebody passes `{each.name}` on an accelerator"
                    for each in origin.handed
                    if reach.host_callers.only_pass(each)
                ]
                for origin in one.origins
            ]
            if not clauses and needed and all(needed):
                clauses = min(needed)
            module = given.get(region.filename)
            if not clauses and module is not None and _needs_caller(one):
                clauses = reach.host_clauses_at(module, region.start.row)
            if not clauses and module is not None and code == _LOST_PARAMETER:
                unread = reach.unread.is_of_program_at(module, region.start.row)
                clauses = ["somebody reads the attribute"] if unread else []
            assumed = [AssumptionNote(AssumptionKind.CALLED, clause, None) for clause in clauses]
            is_info = one.diagnostic.severity is Severity.INFO
            if module is not None and not is_info and reach.idle.informs(code, module, region.start.row):
                one = replace(one, diagnostic=replace(one.diagnostic, severity=Severity.INFO))
            if assumed:
                one = with_assumptions(one, (*one.diagnostic.assumptions, *assumed))
        yield one


def _needs_caller(one: LocatedFinding) -> bool:
    """Return whether a finding assumes that code outside the program chooses an accelerator."""
    return not OF_CALLERS.isdisjoint(each.kind for each in one.diagnostic.assumptions)


def _unsuppressed(
    reported: Iterable[Diagnostic],
    analysed: Iterable[str],
    given: Mapping[str, ModuleInfo],
    codes: frozenset[str],
    comments: _Comments,
) -> list[Diagnostic]:
    """Return the diagnostics that no suppression comment silences.

    If the rules for them are on, also return a diagnostic for each comment in the analysed files that silences nothing,
    and for each that is not understood.
    """
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in reported:
        by_file[one.region.filename].append(one)
    kept: list[Diagnostic] = []
    judged = codes & {UNUSED_CODE, UNKNOWN_CODE}
    marked = (
        name for name in analysed if name in given and may_suppress(given[name].source.text, noqa=UNUSED_CODE in codes)
    )
    for filename in {*by_file, *(marked if judged else ())}:
        found, module = by_file[filename], given.get(filename)
        if module is None:
            kept += found
            continue
        source = module.source
        suppressions = comments.of_file(filename)
        rows = [FindingRows.of(one, source) for one in found]
        kept += [one for one, row in zip(found, rows, strict=True) if not row.is_silenced_by(suppressions)]
        if judged:
            kept += judged_suppressions(FixContext(module.index), suppressions, rows, codes)
    return kept
