"""Names that a function binds in an enclosing scope, by `global` and `nonlocal`.

While the function runs, these names are kept among the function's own names, so that the join of branches treats them
like local names. They are written back to the enclosing frame when another function is called and when this function
returns.
"""

from __future__ import annotations

from collections.abc import Iterable

from devlint.domain.join import join
from devlint.domain.value import Value
from devlint.interpreter.state.frame import Frame


def declare_outer_names(frame: Frame, names: Iterable[str]) -> None:
    """Execute `global a, b` or `nonlocal a, b`: copy the names' current values into the declaring function's frame."""
    for name in names:
        frame.outer_names.add(name)
        value = frame.lookup(name)
        if value is not None:
            frame.state.names[name] = value


def write_back(frame: Frame) -> dict[str, Value]:
    """Copy a frame's values of names declared `global` or `nonlocal` to the frames to which the names belong.

    Return the copied values by name.
    """
    held: dict[str, Value] = {}
    for name in frame.outer_names:
        value = frame.state.names.get(name)
        owner = _owning_frame(frame, name)
        if value is None or owner is None:
            continue
        before = owner.state.names.get(name)
        is_global = owner is frame.analysis.module_frames.get(frame.module)
        if before is not None and frame.analysis.symbolic and is_global:
            # The order in which outside callers call the entry points is unknown: both values are possible.
            value = join(before, value)
        if is_global:
            frame.analysis.global_writes += 1
        else:
            frame.analysis.call_summaries.invalidate_captured_names()
        owner.state.names[name] = held[name] = value
        owner.state.bound_if.pop(name, None)
    return held


def reload(frame: Frame, held: dict[str, Value]) -> None:
    """Update a frame's copies of `global` and `nonlocal` names after a call, which may have bound these names anew.

    `held` maps each name to the value that was written to the enclosing frame before the call.
    """
    for name, value in held.items():
        owner = _owning_frame(frame, name)
        now = owner.state.names.get(name) if owner is not None else None
        if now is not None and now is not value:
            frame.state.names[name] = now


def _owning_frame(frame: Frame, name: str) -> Frame | None:
    """Return the frame to which a name declared `global` or `nonlocal` belongs.

    That is the frame of an enclosing function that binds the name, or else that of the module's top level.
    """
    outer = frame.outer
    while outer is not None and name not in outer.state.names:
        outer = outer.outer
    if outer is None:
        outer = frame.analysis.module_frames.get(frame.module)
    return outer
