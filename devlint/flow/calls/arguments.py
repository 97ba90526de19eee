"""The arguments of a call, and their binding to parameter names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from devlint.flow.path.run import Run
from devlint.semantics.table import Row
from devlint.values.heap import Dict
from devlint.values.join import any_part_of
from devlint.values.value import UNKNOWN, Batch, Const, Ref, Tensor, Value


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


def gather(run: Run, node: cst.Call) -> Arguments:
    """Evaluate a call's arguments, stars unrolled where they can be."""
    found = Arguments(node)
    for arg in node.args:
        value = run.evaluate(arg.value)
        argument = Argument(value, arg.value)
        if not arg.star:
            if arg.keyword is None:
                found.positional.append(argument)
            else:
                found.keywords[arg.keyword.value] = argument
        elif arg.star == "*":
            unrolled = run.iterate(value, arg.value)
            if unrolled.items is None:
                found.spread = Argument(unrolled.element, arg.value) if found.complete else found.spread
                found.complete = False
                found.rest = Argument(unrolled.element, arg.value)
            else:
                found.positional.extend(Argument(item, arg.value) for item in unrolled.items)
        else:
            mapping = run.contents(value)
            thing = run.get(mapping.address) if isinstance(mapping, Ref) else None
            if isinstance(thing, Dict):
                found.keywords.update({str(key): Argument(item, arg.value) for key, item in thing.entries.items()})
                if thing.element is not None:
                    found.complete, found.spread = False, None
                    found.rest = Argument(thing.element, arg.value)
            else:
                found.complete, found.spread = False, None
                found.rest = Argument(_unpacked(run, value), arg.value)
    return found


def _unpacked(run: Run, value: Value) -> Value:
    """What stands for every entry of a mapping that is no dict."""
    from devlint.flow.outside.objects import held, is_holder

    thing = run.instance(value)
    if isinstance(value, Batch):
        return any_part_of(value)
    return held(thing) if thing is not None and is_holder(run, value) else UNKNOWN


def bind_row(
    row: Row, arguments: Arguments, receiver: Argument | None, aliases: dict[str, str]
) -> dict[str, list[Argument]]:
    """Pair a library call's arguments with the row's parameter names; a variadic one takes the rest."""
    positional = [receiver, *arguments.positional] if receiver is not None else list(arguments.positional)
    keywords = [aliases.get(name, name) if name not in row.params else name for name in arguments.keywords]
    forms = (row.params, *row.overloads)
    params = next((one for one in forms if _fits(one, row, positional, keywords)), row.params)
    bound: dict[str, list[Argument]] = {}
    position = 0
    for name in params:
        if name == "*" or name.startswith("**"):
            break
        if name.startswith("*"):
            bound[name[1:]] = [*positional[position:], *([arguments.spread] if arguments.spread is not None else [])]
            position = len(positional)
        elif position < len(positional):
            bound[name] = [positional[position]]
            position += 1
    others = next((name[2:] for name in params if name.startswith("**")), None)
    for keyword, argument in arguments.keywords.items():
        if others is not None and keyword not in params:
            bound.setdefault(others, []).append(argument)
        else:
            bound[keyword if keyword in params else aliases.get(keyword, keyword)] = [argument]
    if others is not None and arguments.rest is not None:
        bound.setdefault(others, []).append(arguments.rest)
    return bound


def _fits(params: Sequence[str], row: Row, positional: Sequence[Argument], keywords: Sequence[str]) -> bool:
    """Whether a form of the call takes these arguments: every keyword, each once, and tensors only where it takes
    tensors."""
    if not (all(name in params or name == "out" for name in keywords) or any(name.startswith("**") for name in params)):
        return False
    places = list(params[: params.index("*")] if "*" in params else params)
    if any(name.startswith("*") for name in places):
        return True
    if not set(places[: len(positional)]).isdisjoint(keywords):
        return False
    return len(positional) <= len(places) and all(
        name in row.tensors for name, one in zip(places, positional, strict=False) if isinstance(one.value, Tensor)
    )
