"""One run of one piece of code: its state, its scope, the calls and loops around it, and how it speaks to the rules.

Handlers for syntax nodes register themselves here by node type; `evaluate` and `execute` are the only two ways in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import libcst as cst

from devlint.domain.join import join_tensors
from devlint.domain.objects import HeapObject, Instance, ParameterCell, ParameterGroup, Sequence, join_parameter_cells
from devlint.domain.path_conditions import Literal, entails
from devlint.domain.placement import Loop, Place, Scope, Step, StepKind, restrict
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
from devlint.interpreter.state.events import CallOnStack, Event, EventContext
from devlint.interpreter.state.heap import Heap
from devlint.interpreter.state.observation import Observer
from devlint.syntax.index import Binding, Statement

MAX_NESTING: Final = 150
"""Expressions nested deeper than this are unknown: generated code nests so, and Python's own stack is finite."""

Node = TypeVar("Node", bound=cst.CSTNode)
EXPRESSION_HANDLERS: dict[type, Callable[[Frame, Any], Value]] = {}
STATEMENT_HANDLERS: dict[type, Callable[[Frame, Any], None]] = {}
TARGET_HANDLERS: dict[type, Callable[[Frame, Any, Value], None]] = {}


def evaluates(*types: type) -> Callable[[Callable[[Frame, Any], Value]], Callable[[Frame, Any], Value]]:
    """Register the evaluator of these node types."""

    def register(handler: Callable[[Frame, Any], Value]) -> Callable[[Frame, Any], Value]:
        EXPRESSION_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


def executes(*types: type) -> Callable[[Callable[[Frame, Any], None]], Callable[[Frame, Any], None]]:
    """Register the executor of these node types."""

    def register(handler: Callable[[Frame, Any], None]) -> Callable[[Frame, Any], None]:
        STATEMENT_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


def expression_handlers(observer: Observer[Frame] | None) -> Mapping[type, Callable[[Frame, Any], Value]]:
    """The evaluator of each node type; one that shows each value to the observer, if there is one."""
    if observer is None:
        return EXPRESSION_HANDLERS
    return {kind: _shown(handler, observer) for kind, handler in EXPRESSION_HANDLERS.items()}


def _shown(handler: Callable[[Frame, Any], Value], observer: Observer[Frame]) -> Callable[[Frame, Any], Value]:
    def evaluate(frame: Frame, node: cst.CSTNode) -> Value:
        value = handler(frame, node)
        observer.see(frame, node, value)
        return value

    return evaluate


def assigns(
    *types: type,
) -> Callable[[Callable[[Frame, Any, Value], None]], Callable[[Frame, Any, Value], None]]:
    """Register what binds these node types to a value."""

    def register(handler: Callable[[Frame, Any, Value], None]) -> Callable[[Frame, Any, Value], None]:
        TARGET_HANDLERS.update(dict.fromkeys(types, handler))
        return handler

    return register


@dataclass(eq=False)
class LoopFrame:
    """A loop being run: what its body binds, whether it is followed element by element, and the states that left it
    early."""

    loop: Loop
    node: cst.CSTNode
    assigned: frozenset[str] = frozenset()
    unrolled: bool = False
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Frame:
    """The interpreter's position in one function call, class body or module."""

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
        self.yielded_values: list[Value] = []
        self.states_at_yield: list[tuple[TorchState, Heap]] = []
        self.outer_names: set[str] = set()
        self.nesting = 0
        self.discarded_expression: cst.BaseExpression | None = None
        self.conditions: dict[cst.CSTNode, Literal | bool | None] = {}
        self.waiting: dict[str, list[Statement | Binding]] = {}
        self.late_bindings: dict[str, Value] = {}
        self.star_imports: list[str] = []
        self.main_guards: list[Statement] = []

    # Syntax

    def evaluate(self, node: cst.CSTNode) -> Value:
        """The value of an expression in the current state."""
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
        """The effect of a statement on the current state; nothing once the path has left."""
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
        """Bind a target to a value."""
        if self.analysis.observer is not None:
            self.analysis.observer.bind(self, node, value)
        handler = TARGET_HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, value)

    def execute_all(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Statements one after another."""
        for node in nodes:
            self.execute(node)

    # Places and events

    def place(self, node: cst.CSTNode) -> Place:
        """The place of a node of the code being run."""
        return Place(self.module.filename, self.unit, node)

    def step(self, kind: StepKind, message: str, node: cst.CSTNode, previous: Step | None = None) -> Step:
        """A step of a story that happens here."""
        return Step(kind, message, self.place(node), self.scope, previous, self.loop)

    def event_context(self, node: cst.CSTNode) -> EventContext:
        """The circumstances of an event at a node."""
        calls: tuple[CallOnStack, ...] = tuple(self.analysis.calls)
        return EventContext(
            self.place(node), self.scope, self.state.path_condition, calls, self.loop, self.analysis.symbolic
        )

    @property
    def loop(self) -> Loop | None:
        """The innermost loop around the code being run, its callers' included."""
        return self.loops[-1].loop if self.loops else self.enclosing_loop

    @property
    def in_repeated_loop(self) -> bool:
        """Whether some loop here runs an unknown number of times: what it adds cannot be counted."""
        return any(not loop_frame.unrolled for loop_frame in self.loops)

    def loop_at(self, node: cst.CSTNode) -> Loop:
        """A loop that starts here."""
        outer = self.loop
        return Loop(self.place(node), outer.depth + 1 if outer is not None else 1, outer, self.state.path_condition)

    def emit(self, event: Event) -> None:
        """Tell the rules."""
        self.analysis.emit(event)

    # Gateways: what is above fills them in, on the class (see `devlint.interpreter.driver.assembly`)

    def call(self, callee: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """Call whatever the callee is: a function, a class, an object, a library's name."""
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
        """Run one of the program's functions with these arguments, and take over what it did to the heap."""
        raise NotImplementedError

    def get_attribute(self, owner: Value, name: str, node: cst.CSTNode) -> Value:
        """Read an attribute of a value."""
        raise NotImplementedError

    def iterate(self, value: Value, node: cst.BaseExpression) -> Sequence:
        """Go through a value: its elements, each when they are known and few, else one that stands for all."""
        raise NotImplementedError

    def invoke(self, invocation: LibraryCall) -> Value:
        """Call a library's function, or a method of one of its objects."""
        raise NotImplementedError

    # Names

    def lookup(self, name: str) -> Value | None:
        """The value of a name by Python's scoping; None when it is bound nowhere."""
        frame: Frame | None = self
        while frame is not None:
            value = frame.state.names.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return self.analysis.global_name(self.module, name)

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value; that of other code is published by `devlint.interpreter.language.nonlocals`."""
        self.state.names[name] = value

    # Heap

    def get(self, address: AllocationSite) -> HeapObject | None:
        """A heap object: as this path has left it, else as the module that made it did."""
        return self.state.heap.get(address)

    def put(self, address: AllocationSite, thing: HeapObject) -> None:
        """Change a heap object on this path."""
        self.state.heap.put(address, thing)

    def allocate(self, node: cst.CSTNode, thing: HeapObject, part: str = "") -> Ref:
        """A new heap object for this node in this chain of calls; a loop meets its own object again."""
        address = AllocationSite((id(node), part) if part else id(node), self.context)
        self.state.heap.put(address, thing)
        return Ref(address)

    def object_of(self, value: Value | None) -> HeapObject | None:
        """Return the heap object that a value refers to, None for any other value."""
        return self.get(value.address) if isinstance(value, Ref) else None

    def instance(self, value: Value | None) -> Instance | None:
        """The object with attributes behind a value, if it is one."""
        if not isinstance(value, Ref):
            return None
        thing = self.get(value.address)
        return thing if isinstance(thing, Instance) else None

    def contents(self, value: Value) -> Value:
        """The dict or list that an object of a class derived from those is; anything else as it is."""
        thing = self.instance(value)
        return thing.contents if thing is not None and thing.contents is not None else value

    def cell(self, address: AllocationSite) -> ParameterCell | None:
        """The cell of a parameter, of the library module that owns it, or what several cells have in common."""
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
        """The tensor as it is now and here: a parameter's placement read from its cell, choices decided by the path."""
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
        """What an operation that copies makes of the tensor: it asks for no gradient where autograd does not record."""
        result = computed_tensor(self.resolve(tensor))
        return result if self.state.torch_state.grad else replace(result, grad=False)

    def resolve_value(self, value: Value) -> Value:
        """The value as it is now and here, when it is a tensor."""
        value = self.as_single_tensor(value)
        return self.resolve(value) if isinstance(value, Tensor) else value

    def as_single_tensor(self, value: Value) -> Value:
        """Of two parameters, or a parameter and another tensor, the one that an operation sees; else the value."""
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
        """Of two values, the one that the path leaves."""
        while isinstance(value, ConditionalValue) and value.test is not None:
            known = entails(self.state.path_condition, value.test)
            if known is None:
                break
            value = value.yes if known else value.no
        return value

    def allocate_cell(self, tensor: Tensor) -> AllocationSite:
        """A parameter made of a tensor: its placement in a cell of its own."""
        address = AllocationSite(("cell", id(tensor)), self.context)
        self.state.heap.put(address, ParameterCell(tensor.placement, tensor.dtype, True))
        return address

    # Paths

    def branch(self, *paths: Callable[[], None]) -> list[State]:
        """Run each path from the current state and return where each ended; the current state is left as it was."""
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
        """One round of a loop that is followed element by element: what it makes is not what the others make."""
        before = self.context
        self.context = self.analysis.context(before, (id(loop), position))
        yield
        self.context = before

    @contextmanager
    def loop_pass(self, loop: cst.CSTNode, times: int) -> Iterator[None]:
        """A further round of a loop: what it asks is not answered by what the rounds before were told."""
        before = self.loop_pass_key
        self.loop_pass_key = self.analysis.context(before, (id(loop), times)) if times else before
        yield
        self.loop_pass_key = before

    def site_key(self, node: cst.CSTNode) -> tuple[Hashable, ...]:
        """What identifies a condition that has no name but its place."""
        return ("node", node, self.context, self.loop_pass_key)

    @contextmanager
    def torch_state(self, **changes: object) -> Iterator[None]:
        """Change what surrounds the operations of a block, and put those settings back after it."""
        before = self.set_torch_state(changes)
        yield
        self.set_torch_state(before)

    def set_torch_state(self, changes: Mapping[str, object]) -> Mapping[str, object]:
        """Change what surrounds the operations from here on; the settings as they were."""
        before = {name: getattr(self.state.torch_state, name) for name in changes}
        if changes:
            self.state.torch_state = replace(self.state.torch_state, **changes)  # type: ignore[arg-type]
        return before

    def synchronize(self, step: Step | None = None) -> None:
        """The host waits for the accelerator."""
        torch_state = self.state.torch_state
        self.state.torch_state = replace(torch_state, epoch=torch_state.epoch + 1, unsynchronized=None, waited=step)

    def launch(self, step: Step) -> None:
        """The accelerator is given work."""
        torch_state: TorchState = self.state.torch_state
        number = torch_state.launches + 1
        self.state.torch_state = replace(torch_state, launches=number, unsynchronized=(number, step), waited=None)
