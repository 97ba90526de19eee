"""Fast construction of libcst nodes, whose white space and punctuation are objects that all nodes share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

import libcst as cst

N = TypeVar("N", bound=cst.CSTNode)


def node_maker(cls: type[N], *given: str, **fixed: object) -> Callable[..., N]:
    """Return a function that makes a libcst node from the values of the fields `given`, as positional arguments.

    Every such node has the values `fixed`, and libcst's defaults for the fields that are left. libcst's own
    constructors take three times as long: they go through `__setattr__` of a frozen dataclass, make a new object for
    every blank, and validate the node. Like `dataclasses`, this compiles a function for each class.
    """
    constants = {field.name: fixed.get(field.name, _default(field)) for field in fields(cls) if field.name not in given}
    names: dict[str, Any] = {"_new": object.__new__, "_cls": cls}
    lines = [f"def make({', '.join(given)}):", " _node = _new(_cls)"]
    for field in fields(cls):
        names[f"_put_{field.name}"] = slot_of(cls, field.name).__set__
        value = field.name
        if value in constants:
            names[f"_default_{value}"], value = constants[value], f"_default_{value}"
        lines.append(f" _put_{field.name}(_node, {value})")
    exec("\n".join([*lines, " return _node"]), names)
    make: Callable[..., N] = names["make"]
    return make


def _default(field: Field[Any]) -> object:
    """Return the default value of a field of a libcst node, which all nodes with that default share."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def slot_of(cls: type[cst.CSTNode], name: str) -> Any:
    """Return the descriptor of a slot of a class, which may be declared by one of its base classes."""
    return next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
