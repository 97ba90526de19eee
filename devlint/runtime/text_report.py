"""The report of a recorded program as text for a terminal: one line that sums it up, then the worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from devlint.output import full_format
from devlint.output.broken_lines import broken_text
from devlint.output.report_context import ReportContext
from devlint.runtime.line_costs import LineCost, by_transfers, by_waits
from devlint.runtime.outcome_texts import (
    SeenSite,
    by_site,
    seen_apart_from_tests,
    with_evidence,
    with_relative_paths,
)
from devlint.runtime.recorded_run import RecordedRun
from devlint.runtime.report_wording import (
    apart_from_tests,
    count_text,
    format_bytes,
    format_duration,
    format_number,
    host_only_text,
    place_text,
    relative_path,
    share_text,
    source_lines,
)
from devlint.runtime.verdicts import Outcome, Verdict

T = TypeVar("T")
MOST_ERRORS = 10
"""The number of errors that are shown with their source lines, unless everything is shown."""
MOST_LINES = 12
"""The number of lines in each list and table, unless everything is shown."""


def text_report(run: RecordedRun, *, color: bool, everything: bool, columns: int | None = None) -> Iterator[str]:
    """Yield the report of a recorded program in parts; `everything` lifts the limits on its length.

    `columns` is the width of the terminal that shows the report, None where none does.
    """
    yield from _Text(run, color=color, everything=everything, columns=columns).parts()


def headline_parts(run: RecordedRun, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the parts of the line that sums up a run: what was seen, and how much ran where."""
    elsewhere, in_tests = seen_apart_from_tests(outcomes)
    fatal = [site.outcome for site in by_site(outcome for outcome in elsewhere if outcome.fatal)]
    later = sum(outcome.after_going_on for outcome in fatal)
    crashes = sum(outcome.raised is not None and not outcome.after_going_on for outcome in fatal)
    silent = len(fatal) - crashes - later
    worth = len(by_site(outcome for outcome in elsewhere if not outcome.fatal))
    failed = any(outcome.fatal for outcome in outcomes)
    fine = not failed and run.ended is None
    parts = ["no errors"] if fine else []
    if run.ended is not None and not (failed and run.ended.observed):
        parts.append(f"the program ended with {run.ended.what}")
    if run.findings and not any(outcome.verdict is Verdict.CONFIRMED for outcome in outcomes):
        parts.append(f"{count_text(len(run.findings), 'static finding')} not seen")
    parts += [f"{crashes:,} {'crash' if crashes == 1 else 'crashes'}"] if crashes else []
    parts += [count_text(silent, "silent error")] if silent else []
    parts += [f"{count_text(later, 'error')} after going on"] if later else []
    parts += [f"{worth:,} {'thing' if worth == 1 else 'things'} worth doing"] if worth else []
    parts += [f"{len(by_site(in_tests)):,} in test files"] if in_tests else []
    parts += [f"{len(run.left_behind):,} left behind by .to()"] if run.left_behind else []
    but = "but " if fine and run.host_only else ""
    share = [run.share_on_device] if run.share_on_device else []
    return [*parts, f"{but}{_operators_text(run)}", *share]


def _operators_text(run: RecordedRun) -> str:
    """Return how many operators ran, and where."""
    if run.host_only:
        return host_only_text(run.accelerator, run.recorder.operators)
    on = f" on {run.device}" if run.device else ""
    return f"{count_text(run.recorder.operators, 'operator')}{on}"


class _Text:
    """The writer of one text report, with the limits on the length of its parts."""

    def __init__(self, run: RecordedRun, *, color: bool, everything: bool, columns: int | None) -> None:
        self._run = run
        context = ReportContext(lines=source_lines, color=color)
        self._context = context if columns is None else replace(context, width=columns, on_terminal=True)
        self._everything = everything
        self._cut = False

    def parts(self) -> Iterator[str]:
        """Yield the parts of the report: a line that sums it up, then the worst first."""
        outcomes = self._run.outcomes
        yield self._told(f"devlint: {', '.join(headline_parts(self._run, outcomes))}") + "\n"
        elsewhere, in_tests = seen_apart_from_tests(outcomes)
        yield from self._errors([outcome for outcome in elsewhere if outcome.fatal])
        yield from self._sites("worth doing", by_site(outcome for outcome in elsewhere if not outcome.fatal))
        yield from self._sites("in test files", by_site(in_tests))
        yield from self._left_behind()
        yield from self._judged(Verdict.REFUTED, outcomes)
        yield from self._judged(Verdict.NOT_REACHED, outcomes)
        yield from self._transfers()
        yield from self._waits()
        yield from self._summary(outcomes)

    def _errors(self, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Yield the errors that were seen to happen, each once with its source lines, trace and help."""
        sites = by_site(outcomes)
        if sites:
            yield "── errors ──\n"
        for site in self._limited(sites, MOST_ERRORS):
            yield from full_format.blocks([with_relative_paths(with_evidence(site.outcome))], self._context)
        yield from self._rest(len(sites), MOST_ERRORS, "error")

    def _sites(self, title: str, sites: Sequence[SeenSite]) -> Iterator[str]:
        """Yield a list of what was seen, a line for each site, or all about each if everything is shown."""
        if not sites:
            return
        yield f"── {title} ──\n"
        if self._everything:
            for site in sites:
                yield from full_format.blocks([with_relative_paths(with_evidence(site.outcome))], self._context)
            return
        yield from (self._told(site.text, 4) for site in sites[:MOST_LINES])
        yield from self._rest(len(sites), MOST_LINES, "site")
        yield "\n"

    def _judged(self, verdict: Verdict, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Yield a line for each finding of the static analysis that the run refutes, or that it could not judge."""
        judged = [outcome for outcome in outcomes if outcome.verdict is verdict]
        if not judged:
            return
        yield f"── {verdict.words} ──\n"
        for outcome in self._limited(judged, MOST_LINES):
            found = outcome.diagnostic
            detail = f" ({outcome.detail})" if outcome.detail else ""
            told = f"{found.severity.value}[{found.code}] {found.name}: {place_text(found.region)}{detail}"
            yield self._told(told, 4)
        yield from self._rest(len(judged), MOST_LINES, "finding")
        yield "\n"

    def _left_behind(self) -> Iterator[str]:
        """Yield the census: the tensors that stayed where they were when the modules that reach them were moved."""
        left = self._run.left_behind
        if not left:
            return
        yield "── left behind ──\n"
        yield self._told(".to() and .cuda() move parameters and buffers only. These stayed where they were:")
        for one in self._limited(left, MOST_LINES):
            scalar = ", a number to most operators" if one.scalar else ""
            yield f"  {one.path}: {one.dtype} {list(one.shape)} on {one.device}, the module on {one.home}{scalar}\n"
            for step in one.steps:
                if step.site is not None:
                    yield f"      {step.message}: {relative_path(step.site.filename)}:{step.site.line}\n"
        yield from self._rest(len(left), MOST_LINES, "tensor")
        yield "\n"

    def _transfers(self) -> Iterator[str]:
        """Yield the table of the lines that moved tensors, those with the most bytes first."""
        costs = by_transfers(self._run.costs)
        moved = sum(cost.nbytes for cost in costs)
        number = sum(cost.transfers for cost in costs)
        if costs:
            yield f"transfers by line: {count_text(number, 'transfer')}, {format_bytes(moved)}\n"
            yield from self._table(
                costs,
                f"{'share':>7} {'moved':>9} {'transfers':>9}",
                lambda cost: f"{share_text(cost.nbytes, moved):>7} {format_bytes(cost.nbytes):>9} {cost.transfers:>9}",
            )

    def _waits(self) -> Iterator[str]:
        """Yield the table of the lines at which the host waited, those with the most waits first."""
        costs = by_waits(self._run.costs)
        number = sum(cost.waits for cost in costs)
        if not costs:
            return
        steps = self._run.waits_per_step
        budget = f", {format_number(steps.median)} in each training step" if steps is not None else ""
        yield f"waits by line: {count_text(number, 'wait')}{budget}\n"
        yield from self._table(
            costs,
            f"{'share':>7} {'waits':>9}",
            lambda cost: f"{share_text(cost.waits, number):>7} {cost.waits:>9}",
        )

    def _table(self, costs: Sequence[LineCost], head: str, numbers: Callable[[LineCost], str]) -> Iterator[str]:
        """Yield a table of source lines with their numbers, and with their times if they were measured."""
        timed = any(cost.seconds for cost in costs)
        yield f"{head}{' time':>10}  where\n" if timed else f"{head}  where\n"
        elsewhere, in_tests = apart_from_tests(costs, lambda cost: cost.filename)
        shown = costs if self._everything else elsewhere[:MOST_LINES]
        for cost in shown:
            time = f" {format_duration(cost.seconds):>9}" if timed else ""
            yield f"{numbers(cost)}{time}  {relative_path(cost.filename)}:{cost.line}  {cost.source}\n"
        yield from self._rest(len(elsewhere), MOST_LINES, "line")
        yield from self._rest(len(in_tests), 0, "line", " in test files")
        yield "\n"

    def _summary(self, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Yield the end of the report: its notes, and a line with the numbers of operators and verdicts."""
        run = self._run
        yield from (self._told(f"note: {text}", 4) for text in run.remarks)
        if self._cut and run.see_all:
            yield f"note: {run.see_all} shows everything\n"
        numbers = {verdict: sum(outcome.verdict is verdict for outcome in outcomes) for verdict in Verdict}
        found = ", ".join(f"{number} {verdict.words}" for verdict, number in numbers.items() if number) or "none"
        peak = f", at most {format_bytes(run.peak)} of its memory" if run.peak else ""
        yield self._told(f"devlint: {_operators_text(run)}{peak}; findings: {found}")

    def _told(self, text: str, indent: int = 0) -> str:
        """Return a sentence or an entry of a list as lines for the terminal, if there is one."""
        return broken_text(text, self._context, indent)

    def _limited(self, things: Sequence[T], most: int) -> Sequence[T]:
        """Return the first of some things, or all if everything is shown."""
        return things if self._everything else things[:most]

    def _rest(self, number: int, most: int, noun: str, where: str = "") -> Iterator[str]:
        """Yield a line that tells how many things a limited list leaves out; nothing if it leaves out none."""
        if number > most and not self._everything:
            self._cut = True
            yield f"... and {count_text(number - most, f'more {noun}')}{where}\n"
