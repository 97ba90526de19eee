"""Handlers that do by NumPy what the body of their `try` does by torch: what torch has refused is no tensor there."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.domain.value import UNKNOWN, LibraryName
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend


def execute_handler(frame: Frame, body: cst.BaseSuite, handler: cst.BaseSuite) -> None:
    """Execute the body of a handler, entered from the body of a `try`.

    Of what both hand to the same function, the body to torch's and the handler to NumPy's, nothing is known there:
    torch takes tensors wherever they are, and has refused it.
    """
    names = {*_handed_to(frame, body, "torch")} & {*_handed_to(frame, handler, "numpy")}
    before = {name: value for _, name in names if (value := frame.state.names.get(name)) is not None}
    for name in before:
        frame.bind(name, UNKNOWN)
    frame.execute(handler)
    for name, value in before.items():
        if frame.state.names.get(name) == UNKNOWN:
            frame.bind(name, value)


def _handed_to(frame: Frame, body: cst.BaseSuite, library: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the functions of a library that a body calls, each with a name in its arguments."""
    for one in descend(body):
        if isinstance(one, cst.Call) and _library_of(frame, one) == library:
            function = one.func.attr.value if isinstance(one.func, cst.Attribute) else ""
            for argument in one.args:
                for part in (argument.value, *descend(argument.value)):
                    if isinstance(part, cst.Name):
                        yield function, part.value


def _library_of(frame: Frame, call: cst.Call) -> str | None:
    """Return the name of the library of which a call names a function, as in `np.log(x)`; None for other calls."""
    match call.func:
        case cst.Attribute(value=cst.Name(value=name)):
            found = frame.lookup(name)
            return found.name if isinstance(found, LibraryName) else None
    return None
