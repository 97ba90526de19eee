"""The patch of `torch.jit.trace`: a trace of tensors on the host is made without the emulation.

Under any mode of Python dispatch torch loses the results of some operators from the trace: of a convolution it says
"Cannot insert a Tensor that requires grad as a constant".
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import placement_of
from devlint.runtime.tensor_arguments import tensors_in

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_LOST = "as a constant"
"""Part of the error that torch raises for a trace from which the result of an operator is missing."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Make `torch.jit.trace` trace as without devlint: what is on the host, and all where no device is emulated.

    Where it cannot trace on an emulated device, it raises NotEmulated.
    """
    trace: Any = torch.jit.trace

    @functools.wraps(trace)
    def traced(func: Any, *args: Any, **kwargs: Any) -> Any:
        state = func.state_dict().values() if isinstance(func, torch.nn.Module) else ()
        given = tensors_in((*args, *kwargs.values(), *state))
        if session.kind is None or not any(placement_of(one).key for one in given):
            with torch._C._DisableTorchDispatch():
                return trace(func, *args, **kwargs)
        try:
            return trace(func, *args, **kwargs)
        except RuntimeError as error:
            if _LOST in str(error):
                raise NotEmulated("torch.jit.trace of this code on an accelerator") from error
            raise

    patcher.replace(torch.jit, "trace", traced)
