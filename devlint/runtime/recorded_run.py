"""A recorded run of a program: what was recorded, the findings of the static analysis, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torch import nn

from devlint.diagnostic import Diagnostic
from devlint.runtime.census import LeftBehind, take_census
from devlint.runtime.line_costs import LineCost, line_costs
from devlint.runtime.recorder import Recorder
from devlint.runtime.report_wording import relative_path
from devlint.runtime.training_steps import WaitsPerStep
from devlint.runtime.verdicts import FindingVerifier, Outcome, Verdict


def _unchanged(seen: Diagnostic) -> Diagnostic | None:
    """Return a diagnostic as it is: the default for a report to which no project settings are applied."""
    return seen


@dataclass(frozen=True, slots=True)
class ProgramStop:
    """What ended a program before its end: an exception or an exit status as text, and whether it is an observation."""

    what: str
    observed: bool = False


@dataclass(slots=True)
class RecordedRun:
    """What a recorder collected, complete once the recording is over, and the findings of the static analysis if any.

    `ran` are the lines that ran, `device` names the devices, `peak` is the most bytes that lay on them, and
    `left_behind` is what the census of modules has found. `see_all` is the option that makes a report show everything.
    `emulated` tells that the devices were emulated, so that no time means anything, `without_cuda` that there was no
    CUDA device, and `without_accelerator` that torch knew of no accelerator. `about` names facts of the run itself,
    such as its date and its command. `accelerator` names the one that the program could use, as in `the emulated xpu`;
    it is empty where there was none. `ended` tells what ended the program early, and `share_on_device` which
    share of the functions was on the accelerator, where somebody asks for that.
    """

    recorder: Recorder
    findings: Sequence[Diagnostic] = ()
    ran: frozenset[tuple[str, int]] = frozenset()
    device: str = ""
    notes: list[str] = field(default_factory=list)
    peak: int = 0
    apply_settings: Callable[[Diagnostic], Diagnostic | None] = _unchanged
    left_behind: list[LeftBehind] = field(default_factory=list)
    see_all: str = ""
    emulated: bool = False
    without_cuda: bool = False
    without_accelerator: bool = False
    about: tuple[tuple[str, str], ...] = ()
    accelerator: str = ""
    ended: ProgramStop | None = None
    share_on_device: str = ""

    @property
    def host_only(self) -> bool:
        """Return whether operators ran, and all of them on the host, though there was an accelerator for them."""
        return bool(self.accelerator and self.recorder.operators) and not self.recorder.used_device

    @property
    def outcomes(self) -> list[Outcome]:
        """Return the findings of the static analysis with verdicts, and the problems that only the run showed.

        Problems that the project's settings silence are left out.
        """
        verifier = FindingVerifier(
            self.recorder, self.ran, without_cuda=self.without_cuda, without_accelerator=self.without_accelerator
        )
        joined = verifier.outcomes(self.findings)
        judged = [
            (
                outcome,
                self.apply_settings(outcome.diagnostic) if outcome.verdict is Verdict.OBSERVED else outcome.diagnostic,
            )
            for outcome in joined
        ]
        return [replace(outcome, diagnostic=kept) for outcome, kept in judged if kept is not None]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics of all findings and problems that were seen to happen in the run."""
        return [outcome.diagnostic for outcome in self.outcomes if outcome.seen]

    @property
    def codes(self) -> set[str]:
        """Return the rule codes of all findings and problems that were seen to happen in the run."""
        return {found.code for found in self.diagnostics}

    @property
    def costs(self) -> list[LineCost]:
        """Return the source lines that moved tensors or waited for the accelerator, most expensive line first.

        Each comes with its numbers of transfers, bytes, waits and seconds.
        """
        return line_costs(self.recorder.lines.values())

    @property
    def waits_per_step(self) -> WaitsPerStep | None:
        """Return how often the host waited in a training step; None if the program made fewer than two."""
        return self.recorder.steps.waits_per_step

    @property
    def failed(self) -> bool:
        """Return whether a finding of severity error was seen to happen in the run."""
        return any(outcome.fatal for outcome in self.outcomes)

    def census(self, module: nn.Module, name: str = "model") -> list[LeftBehind]:
        """Return the tensors that a module reaches and that are not on the accelerator on which its parameters are.

        They are added to the report. `name` is what their paths call the module.
        """
        found = take_census(module, name)
        self.left_behind += [left for left in found if left not in self.left_behind]
        return found

    @property
    def remarks(self) -> list[str]:
        """Return the notes of the report, on what was not recorded and on float64 made on the accelerator."""
        seen = (f"{text} ({count}x)" for text, count in self.recorder.notes.items())
        return [*self.notes, *seen, *self._promotions(), *self._unseen_waits()]

    def _promotions(self) -> Iterator[str]:
        """Yield notes on source lines where operators on the accelerator made float64 of narrower operands."""
        for line in self.recorder.lines.values():
            if line.promotions:
                place = f"{relative_path(line.site.filename)}:{line.site.line}"
                yield f"float64 is made on the accelerator at {place} ({line.promotions}x)"

    def _unseen_waits(self) -> Iterator[str]:
        """Yield notes on source lines where CUDA says that the host waits but the recorder counted no wait."""
        for line in self.recorder.lines.values():
            blocking = any(kind.blocking and kind.source != kind.target for kind in line.transfers)
            if line.sync_warnings and not line.waits and not blocking:
                place = f"{relative_path(line.site.filename)}:{line.site.line}"
                yield f"CUDA says that the host waits at {place}, which the table does not show ({line.sync_warnings}x)"
