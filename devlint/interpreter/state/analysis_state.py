"""The state that all frames of one analysis share: facts of the program, base heap, call stack, budget."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import libcst as cst

from devlint.domain.path_conditions import Literal, PathCondition
from devlint.domain.value import AllocationSite, ProgramDefinition, Value
from devlint.interpreter.program.definitions import ClassInfo, EnclosingFrame, FunctionInfo, ModuleInfo
from devlint.interpreter.program.relevance import TENSOR_RELATED_NAMES
from devlint.interpreter.state.call_summaries import CachedResult, CallSummaries
from devlint.interpreter.state.deep_calls import DeepCalls, Reach
from devlint.interpreter.state.events import CallOnStack, Event, OverwrittenCopy, UnsynchronizedTiming
from devlint.interpreter.state.failed_calls import FailedCalls
from devlint.interpreter.state.failures import InternalError, UnparsedStatement
from devlint.interpreter.state.heap import BaseHeap
from devlint.interpreter.state.observation import Observer
from devlint.interpreter.state.passed_arguments import PassedArguments
from devlint.interpreter.state.pending_registrations import PendingRegistrations
from devlint.interpreter.state.private_call_sites import PrivateCallSites
from devlint.interpreter.state.program_facts import ProgramFacts
from devlint.interpreter.state.recursive_calls import RecursiveCalls
from devlint.interpreter.state.suspended_generators import SuspendedGenerator
from devlint.interpreter.state.torch_defaults import TorchDefaults
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError

ENTRY_BUDGET: Final = 120_000
"""The largest number of syntax nodes that one entry point may evaluate; all further values are unknown.

A training script of a few thousand lines needs some 50,000. The limit stops generated code and deep recursion from
holding up the run.
"""

MAX_DEPTH: Final = 12
"""The depth of calls up to which calls are followed.

Placement bugs cross few frames; twelve covers a script's `main` down to a layer's helper.
"""

FREE_DEPTH: Final = 3
"""The depth of calls up to which calls are followed at no extra cost in code entered with symbolic arguments.

Each function is an entry point of its own, so little is gained further down. Deeper calls use up the allowance of
`devlint.interpreter.state.deep_calls`.
"""

MAX_DEPTH_SYMBOLIC: Final = 8
"""The depth of calls, and of modules constructed inside each other, in code entered with symbolic arguments.

A model is made of stages of blocks of layers of smaller layers.
"""

MAX_CONTAINER_LEVELS: Final = 6
"""The largest number of levels of a container into which a recursive function is followed."""


class AnalysisState:
    """The state of the analysis of one file: the frames of the modules that were run, the call stack, the budget.

    It also runs what the file's code reaches in other files. Nothing of it outlasts the analysis of the file, so what
    is found from a file does not depend on which files were analysed before; `facts` are shared by the analyses of all
    files.

    `listener` receives the events that rules report on; `observer` receives every value, or is None; `expressions` are
    the evaluators of expressions by node type.
    """

    def __init__(
        self,
        facts: ProgramFacts,
        listener: Callable[[Event], None],
        observer: Observer[Any] | None,
        expressions: Mapping[type, Callable[[Any, Any], Value]],
    ) -> None:
        self.facts = facts
        self.program = facts.program
        self.listener = listener
        self.observer = observer
        self.expressions = expressions
        self.table = facts.table
        self.numpy = facts.numpy
        self.module_frames: dict[ModuleInfo, EnclosingFrame] = {}
        """The frames of the modules whose top level was run."""
        self.base_heap = BaseHeap()
        self.calls: list[CallOnStack] = []
        self.failed_calls = FailedCalls()
        self.active_functions: list[FunctionInfo] = []
        self.symbolic = False
        self.construction_depth = 0
        self.errors: list[InternalError] = []
        self.unparsed_statements: set[UnparsedStatement] = set()
        self.pending_registrations = PendingRegistrations()
        self.filled_registries: set[tuple[ModuleInfo, str]] = set()
        """The global names for which the files that fill a registry of that name were run."""
        self.use_def = facts.use_def
        self.aliased_storages: set[Hashable] = set()
        self.ancestry: dict[ClassInfo, list[Value]] = {}
        self.module_classes: dict[ClassInfo, bool] = {}
        self.patched_methods: set[tuple[ClassInfo, str]] = set()
        self.class_values: dict[ClassInfo, dict[str, Value]] = {}
        self.newly_instantiated: dict[ClassInfo, None] = {}
        """The classes of which the program has made objects since their class bodies were last asked for tensors."""
        self.classes_with_empty_tensors: set[ClassInfo] = set()
        """The classes of which an attribute, of the class itself, has held a tensor without elements."""
        self.torch_defaults = TorchDefaults(facts.default_setters)
        self.unwrapping_decorators: set[FunctionInfo | ClassInfo] = set()
        self.cached_results: dict[Hashable, CachedResult] = {}
        """The results of functions with a cache, by their calls."""
        self.decorated_classes: dict[ClassInfo, ProgramDefinition] = {}
        self.recursive_calls = RecursiveCalls()
        self.call_summaries = CallSummaries()
        self.deep_calls = DeepCalls()
        self.parameter_defaults: dict[tuple[FunctionInfo, str], Value] = {}
        self.suspended_generators: dict[AllocationSite, SuspendedGenerator] = {}
        self.block_timings: list[UnsynchronizedTiming] = []
        """The timings that a context manager takes of its `with` block, which is still to be run."""
        self.writes_when_resumed: list[OverwrittenCopy] = []
        """The writes to pinned memory of a generator being run that follow a copy which it made before a `yield`."""
        self.generator_writes: dict[AllocationSite, tuple[OverwrittenCopy, ...]] = {}
        """The writes of generators that are made between the values that they yield, by the generators."""
        self.executed_nodes: set[cst.CSTNode] = set()
        self.run_in_constructors: set[FunctionInfo] = set()
        self.symbolic_instances: set[AllocationSite] = set()
        """The objects that stand for any object of their class, whose methods may have run in any order."""
        self.symbolic_parts: set[AllocationSite] = set()
        """The objects that their constructors have made, whose methods others may have called."""
        self.jointly_satisfiable: dict[tuple[PathCondition, PathCondition, PathCondition], bool] = {}
        """Whether a run can take a path on which the conditions of two tensors' devices hold, as far as asked."""
        self.length_conditions: dict[Hashable, Literal] = {}
        """The conditions that unknown sequences have an element, by the origins of the sequences that a test asks."""
        self.abandoned = False
        self.private_call_sites = PrivateCallSites()
        self.passed_arguments = PassedArguments()
        self.global_writes = 0
        """The number of writes to globals, and to attributes of classes and modules.

        Later code may read what was written, so a change of the number invalidates call summaries.
        """
        self.budget = 0
        self._functions: dict[Hashable, FunctionInfo] = {}
        self._classes: dict[Hashable, ClassInfo] = {}
        self._contexts: dict[tuple[int, Hashable], int] = {}

    # Methods implemented by a subclass in `devlint.interpreter.driver.analysis`: their code is in rooms above this one

    def module_frame(self, module: ModuleInfo) -> Any:
        """Run a module's top level once, as an import does, and return its frame."""
        raise NotImplementedError

    def global_name(self, module: ModuleInfo, name: str) -> Value | None:
        """Return the value of a module's global name or of a builtin; None if there is none."""
        raise NotImplementedError

    def module_member(self, module: ModuleInfo, name: str) -> Value | None:
        """Return the value of `from module import name`: a global name or a submodule; None if there is neither."""
        raise NotImplementedError

    # Budget

    @contextmanager
    def new_entry(self, *, symbolic: bool) -> Iterator[None]:
        """Prepare for the analysis of one entry point (a file or a definition), which runs inside the `with` block.

        Each entry point gets an evaluation budget, a call stack and call summaries of its own.
        """
        self.budget, self.symbolic = ENTRY_BUDGET, symbolic
        self.calls.clear()
        self.failed_calls.clear()
        self.active_functions.clear()
        self.recursive_calls = RecursiveCalls()
        self.call_summaries = CallSummaries()
        self.deep_calls = DeepCalls()
        self.jointly_satisfiable.clear()
        yield

    def reach(self, function: FunctionInfo, *, descends: bool, has_tensor: bool) -> Reach:
        """Return whether the analysis may follow a call into a function's body.

        A call is not followed into a function that is already running twice, unless the function descends into a
        container that it was given (`descends`). Beyond the free depth, a call is followed only while modules are
        constructed or if a tensor is among its arguments (`has_tensor`), and only as long as the allowance lasts.
        """
        repeats = self.active_functions.count(function)
        if repeats >= (MAX_CONTAINER_LEVELS if descends else 2) or self.budget <= 0 or self.abandoned:
            return Reach.NOT
        depth = len({*self.active_functions, function})
        if not self.symbolic:
            return Reach.WITHIN if depth <= MAX_DEPTH and len(self.active_functions) < MAX_DEPTH else Reach.NOT
        # The innermost calls are the most numerous, and few of them can move a tensor.
        near = (
            depth < FREE_DEPTH
            or function in self.active_functions
            or function.module is self.active_functions[-1].module
        )
        matters = near or not function.unit.mentions.isdisjoint(TENSOR_RELATED_NAMES)
        if not matters or len(self.active_functions) >= MAX_DEPTH or self.construction_depth > MAX_DEPTH_SYMBOLIC:
            return Reach.NOT
        if depth > FREE_DEPTH:
            depth -= self._count_delegating(function)
        if depth <= FREE_DEPTH:
            return Reach.WITHIN
        building = self.construction_depth > 0
        worth = depth <= MAX_DEPTH_SYMBOLIC and (building or has_tensor)
        return Reach.BEYOND if worth and self.deep_calls.allow(self.budget, construction=building) else Reach.NOT

    def _count_delegating(self, function: FunctionInfo) -> int:
        """Return how many of the functions being run only return what another call returns; `function` counts too."""
        return sum(one.is_delegating for one in {*self.active_functions, function})

    @contextmanager
    def deep_call(self) -> Iterator[None]:
        """Run a call beyond the free depth in the `with` block, at the cost of the allowance for deep calls.

        A deep call inside another is part of it.
        """
        if self.deep_calls.floor is not None:
            yield
            return
        building = self.construction_depth > 0
        self.deep_calls.begin(self.budget, construction=building)
        try:
            yield
        finally:
            self.deep_calls.end(self.budget, construction=building)

    def abandon(self) -> None:
        """Stop the analysis early: no further call of the program is followed into its function.

        Another thread may call this method when the result is no longer needed.
        """
        self.abandoned = True

    def release(self) -> None:
        """Let go of all that the analysis has made, once its events have been judged; it cannot be used any more.

        Frames, heap objects and the analysis refer to each other in circles, and the garbage collector is paused while
        programs are analysed.
        """
        for frame in self.module_frames.values():
            frame.__dict__.clear()
        self.__dict__.clear()

    # Identity

    def context_number(self, outer: int, site: cst.CSTNode | tuple[int, int]) -> int:
        """Return the number that identifies a chain of calls and of iterations of unrolled loops.

        The chain extends the one numbered `outer` by the call or iteration `site`.
        """
        key = (outer, site if isinstance(site, tuple) else id(site))
        return self._contexts.setdefault(key, len(self._contexts) + 1)

    def function_definition(self, node: object, make: Callable[[], FunctionInfo]) -> FunctionInfo:
        """Return the one `FunctionInfo` for a syntax node, or for a pair of a syntax node and a chain of calls.

        `make` creates it on the first request; later requests return the same object.
        """
        key = node if isinstance(node, tuple) else id(node)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = make()
        return found

    def method_definition(self, info: FunctionInfo) -> FunctionInfo:
        """Return the one `FunctionInfo` of a method, which stays the same object each time its class is read."""
        context = info.closure.context if info.closure is not None else None
        return self._functions.setdefault((id(info.node), "method", context), info)

    def class_definition(self, node: object, make: Callable[[], ClassInfo]) -> ClassInfo:
        """Return the one `ClassInfo` for a syntax node, or for a pair of a syntax node and a chain of calls.

        `make` creates it on the first request; later requests return the same object.
        """
        key = node if isinstance(node, tuple) else id(node)
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = make()
        return found

    # Syntax trees

    def tree(self, unit: Statement) -> cst.CSTNode:
        """Return the syntax tree of a top-level statement.

        Where libcst cannot parse the statement, that is recorded and SourceError is raised.
        """
        try:
            return unit.tree
        except SourceError as error:
            self.unparsed_statements.add(UnparsedStatement(unit.source.filename, unit.first_row, error.message))
            raise

    # Events and errors

    @contextmanager
    def events_kept(self) -> Iterator[list[Event]]:
        """Keep the events of the `with` block in a list, for the caller to send to the listener afterwards."""
        kept: list[Event] = []
        before, self.listener = self.listener, kept.append
        try:
            yield kept
        finally:
            self.listener = before

    def contain_errors(self, filename: str, where: str) -> ContainedErrors:
        """Contain an exception raised inside the `with` block, so that the rest of the program is still analysed.

        The block analyses one piece of the program, such as a function, named by `where`. An internal error is
        recorded. A statement that libcst cannot parse also ends the block.
        """
        return ContainedErrors(self, filename, where)


class ContainedErrors:
    """A block in which exceptions are contained, with the calls that were running when it began.

    Each call of the program's functions is one: a class takes half the time of a generator.
    """

    __slots__ = ("_active", "_analysis", "_calls", "_filename", "_where")

    def __init__(self, analysis: AnalysisState, filename: str, where: str) -> None:
        self._analysis, self._filename, self._where = analysis, filename, where
        self._calls, self._active = list(analysis.calls), list(analysis.active_functions)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        analysis = self._analysis
        analysis.calls[:], analysis.active_functions[:] = self._calls, self._active
        if not isinstance(error, SourceError):
            message = f"{type(error).__name__}: {error}".partition("\n")[0]
            text = "".join(traceback.format_exception(error))
            analysis.errors.append(InternalError(self._filename, self._where, message, text))
        return True
