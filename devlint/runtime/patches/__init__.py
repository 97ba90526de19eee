"""Replacements of torch functions and methods that make programs see the emulated devices.

A few more support recording on real devices.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from devlint.runtime.patches import (
    assignments,
    autocast,
    backward_passes,
    child_processes,
    clock_readings,
    composite_checks,
    data_parallel,
    device_modules,
    device_types,
    direct_operators,
    exit_handlers,
    factories,
    generators,
    host_only_checks,
    interop,
    legacy_constructors,
    optimizer_steps,
    pinning,
    script_tracing,
    storages,
    tensor_queries,
    threads,
    transfer_methods,
    unsupported_features,
)
from devlint.runtime.patches.patcher import Patcher

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

_EMULATION = (
    tensor_queries,
    transfer_methods,
    pinning,
    assignments,
    storages,
    factories,
    interop,
    generators,
    device_modules,
    autocast,
    composite_checks,
    host_only_checks,
    optimizer_steps,
    data_parallel,
    unsupported_features,
    device_types,
    legacy_constructors,
    clock_readings,
    direct_operators,
)
"""The modules whose patches emulate devices, in the order of installation."""


def install(
    session: RuntimeSession,
    mode: Callable[[], AbstractContextManager[Any]],
    again: Callable[[], AbstractContextManager[Any]],
) -> Patcher:
    """Replace torch functions for a session of emulating or recording, and return the patcher that restores them.

    `mode` makes the dispatch mode for threads that the program starts, and `again` enters the session once more for
    what runs after it.
    """
    patcher = Patcher()
    try:
        if session.kind is not None:
            for module in _EMULATION:
                module.install(session, patcher)
            exit_handlers.install(patcher, again)
        else:
            unsupported_features.note_compilation(session, patcher)
        script_tracing.install(session, patcher)
        backward_passes.install(session, patcher)
        threads.install(patcher, mode)
        child_processes.install(session, patcher)
    except BaseException:
        patcher.undo()
        raise
    return patcher
