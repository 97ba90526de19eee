"""Temporary replacement of attributes of modules and classes, which can be undone exactly."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch.jit import _builtins as _torch_builtins

_MISSING = object()
_builtins: Any = _torch_builtins


class Patcher:
    """Means to replace attributes of torch and other modules for a time, and to restore them in reverse order."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []
        self._last: list[Callable[[], object]] = []

    @property
    def replaced(self) -> bool:
        """Return whether an attribute is replaced now."""
        return bool(self._before)

    def replace(self, owner: Any, name: str, value: Any) -> Any:
        """Set an attribute of an object, and return the value that the attribute had before, inherited or own.

        TorchScript knows the operators behind torch's functions by their identity. A function in the place of one is
        made known to it as the same operator.
        """
        found = getattr(owner, name, None)
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)
        operator = _builtins._find_builtin(found) if isinstance(value, FunctionType) else None
        if operator is not None:
            _builtins._register_builtin(value, operator)
            self.at_end(lambda: _builtins._get_builtin_table().pop(id(value), None))
        return found

    def at_end(self, action: Callable[[], object]) -> None:
        """Register a function without arguments to be called after `undo` has restored all attributes."""
        self._last.append(action)

    def undo(self) -> None:
        """Restore every attribute that this patcher replaced, then call the functions registered by `at_end`."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        while self._last:
            self._last.pop()()
