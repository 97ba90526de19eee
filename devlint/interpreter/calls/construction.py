"""Making objects of the program's own classes."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Instance
from devlint.domain.value import UNKNOWN, Callable_, Ref, Value
from devlint.interpreter.calls.decorators import decorated_class
from devlint.interpreter.calls.private_callers import note_made
from devlint.interpreter.modules.library_layers import layer_cell
from devlint.interpreter.objects.builtin_bases import fill, new_contents
from devlint.interpreter.objects.class_hierarchy import ancestors, find_method, home_of, is_module_class, library_base
from devlint.interpreter.objects.data_classes import construct_record, data_fields
from devlint.interpreter.objects.enums import enum_members, member_with
from devlint.interpreter.objects.havoc import havoc
from devlint.interpreter.objects.module_state import CONTAINERS
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.arguments import Arguments, Invocation
from devlint.interpreter.state.frame import Run


def construct(run: Run, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """`SomeClass(...)`: a new object, or what a decorator or a metaclass of the program makes of the call."""

    if info.node.decorators and info not in run.engine.unwrapping:
        value = decorated_class(run, info)
        if value != Callable_(info):
            run.engine.unwrapping.add(info)
            try:
                return run.call(value, arguments, node)
            finally:
                run.engine.unwrapping.discard(info)
    maker = metaclass_call(run, info)
    if maker is not None and maker not in run.engine.active:
        return run.call_function(maker, Callable_(info), arguments)
    return instantiate(run, info, arguments, node)


def metaclass_call(run: Run, info: ClassInfo) -> FunctionInfo | None:
    """What calling the class runs, when its metaclass is one of the program's and says so."""
    for one in ancestors(run, info):
        if not isinstance(one, Callable_) or not isinstance(one.definition, ClassInfo):
            continue
        definition = one.definition
        for argument in definition.node.keywords:
            if argument.keyword is not None and argument.keyword.value == "metaclass":
                meta = home_of(run, definition).evaluate(argument.value)
                cls = meta.definition if isinstance(meta, Callable_) else None
                return find_method(run, cls, "__call__") if isinstance(cls, ClassInfo) else None
    return None


def instantiate(run: Run, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A new object, after its `__new__` and its `__init__`."""
    members = enum_members(run, info)
    if members is not None:
        value = arguments.value("value", 0) or UNKNOWN
        return member_with(run, members, value) or run.allocate(node, Instance(Callable_(info), {"value": value}))
    fields = data_fields(run, info)
    if fields is not None:
        return construct_record(run, info, fields, arguments, node)
    note_made(run, info)
    creator = find_method(run, info, "__new__")
    if creator is not None and creator not in run.engine.active:
        value = run.call_function(creator, Callable_(info), arguments)
        thing = run.instance(value)
        if not isinstance(value, Ref) or thing is None or thing.cls != Callable_(info):
            return value
        reference = value
    else:
        reference = run.allocate(node, Instance(Callable_(info), {}, contents=new_contents(run, info, node)))
    initializer = find_method(run, info, "__init__")
    module = is_module_class(run, info)
    run.engine.constructing += module
    try:
        if initializer is not None:
            run.call_function(initializer, reference, arguments)
        elif module:
            initialize_base(run, reference, info, arguments, node)
        elif isinstance(contents := run.contents(reference), Ref) and contents != reference:
            fill(run, contents, arguments)
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
    elif base in CONTAINERS:
        run.invoke(Invocation("__init__", arguments, node, reference))
