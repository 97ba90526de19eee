"""Dataclasses and named tuples: classes whose fields are written down."""

from __future__ import annotations

import libcst as cst

from devlint.flow.arguments import Arguments
from devlint.flow.classes import ancestors, class_values, find_method, home_of
from devlint.flow.definitions import ClassInfo
from devlint.flow.functions import call_function
from devlint.flow.run import Run
from devlint.syntax.walk import dotted_name
from devlint.values.heap import Instance
from devlint.values.value import UNKNOWN, Callable_, Tuple, Value


def data_fields(run: Run, info: ClassInfo) -> list[tuple[str, cst.BaseExpression | None]] | None:
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


def construct_record(
    run: Run,
    info: ClassInfo,
    fields: list[tuple[str, cst.BaseExpression | None]],
    arguments: Arguments,
    node: cst.CSTNode,
) -> Value:
    """A record made of its fields, by position and by name, and what its `__post_init__` does."""
    home = home_of(run, info)
    values: dict[str, Value] = {}
    for position, (name, default) in enumerate(fields):
        value = arguments.value(name, position)
        if value is None and not arguments.complete:
            value = arguments.rest.value if arguments.rest is not None else UNKNOWN
        elif value is None:
            value = home.evaluate(default) if default is not None else UNKNOWN
        values[name] = value
    if any((dotted_name(arg.value) or "").endswith("NamedTuple") for arg in info.node.bases):
        return Tuple(tuple(values.values()), tuple(values), Callable_(info))
    class_values(run, info)
    reference = run.allocate(node, Instance(Callable_(info), values))
    after = find_method(run, info, "__post_init__")
    if after is not None:
        call_function(run, after, reference, Arguments(node))
    return reference
