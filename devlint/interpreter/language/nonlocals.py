"""Names that code binds for the code around it: `global` and `nonlocal`.

Such code keeps the names among its own while it runs, so that its branches join them like any others; the code around
sees them when another function is called, and when this one is done.
"""

from __future__ import annotations

from collections.abc import Iterable

from devlint.domain.join import join
from devlint.domain.value import Value
from devlint.interpreter.state.frame import Frame


def declare_outer_names(run: Frame, names: Iterable[str]) -> None:
    """`global a, b`: the names as they are now become the code's own."""
    for name in names:
        run.foreign.add(name)
        value = run.lookup(name)
        if value is not None:
            run.state.names[name] = value


def write_back(run: Frame) -> dict[str, Value]:
    """Let the code around see what has been bound; what it then holds."""
    held: dict[str, Value] = {}
    for name in run.foreign:
        value = run.state.names.get(name)
        owner = _owner(run, name)
        if value is None or owner is None:
            continue
        before = owner.state.names.get(name)
        is_global = owner is run.module.run
        if before is not None and run.engine.symbolic and is_global:
            # Nobody knows whether the next caller comes before or after this one.
            value = join(before, value)
        if is_global:
            run.engine.spilled += 1
        else:
            run.engine.repeats.mark_rebound()
        owner.state.names[name] = held[name] = value
    return held


def reload(run: Frame, held: dict[str, Value]) -> None:
    """Take over what others have bound since the names were published."""
    for name, value in held.items():
        owner = _owner(run, name)
        now = owner.state.names.get(name) if owner is not None else None
        if now is not None and now is not value:
            run.state.names[name] = now


def _owner(run: Frame, name: str) -> Frame | None:
    outer = run.outer
    while outer is not None and name not in outer.state.names:
        outer = outer.outer
    if outer is None:
        outer = run.module.run
    return outer
