"""The line of the user's code that runs a backward pass, looked for once for all operators of the pass."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import graph

from devlint.runtime.call_sites import user_frame

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

ENGINE_CODE = graph._engine_run_backward.__code__
"""The code of torch's function that calls the engine of autograd, which calls the operators of a backward pass."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Keep, while the engine of autograd runs, the frame of the user's code that asked for the backward pass."""
    base = graph._engine_run_backward

    @functools.wraps(base)
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        state = session.thread_state
        outer, state.backward_frame = state.backward_frame, user_frame(2)
        try:
            return base(*args, **kwargs)
        finally:
            state.backward_frame = outer

    for owner in (graph, torch.autograd):
        patcher.replace(owner, "_engine_run_backward", run_backward)
