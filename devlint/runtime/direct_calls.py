"""Calls of operators that pass devlint's dispatch mode, because no check of the mode could fail.

A dispatch mode in Python costs several times what a small operator itself takes.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad

from devlint.runtime.call_sites import called_by_user, known_libraries, user_frame
from devlint.runtime.operator_plans import has_float64

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

PLAIN_TENSORS = frozenset({torch.Tensor, torch.nn.Parameter})
"""The types of tensors without behaviour of their own."""
mode_disabled = torch._C._DisableTorchDispatch
"""Context manager in which no dispatch mode sees the operators that run."""
_dispatch_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack
_saving_hooks = torch._C._autograd._top_saved_tensors_default_hooks


def needs_mode(session: RuntimeSession) -> bool:
    """Return whether something besides devlint's mode sees an operator that runs now, or changes what it does.

    That is another mode, autocast, forward-mode differentiation, a hook on what autograd saves, or rules that place
    what test code makes. In a handler of the mode itself, no mode is active.
    """
    return (
        _dispatch_modes() != 1
        or not session.direct_calls
        or session.test_rules is not None
        or _function_modes() != 0
        or forward_ad._current_level >= 0
        or _saving_hooks(True) is not None
    )


def record_direct_call(
    session: RuntimeSession, name: str, out: Any, operands: tuple[Any, ...], *, on_device: bool
) -> None:
    """Tell the recorders that an operator ran, as the dispatch mode does for those that go through it.

    The line is that of the caller of the function that calls the caller of this one, or the nearest one in user code.
    """
    frame: FrameType | None = sys._getframe(3)
    if known_libraries.get(frame.f_code.co_filename) is not False:  # type: ignore[union-attr]
        frame = user_frame(4)
    promoted = on_device and out.dtype is torch.float64 and not has_float64(operands) and called_by_user(3)
    for recorder in session.recorders:
        recorder.record_operator(name, frame, on_device)
        if promoted:
            recorder.record_promotion(frame)
