"""Patches for `atexit`: functions that a program registers to run when it ends see the devices that it saw."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher


def install(patcher: Patcher, again: Callable[[], AbstractContextManager[Any]]) -> None:
    """Patch `atexit`, so that functions registered from now on run in the session that `again()` enters once more.

    They run when Python ends, which may be after the session.
    """
    register, unregister = atexit.register, atexit.unregister
    registered: list[tuple[Callable[..., Any], Callable[[], None]]] = []

    def register_in_session(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        @functools.wraps(function)
        def in_session() -> None:
            with again():
                function(*args, **kwargs)

        registered.append((function, in_session))
        register(in_session)
        return function

    def unregister_in_session(function: Callable[..., Any], /) -> None:
        unregister(function)
        for known, in_session in registered:
            if known == function:
                unregister(in_session)

    patcher.replace(atexit, "register", register_in_session)
    patcher.replace(atexit, "unregister", unregister_in_session)
