"""Classes with declared fields: dataclasses, attrs and pydantic classes, named tuples and typed dicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.objects import Dict, Instance
from devlint.domain.value import UNKNOWN, LibraryName, ProgramDefinition, Tuple, Value
from devlint.interpreter.objects.class_hierarchy import ancestors, class_body_values, definition_frame, find_method
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

ATTRS_DECORATORS: Final = frozenset({"define", "mutable", "frozen", "attrs", "s", "dataclass"})
"""The last names of the decorators of `attrs` that generate an `__init__` from the fields of a class."""

RECORD_BASES: Final = frozenset({"typing.NamedTuple", "typing.TypedDict", "pydantic.BaseModel"})
"""The library classes whose subclasses get an `__init__` generated from their fields."""


_PLAIN_BASES: Final = frozenset({"builtins.object", "typing.NamedTuple", "typing.Generic", "typing.Protocol"})
"""The library bases that change nothing of a generated `__init__`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A declared field of a dataclass or a similar class.

    `default` is the expression assigned in the class body. `is_argument` is false when the constructor takes no
    argument for the field (`init=False`). `is_positional` is false when the constructor takes the field by keyword
    only. `is_stored` is false when the object does not store the value (`InitVar`).
    """

    name: str
    default: cst.BaseExpression | None
    annotation: cst.BaseExpression | None = None
    is_argument: bool = True
    is_positional: bool = True
    is_stored: bool = True


def data_fields(frame: Frame, info: ClassInfo) -> list[Field] | None:
    """Return the declared fields of a dataclass or a similar class, inherited ones first; None for any other class.

    A class that defines `__init__` itself counts as another class.
    """
    if "__init__" in info.methods:
        return None
    base = _record_base(frame, info)
    if base is None and not _is_decorated(frame, info):
        return None
    program_ancestors = [one.definition for one in ancestors(frame, info) if isinstance(one, ProgramDefinition)]
    by_position = base != "pydantic.BaseModel"
    classes = [one for one in reversed(program_ancestors) if isinstance(one, ClassInfo)]
    return list({one.name: one for cls in classes for one in _declared_fields(cls, by_position=by_position)}.values())


def _record_base(frame: Frame, info: ClassInfo) -> str | None:
    """Return the library base that makes a class a named tuple, typed dict or pydantic model; None without one."""
    names = (
        one.name.replace("typing_extensions.", "typing.")
        for one in ancestors(frame, info)
        if isinstance(one, LibraryName)
    )
    return next((name for name in names if name in RECORD_BASES), None)


def _is_decorated(frame: Frame, info: ClassInfo) -> bool:
    """Return whether a decorator generates the `__init__` of a class: `dataclass` of any library, or one of attrs."""
    for one in info.node.decorators:
        called = one.decorator.func if isinstance(one.decorator, cst.Call) else one.decorator
        last = (dotted_name(called) or "").rpartition(".")[2]
        if last == "dataclass":
            return True
        target = definition_frame(frame, info).evaluate(called) if last in ATTRS_DECORATORS else None
        if isinstance(target, LibraryName) and target.name.partition(".")[0] in ("attr", "attrs"):
            return True
    return False


def _declared_fields(info: ClassInfo, *, by_position: bool) -> Iterator[Field]:
    """Yield the fields that one class body declares.

    `by_position` is whether the constructor accepts positional arguments for them.
    """
    calls = [one.decorator for one in info.node.decorators if isinstance(one.decorator, cst.Call)]
    by_position = by_position and not any(_has_keyword(call, "kw_only", "True") for call in calls)
    for statement in info.node.body.body:
        for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            match part:
                case cst.AnnAssign(target=cst.Name(value=name), annotation=annotation, value=value):
                    kind = _annotation_name(annotation.annotation)
                    if kind == "KW_ONLY":
                        by_position = False
                    elif kind != "ClassVar":
                        positional = by_position and not _has_keyword(value, "kw_only", "True")
                        given = not _has_keyword(value, "init", "False")
                        yield Field(name, value, annotation.annotation, given, positional, kind != "InitVar")
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as value):
                    if (dotted_name(value.func) or "").rpartition(".")[2] in ("ib", "attrib"):
                        yield Field(name, value)


def _annotation_name(annotation: cst.BaseExpression) -> str:
    """Return the last name of an annotation without its subscript, such as `ClassVar` for `typing.ClassVar[int]`."""
    whole = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    return (dotted_name(whole) or "").rpartition(".")[2]


def _has_keyword(node: cst.BaseExpression | None, keyword: str, constant: str) -> bool:
    """Return whether an expression is a call that passes a given constant for a keyword, as in `field(init=False)`."""
    return type(node) is cst.Call and any(
        one.keyword is not None and one.keyword.value == keyword and dotted_name(one.value) == constant
        for one in node.args
    )


def is_refused_by_record(frame: Frame, info: ClassInfo, fields: list[Field], arguments: Arguments) -> bool:
    """Return whether a dataclass or named tuple refuses a call with a TypeError: the arguments do not fit its fields.

    Classes with unknown or library bases may accept more, and are not asked.
    """
    bases = [one for one in ancestors(frame, info) if not isinstance(one, ProgramDefinition)]
    is_known = all(isinstance(one, LibraryName) and one.name in _PLAIN_BASES for one in bases)
    if not is_known or not arguments.complete or find_method(frame, info, "__new__") is not None:
        return False
    accepted = [one for one in fields if one.is_argument]
    by_position = [one for one in accepted if one.is_positional]
    if len(arguments.positional) > len(by_position):
        return True
    left = [one for one in accepted if one not in by_position[: len(arguments.positional)]]
    return any(one.default is None and one.name not in arguments.keywords for one in left)


def construct_record(
    frame: Frame, info: ClassInfo, fields: list[Field], arguments: Arguments, node: cst.CSTNode
) -> Value:
    """Construct an instance of a class with declared fields and run its `__post_init__`.

    The result is a `Tuple` for a named tuple class and a reference to a dict or an instance for any other class.
    """
    values = _field_values(frame, info, fields, arguments)
    kept = {one.name: values[one.name] for one in fields if one.is_stored and one.name in values}
    base = _record_base(frame, info)
    if base == "typing.NamedTuple":
        return Tuple(tuple(kept.values()), tuple(kept), ProgramDefinition(info))
    if base == "typing.TypedDict":
        entries: dict[Hashable, Value] = {name: one.value for name, one in arguments.keywords.items()}
        return frame.allocate(node, Dict(entries, None if arguments.complete else UNKNOWN))
    class_body_values(frame, info)
    reference = frame.allocate(node, Instance(ProgramDefinition(info), kept))
    after = find_method(frame, info, "__post_init__") or find_method(frame, info, "__attrs_post_init__")
    if after is not None:
        extra = [Argument(values[one.name], arguments.expression) for one in fields if not one.is_stored]
        frame.call_function(after, reference, Arguments(node, extra))
    return reference


def _field_values(frame: Frame, info: ClassInfo, fields: list[Field], arguments: Arguments) -> dict[str, Value]:
    """Return the value of each field of a new dataclass instance: its argument, else its default, else unknown.

    A field that is no constructor argument and has no default gets no value.
    """
    header_frame = definition_frame(frame, info)
    values: dict[str, Value] = {}
    position = 0
    for one in fields:
        value = None
        if one.is_argument:
            value = arguments.value(one.name, position if one.is_positional else None)
            position += one.is_positional
            if value is None and not arguments.complete:
                # Of a field with a default, nobody knows whether the unpacked argument reaches it.
                value = arguments.rest.value if arguments.rest is not None and one.default is None else UNKNOWN
        if value is None and one.default is not None:
            value = header_frame.evaluate(one.default)
        elif value is None and one.is_argument:
            value = UNKNOWN
        if value is not None:
            values[one.name] = value
    return values
