"""The comparison of what a generated program does with what devlint says of it.

The run is the truth. Three kinds of disagreement count:

- A *miss*: the program ends with an error that some static rule is about (the runtime companion tells which, from the
  message), and no finding of DEV1 or DEV3 touches it. A finding touches it if its own place is on a line that the
  exception passed through, or a step of its trace is on the innermost of these lines. devlint reports a bug once, at
  its first place in the source; so if it reports anything, a finding of the analysis of the program alone counts too.
- A *false alarm*: the program ends without an error, and a rule that claims an exception (`CLAIMS`) has a finding whose
  place and steps are all on lines that ran. These claims are taken from an analysis of the program alone: devlint also
  asks what unknown callers may do with a function or class, and no run can refute that. Such findings are counted as
  *about other callers*. A finding on a line where the program caught an error is true.
- A *wrong reveal*: `reveal_placement` answers a device, a dtype or "0-dim" that no run of this call has seen. devlint
  shows one answer for each call in the source, but knows one for every path to it; the answer is wrong if none agrees.
  Unknown and conditional answers are never wrong. The *knowledge* is the share of answers with a device and a dtype (a
  dtype for arrays).
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import devlint
from devlint.diagnostic import Diagnostic
from devlint.domain.placement import Place
from devlint.explain.value_descriptions import describe_value
from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.entry_points import run_as_program
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.events import Event, RevealedValue
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.diagnostics import diagnostics_of
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.rule_loader import all_rules
from devlint.linter.rule_runner import RuleRunner
from generated.emulated_runs import Line, Outcome, Seen, run
from generated.program_generator import GeneratedProgram

CLAIMS = frozenset(f"DEV{number}" for number in (101, 102, 103, 104, 105, 106, 107, 108, 112, 117, 301, 302, 304))
"""The rules whose finding says that the program raises. Those that do not: DEV113, DEV115, DEV303, all of DEV2."""
STATIC = frozenset(rule.code for rule in all_rules() if rule.code.startswith(("DEV1", "DEV3")))
"""The rules of DEV1 and DEV3 that read source; errors of other rules, such as DEV305, need not be found."""
DTYPES = frozenset("float16 float32 float64 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128".split())
_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A difference between a run and the analysis: its kind, the code that it is about, and a text."""

    kind: str
    code: str
    text: str


@dataclass(slots=True)
class Verdict:
    """What the comparison of one program says."""

    outcome: Outcome
    disagreements: list[Disagreement] = field(default_factory=list)
    reported: bool = False
    about_other_callers: int = 0
    known: int = 0
    asked: int = 0


def judge(program: GeneratedProgram) -> Verdict:
    """Run and analyse a program, and compare. It needs a running emulation."""
    outcome = run(program)
    verdict = Verdict(outcome)
    if not outcome.is_judged:
        return verdict
    result = _check(program)
    for error in result.errors:
        verdict.disagreements.append(Disagreement("internal error", "", f"{error.where}: {error.message}"))
    found = result.diagnostics
    _judge_answers(verdict, program, found)
    if outcome.error is not None:
        claims = [one for one in found if one.code in STATIC]
        verdict.reported = any(_touches(one, outcome.lines) for one in claims)
        if claims and not verdict.reported:
            alone = findings_of_program_alone(program.files)
            verdict.reported = any(_touches(one, outcome.lines) for one in alone if one.code in STATIC)
        if not verdict.reported and outcome.code in STATIC:
            text = f"{outcome.lines[0] if outcome.lines else '?'}: {str(outcome.error).partition(chr(10))[0]}"
            verdict.disagreements.append(Disagreement("miss", outcome.code or "", text))
    elif any(one.code in CLAIMS for one in found):
        _judge_alarms(verdict, program, found)
    return verdict


def _check(program: GeneratedProgram) -> devlint.Result:
    """Return devlint's result for a program that lies alone in a folder: devlint reads what else is in a project."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in program.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return devlint.check_paths([folder], isolated=True)


def _touches(found: Diagnostic, lines: tuple[Line, ...]) -> bool:
    """Return whether a finding is about an exception that passed through these lines, innermost first."""
    passed = any(line in _lines(found) for line in lines)
    return passed or any((_name(one.region.filename), one.region.start.row) == lines[0] for one in found.trace)


def _lines(found: Diagnostic) -> set[Line]:
    """Return the lines of a finding's place."""
    region = found.region
    return {(_name(region.filename), row) for row in range(region.start.row, region.end.row + 1)}


def _name(filename: str) -> str:
    return Path(filename).name


def _judge_alarms(verdict: Verdict, program: GeneratedProgram, found: tuple[Diagnostic, ...]) -> None:
    """Note the claims of exceptions in a program that runs without one."""
    traced = run(program, trace=True)
    alone = {(one.code, one.region.start.row) for one in findings_of_program_alone(program.files)}
    for one in found:
        if one.code not in CLAIMS:
            continue
        steps = {(_name(step.region.filename), step.region.start.row) for step in one.trace}
        places = {(_name(one.region.filename), one.region.start.row), *steps}
        if (one.code, one.region.start.row) not in alone:
            verdict.about_other_callers += 1
        elif places <= traced.reached and not places & traced.failed:
            row = one.region.start.row
            verdict.disagreements.append(
                Disagreement("false alarm", one.code, f"{_name(one.region.filename)}:{row}: {one.message}")
            )


@with_deep_stack
def findings_of_program_alone(files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return what devlint finds when it only runs the program, and asks nothing about other callers."""
    collector = _AnswerRunner()
    return _program_alone(files, collector)


@with_deep_stack
def answers_of_program_alone(files: Mapping[str, str]) -> list[list[str]]:
    """Return the answers to each call of `reveal_placement` in the source, for all paths to it."""
    collector = _AnswerRunner()
    _program_alone(files, collector)
    return list(collector.answers.values())


class _AnswerRunner(RuleRunner):
    """A dispatcher that also keeps every answer to each call of `reveal_placement`."""

    def __init__(self) -> None:
        rules = all_rules()
        super().__init__(rules, frozenset(rule.code for rule in rules if rule.default))
        self.answers: defaultdict[Place, list[str]] = defaultdict(list)

    def dispatch(self, event: Event) -> None:
        """Pass an event on; keep it if it is an answer."""
        if isinstance(event, RevealedValue):
            self.answers[event.context.place].append(f"{event.text}: {describe_value(event.value)}")
        super().dispatch(event)


def _program_alone(files: Mapping[str, str], collector: RuleRunner) -> tuple[Diagnostic, ...]:
    """Run the program abstractly, with these rules, and return the diagnostics."""
    texts = {Path(name).absolute(): text.encode() for name, text in files.items()}
    program = Program([(path, path.name) for path in texts], (), texts)
    analyser = FileAnalyser(program, collector.codes)
    results: list[FileFindings] = []
    for path in program.given_paths:
        module = program.load(path)
        if module is None:
            results.append(analyser.broken(path))
            continue
        analysis = Analysis(analyser.facts, collector.dispatch)
        run_as_program(analysis, module)
        results.append(analyser.findings(module.filename, collector, analysis))
    return diagnostics_of(results, program, collector.codes)


def _judge_answers(verdict: Verdict, program: GeneratedProgram, found: tuple[Diagnostic, ...]) -> None:
    """Compare the answers of `reveal_placement` with what the run has seen."""
    for one in found:
        line = (_name(one.region.filename), one.region.start.row)
        if one.code != "DEV902" or line not in verdict.outcome.seen:
            continue
        answer = one.message.partition(": ")[2]
        seen = verdict.outcome.seen[line]
        verdict.asked += 1
        verdict.known += _is_known(answer)
        if not any(_agrees(answer, value) for value in seen):
            answers = [all_ for all_ in answers_of_program_alone(program.files) if one.message in all_]
            if answers and all(_agrees_somewhere(all_, seen) for all_ in answers):
                continue
            text = f"{line[0]}:{line[1]}: {one.message}, seen {sorted(map(_shown, seen))}"
            verdict.disagreements.append(Disagreement("wrong reveal", "", text))


def _words(answer: str) -> Iterator[str]:
    """Yield the words of an answer that leaves no choice between two."""
    if " if " not in answer and " or " not in answer:
        yield from answer.partition(", unknown")[0].split()


def _is_known(answer: str) -> bool:
    """Return whether an answer has both a device and a dtype, or the dtype of an array."""
    words = list(_words(answer))
    dtype = any(word in DTYPES for word in words)
    return dtype and ("array" in words or any(_DEVICE.fullmatch(word) for word in words))


def _agrees(answer: str, seen: Seen) -> bool:
    """Return whether an answer is true of a value."""
    for word in _words(answer):
        if word == "array":
            if seen.device is not None:
                return False
        elif word in DTYPES:
            if word != seen.dtype:
                return False
        elif word == "0-dim":
            if not seen.is_scalar:
                return False
        elif _DEVICE.fullmatch(word) and word.replace("cuda:0", "cuda") != str(seen.device).replace("cuda:0", "cuda"):
            return False
    return True


def _agrees_somewhere(messages: list[str], seen: set[Seen]) -> bool:
    """Return whether one of several answers is true of one of several values."""
    return any(_agrees(message.partition(": ")[2], value) for message in messages for value in seen)


def _shown(seen: Seen) -> str:
    return f"{seen.device or 'array'} {seen.dtype}{' 0-dim' if seen.is_scalar else ''}"
