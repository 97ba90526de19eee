"""Calls: into the program's own functions with their actual arguments, and into libraries by what is known of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.flow.arguments import Argument, Arguments, gather
from devlint.flow.attributes import get_attribute
from devlint.flow.classes import (
    ancestors,
    class_values,
    enclosing_class,
    find_method,
    home_of,
    is_module_class,
    library_base,
)
from devlint.flow.definitions import ClassInfo, FunctionInfo, Parameter
from devlint.flow.events import Call
from devlint.flow.library.registry import Invocation, invoke
from devlint.flow.nn import call_layer, is_module, layer_cell, placement_of_module
from devlint.flow.opaque import call_opaque, havoc, opaque_method
from devlint.flow.run import Run, expression
from devlint.flow.state import State, merge
from devlint.syntax.walk import dotted_name
from devlint.values.condition import distinguish
from devlint.values.heap import Dict, Instance, Sequence, join_all
from devlint.values.join import join, without_none
from devlint.values.placement import Placement, is_unknown, leaves, retrace
from devlint.values.scope import Scope
from devlint.values.trace import Kind, Step
from devlint.values.value import (
    NONE,
    UNKNOWN,
    Batch,
    Callable_,
    Either,
    Library,
    Method,
    Partial,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

CACHING: Final = frozenset({"lru_cache", "cache"})
MAX_GIVEN: Final = 6
"""Arguments whose placement a scope remembers: enough to know whether one of them was on the accelerator."""


@expression(cst.Call)
def call(run: Run, node: cst.Call) -> Value:
    """`f(...)`."""
    if isinstance(node.func, cst.Name) and node.func.value == "super":
        return _super(run, node)
    if isinstance(node.func, cst.Attribute):
        owner = run.evaluate(node.func.value)
        inner = without_none(owner)
        if isinstance(inner, Unknown) and inner.origin is not None:
            arguments = gather(run, node)
            return opaque_method(run, inner, node.func.attr.value, arguments, node, node.func.value)
        callee = get_attribute(run, owner, node.func.attr.value, node.func)
    else:
        callee = run.evaluate(node.func)
    return call_value(run, callee, gather(run, node), node)


def _super(run: Run, node: cst.Call) -> Value:
    if len(node.args) == 2:
        cls, receiver = run.evaluate(node.args[0].value), run.evaluate(node.args[1].value)
    else:
        info = enclosing_class(run)
        function = _method_run(run)
        receiver_name = (
            function.function.parameters[0].name
            if function and function.function and function.function.parameters
            else ""
        )
        cls = Callable_(info) if info is not None else UNKNOWN
        receiver = run.lookup(receiver_name) or UNKNOWN
    return Partial(Library("builtins.super"), (cls, receiver))


def _method_run(run: Run) -> Run | None:
    current: Run | None = run
    while current is not None and (current.function is None or current.function.owner is None):
        current = current.outer
    return current


def call_value(run: Run, callee: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call whatever the callee is."""
    match without_none(callee):
        case Callable_(definition=FunctionInfo() as info, receiver=receiver):
            return call_function(run, info, receiver, arguments)
        case Callable_(definition=ClassInfo() as info):
            return construct(run, info, arguments, node)
        case Library(name=name):
            return invoke(run, Invocation(name, arguments, node))
        case Method(receiver=receiver, name=name):
            return invoke(run, Invocation(name, arguments, node, receiver))
        case Partial(target=target, args=args, keywords=keywords):
            held = [Argument(value, _node(arguments)) for value in args]
            merged = Arguments(
                arguments.node,
                [*held, *arguments.positional],
                {**{key: Argument(value, _node(arguments)) for key, value in keywords}, **arguments.keywords},
                arguments.complete,
                arguments.rest,
            )
            return call_value(run, target, merged, node)
        case Ref() as reference:
            return call_object(run, reference, arguments, node)
        case Either(test=test, yes=yes, no=no):
            values: list[Value] = [UNKNOWN, UNKNOWN]

            def side(position: int, target: Value) -> None:
                values[position] = call_value(run, target, arguments, node)

            ends = run.branch(lambda: side(0, yes), lambda: side(1, no))
            run.state = merge(*ends)
            return join(values[0], values[1], test)
        case (Unknown() | Batch()) as unknown:
            return call_opaque(run, unknown, arguments, node)
    havoc(run, arguments)
    return UNKNOWN


def _node(arguments: Arguments) -> cst.BaseExpression:
    return arguments.node if isinstance(arguments.node, cst.BaseExpression) else cst.Name("argument")


def call_object(run: Run, reference: Ref, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call an object: a module's forward, a user class's `__call__`, a library object."""
    thing = run.instance(reference)
    if thing is None:
        return UNKNOWN
    module = is_module(run, reference)
    if isinstance(thing.cls, Callable_) and isinstance(thing.cls.definition, ClassInfo):
        info = thing.cls.definition
        method = find_method(run, info, "__call__") or (find_method(run, info, "forward") if module else None)
        if method is not None:
            return call_function(run, method, reference, arguments, is_module=module)
    if module:
        if isinstance(thing.cls, str) and not thing.settled:
            return UNKNOWN
        found = invoke(run, Invocation("__call__", arguments, node, reference))
        if found != UNKNOWN:
            return found
        layer = call_layer(run, reference, thing, arguments, node)
        if layer is not None:
            return layer
    havoc(run, arguments)
    return UNKNOWN


# The program's own functions


def call_function(
    run: Run, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool = False
) -> Value:
    """Run a function with these arguments, and take over what it did to the heap."""
    engine = run.engine
    if not engine.may_call(info):
        havoc(run, arguments)
        return UNKNOWN
    with engine.contained(run.module.filename, info.name):
        wrapped = _decorated(run, info, receiver, arguments)
        if wrapped is not None:
            return wrapped
        return _enter(run, info, receiver, arguments, is_module=is_module)
    return UNKNOWN


def _decorated(run: Run, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> Value | None:
    """The result of the wrapper that the program's own decorators put around a function; None without such
    decorators."""
    if not info.decorators or info in run.engine.unwrapping:
        return None
    home = home_of(run, info)
    wrapped: Value = Callable_(info)
    for decorator in reversed(info.decorators):
        target = home.evaluate(decorator)
        if isinstance(target, Callable_) and isinstance(target.definition, FunctionInfo):
            wrapped = call_function(
                run, target.definition, target.receiver, Arguments(decorator, [Argument(wrapped, decorator)])
            )
    if (
        wrapped == Callable_(info)
        or not isinstance(wrapped, Callable_)
        or not isinstance(wrapped.definition, FunctionInfo)
    ):
        return None
    if receiver is not None:
        arguments = Arguments(
            arguments.node,
            [Argument(receiver, _node(arguments)), *arguments.positional],
            arguments.keywords,
            arguments.complete,
            arguments.rest,
        )
    run.engine.unwrapping.add(info)
    try:
        return call_function(run, wrapped.definition, None, arguments)
    finally:
        run.engine.unwrapping.discard(info)


def _enter(run: Run, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool) -> Value:
    engine = run.engine
    names = bind_parameters(run, info, receiver, arguments)
    inner = Run(
        engine,
        info.module,
        info.unit,
        scope_for(run, info, receiver, names),
        State(names, run.state.heap, run.state.facts, run.state.ambient),
        function=info,
        outer=info.closure,
        context=engine.context(run.context, arguments.node),
        around=run.loop,
    )
    causes = frozenset(_causes(run, [value for value in names.values() if value != receiver]))
    display = info.owner.name if is_module and info.owner is not None else info.name
    engine.calls.append(Call(run.place(arguments.node), display, causes, is_module))
    engine.active.append(info)
    engine.ran.add(info)
    if engine.constructing:
        engine.at_construction.add(info)
    try:
        value = run_body(inner)
    finally:
        engine.active.pop()
        engine.calls.pop()
    end = inner.state
    if not end.live and not inner.exits:
        run.state.live = False
        return UNKNOWN
    run.state.heap, run.state.ambient = end.heap, end.ambient
    return _mark_cached(run, value, arguments.node) if info.decorator_names & CACHING else value


def run_body(run: Run) -> Value:
    """Run a function's body; afterwards `run.state` is the state at its end, whichever way it came there."""
    info = run.function
    assert info is not None
    changes = {"grad": False} if info.decorator_names & {"no_grad", "inference_mode"} else {}
    with run.ambient(**changes):
        if isinstance(info.node, cst.Lambda):
            value = run.evaluate(info.node.body)
            run.exits.append((run.state, value))
        else:
            run.execute(info.node.body)
            if run.state.live:
                run.exits.append((run.state, NONE))
        if not run.exits:
            return UNKNOWN
        state, value = run.exits[-1]
        for before, returned in reversed(run.exits[:-1]):
            value = join(returned, value, distinguish(before.facts, state.facts))
            state = merge(before, state)
        run.state = state
    if info.is_generator:
        return run.allocate(info.node, Sequence(None, join_all(run.yielded), "generator"))
    return value


def scope_for(run: Run, info: FunctionInfo, receiver: Value | None, names: dict[str, Value]) -> Scope:
    """What rules may ask of the code about to be run."""
    in_module = info.owner is not None and receiver is not None and is_module(run, receiver)
    building = run.engine.constructing > 0
    return Scope(
        info.name,
        info.module.filename,
        method_of_module=in_module and not building,
        any_device=info.evidence.devices and not building,
        construction=building,
        given=tuple(_given(run, names.values())),
        caller=run.scope,
    )


def _given(run: Run, values: Iterable[Value]) -> Iterator[Placement]:
    for value in list(values)[:MAX_GIVEN]:
        match value:
            case Tensor():
                yield run.settle(value).placement
            case Batch(placement=placement):
                yield placement
            case Unknown(origin=origin) if origin is not None:
                continue
            case Ref() if is_module(run, value):
                placement = placement_of_module(run, value)
                if not is_unknown(placement):
                    yield placement
            case Tuple(items=items):
                yield from _given(run, items)
            case Ref(address=address):
                thing = run.get(address)
                if isinstance(thing, Sequence):
                    yield from _given(run, [thing.any])
                elif isinstance(thing, Dict):
                    yield from _given(run, thing.entries.values())
                elif isinstance(thing, Instance):
                    yield from _given(
                        run,
                        [one for one in thing.attributes.values() if isinstance(one, Tensor) or is_module(run, one)],
                    )


def _causes(run: Run, values: Iterable[Value], depth: int = 0) -> Iterator[Step]:
    """The steps that placed the tensors among some values, those in containers included."""
    for value in values:
        match value:
            case Tensor(placement=placement) | Batch(placement=placement):
                yield from (leaf.cause for _, leaf in leaves(placement) if leaf.cause is not None)
            case Tuple(items=items) if depth < 3:
                yield from _causes(run, items, depth + 1)
            case Ref(address=address) if depth < 3:
                thing = run.get(address)
                if isinstance(thing, Sequence):
                    yield from _causes(run, thing.items if thing.items is not None else [thing.element], depth + 1)
                elif isinstance(thing, Dict):
                    yield from _causes(run, [*thing.entries.values(), thing.element or UNKNOWN], depth + 1)


def _mark_cached(run: Run, value: Value, node: cst.CSTNode) -> Value:
    if not isinstance(value, Tensor):
        return value

    def mark(previous: Step | None) -> Step:
        return run.step(Kind.CACHED, "returned from a cache whose key does not hold the device", node, previous)

    return replace(value, placement=retrace(value.placement, mark), fresh=None)


def bind_parameters(run: Run, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> dict[str, Value]:
    """Pair arguments with parameters as Python does; what a star of unknown content may hold is unknown."""
    positional = [argument.value for argument in arguments.positional]
    if receiver is not None:
        positional.insert(0, receiver)
    keywords = dict(arguments.keywords)
    names: dict[str, Value] = {}
    position = 0
    for parameter in info.parameters:
        if parameter.kind == "positional" and position < len(positional):
            names[parameter.name] = positional[position]
            position += 1
        elif parameter.kind == "star":
            items = tuple(positional[position:])
            names[parameter.name] = (
                Tuple(items) if arguments.complete else run.allocate(parameter.node, Sequence(None, UNKNOWN, "tuple"))
            )
            position = len(positional)
        elif parameter.kind == "star-star":
            entries: dict[Hashable, Value] = {key: argument.value for key, argument in keywords.items()}
            names[parameter.name] = run.allocate(parameter.node, Dict(entries, None if arguments.complete else UNKNOWN))
        elif parameter.name in keywords:
            names[parameter.name] = keywords.pop(parameter.name).value
        else:
            names[parameter.name] = _missing(run, info, parameter, arguments)
    return names


def _missing(run: Run, info: FunctionInfo, parameter: Parameter, arguments: Arguments) -> Value:
    if not arguments.complete:
        return arguments.rest.value if arguments.rest is not None else UNKNOWN
    return default_value(run, info, parameter)


def default_value(run: Run, info: FunctionInfo, parameter: Parameter) -> Value:
    """A parameter's default: made once, when the function was defined, and shared by every call."""
    if parameter.default is None:
        return UNKNOWN
    home = home_of(run, info)
    value = home.evaluate(parameter.default)
    if not isinstance(value, Tensor):
        return value

    def mark(previous: Step | None) -> Step:
        return home.step(
            Kind.CACHED, "a default argument, made once and shared by every call", parameter.node, previous
        )

    return replace(value, placement=retrace(value.placement, mark))


# The program's own classes


def construct(run: Run, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """`SomeClass(...)`: a new object, after its `__init__`."""
    fields = _data_fields(run, info)
    if fields is not None:
        return _construct_record(run, info, fields, arguments, node)
    reference = run.allocate(node, Instance(Callable_(info), {}))
    initializer = find_method(run, info, "__init__")
    module = is_module_class(run, info)
    run.engine.constructing += module
    try:
        if initializer is not None:
            call_function(run, initializer, reference, arguments)
        elif module:
            initialize_base(run, reference, info, arguments, node)
        else:
            havoc(run, arguments)
    finally:
        run.engine.constructing -= module
    run.state.live = True
    return reference


def initialize_base(run: Run, reference: Ref, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> None:
    """What the library class under a user's module does in its `__init__`."""
    base = library_base(run, info)
    row = run.engine.table.find(base) if base is not None else None
    thing = run.instance(reference)
    if row is not None and row.module is not None and thing is not None and base is not None:
        run.put(reference.address, replace(thing, cell=layer_cell(run, base, row, arguments, node)))
    elif base is not None:
        invoke(run, Invocation("__init__", arguments, node, reference))


def _data_fields(run: Run, info: ClassInfo) -> list[tuple[str, cst.BaseExpression | None]] | None:
    """The fields of a dataclass or NamedTuple in order, None for any other class."""
    decorators = {
        (dotted_name(one.decorator.func if isinstance(one.decorator, cst.Call) else one.decorator) or "").rpartition(
            "."
        )[2]
        for one in info.node.decorators
    }
    bases = {(dotted_name(arg.value) or "").rpartition(".")[2] for arg in info.node.bases}
    if ("dataclass" not in decorators and "NamedTuple" not in bases) or "__init__" in info.methods:
        return None
    lines = [
        one
        for one in reversed(ancestors(run, info))
        if isinstance(one, Callable_) and isinstance(one.definition, ClassInfo)
    ]
    fields: dict[str, cst.BaseExpression | None] = {}
    for one in lines:
        assert isinstance(one.definition, ClassInfo)
        for statement in one.definition.node.body.body:
            for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
                if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name):
                    fields[part.target.value] = part.value
    return list(fields.items())


def _construct_record(
    run: Run,
    info: ClassInfo,
    fields: list[tuple[str, cst.BaseExpression | None]],
    arguments: Arguments,
    node: cst.CSTNode,
) -> Value:
    home = home_of(run, info)
    values: dict[str, Value] = {}
    for position, (name, default) in enumerate(fields):
        value = arguments.value(name, position)
        if value is None:
            value = home.evaluate(default) if default is not None and arguments.complete else UNKNOWN
        values[name] = value
    if any((dotted_name(arg.value) or "").endswith("NamedTuple") for arg in info.node.bases):
        return Tuple(tuple(values.values()), tuple(values))
    class_values(run, info)
    reference = run.allocate(node, Instance(Callable_(info), values))
    after = find_method(run, info, "__post_init__")
    if after is not None:
        call_function(run, after, reference, Arguments(node))
    return reference
