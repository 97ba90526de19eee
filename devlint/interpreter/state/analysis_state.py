"""What the whole analysis shares, as those see it who are run by it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import libcst as cst

from devlint.domain.objects import HeapObject
from devlint.domain.value import AllocationSite, ProgramDefinition, Value
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.liveness import names_changed_in
from devlint.interpreter.program.loop_carried import loop_carried_names
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.relevance import TENSOR_RELATED_NAMES
from devlint.interpreter.program.use_def import UseDef
from devlint.interpreter.state.call_summaries import CallSummaries
from devlint.interpreter.state.events import CallOnStack, Event, UnsynchronizedTiming
from devlint.interpreter.state.observation import Observer
from devlint.interpreter.state.pending_registrations import PendingRegistrations
from devlint.interpreter.state.private_call_sites import PrivateCallSites
from devlint.interpreter.state.recursive_calls import RecursiveCalls
from devlint.interpreter.state.suspended_generators import SuspendedGenerator
from devlint.interpreter.state.torch_defaults import TorchDefaults
from devlint.semantics.table import Table, load_numpy_table, load_semantics
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError

ENTRY_BUDGET: Final = 120_000
"""Syntax nodes one entry into the program may evaluate before the rest of it is unknown. A training script with a few
thousand lines needs some 50,000; the cap keeps generated code and deep recursion from holding up the run."""

MAX_DEPTH: Final = 12
"""Calls followed one inside another. Placement bugs cross few frames; twelve covers a script's `main` down to a
layer's helper."""

MAX_DEPTH_SYMBOLIC: Final = 3
"""The same for code entered with symbolic arguments: each function is an entry of its own, so little is gained
further down."""

MAX_NESTED_CONSTRUCTION: Final = 2
"""Modules built one inside another there: a model is made of blocks of layers, and each of those classes is an entry
too."""

MAX_NESTED: Final = 6
"""Levels of a container that a recursive function is followed into."""


@dataclass(frozen=True, slots=True)
class InternalError:
    """An exception inside the analysis of one function: contained, and told under `--verbose`."""

    filename: str
    where: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True)
class UnparsedStatement:
    """A statement that is Python, but of which libcst makes no tree: nothing is known of it. Told under `--verbose`."""

    filename: str
    row: int
    message: str


class AnalysisState:
    """One analysis: the program, the semantics, the calls being run, the budget and the ear of the rules.

    `listener` hears the events; `observer` is shown the values, where anybody wants to see them; `expressions` are the
    evaluators of the kinds of expressions.
    """

    def __init__(
        self,
        program: Program,
        listener: Callable[[Event], None],
        models: Sequence[Path],
        observer: Observer[Any] | None,
        expressions: Mapping[type, Callable[[Any, Any], Value]],
    ) -> None:
        self.program = program
        self.observer = observer
        self.expressions = expressions
        self.table: Table = load_semantics(models)
        self.numpy: Table = load_numpy_table()
        self.base_heap: dict[AllocationSite, HeapObject] = {}
        self.calls: list[CallOnStack] = []
        self.active_functions: list[FunctionInfo] = []
        self.symbolic = False
        self.constructing = 0
        self.errors: list[InternalError] = []
        self.unread: set[UnparsedStatement] = set()
        self.pending_registrations = PendingRegistrations()
        self.use_def = UseDef()
        self.aliased_storages: set[Hashable] = set()
        self.ancestry: dict[ClassInfo, list[Value]] = {}
        self.module_classes: dict[ClassInfo, bool] = {}
        self.patched: set[tuple[ClassInfo, str]] = set()
        self.class_values: dict[ClassInfo, dict[str, Value]] = {}
        self.torch_defaults = TorchDefaults()
        self.unwrapping_decorators: set[FunctionInfo | ClassInfo] = set()
        self.decorated_classes: dict[ClassInfo, ProgramDefinition] = {}
        self.recursive_calls = RecursiveCalls()
        self.call_summaries = CallSummaries()
        self.parameter_defaults: dict[tuple[FunctionInfo, str], Value] = {}
        self.suspended_generators: dict[AllocationSite, SuspendedGenerator] = {}
        self.block_timings: list[UnsynchronizedTiming] = []
        """Those in a context manager whose block is still to be run."""
        self.executed_nodes: set[cst.CSTNode] = set()
        self.run_in_constructors: set[FunctionInfo] = set()
        self.abandoned = False
        self.private_call_sites = PrivateCallSites()
        self.global_writes = 0
        """How often code has set a global, or an attribute of a class or a module: what later code may find there."""
        self._listener = listener
        self.budget = 0
        self._functions: dict[Hashable, FunctionInfo] = {}
        self._classes: dict[Hashable, ClassInfo] = {}
        self._contexts: dict[tuple[int, Hashable], int] = {}
        self._assigned: dict[cst.CSTNode, frozenset[str]] = {}
        self._carried: dict[cst.CSTNode, frozenset[str]] = {}

    # Gateways: what is above fills them in, on the class (see `devlint.interpreter.driver.analysis`)

    def module_frame(self, module: ModuleInfo) -> Any:
        """Run a module's top level, as an import would; the frame in which that was done."""
        raise NotImplementedError

    def global_name(self, module: ModuleInfo, name: str) -> Value | None:
        """Look up a module's name, or a builtin."""
        raise NotImplementedError

    def module_member(self, module: ModuleInfo, name: str) -> Value | None:
        """Look up what `from module import name` gives: one of its names, or a submodule."""
        raise NotImplementedError

    # Budget

    @contextmanager
    def new_entry(self, *, symbolic: bool) -> Iterator[None]:
        """One entry into the program, with its own budget."""
        self.budget, self.symbolic = ENTRY_BUDGET, symbolic
        self.calls.clear()
        self.active_functions.clear()
        self.recursive_calls = RecursiveCalls()
        self.call_summaries = CallSummaries()
        yield

    def may_call(self, function: FunctionInfo, *, descends: bool = False) -> bool:
        """Whether another call may be followed: not too deep, and not into a function that is already running twice,
        unless it descends into what it was given."""
        if self.symbolic and self.constructing > MAX_NESTED_CONSTRUCTION:
            return False
        repeats = self.active_functions.count(function)
        if repeats >= (MAX_NESTED if descends else 2) or self.budget <= 0 or self.abandoned:
            return False
        depth = len({*self.active_functions, function})
        if not self.symbolic:
            return depth <= MAX_DEPTH and len(self.active_functions) < MAX_DEPTH
        # The innermost calls are the most, and few of them can move anything.
        near = (
            depth < MAX_DEPTH_SYMBOLIC
            or function in self.active_functions
            or function.module is self.active_functions[-1].module
        )
        matters = near or not function.unit.mentions.isdisjoint(TENSOR_RELATED_NAMES)
        if not matters or len(self.active_functions) >= MAX_DEPTH:
            return False
        return depth <= MAX_DEPTH_SYMBOLIC or depth - self._handing_on(function) <= MAX_DEPTH_SYMBOLIC

    def _handing_on(self, function: FunctionInfo) -> int:
        """How many of the functions being run only hand on to another what they are given."""
        return sum(one.hands_on for one in {*self.active_functions, function})

    def abandon(self) -> None:
        """Nobody wants the rest any more (another thread may say so): no further call is followed."""
        self.abandoned = True

    # Identity

    def context(self, outer: int, site: cst.CSTNode | tuple[int, int]) -> int:
        """A number for the chain of calls, and rounds of unrolled loops, that `site` continues."""
        key = (outer, site if isinstance(site, tuple) else id(site))
        return self._contexts.setdefault(key, len(self._contexts) + 1)

    def function(self, node: object, make: Callable[[], FunctionInfo]) -> FunctionInfo:
        """The definition at a node, or at a node in a context: the same each time it is met."""
        key = node if isinstance(node, tuple) else id(node)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = make()
        return found

    def method(self, info: FunctionInfo) -> FunctionInfo:
        """The definition of a method: the same each time the class is read."""
        context = info.closure.context if info.closure is not None else None
        return self._functions.setdefault((id(info.node), "method", context), info)

    def class_(self, node: object, make: Callable[[], ClassInfo]) -> ClassInfo:
        """The class at a node, or at a node in a context: the same each time it is met."""
        key = node if isinstance(node, tuple) else id(node)
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = make()
        return found

    def names_changed(self, loop: cst.CSTNode) -> frozenset[str]:
        """What a loop's body binds, read once."""
        found = self._assigned.get(loop)
        if found is None:
            found = self._assigned[loop] = names_changed_in(loop)
        return found

    def loop_carried(self, loop: cst.For | cst.While, function: FunctionInfo) -> frozenset[str]:
        """What a round of a loop may read of the rounds before it, found once."""
        found = self._carried.get(loop)
        if found is None:
            found = self._carried[loop] = loop_carried_names(loop, function)
        return found

    # Reading

    def tree(self, unit: Statement) -> cst.CSTNode:
        """The syntax tree of a statement; SourceError, and a note of it, where there is none."""
        try:
            return unit.tree
        except SourceError as error:
            self.unread.add(UnparsedStatement(unit.source.filename, unit.first_row, error.message))
            raise

    # Speaking

    def emit(self, event: Event) -> None:
        """Tell the rules."""
        self._listener(event)

    @contextmanager
    def contain_errors(self, filename: str, where: str) -> Iterator[None]:
        """Keep an exception inside the analysis of one function from losing the rest; so, too, a statement it needs
        and cannot read."""
        calls, active = list(self.calls), list(self.active_functions)
        try:
            yield
        except SourceError:
            self.calls[:], self.active_functions[:] = calls, active
        except Exception as error:
            self.calls[:], self.active_functions[:] = calls, active
            message = f"{type(error).__name__}: {error}".partition("\n")[0]
            self.errors.append(InternalError(filename, where, message, traceback.format_exc()))
