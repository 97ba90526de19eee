"""The patches of TorchScript: it traces tensors on the host without the emulation, and knows what is replaced.

Under any mode of Python dispatch torch loses the results of some operators from the trace: of a convolution it says
"Cannot insert a Tensor that requires grad as a constant". A module may hold an operator as an attribute
(`self.reduce = torch.sum`); the compiler asks first whether that is a Python function, which only the replacement of an
operator is.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

import torch
from torch.jit import _builtins as _torch_builtins
from torch.jit import _recursive as _compiler

from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import placement_of
from devlint.runtime.tensor_arguments import tensors_in

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_builtins: Any = _torch_builtins
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
    patcher.replace(_compiler, "inspect", _inspect_of_operators())


def _inspect_of_operators() -> types.ModuleType:
    """Return `inspect` as the compiler needs it: what stands for an operator of TorchScript is no Python function."""
    out = types.ModuleType(inspect.__name__)
    vars(out).update(vars(inspect))

    def isfunction(value: object) -> bool:
        return inspect.isfunction(value) and _builtins._find_builtin(value) is None

    vars(out)["isfunction"] = isfunction
    return out
