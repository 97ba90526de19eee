"""The construction of objects of the program's own classes."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Instance
from devlint.domain.value import UNKNOWN, ProgramDefinition, Ref, Value
from devlint.interpreter.calls.decorators import decorated_class
from devlint.interpreter.calls.private_callers import record_private_instance
from devlint.interpreter.modules.library_layers import library_module_parameters
from devlint.interpreter.objects.builtin_bases import allocate_contents, fill_contents
from devlint.interpreter.objects.class_hierarchy import (
    ancestors,
    definition_frame,
    find_method,
    is_module_class,
    library_base,
)
from devlint.interpreter.objects.data_classes import construct_record, data_fields, is_refused_by_record
from devlint.interpreter.objects.enums import enum_members, member_with_value
from devlint.interpreter.objects.havoc import havoc
from devlint.interpreter.objects.module_state import CONTAINERS
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.arguments import Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame


def construct(frame: Frame, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a class: return a new object, or what the program's own decorator or metaclass of the class returns."""
    if info.node.decorators and info not in frame.analysis.unwrapping_decorators:
        value = decorated_class(frame, info)
        if value != ProgramDefinition(info):
            frame.analysis.unwrapping_decorators.add(info)
            try:
                return frame.call(value, arguments, node)
            finally:
                frame.analysis.unwrapping_decorators.discard(info)
    maker = find_metaclass_call(frame, info)
    if maker is not None and maker not in frame.analysis.active_functions:
        return frame.call_function(maker, ProgramDefinition(info), arguments)
    return instantiate(frame, info, arguments, node)


def find_metaclass_call(frame: Frame, info: ClassInfo) -> FunctionInfo | None:
    """Return the `__call__` of a class's metaclass if the program defines one, otherwise None."""
    for one in ancestors(frame, info):
        if not isinstance(one, ProgramDefinition) or not isinstance(one.definition, ClassInfo):
            continue
        definition = one.definition
        for argument in definition.node.keywords:
            if argument.keyword is not None and argument.keyword.value == "metaclass":
                meta = definition_frame(frame, definition).evaluate(argument.value)
                cls = meta.definition if isinstance(meta, ProgramDefinition) else None
                return find_method(frame, cls, "__call__") if isinstance(cls, ClassInfo) else None
    return None


def instantiate(frame: Frame, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Return the object that calling a class makes: an enum member, a record such as a dataclass, or a new object.

    A new object is made by the class's `__new__` and `__init__`.
    """
    members = enum_members(frame, info)
    if members is not None:
        value = arguments.value("value", 0) or UNKNOWN
        return member_with_value(frame, members, value) or frame.allocate(
            node, Instance(ProgramDefinition(info), {"value": value})
        )
    fields = data_fields(frame, info)
    if fields is not None:
        if is_refused_by_record(frame, info, fields, arguments):
            frame.fail()
            return UNKNOWN
        return construct_record(frame, info, fields, arguments, node)
    record_private_instance(frame, info)
    frame.analysis.newly_instantiated[info] = None
    creator = find_method(frame, info, "__new__")
    if creator is not None and creator not in frame.analysis.active_functions:
        value = frame.call_function(creator, ProgramDefinition(info), arguments)
        thing = frame.instance(value)
        if not isinstance(value, Ref) or thing is None or thing.cls != ProgramDefinition(info):
            return value
        reference = value
    else:
        reference = frame.allocate(
            node, Instance(ProgramDefinition(info), {}, contents=allocate_contents(frame, info, node))
        )
    initializer = find_method(frame, info, "__init__")
    module = is_module_class(frame, info)
    frame.analysis.construction_depth += module
    try:
        if initializer is not None:
            frame.call_function(initializer, reference, arguments)
        elif module:
            initialize_base(frame, reference, info, arguments, node)
        elif isinstance(contents := frame.contents(reference), Ref) and contents != reference:
            fill_contents(frame, contents, arguments)
        else:
            havoc(frame, arguments)
    finally:
        frame.analysis.construction_depth -= module
    return reference


def initialize_base(frame: Frame, reference: Ref, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> None:
    """Apply the `__init__` of the library class, such as nn.Linear, from which a program's own module class derives."""
    base = library_base(frame, info)
    row = frame.analysis.table.find(base) if base is not None else None
    thing = frame.instance(reference)
    if row is not None and row.module is not None and thing is not None and base is not None:
        frame.put(reference.address, replace(thing, cell=library_module_parameters(frame, base, row, arguments, node)))
    elif base in CONTAINERS:
        frame.invoke(LibraryCall("__init__", arguments, node, reference))
