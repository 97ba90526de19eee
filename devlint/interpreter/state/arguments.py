"""The arguments of a call, and the call of a library's function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from devlint.domain.value import Const, Value


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument's value, and the expression it came from."""

    value: Value
    node: cst.BaseExpression


@dataclass(slots=True)
class Arguments:
    """What a call was given. `complete` is false when a star argument of unknown content may hold more.

    `rest` stands for whatever such an argument holds, `spread` for that of a single star where no keyword is hidden.
    """

    node: cst.CSTNode
    positional: list[Argument] = field(default_factory=list)
    keywords: dict[str, Argument] = field(default_factory=dict)
    complete: bool = True
    rest: Argument | None = None
    spread: Argument | None = None

    @property
    def expression(self) -> cst.BaseExpression:
        """The call as an expression: where arguments that the program does not write there are shown."""
        return self.node if isinstance(self.node, cst.BaseExpression) else cst.Name("argument")

    def get(self, name: str, position: int | None = None) -> Argument | None:
        """The argument by keyword, or by position."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def value(self, name: str, position: int | None = None) -> Value | None:
        """The argument's value by keyword, or by position."""
        found = self.get(name, position)
        return found.value if found is not None else None

    def constant(self, name: str, position: int | None = None, default: object = None) -> object:
        """The argument's constant; `default` when it is absent, Ellipsis when it is not known."""
        value = self.value(name, position)
        if value is None:
            return default if self.complete else ...
        return value.value if isinstance(value, Const) else ...

    def __iter__(self) -> Iterator[Argument]:
        yield from self.positional
        yield from self.keywords.values()
        if self.rest is not None:
            yield self.rest


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One library call: its dotted name, or a method's name with its receiver."""

    name: str
    arguments: Arguments
    node: cst.CSTNode
    receiver: Value | None = None

    @property
    def first(self) -> Argument | None:
        """The first positional argument."""
        return self.arguments.positional[0] if self.arguments.positional else None

    @property
    def receiver_node(self) -> cst.BaseExpression:
        """The expression whose method is called."""
        match self.node:
            case cst.Call(func=cst.Attribute(value=value)):
                return value
            case cst.BaseExpression():
                return self.node
        return cst.Name("self")

    @property
    def receiver_argument(self) -> Argument | None:
        """The receiver as the argument it is to a row."""
        return None if self.receiver is None else Argument(self.receiver, self.receiver_node)


BoundArguments = Mapping[str, list[Argument]]
