"""The result of analysing one file, as plain data: it can leave the process, and be kept for a later run.

Source locations are regions of the source text here, and numbers of syntax nodes, not syntax nodes themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from devlint.diagnostic import Diagnostic, Region
from devlint.interpreter.state.failures import InternalError, UnparsedStatement


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The place of a syntax node in the program, as plain data.

    `row` is the first row of the top-level statement that holds the node; the nodes of the statement are counted in the
    order of the text, and `number` is the node's. Places are equal when their nodes are.
    """

    filename: str
    row: int
    number: int


BugKey: TypeAlias = NodePlace | tuple[NodePlace | str, ...]
"""What findings of one bug have in common: source locations, names of functions and of files."""


@dataclass(frozen=True, slots=True)
class SharedCause:
    """The cause of a finding, equal for all findings that the same change of the program mends.

    `recurs` tells whether the other findings stay true where the first operation did not raise.
    """

    key: BugKey
    recurs: bool


@dataclass(frozen=True, slots=True)
class NeededParameter:
    """A parameter of a function of the program that must have another value than its default for a path to be taken.

    `function` is the function's name without that of its class; `position` is the parameter's among the positional
    arguments of a call.
    """

    filename: str
    function: str
    name: str
    position: int
    is_method: bool


@dataclass(frozen=True, slots=True, order=True)
class HandedParameter:
    """A parameter of a function of the program, which a file defines.

    `function` is the function's name, after that of its class and a dot for a method.
    """

    filename: str
    function: str
    name: str


@dataclass(frozen=True, slots=True)
class HostCalls:
    """The calls of a function in one file, all of which pass a parameter from the host.

    `count` is the number of the calls. Of the parameters of the functions around the calls, they pass on the `sources`.
    """

    parameter: HandedParameter
    filename: str
    count: int
    sources: tuple[HandedParameter, ...] = ()


@dataclass(frozen=True, slots=True)
class LocatedOrigin:
    """The file and row at which an event led to a finding, and the parameters that its path needs.

    `handed` are the parameters whose values, a caller's, the finding supposes on an accelerator. `call` is the call in
    another given file at which a run over that file would report a conflict.
    """

    filename: str
    row: int
    parameters: tuple[NeededParameter, ...] = ()
    handed: tuple[HandedParameter, ...] = ()
    call: Region | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """The given file whose analysis gets to a finding, and the number of the finding in the order of that analysis."""

    entry: str
    number: int


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """One finding of a rule: the diagnostic that is reported if no other finding is preferred to it.

    `place` is the place of the finding, `steps` are those of the diagnostic's trace, and `origins` say where the events
    happened that led to it. Of the findings of one rule with
    the same `subject`, and of the findings with the same `cause`, only one is reported. A finding `at_cause` replaces
    those of other rules whose subject holds its place. `reached` tells how the analyses of the given files get to it.
    """

    diagnostic: Diagnostic
    place: NodePlace
    steps: tuple[NodePlace, ...] = ()
    subject: BugKey | None = None
    cause: SharedCause | None = None
    at_cause: bool = False
    origins: frozenset[LocatedOrigin] = frozenset()
    reached: tuple[Reached, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """A question that the analysis of one file has asked of the program as a whole, with the answer.

    Either it asks whether datasets or transforms (with `transforms_only`, transforms alone) around the file at a path
    place their data, or what calls pass for a parameter of a constructor in that file: its class, its parameters, and
    which of them.
    """

    path: str
    answer: bool
    construction: tuple[str, tuple[str, ...], str] | None = None
    transforms_only: bool = False


@dataclass(frozen=True, slots=True)
class FileFindings:
    """What the analysis of one given file has found, in any file of the program.

    The analysis of a file runs its top level and its definitions, and what these call. `withheld` are the rules, by
    code, and the places at which such a rule reports nothing, because some path or caller is right there.
    `broken` has the diagnostics for what does not parse in the file itself. `questions` are those that the analysis has
    asked of the program as a whole. `host_calls` are the calls that pass parameters from the host.
    """

    filename: str
    findings: tuple[LocatedFinding, ...] = ()
    withheld: frozenset[tuple[str, NodePlace]] = frozenset()
    broken: tuple[Diagnostic, ...] = ()
    errors: tuple[InternalError, ...] = ()
    unparsed_statements: frozenset[UnparsedStatement] = frozenset()
    questions: tuple[ProgramQuestion, ...] = ()
    host_calls: tuple[HostCalls, ...] = ()
