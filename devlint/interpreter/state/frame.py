"""Frames: one execution of a piece of code, with its abstract state and the calls and loops around it.

Handlers of syntax nodes register themselves in this module by node type; `Frame.evaluate`, `Frame.execute` and
`Frame.assign` call them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.clock_reads import Launch, RunningWork
from devlint.domain.join import join_tensors
from devlint.domain.objects import HeapObject, Instance, ParameterCell, ParameterGroup, Sequence, join_parameter_cells
from devlint.domain.path_conditions import Literal, entails
from devlint.domain.placement import Assumption, Loop, Place, Scope, Step, StepKind
from devlint.domain.placement_lattice import restrict
from devlint.domain.record import replace
from devlint.domain.value import (
    UNKNOWN,
    AllocationSite,
    ConditionalValue,
    Ref,
    Tensor,
    Unknown,
    Value,
    as_tensor,
    computed_tensor,
)
from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo
from devlint.interpreter.state.abstract_state import State, TorchState
from devlint.interpreter.state.analysis_state import AnalysisState
from devlint.interpreter.state.arguments import Arguments, LibraryCall
from devlint.interpreter.state.device_facts import refine_placement
from devlint.interpreter.state.events import CallOnStack, DeviceConflict, Event, EventContext, RevealedValue
from devlint.interpreter.state.heap import Heap
from devlint.interpreter.state.observation import Observer
from devlint.syntax.index import Binding, Statement

MAX_NESTING: Final = 150
"""The nesting depth of syntax up to which code is evaluated; deeper expressions are unknown.

Generated code nests that deep, and Python's own stack is finite.
"""

Node = TypeVar("Node", bound=cst.CSTNode)
"""A type of syntax node."""
EXPRESSION_HANDLERS: dict[type, Callable[[Frame, Any], Value]] = {}
"""The evaluators of expressions by node type."""
STATEMENT_HANDLERS: dict[type, Callable[[Frame, Any], None]] = {}
"""The executors of statements by node type."""
TARGET_HANDLERS: dict[type, Callable[[Frame, Any, Value], None]] = {}
"""The handlers that bind an assignment target to a value, by the target's node type."""


def evaluates(*types: type) -> Callable[[Callable[[Frame, Any], Value]], Callable[[Frame, Any], Value]]:
    """Return a decorator that registers a function as the evaluator of expressions of some syntax node types."""

    def register(handler: Callable[[Frame, Any], Value]) -> Callable[[Frame, Any], Value]:
        EXPRESSION_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


def executes(*types: type) -> Callable[[Callable[[Frame, Any], None]], Callable[[Frame, Any], None]]:
    """Return a decorator that registers a function as the executor of statements of some syntax node types."""

    def register(handler: Callable[[Frame, Any], None]) -> Callable[[Frame, Any], None]:
        STATEMENT_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


def expression_handlers(observer: Observer[Frame] | None) -> Mapping[type, Callable[[Frame, Any], Value]]:
    """Return the evaluators of expressions by node type.

    If there is an observer, each evaluator is wrapped so that it reports its values to the observer.
    """
    if observer is None:
        return EXPRESSION_HANDLERS
    return {kind: _observed(handler, observer) for kind, handler in EXPRESSION_HANDLERS.items()}


def _observed(handler: Callable[[Frame, Any], Value], observer: Observer[Frame]) -> Callable[[Frame, Any], Value]:
    """Return an evaluator that calls `handler` and reports each value that it returns to the observer."""

    def evaluate(frame: Frame, node: cst.CSTNode) -> Value:
        value = handler(frame, node)
        observer.see(frame, node, value)
        return value

    return evaluate


def assigns(
    *types: type,
) -> Callable[[Callable[[Frame, Any, Value], None]], Callable[[Frame, Any, Value], None]]:
    """Return a decorator that registers a function as the handler of assignment targets of some syntax node types."""

    def register(handler: Callable[[Frame, Any, Value], None]) -> Callable[[Frame, Any, Value], None]:
        TARGET_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


@dataclass(eq=False)
class LoopFrame:
    """A loop that a frame is running, with the abstract states that left its body early.

    `bound_names` are the names that its body binds; `unrolled` is true when the loop is run once per known element;
    `iteration` identifies the iteration or pass being run; `breaks` and `continues` are the abstract states at each
    `break` and `continue`.
    """

    loop: Loop
    node: cst.CSTNode
    bound_names: frozenset[str] = frozenset()
    unrolled: bool = False
    iteration: Hashable = None
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Frame:
    """One execution of a function, class body or module: its abstract state, its scope and its loops.

    `outer` is the frame of the enclosing code, whose names nested functions read. `context` is the number of the chain
    of calls and unrolled iterations, `loop_pass_key` that of the passes over loops run to a fixpoint. `returns` holds
    the state and value of each `return`; `exception_states` the states from which the handlers of the `try` statements
    being run may start, and `expected_exceptions` the names of the exceptions that these handlers name and do not raise
    again; `outer_names` the names declared global or nonlocal. `conditions` holds the condition that each
    test expression was last evaluated to. `pending_statements` are a module's top-level statements and imports that are
    not run yet, by the names they bind, and `late_bindings` the values of those run since. `is_failure_wanted` is true
    for code that a test requires to raise, and for a call that the program makes again where it has raised.
    """

    def __init__(
        self,
        analysis: AnalysisState,
        module: ModuleInfo,
        unit: Statement,
        scope: Scope,
        state: State,
        *,
        function: FunctionInfo | None = None,
        outer: Frame | None = None,
        context: int = 0,
        loop_pass_key: int = 0,
        enclosing_loop: Loop | None = None,
    ) -> None:
        self.analysis = analysis
        self.module = module
        self.unit = unit
        self.scope = scope
        self.state = state
        self.function = function
        self.outer = outer
        self.context = context
        self.loop_pass_key = loop_pass_key
        self.enclosing_loop = enclosing_loop
        self.caller: tuple[Frame, cst.CSTNode] | None = None
        self.loops: list[LoopFrame] = []
        self.returns: list[tuple[State, Value]] = []
        self.exception_states: list[list[State]] = []
        self.expected_exceptions: list[frozenset[str]] = []
        self.is_failure_wanted = False
        self.yielded_values: list[Value] = []
        self.states_at_yield: list[tuple[TorchState, Heap]] = []
        self.outer_names: set[str] = set()
        self.nesting = 0
        self.discarded_expression: cst.BaseExpression | None = None
        self.displayed_expression: cst.BaseExpression | None = None
        self.conditions: dict[cst.CSTNode, Literal | bool | None] = {}
        self.pending_statements: dict[str, list[Statement | Binding]] = {}
        self.late_bindings: dict[str, Value] = {}
        self.star_imports: list[str] = []
        self.main_guards: list[Statement] = []

    # Syntax

    def evaluate(self, node: cst.CSTNode) -> Value:
        """Return the value of an expression in the current state; unknown once the evaluation budget is spent."""
        analysis = self.analysis
        handler = analysis.expressions.get(type(node))
        if handler is None or self.nesting > MAX_NESTING or analysis.budget <= 0:
            return UNKNOWN
        analysis.budget -= 1
        self.nesting += 1
        try:
            return handler(self, node)
        finally:
            self.nesting -= 1

    def execute(self, node: cst.CSTNode) -> None:
        """Apply a statement to the current abstract state.

        Nothing happens if the current path has ended, or once the evaluation budget is spent.
        """
        analysis = self.analysis
        if not self.state.live or self.nesting > MAX_NESTING or analysis.budget <= 0:
            return
        analysis.budget -= 1
        handler = STATEMENT_HANDLERS.get(type(node))
        if handler is not None:
            self.nesting += 1
            try:
                handler(self, node)
            finally:
                self.nesting -= 1

    def assign(self, node: cst.CSTNode, value: Value) -> None:
        """Bind an assignment target, given by its syntax node, to a value."""
        if self.analysis.observer is not None:
            self.analysis.observer.bind(self, node, value)
        handler = TARGET_HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, value)

    def execute_all(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Execute several statements, given by their syntax nodes, one after another."""
        for node in nodes:
            self.execute(node)

    # Places and events

    def place(self, node: cst.CSTNode) -> Place:
        """Return the source location (`Place`) of a syntax node in this frame's file and statement."""
        return Place(self.module.filename, self.unit, node)

    def step(self, kind: StepKind, message: str, node: cst.CSTNode, previous: Step | None = None) -> Step:
        """Return a new step of a value's history (provenance), which happens at a syntax node of this frame's code."""
        return Step(kind, message, self.place(node), self.scope, previous, self.loop)

    def assuming_step(
        self, kind: StepKind, message: str, node: cst.CSTNode, assumption: AssumptionKind, clause: str
    ) -> Step:
        """Return a new first step of a value's history, which makes an assumption; `clause` is its text."""
        place = self.place(node)
        made = Assumption(assumption, clause, place)
        return Step(kind, message, place, self.scope, None, self.loop, assumption=made)

    def event_context(self, node: cst.CSTNode) -> EventContext:
        """Return the context of an event at a syntax node.

        It holds the event's source location, scope, path condition, call stack and innermost loop.
        """
        calls: tuple[CallOnStack, ...] = tuple(self.analysis.calls)
        running: TorchState = self.state.torch_state
        idle = running.last_wait is not None and running.unsynchronized is None
        return EventContext(
            self.place(node), self.scope, self.state.path_condition, calls, self.loop, self.analysis.symbolic, idle
        )

    def callers(self) -> Iterator[Frame]:
        """Yield the frames of the callers of this frame, innermost first."""
        frame = self
        while frame.caller is not None:
            frame = frame.caller[0]
            yield frame

    @property
    def loop(self) -> Loop | None:
        """Return the innermost loop around the code being run, in this frame or its callers; None outside of loops."""
        return self.loops[-1].loop if self.loops else self.enclosing_loop

    @property
    def in_repeated_loop(self) -> bool:
        """Return whether the code being run is in a loop of this frame that runs an unknown number of times.

        The elements that such a loop adds to a list cannot be counted.
        """
        return any(not loop_frame.unrolled for loop_frame in self.loops)

    def loop_at(self, head: cst.CSTNode, body: cst.CSTNode, *, counted: bool, of_batches: bool = False) -> Loop:
        """Return a new `Loop` record for a loop, nested in the loop being run.

        `head` is the syntax node at which findings show the loop, `body` the node of the whole loop. `counted` tells
        that the loop is run once for each of its elements, which are few and known, `of_batches` that they are batches
        of a loader.
        """
        outer = self.loop
        depth = outer.depth + 1 if outer is not None else 1
        return Loop(self.place(head), depth, outer, self.state.path_condition, self.scope, counted, of_batches, body)

    def emit(self, event: Event) -> None:
        """Send an event to the listener of the analysis, which hands it to the rules.

        What would happen in the rest of an expression that has raised is left out, as is a device conflict inside a
        module's call that has failed before. So is all that happens in code whose failure the program expects.
        """
        if not (self.state.live and not self.is_failure_wanted) and not isinstance(event, RevealedValue):
            return
        if isinstance(event, DeviceConflict):
            when = event.context.path_condition | event.when
            if self.analysis.failed_calls.has_failed(event.context.calls, when):
                return
        self.analysis.listener(event)

    # Methods implemented by a subclass in `devlint.interpreter.driver.assembly`: their code is in rooms above this one

    def call(self, callee: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """Call a value: a function, a class, an object or a name from a library; return the result."""
        raise NotImplementedError

    def call_function(
        self,
        info: FunctionInfo,
        receiver: Value | None,
        arguments: Arguments,
        *,
        is_module: bool = False,
        entry: bool = False,
    ) -> Value:
        """Run one of the program's functions, apply its heap effects to the current path, and return its result."""
        raise NotImplementedError

    def get_attribute(self, owner: Value, name: str, node: cst.CSTNode) -> Value:
        """Return the value of the attribute `name` of the value `owner`."""
        raise NotImplementedError

    def iterate(self, value: Value, node: cst.BaseExpression) -> Sequence:
        """Return the elements of an iteration over a value.

        Each element is listed when the elements are known and few; otherwise one value stands for all.
        """
        raise NotImplementedError

    def invoke(self, invocation: LibraryCall) -> Value:
        """Call a library function, or a method of a library's object; return the result."""
        raise NotImplementedError

    # Names

    def lookup(self, name: str) -> Value | None:
        """Return the value of a name under Python's scoping rules; None when the name is not bound."""
        frame: Frame | None = self
        while frame is not None:
            value = frame.state.names.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return self.analysis.global_name(self.module, name)

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in this frame to a value.

        `devlint.interpreter.language.nonlocals` copies names declared global or nonlocal to the frame they belong to.
        """
        self.state.names[name] = value
        if self.state.bound_if:
            self.state.bound_if.pop(name, None)

    # Heap

    def get(self, address: AllocationSite) -> HeapObject | None:
        """Return the heap object at an allocation site as the current path sees it; None if there is none.

        If the path has not changed the object, that is the object as the module that made it has left it.
        """
        return self.state.heap.get(address)

    def put(self, address: AllocationSite, thing: HeapObject) -> None:
        """Store a heap object at an allocation site; only the current path sees the change."""
        self.state.heap.put(address, thing)

    def allocate(self, node: cst.CSTNode, thing: HeapObject, part: str = "") -> Ref:
        """Allocate a heap object for a syntax node in the current chain of calls, and return a reference to it.

        The node gets the same object in each pass of a loop. `part` tells several objects of one node apart.
        """
        address = AllocationSite((id(node), part) if part else id(node), self.context)
        self.state.heap.put(address, thing)
        return Ref(address)

    def object_of(self, value: Value | None) -> HeapObject | None:
        """Return the heap object that a value refers to; None for a value that is no reference."""
        return self.get(value.address) if isinstance(value, Ref) else None

    def instance(self, value: Value | None) -> Instance | None:
        """Return the object with attributes (an `Instance`) that a value refers to; None for any other value."""
        if not isinstance(value, Ref):
            return None
        thing = self.get(value.address)
        return thing if isinstance(thing, Instance) else None

    def contents(self, value: Value) -> Value:
        """Return the dict or list that underlies an object whose class derives from dict or list.

        Any other value is returned unchanged.
        """
        thing = self.instance(value)
        return thing.contents if thing is not None and thing.contents is not None else value

    def cell(self, address: AllocationSite) -> ParameterCell | None:
        """Return the cell (placement and dtype) of the parameters at an allocation site; None if there is none.

        For a library module that is the cell of its parameters, for a group of parameters the join of their cells.
        """
        match self.get(address):
            case Instance(cell=cell):
                return cell
            case ParameterCell() as cell:
                return cell
            case ParameterGroup(members=members):
                cells = [cell for member in members if (cell := self.cell(member)) is not None]
                return join_parameter_cells(cells) if cells else None
        return None

    def resolve(self, tensor: Tensor) -> Tensor:
        """Return a tensor with the placement that it has in the current abstract state.

        A parameter's placement is read from its cell on the heap, and cases that the path condition excludes are
        dropped.
        """
        if tensor.cell is not None:
            cell = self.cell(tensor.cell)
            if cell is not None:
                # A buffer of the same module shares the cell, but never collects a gradient.
                grad = cell.grad if tensor.leaf else tensor.grad
                tensor = replace(tensor, placement=cell.placement, dtype=cell.dtype, grad=grad)
        if self.state.path_condition:
            placement = refine_placement(
                restrict(tensor.placement, self.state.path_condition), self.state.path_condition
            )
            if placement is not tensor.placement:
                tensor = replace(tensor, placement=placement)
        return tensor

    def copied_result(self, tensor: Tensor) -> Tensor:
        """Return the result of an operation that copies a tensor, such as `clone`.

        The result requires no gradient where autograd is off.
        """
        result = computed_tensor(self.resolve(tensor))
        return result if self.state.torch_state.grad else replace(result, grad=False)

    def resolve_value(self, value: Value) -> Value:
        """Return a tensor with the placement that it has in the current abstract state; any other value unchanged.

        A conditional value of two tensors is joined into one tensor first.
        """
        value = self.as_single_tensor(value)
        return self.resolve(value) if isinstance(value, Tensor) else value

    def as_single_tensor(self, value: Value) -> Value:
        """Return a conditional value of two tensors, such as two parameters, joined into one tensor.

        Any other value is returned unchanged.
        """
        if not isinstance(value, ConditionalValue):
            return value
        sides = [self.as_single_tensor(one) for one in (value.yes, value.no)]
        if not any(isinstance(one, Tensor) for one in sides) or not all(
            isinstance(one, Tensor | Unknown) for one in sides
        ):
            return value
        yes, no = map(as_tensor, sides)
        assert yes is not None and no is not None
        return join_tensors(self.resolve(yes), self.resolve(no), value.test)

    def under_path(self, value: Value) -> Value:
        """Return the alternative of a conditional value that the path condition selects; otherwise the value itself."""
        while isinstance(value, ConditionalValue) and value.test is not None:
            known = entails(self.state.path_condition, value.test)
            if known is None:
                break
            value = value.yes if known else value.no
        return value

    def allocate_cell(self, tensor: Tensor) -> AllocationSite:
        """Allocate a parameter cell with a tensor's placement and dtype on the heap, and return its allocation site."""
        address = AllocationSite(("cell", id(tensor)), self.context)
        self.state.heap.put(address, ParameterCell(tensor.placement, tensor.dtype, True))
        return address

    # Paths

    def fail(self, *, chosen: bool = False) -> None:
        """End the current path by an exception, and keep its abstract state for the handlers of an enclosing `try`.

        `chosen` is true where the program itself raises, or ends the process.
        """
        if self.exception_states:
            self.exception_states[-1].append(self.state.fork())
        self.state.live = False
        self.state.failed = not chosen

    @contextmanager
    def failure_wanted(self, wanted: bool) -> Iterator[None]:
        """Run the code of the `with` block, and what it calls, as code that the program expects to fail, if it is that.

        A test may require it to raise, or the program makes a failed call again in another way.
        """
        before, self.is_failure_wanted = self.is_failure_wanted, self.is_failure_wanted or wanted
        yield
        self.is_failure_wanted = before

    def expects(self, *exceptions: str) -> bool:
        """Return whether a `try` statement of this function around the code being run handles one of some exceptions.

        Its handlers name the exception, and do not raise it again.
        """
        return any(not names.isdisjoint(exceptions) for names in self.expected_exceptions)

    def branch(self, *paths: Callable[[], None]) -> list[State]:
        """Run each of several functions from the current abstract state, and return the state at the end of each.

        The frame's current state is the same afterwards as before.
        """
        start = self.state
        ends = []
        for path in paths:
            self.state = start.fork()
            if self.state.live:
                path()
            ends.append(self.state)
        self.state = start
        return ends

    @contextmanager
    def iteration(self, loop: cst.CSTNode, position: int) -> Iterator[None]:
        """Enter one iteration of an unrolled loop for the duration of the `with` block.

        Objects made in different iterations get different allocation sites and thereby are different objects.
        """
        before = self.context
        self.context = self.analysis.context_number(before, (id(loop), position))
        yield
        self.context = before

    @contextmanager
    def loop_pass(self, loop: cst.CSTNode, times: int) -> Iterator[None]:
        """Enter one pass over a loop that is run to a fixpoint; `times` is the number of passes before it.

        Conditions without a name, known only by their source location, thereby differ from those of earlier passes.
        """
        before = self.loop_pass_key
        self.loop_pass_key = self.analysis.context_number(before, (id(loop), times)) if times else before
        yield
        self.loop_pass_key = before

    def site_key(self, node: cst.CSTNode) -> tuple[Hashable, ...]:
        """Return the key that identifies a condition by its syntax node, with the calls and loop passes being run.

        It serves for conditions that have no name in the program.
        """
        return ("node", node, self.context, self.loop_pass_key)

    @contextmanager
    def torch_state(self, **changes: object) -> Iterator[None]:
        """Change torch's settings in the abstract state inside the `with` block, and restore them afterwards."""
        before = self.set_torch_state(changes)
        yield
        self.set_torch_state(before)

    def set_torch_state(self, changes: Mapping[str, object]) -> Mapping[str, object]:
        """Change settings of torch in the current abstract state, and return their former values."""
        before = {name: getattr(self.state.torch_state, name) for name in changes}
        if changes:
            self.state.torch_state = replace(self.state.torch_state, **changes)  # type: ignore[arg-type]
        return before

    def synchronize(self, step: Step | None = None) -> None:
        """Record in the abstract state that the host waits for the accelerator; `step` is the waiting operation."""
        torch_state = self.state.torch_state
        self.state.torch_state = replace(
            torch_state, epoch=torch_state.epoch + 1, unsynchronized=None, last_wait=step, in_flight=frozenset()
        )

    def launch(self, step: Step, *, heavy: bool = True) -> None:
        """Record in the abstract state that the accelerator is given work; `step` is the operation that launches it.

        `heavy` is false for an operation that takes a moment (see `RunningWork`).
        """
        torch_state: TorchState = self.state.torch_state
        newest, running = Launch(torch_state.launches + 1, step), torch_state.unsynchronized
        earlier = running.heavy if running is not None else None
        work = RunningWork(newest, newest if heavy else earlier)
        self.state.torch_state = replace(torch_state, launches=newest.number, unsynchronized=work, last_wait=None)
