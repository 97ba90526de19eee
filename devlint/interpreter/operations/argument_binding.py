"""Binding of a library call's arguments to the parameters of its row of the semantics table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from devlint.domain.value import Tensor
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.semantics.table import Row


def bind_row_arguments(
    row: Row, arguments: Arguments, receiver: Argument | None, aliases: Mapping[str, str]
) -> dict[str, list[Argument]]:
    """Return the arguments of a library call by parameter name, as its row of devlint's semantics table declares.

    A variadic parameter takes the rest. `receiver` is the object of a method call and comes first; `aliases` maps other
    spellings of keywords to parameters. Of the row's overloads, the first that fits the arguments is used.
    """
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
    """Return whether one overload of a library function, given by its parameter names, accepts a call's arguments.

    Every keyword must be known, no parameter may be given twice, and tensors fit only parameters that take tensors.
    """
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
