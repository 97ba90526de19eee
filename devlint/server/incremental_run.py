"""One analysis of a program that reuses the cached result of each entry point with unchanged dependencies.

An entry point is where the analysis starts: a function, a class, or the top-level code of a file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.entry_points import analyse_definition, run_as_program
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import callers_first
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.private_call_sites import PrivateCallSites
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.rule_loader import all_rules
from devlint.linter.rule_runner import RuleRunner
from devlint.server.dependencies import DependencyFinder
from devlint.server.entry_cache import CacheEntry, EntryCache, EntryResult, GlobalEffects
from devlint.server.observed_values import ObservedValues, ValueObserver
from devlint.syntax.index import Statement


class IncrementalRun:
    """One analysis of a program from all its entry points, which reuses cached results.

    The entry points of a file are its top-level code, and each function and class that it defines. An entry point with
    a valid cached result is not analysed again: its events (what happened to tensors) are passed to the rules again,
    and its effects on shared state are repeated.
    """

    def __init__(
        self,
        program: Program,
        codes: frozenset[str],
        cache: EntryCache,
        models: Sequence[Path],
        watched: Iterable[Statement],
    ) -> None:
        """Prepare an analysis that records the values of expressions in the `watched` top-level statements."""
        self.program = program
        self.results: list[FileFindings] = []
        self.codes = codes
        self._analyser = FileAnalyser(program, codes, models)
        self._cache = cache
        self._given = frozenset(program.given_paths)
        self._events: list[Event] = []
        self._watched = frozenset(watched)
        self._observer = ValueObserver(self._watched)
        self._new_results: list[tuple[Analysis, ModuleInfo, Statement | None, EntryResult]] = []
        self._is_abandoned = False
        self._start_file()
        self.observed: dict[Statement, list[ObservedValues]] = defaultdict(list)

    def abandon(self) -> None:
        """Stop the analysis early; another thread may call this method when the result is no longer needed."""
        self._is_abandoned = True
        self._analysis.abandon()

    def analyse(self, path: Path) -> None:
        """Analyse one file from all its entry points: its top-level code and each of its functions and classes.

        For an entry point with a valid cached result, use that result instead.
        """
        module = self.program.load(path)
        if module is None:
            self.results.append(self._analyser.broken(path))
            return
        self._start_file()
        self._analyse_entries(module)
        self.results.append(self._analyser.findings(module.filename, self._runner, self._analysis))

    def _start_file(self) -> None:
        """Begin the analysis of another file, which depends on nothing that was analysed before."""
        self._runner = RuleRunner(all_rules(), self.codes)
        self._analysis = Analysis(self._analyser.facts, self._on_event, self._observer)
        if self._is_abandoned:
            self._analysis.abandon()

    def _analyse_entries(self, module: ModuleInfo) -> None:
        """Analyse one file from all its entry points, or use their cached results."""
        definitions = [unit for unit in callers_first(module.index.statements) if unit.kind in ("function", "class")]
        file_entry = self._valid_entry(module.path, module, None)
        if file_entry is not None and all(self._cache.find(unit) is not None for unit in definitions):
            self._analysis.private_call_sites = PrivateCallSites(module)
            self._replay(file_entry)
        else:
            self._analyse_entry(module, None, lambda: self._run_file(module))
        for unit in definitions:
            if self._analysis.abandoned:
                return
            entry = self._valid_entry(unit, module, unit)
            if entry is not None:
                self._replay(entry)
            else:
                self._analyse_entry(module, unit, partial(self._run_definition, module, unit))

    def _run_file(self, module: ModuleInfo) -> bool:
        """Analyse the top-level code of a file; return True, since top-level code is always analysed, never skipped."""
        run_as_program(self._analysis, module)
        return True

    def _run_definition(self, module: ModuleInfo, unit: Statement) -> bool:
        """Analyse a definition; return False if it is skipped, since it can hold no finding and is not watched."""
        return analyse_definition(self._analysis, module, unit, even_irrelevant=unit in self._watched)

    def store_results(self) -> None:
        """Store the new results of this analysis in the cache, each with the statements on which it depends."""
        finder = DependencyFinder(self.program)
        for analysis, module, unit, result in self._new_results:
            others = [one for one in module.index.statements if one.kind not in ("function", "class")]
            if unit is None:
                dependencies = finder.of(module, others, analysis.module_frames)
            elif result.was_analysed:
                dependencies = finder.of(module, [unit], analysis.module_frames)
            else:
                dependencies = finder.of_mentions(module, unit, analysis.module_frames)
            self._cache.store(unit or module.path, CacheEntry(result, dependencies))

    def _analyse_entry(self, module: ModuleInfo, unit: Statement | None, analyse: Callable[[], bool]) -> None:
        """Analyse one entry point by calling `analyse`, and keep the result to be stored in the cache later.

        `unit` is the function or class definition, or None for the file's top-level code. The result is not kept if the
        analysis was abandoned, or if the code wrote to global variables.
        """
        analysis = self._analysis
        preconditions, global_writes = self._preconditions(module, unit), analysis.global_writes
        effects_before = GlobalEffects.capture(analysis)
        self._events = []
        was_analysed = analyse()
        events, observed = self._events, self._observer.take()
        self._collect(observed)
        if analysis.abandoned or global_writes != analysis.global_writes:
            return
        effects = GlobalEffects.capture(analysis).since(effects_before)
        result = EntryResult(events, observed, preconditions, effects, was_analysed)
        self._new_results.append((analysis, module, unit, result))

    def _valid_entry(self, key: Statement | Path, module: ModuleInfo, unit: Statement | None) -> CacheEntry | None:
        """Return the cached result of an entry point, or None if there is none or the shared state has changed.

        Shared state is torch's default device and dtype in the file, and whether a caller has already run the function.
        """
        entry = self._cache.find(key)
        return entry if entry is not None and entry.result.preconditions == self._preconditions(module, unit) else None

    def _preconditions(self, module: ModuleInfo, unit: Statement | None) -> object:
        """Return the shared state, besides the source code, on which the analysis of an entry point depends.

        This state is torch's default device and dtype in the file, whether a caller has already run the function, what
        callers pass it from the host on purpose, and which files are given: conflicts in others are those of calls. A
        definition that is watched is analysed even if it can hold no finding.
        """
        analysis = self._analysis
        ran = unit is not None and unit.kind == "function" and unit.is_parsed and unit.tree in analysis.executed_nodes
        passed = analysis.private_call_sites.host_data_of(unit) if unit is not None else None
        return analysis.torch_defaults.defaults_for(module), ran, passed, self._given, unit in self._watched

    def _replay(self, entry: CacheEntry) -> None:
        """Repeat the events and effects of a cached result, as if its entry point had been analysed again.

        The events are passed to the rules, the effects change the state that entry points share.
        """
        result = entry.result
        for event in result.events:
            self._runner.dispatch(event)
        result.effects.apply(self._analysis)
        self._collect(result.observed)

    def _collect(self, observed: Mapping[Statement, ObservedValues]) -> None:
        """Add recorded values of expressions to the results of this analysis.

        Values are kept only for the top-level statements for which the analysis was asked to record them.
        """
        for unit, values in observed.items():
            if unit in self._watched:
                self.observed[unit].append(values)

    def _on_event(self, event: Event) -> None:
        """Pass an event (something that happened to a tensor) to the rules, and keep it for the cache."""
        self._events.append(event)
        self._runner.dispatch(event)
