"""The abstract arguments of a call, and the record of a call of a library function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from devlint.domain.record import record
from devlint.domain.value import Const, Value


@record(frozen=True, slots=True)
class Argument:
    """One argument of a call: its abstract value, and the syntax node of its expression."""

    value: Value
    node: cst.BaseExpression


@dataclass(slots=True)
class Arguments:
    """The arguments of a call as the caller passes them, before they are bound to parameters.

    `complete` is false when a star argument (`*args`, `**kwargs`) of unknown content may hold more arguments. `rest`
    stands for each argument that it may hold. `spread` stands for the content of a single star argument where no
    keyword argument can be hidden in it.
    """

    node: cst.CSTNode
    positional: list[Argument] = field(default_factory=list)
    keywords: dict[str, Argument] = field(default_factory=dict)
    complete: bool = True
    rest: Argument | None = None
    spread: Argument | None = None

    @property
    def expression(self) -> cst.BaseExpression:
        """Return the expression of the call itself.

        Findings show it in place of an argument that the program does not write out.
        """
        return self.node if isinstance(self.node, cst.BaseExpression) else cst.Name("argument")

    @property
    def has_several(self) -> bool:
        """Whether more than one argument is passed, or may be."""
        return len(self.positional) + len(self.keywords) > 1 or not self.complete

    @property
    def is_empty(self) -> bool:
        """Whether surely no argument is passed."""
        return self.complete and not self.positional and not self.keywords

    def get(self, name: str, position: int | None = None) -> Argument | None:
        """Return the argument with a keyword or at a position; None when the call has no such argument."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def value(self, name: str, position: int | None = None) -> Value | None:
        """Return the value of the argument with a keyword or at a position; None when the call has no such argument."""
        found = self.get(name, position)
        return found.value if found is not None else None

    def constant(self, name: str, position: int | None = None, default: object = None) -> object:
        """Return the Python constant passed as an argument, by keyword or by position.

        The result is `default` when the argument is absent, and Ellipsis when its value is unknown.
        """
        value = self.value(name, position)
        if value is None:
            return default if self.complete else ...
        return value.value if isinstance(value, Const) else ...

    def __iter__(self) -> Iterator[Argument]:
        yield from self.positional
        yield from self.keywords.values()
        if self.rest is not None:
            yield self.rest


@record(frozen=True, slots=True)
class LibraryCall:
    """A call of a library function by its dotted name, or of a library object's method by its name and receiver.

    `node` is the syntax node of the call.
    """

    name: str
    arguments: Arguments
    node: cst.CSTNode
    receiver: Value | None = None

    @property
    def first(self) -> Argument | None:
        """Return the first positional argument of the call; None when the call has none."""
        return self.arguments.positional[0] if self.arguments.positional else None

    @property
    def receiver_node(self) -> cst.BaseExpression:
        """Return the syntax node of the object whose method is called.

        Where the call has no such node, the result is the node of the call itself, or a name `self`.
        """
        match self.node:
            case cst.Call(func=cst.Attribute(value=value)):
                return value
            case cst.BaseExpression():
                return self.node
        return cst.Name("self")

    @property
    def receiver_argument(self) -> Argument | None:
        """Return the object whose method is called as an `Argument`; None for the call of a function.

        devlint's semantics table of torch counts the receiver as a method's first argument.
        """
        return None if self.receiver is None else Argument(self.receiver, self.receiver_node)


BoundArguments = Mapping[str, list[Argument]]
"""The arguments of a call by the name of the parameter that they are bound to."""
