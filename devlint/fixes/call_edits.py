"""Functions that find, add, change and remove the arguments of a call, by text edits at syntax nodes."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.statement_edits import indentation_at


def find_argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """Return the argument of a call that has the given keyword, or that is at the given position among the arguments.

    Returns None when the call does not pass that argument, or when a starred argument before it hides its position.
    """
    for index, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None:
            if argument.keyword.value == name:
                return argument
        elif index == position:
            return argument
    return None


def has_unpacked_keywords(call: cst.Call) -> bool:
    """Return whether a call unpacks keyword arguments, as in `f(**options)`, so that not all arguments are visible."""
    return any(argument.star == "**" for argument in call.args)


def add_argument(region: NodeRegion, call: cst.Call, name: str, value: str) -> Edit:
    """Return the edit that appends a keyword argument to a call.

    Raises NoFix when the call passes the argument already, when it may pass it by `**options`, and when its only
    argument is a generator expression without parentheses of its own.
    """
    if has_unpacked_keywords(call) or find_argument(call, name) is not None:
        raise NoFix
    if not call.args:
        _, end = region.span(call)
        return region.context.edit(end - 1, end - 1, f"{name}={value}")
    last = call.args[-1]
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        raise NoFix
    start, end = region.span(last)
    blanks = indentation_at(region, start)
    # A new argument stays on the last line, before a comment, where more than a comma follows the last argument.
    alone = blanks is not None and not region.context.text[end : region.context.next_line(end)].strip(", \t\r\n")
    between = f",{region.context.newline(start)}{blanks}" if alone else ", "
    return region.context.edit(end, end, f"{between}{name}={value}")


def set_argument(region: NodeRegion, call: cst.Call, name: str, value: str, position: int | None = None) -> Edit:
    """Return the edit that gives a keyword argument of a call a value.

    If the call already passes the argument, its present value is replaced; otherwise the argument is added.
    """
    found = find_argument(call, name, position)
    return add_argument(region, call, name, value) if found is None else replace_node(region, found.value, value)


def remove_argument(region: NodeRegion, call: cst.Call, argument: cst.Arg) -> Edit:
    """Return the edit that removes an argument from a call, and the comma that separates it from the other arguments.

    Raises NoFix when a comment is in the removed text.
    """
    index = call.args.index(argument)
    start, end = region.span(argument)
    if index > 0:
        start = region.span(call.args[index - 1])[1]
    elif len(call.args) > 1:
        end = region.span(call.args[1])[0]
    if "#" in region.context.text[start:end]:
        raise NoFix
    return region.context.edit(start, end, "")


def receiver_of(call: cst.CSTNode) -> cst.BaseExpression:
    """Return the receiver of a method call, `x` in `x.to(device)`. Raises NoFix for any node that is no method call."""
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        return call.func.value
    raise NoFix


def remove_method_call(region: NodeRegion, call: cst.CSTNode) -> Edit:
    """Return the edit that removes a method call and keeps its receiver: `x.to(device)` becomes `x`.

    Raises NoFix when a comment is in the removed text.
    """
    receiver = receiver_of(call)
    start, end = region.span_with_parentheses(receiver)[1], region.span(call)[1]
    if "#" in region.context.text[start:end]:
        raise NoFix
    return region.context.edit(start, end, "")


def method_name(call: cst.CSTNode) -> str:
    """Return the name of the method that a call calls, `to` in `x.to(device)`; an empty string for any other node."""
    return call.func.attr.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else ""
