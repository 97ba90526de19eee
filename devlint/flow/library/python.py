"""Builtins and the standard library, where they hand values on or read tensors."""

from __future__ import annotations

from dataclasses import replace

from devlint.flow.arguments import Argument, Arguments
from devlint.flow.attributes import get_attribute, set_attribute
from devlint.flow.iteration import iterate
from devlint.flow.library.registry import Invocation, model
from devlint.flow.operators import combine
from devlint.flow.refinement import read_on_host, value_test
from devlint.flow.run import Run
from devlint.values.clock import ClockRead
from devlint.values.condition import Atom, Test
from devlint.values.heap import Cell, Dict, Instance, Sequence, join_all
from devlint.values.join import join, without_none
from devlint.values.value import (
    NONE,
    UNKNOWN,
    Address,
    Array,
    Callable_,
    Const,
    Either,
    Library,
    Number,
    Partial,
    Ref,
    Tensor,
    Text,
    Truth,
    Tuple,
    Unknown,
    Value,
)


def _first(call: Invocation) -> Argument | None:
    return call.arguments.positional[0] if call.arguments.positional else None


@model("builtins.len")
def length(run: Run, call: Invocation) -> Value:
    """`len(x)`."""
    first = _first(call)
    if first is not None and isinstance(first.value, Tuple):
        return Const(len(first.value.items))
    return Number("int")


@model("builtins.float", "builtins.int", "builtins.bool", "builtins.complex")
def number(run: Run, call: Invocation) -> Value:
    """`float(x)`: a number; of a tensor, after waiting for it."""
    first = _first(call)
    kind = call.name.rpartition(".")[2]
    if first is None:
        return Number(kind)
    value = without_none(first.value)
    if isinstance(value, Tensor):
        read_on_host(run, value, first.node, f"{kind}()")
    elif kind == "bool":
        test = value_test(run, value, first.node)
        return Const(test) if isinstance(test, bool) else Truth(test) if test is not None else Number("bool")
    elif isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(float(value.value) if kind == "float" else int(value.value))
    return Number(kind)


@model("builtins.print", "builtins.str", "builtins.repr", "builtins.format")
def shown(run: Run, call: Invocation) -> Value:
    """Showing a tensor waits for it."""
    for argument in call.arguments.positional:
        if isinstance(argument.value, Tensor):
            read_on_host(run, argument.value, argument.node, f"{call.name.rpartition('.')[2]}()")
    first = _first(call)
    if call.name == "builtins.str" and first is not None and isinstance(first.value, Const):
        return Const(str(first.value.value))
    return NONE if call.name == "builtins.print" else Text()


@model("builtins.isinstance", "builtins.issubclass")
def isinstance_(run: Run, call: Invocation) -> Value:
    """`isinstance(x, T)`, where what is known of both decides it."""
    if len(call.arguments.positional) != 2:
        return Number("bool")
    value, type_ = (without_none(one.value) for one in call.arguments.positional)
    if isinstance(type_, Library):
        answer = _is_instance(value, type_.name)
        if answer is not None:
            return Const(answer)
    return Truth(Test(Atom(("node", call.node, run.context), "isinstance(...)")))


def _is_instance(value: Value, name: str) -> bool | None:
    if name in ("torch.Tensor", "numpy.ndarray"):
        match value:
            case Tensor():
                return name == "torch.Tensor"
            case Array():
                return name == "numpy.ndarray"
            case Const() | Number() | Text() | Tuple() | Truth() | Callable_():
                return False
    if name in ("builtins.str", "builtins.int", "builtins.float", "builtins.dict", "builtins.list", "builtins.tuple"):
        match value:
            case Const(value=constant):
                return type(constant).__name__ == name.removeprefix("builtins.")
            case Text():
                return name == "builtins.str"
            case Tensor() | Array():
                return False
            case Tuple():
                return name == "builtins.tuple"
    return None


@model("builtins.range", "builtins.reversed", "builtins.sorted", "builtins.iter", "builtins.list", "builtins.tuple",
       "builtins.set", "builtins.frozenset", "collections.deque", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.trange",
       "tqdm.notebook.tqdm", "tqdm.std.tqdm", "itertools.islice", "itertools.cycle", "rich.progress.track")  # fmt: skip
def passed_on(run: Run, call: Invocation) -> Value:
    """Collections built from what something yields."""
    if call.name in ("builtins.range", "tqdm.trange"):
        return run.allocate(call.node, Sequence(None, Number("int"), "range"))
    first = _first(call) or call.arguments.get("iterable")
    if first is None:
        kind = "tuple" if call.name == "builtins.tuple" else "list"
        return Tuple(()) if kind == "tuple" else run.allocate(call.node, Sequence(()))
    found = iterate(run, first.value, first.node)
    if call.name == "builtins.tuple" and found.items is not None:
        return Tuple(found.items)
    if (
        call.name in ("builtins.sorted", "builtins.reversed", "builtins.set", "builtins.frozenset")
        and found.items is not None
    ):
        found = (
            replace(found, items=tuple(reversed(found.items)))
            if call.name == "builtins.reversed"
            else replace(found, items=None, element=join_all(found.items))
        )
    return run.allocate(
        call.node, replace(found, kind="list" if call.name == "builtins.list" else "iterator", owner=found.owner)
    )


@model("builtins.enumerate")
def enumerate_(run: Run, call: Invocation) -> Value:
    """`enumerate(x)`."""
    first = _first(call)
    found = iterate(run, first.value, first.node) if first is not None else Sequence(None)
    if found.items is not None and len(call.arguments.positional) == 1:
        return run.allocate(
            call.node, Sequence(tuple(Tuple((Const(i), one)) for i, one in enumerate(found.items)), kind="iterator")
        )
    return run.allocate(call.node, Sequence(None, Tuple((Number("int"), found.any)), "iterator"))


@model("builtins.zip")
def zip_(run: Run, call: Invocation) -> Value:
    """`zip(a, b)`."""
    found = [iterate(run, one.value, one.node) for one in call.arguments.positional]
    if found and all(one.items is not None for one in found) and call.arguments.complete:
        rows = zip(*(one.items or () for one in found), strict=False)
        return run.allocate(call.node, Sequence(tuple(Tuple(tuple(row)) for row in rows), kind="iterator"))
    if not call.arguments.complete:
        return run.allocate(call.node, Sequence(None, UNKNOWN, "iterator"))
    return run.allocate(call.node, Sequence(None, Tuple(tuple(one.any for one in found)), "iterator"))


@model("itertools.chain", "itertools.product")
def chain(run: Run, call: Invocation) -> Value:
    """One after another."""
    parts = [iterate(run, one.value, one.node).any for one in call.arguments.positional]
    element = join_all(parts) if call.name == "itertools.chain" else Tuple(tuple(parts))
    return run.allocate(call.node, Sequence(None, element, "iterator"))


@model("builtins.map", "builtins.filter")
def map_(run: Run, call: Invocation) -> Value:
    """`map(f, xs)`: each element through the function."""
    from devlint.flow.calls import call_value

    if len(call.arguments.positional) < 2:
        return UNKNOWN
    function, *sources = call.arguments.positional
    found = [iterate(run, one.value, one.node) for one in sources]
    if call.name == "builtins.filter":
        return run.allocate(call.node, Sequence(None, found[0].any, "iterator"))
    rows = [tuple(one.any for one in found)]
    known = len(found) == 1 and found[0].items is not None
    if known and found[0].items is not None:
        rows = [(one,) for one in found[0].items]
    values = [
        call_value(
            run,
            function.value,
            Arguments(call.node, [Argument(v, s.node) for v, s in zip(row, sources, strict=False)]),
            call.node,
        )
        for row in rows
    ]
    return run.allocate(call.node, Sequence(tuple(values) if known else None, join_all(values), "iterator"))


@model("builtins.next")
def next_(run: Run, call: Invocation) -> Value:
    """`next(iterator)`."""
    first = _first(call)
    if first is None:
        return UNKNOWN
    thing = run.instance(first.value)
    if thing is not None:
        method = get_attribute(run, first.value, "__next__", call.node)
        from devlint.flow.calls import call_value

        return call_value(run, method, Arguments(call.node), call.node)
    found = iterate(run, first.value, first.node)
    return found.items[0] if found.items else found.any


@model("builtins.sum")
def sum_(run: Run, call: Invocation) -> Value:
    """`sum(xs)`: repeated addition."""
    first = _first(call)
    if first is None:
        return UNKNOWN
    found = iterate(run, first.value, first.node)
    if found.items is not None and not found.items:
        return Const(0)
    values = list(found.items) if found.items is not None else [found.element, found.element]
    total: Value = call.arguments.positional[1].value if len(call.arguments.positional) > 1 else values.pop(0)
    for value in values:
        total = combine(run, "add", Argument(total, first.node), Argument(value, first.node), call.node)
    return total


@model("builtins.min", "builtins.max")
def extreme(run: Run, call: Invocation) -> Value:
    """One of the arguments."""
    if len(call.arguments.positional) == 1:
        return iterate(run, call.arguments.positional[0].value, call.arguments.positional[0].node).any
    return join_all([one.value for one in call.arguments.positional])


@model("builtins.abs", "builtins.round", "builtins.pow", "builtins.divmod")
def arithmetic(run: Run, call: Invocation) -> Value:
    """Arithmetic that keeps a tensor a tensor."""
    first = _first(call)
    value = first.value if first is not None else UNKNOWN
    return replace(value, fresh=None) if isinstance(value, (Tensor, Array)) else Number()


@model("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
def dict_(run: Run, call: Invocation) -> Value:
    """`dict(...)`."""
    entries: dict[object, Value] = {key: one.value for key, one in call.arguments.keywords.items()}
    element: Value | None = None if call.arguments.complete else UNKNOWN
    key: Value = UNKNOWN
    positional = call.arguments.positional if call.name != "collections.defaultdict" else call.arguments.positional[1:]
    for argument in positional:
        thing = run.get(argument.value.address) if isinstance(argument.value, Ref) else None
        if isinstance(thing, Dict):
            entries.update(thing.entries)
            element, key = thing.element, thing.key
            continue
        found = iterate(run, argument.value, argument.node)
        for pair in found.items if found.items is not None else (found.element,):
            match pair:
                case Tuple(items=(Const(value=name), value)) if found.items is not None:
                    entries[name] = value
                case Tuple(items=(name, value)):
                    element, key = value if element is None else join(element, value), name
                case _:
                    element = UNKNOWN
    if call.name == "collections.defaultdict":
        element = UNKNOWN
    return run.allocate(call.node, Dict(entries, element, key))


@model("builtins.getattr")
def getattr_(run: Run, call: Invocation) -> Value:
    """`getattr(x, "name", default)`."""
    arguments = call.arguments.positional
    if len(arguments) < 2:
        return UNKNOWN
    name = arguments[1].value
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    value = get_attribute(run, arguments[0].value, name.value, call.node)
    return UNKNOWN if isinstance(value, Unknown) and len(arguments) > 2 else value


@model("builtins.setattr")
def setattr_(run: Run, call: Invocation) -> Value:
    """`setattr(x, "name", value)`."""
    arguments = call.arguments.positional
    if len(arguments) == 3 and isinstance(arguments[1].value, Const):
        set_attribute(run, arguments[0].value, str(arguments[1].value.value), arguments[2].value, call.node)
    return NONE


@model("builtins.type")
def type_(run: Run, call: Invocation) -> Value:
    """`type(x)`: the class, where it is the program's."""
    first = _first(call)
    thing = run.instance(first.value) if first is not None else None
    return thing.cls if thing is not None and isinstance(thing.cls, Callable_) else UNKNOWN


@model("builtins.hasattr")
def hasattr_(run: Run, call: Invocation) -> Value:
    """`hasattr(x, "name")`: known once the program has set it."""
    arguments = call.arguments.positional
    if len(arguments) == 2 and isinstance(arguments[1].value, Const):
        thing = run.instance(arguments[0].value)
        if thing is not None and arguments[1].value.value in thing.attributes:
            return Const(True)
    return Truth(Test(Atom(("node", call.node, run.context), "hasattr(...)")))


@model("functools.partial")
def partial(run: Run, call: Invocation) -> Value:
    """`functools.partial(f, ...)`."""
    if not call.arguments.positional:
        return UNKNOWN
    target, *rest = call.arguments.positional
    keywords = tuple((name, one.value) for name, one in call.arguments.keywords.items())
    return Partial(target.value, tuple(one.value for one in rest), keywords)


@model("functools.wraps", "functools.update_wrapper")
def wraps(run: Run, call: Invocation) -> Value:
    """Decorators that only copy a name."""
    return UNKNOWN


@model(
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.perf_counter_ns",
    "time.time_ns",
    "timeit.default_timer",
    "time.process_time",
)
def clock(run: Run, call: Invocation) -> Value:
    """A clock read remembers what the accelerator still had to do."""
    ambient = run.state.ambient
    return Number("float", ClockRead(run.place(call.node), ambient.launches, ambient.unsynchronized))


@model("copy.deepcopy", "copy.copy")
def copied(run: Run, call: Invocation) -> Value:
    """A copy: of a module with its own parameters, in the same place."""
    first = _first(call)
    if first is None:
        return UNKNOWN
    return clone_graph(run, first.value, call, {}) if call.name == "copy.deepcopy" else _shallow(run, first.value, call)


def _shallow(run: Run, value: Value, call: Invocation) -> Value:
    thing = run.get(value.address) if isinstance(value, Ref) else None
    return run.allocate(call.node, thing) if isinstance(thing, (Sequence, Dict, Instance)) else value


def clone_graph(run: Run, value: Value, call: Invocation, seen: dict[Address, Address]) -> Value:
    """A deep copy of a value and what it refers to."""
    match value:
        case Ref(address=address):
            return Ref(_clone_object(run, address, call, seen))
        case Tensor(cell=cell) if cell is not None:
            return replace(run.settle(value), cell=_clone_object(run, cell, call, seen))
        case Tuple(items=items):
            return replace(value, items=tuple(clone_graph(run, one, call, seen) for one in items))
    return value


def _clone_object(run: Run, address: Address, call: Invocation, seen: dict[Address, Address]) -> Address:
    if address in seen:
        return seen[address]
    copy = seen[address] = Address(("copy", id(call.node), address), run.context)
    thing = run.get(address)
    match thing:
        case Sequence():
            items = tuple(clone_graph(run, one, call, seen) for one in thing.items) if thing.items is not None else None
            thing = replace(thing, items=items, element=clone_graph(run, thing.element, call, seen))
        case Dict():
            entries = {key: clone_graph(run, one, call, seen) for key, one in thing.entries.items()}
            element = clone_graph(run, thing.element, call, seen) if thing.element is not None else None
            thing = replace(thing, entries=entries, element=element)
        case Instance():
            thing = replace(
                thing, attributes={name: clone_graph(run, one, call, seen) for name, one in thing.attributes.items()}
            )
        case Cell() | None:
            pass
    if thing is not None:
        run.put(copy, thing)
    return copy


# argparse


@model("argparse.ArgumentParser")
def parser(run: Run, call: Invocation) -> Value:
    """A parser: what it will hand out is known by the defaults."""
    return run.allocate(call.node, Instance("argparse.ArgumentParser", {}))


@model("argparse.ArgumentParser.add_argument")
def add_argument(run: Run, call: Invocation) -> Value:
    """An option: its default when the user says nothing, anything otherwise."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    names = [one.value.value for one in call.arguments.positional if isinstance(one.value, Const)]
    dest = call.arguments.constant("dest")
    long = next((str(name) for name in names if str(name).startswith("--")), str(names[0]) if names else "")
    name = dest if isinstance(dest, str) else long.lstrip("-").replace("-", "_")
    if thing is not None and isinstance(call.receiver, Ref) and name:
        origin = ("option", call.receiver.address, name)
        given = Unknown(origin, f"args.{name}")
        default = call.arguments.value("default")
        value: Value = given
        if isinstance(default, Const) and isinstance(default.value, str):
            value = Either(
                Test(Atom(("default", origin), f"--{name.replace('_', '-')} is left at its default")), default, given
            )
        run.put(call.receiver.address, thing.with_attribute(name, value))
    return UNKNOWN


@model("argparse.ArgumentParser.parse_args", "argparse.ArgumentParser.parse_known_args")
def parse_args(run: Run, call: Invocation) -> Value:
    """The options as attributes."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    attributes = thing.attributes if thing is not None else {}
    namespace = run.allocate(call.node, Instance("argparse.Namespace", attributes))
    return Tuple((namespace, UNKNOWN)) if call.name == "parse_known_args" else namespace


@model("argparse.ArgumentParser.add_argument_group", "argparse.ArgumentParser.add_mutually_exclusive_group")
def group(run: Run, call: Invocation) -> Value:
    """A group of options belongs to its parser."""
    return call.receiver or UNKNOWN
