"""Patches that spare time which torch takes for each operator under a dispatch mode, and that no program can notice.

Torch asks, in Python, whether a rule for the mode's class was registered for the operator. And an optimizer marks its
steps for the profiler with two operators that compute nothing, which would go through the mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._library import simple_registry
from torch.autograd.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.direct_calls import mode_disabled

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_dispatch_modes = torch._C._len_torch_dispatch_stack


def install(session: RuntimeSession, patcher: Patcher, mode_class: type[TorchDispatchMode]) -> None:
    """Answer for devlint's own mode that no rule is registered, and mark stretches of a profile without the mode.

    While a real device is recorded, torch may compile such marks into a graph, so they stay as they are.
    """
    find = getattr(simple_registry, "find_torch_dispatch_rule", None)
    if find is not None:

        def find_rule(operator: Any, dispatch_class: type) -> Any:
            return None if dispatch_class is mode_class else find(operator, dispatch_class)

        patcher.replace(simple_registry, "find_torch_dispatch_rule", find_rule)
    for name in ("__enter__", "__exit__") if session.kind is not None else ():
        patcher.replace(record_function, name, _without_mode(getattr(record_function, name)))


def _without_mode(base: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs without devlint's dispatch mode, unless a mode of the program watches it too."""

    @functools.wraps(base)
    def mark(*args: Any) -> Any:
        if _dispatch_modes() != 1:
            return base(*args)
        with mode_disabled():
            return base(*args)

    return mark
