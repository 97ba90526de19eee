"""Arguments of a call: found, added, changed and taken away."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.edits import replace
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.fixes.statements import indentation_at


def find_argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """The argument of a name, or at a position where all before it are positional; None where it is not given."""
    for index, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None:
            if argument.keyword.value == name:
                return argument
        elif index == position:
            return argument
    return None


def is_open(call: cst.Call) -> bool:
    """Whether the call takes arguments that are not written out, `**options`."""
    return any(argument.star == "**" for argument in call.args)


def add_argument(part: NodeRegion, call: cst.Call, name: str, value: str) -> Edit:
    """One more keyword argument, behind all others."""
    if is_open(call) or find_argument(call, name) is not None:
        raise NoFix
    if not call.args:
        _, end = part.span(call)
        return part.sheet.edit(end - 1, end - 1, f"{name}={value}")
    last = call.args[-1]
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        raise NoFix
    start, end = part.span(last)
    blanks = indentation_at(part, start)
    # A comment behind the last argument stays on its line.
    alone = blanks is not None and not part.sheet.text[end : part.sheet.next_line(end)].strip(", \t\r\n")
    between = f",{part.sheet.newline(start)}{blanks}" if alone else ", "
    return part.sheet.edit(end, end, f"{between}{name}={value}")


def set_argument(part: NodeRegion, call: cst.Call, name: str, value: str, position: int | None = None) -> Edit:
    """A keyword argument with that value, in place of the one that is there, if it is."""
    found = find_argument(call, name, position)
    return add_argument(part, call, name, value) if found is None else replace(part, found.value, value)


def drop_argument(part: NodeRegion, call: cst.Call, argument: cst.Arg) -> Edit:
    """The call without an argument, and without the comma that parted it from the others."""
    index = call.args.index(argument)
    start, end = part.span(argument)
    if index > 0:
        start = part.span(call.args[index - 1])[1]
    elif len(call.args) > 1:
        end = part.span(call.args[1])[0]
    if "#" in part.sheet.text[start:end]:
        raise NoFix
    return part.sheet.edit(start, end, "")


def receiver_of(call: cst.CSTNode) -> cst.BaseExpression:
    """What a method is called on. Raises Unfit for what is no call of a method."""
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        return call.func.value
    raise NoFix


def drop_method(part: NodeRegion, call: cst.CSTNode) -> Edit:
    """`x.to(device)` becomes `x`."""
    receiver = receiver_of(call)
    start, end = part.around(receiver)[1], part.span(call)[1]
    if "#" in part.sheet.text[start:end]:
        raise NoFix
    return part.sheet.edit(start, end, "")


def method_name(call: cst.CSTNode) -> str:
    """The name of the method that a call calls; empty for any other call."""
    return call.func.attr.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else ""
