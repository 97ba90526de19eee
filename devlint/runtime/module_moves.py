"""Watch over the modules that a program moves: each gets a census before it is called, or at the end of the run."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from devlint.runtime.call_sites import is_library, user_frame

TakeCensus = Callable[[nn.Module, str], object]
"""A function that takes the census of a module, which the program knows by a name."""


@contextmanager
def census_of_moved_modules(take: TakeCensus, note: Callable[[str], object]) -> Iterator[None]:
    """Context manager that takes the census of each module that its block moves.

    It is taken when the next module is called, since only then is the program done with moving: a `to` of its own may
    move more after it has called that of `nn.Module`. `note` is told of a census that fails, which is no matter of the
    program's.
    """
    watch = _Watch(take, note)
    move: Any = nn.Module._apply
    handle = register_module_forward_pre_hook(watch.before_forward)

    def counted_apply(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        watch.depth += 1
        try:
            return move(self, *args, **kwargs)
        finally:
            watch.depth -= 1
            if not watch.depth:
                watch.moved(self)

    nn.Module._apply = counted_apply  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module._apply = move  # type: ignore[method-assign]
        handle.remove()
        watch.finish()


class _Watch:
    """The modules that were moved and whose census is still to be taken; `depth` counts the running `_apply` calls."""

    def __init__(self, take: TakeCensus, note: Callable[[str], object]) -> None:
        self.depth = 0
        self._take = take
        self._note = note
        self._moved: dict[int, tuple[weakref.ref[nn.Module], str]] = {}

    def moved(self, module: nn.Module) -> None:
        """Remember a module that was moved, with the name that it has in the program now."""
        self._moved[id(module)] = (weakref.ref(module), _name_of(module, user_frame(2)))

    def before_forward(self, called: nn.Module, args: Any) -> None:
        """Take the census of the modules that were moved, since a module is about to be called."""
        if self._moved:
            self._take_all(sys._getframe(1))

    def finish(self) -> None:
        """Take the census of the modules that were moved and never called, if they still exist."""
        self._take_all(None)

    def _take_all(self, frame: FrameType | None) -> None:
        """Take the census of all modules that were moved, but for those that others contain."""
        moved, self._moved = self._moved, {}
        known = [(module, name) for reference, name in moved.values() if (module := reference()) is not None]
        inner = {id(part) for module, _ in known for part in module.modules() if part is not module}
        for module, name in known:
            if id(module) in inner:
                continue
            shown = _name_of(module, frame) or name or type(module).__name__
            try:
                self._take(module, shown)
            except Exception as problem:  # objects of the program may do anything when they are looked at
                self._note(f"no census of {shown}: {type(problem).__name__}: {problem}")


def _name_of(module: nn.Module, frame: FrameType | None) -> str:
    """Return the name under which the program knows a module, in the innermost of its frames that has one.

    That is a variable, or an attribute of `self`. The empty string means that there is none.
    """
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            variables = dict(frame.f_locals)
            for name, value in variables.items():
                if value is module and name != "self":
                    return name
            own = getattr(variables.get("self"), "__dict__", {})
            for name, value in {**own, **(own.get("_modules") or {})}.items():
                if value is module:
                    return f"self.{name}"
        frame = frame.f_back
    return ""
