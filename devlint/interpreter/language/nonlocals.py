"""Names that code binds for the code around it: `global` and `nonlocal`.

Such code keeps the names among its own while it runs, so that its branches join them like any others; the code around
sees them when another function is called, and when this one is done.
"""

from __future__ import annotations

from collections.abc import Iterable

from devlint.domain.join import join
from devlint.domain.value import Value
from devlint.interpreter.state.frame import Frame


def declare_outer_names(frame: Frame, names: Iterable[str]) -> None:
    """`global a, b`: the names as they are now become the code's own."""
    for name in names:
        frame.outer_names.add(name)
        value = frame.lookup(name)
        if value is not None:
            frame.state.names[name] = value


def write_back(frame: Frame) -> dict[str, Value]:
    """Let the code around see what has been bound; what it then holds."""
    held: dict[str, Value] = {}
    for name in frame.outer_names:
        value = frame.state.names.get(name)
        owner = _owner(frame, name)
        if value is None or owner is None:
            continue
        before = owner.state.names.get(name)
        is_global = owner is frame.module.frame
        if before is not None and frame.analysis.symbolic and is_global:
            # Nobody knows whether the next caller comes before or after this one.
            value = join(before, value)
        if is_global:
            frame.analysis.global_writes += 1
        else:
            frame.analysis.call_summaries.invalidate_captured_names()
        owner.state.names[name] = held[name] = value
    return held


def reload(frame: Frame, held: dict[str, Value]) -> None:
    """Take over what others have bound since the names were published."""
    for name, value in held.items():
        owner = _owner(frame, name)
        now = owner.state.names.get(name) if owner is not None else None
        if now is not None and now is not value:
            frame.state.names[name] = now


def _owner(frame: Frame, name: str) -> Frame | None:
    outer = frame.outer
    while outer is not None and name not in outer.state.names:
        outer = outer.outer
    if outer is None:
        outer = frame.module.frame
    return outer
