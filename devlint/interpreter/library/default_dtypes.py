"""Models of the functions that read and change torch's default dtype."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import NONE, DtypeValue, Value
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.events import LegacyTypeUsed
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.interpreter.state.torch_defaults import FileDefaults


@models_call("torch.set_default_dtype")
def set_default_dtype(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.set_default_dtype(d)`: set the dtype of Python floats, and the default dtype of new tensors.

    Factories and layers that are given no dtype use the default dtype.
    """
    given = call.arguments.value("d", 0)
    dtype = requested_dtype(given) if given is not None else UNKNOWN_DTYPE
    _set_default_dtype(frame, replace(dtype, source=DtypeSource.DEFAULT))
    return NONE


@models_call("torch.get_default_dtype")
def get_default_dtype(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.get_default_dtype()`: the dtype that torch gives to Python floats."""
    return DtypeValue(frame.state.torch_state.default_dtype)


@models_call("torch.set_default_tensor_type")
def set_default_tensor_type(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.set_default_tensor_type(...)`: make the default device and the default dtype unknown.

    The function is the predecessor of `set_default_device` and `set_default_dtype`; its effect on factories is not
    modelled.
    """
    frame.emit(LegacyTypeUsed(frame.event_context(call.node), call.name))
    _set_default_dtype(frame, UNKNOWN_DTYPE)
    frame.state.torch_state = replace(frame.state.torch_state, default_device=UNKNOWN_PLACEMENT)
    record_file_defaults(frame)
    return NONE


def _set_default_dtype(frame: Frame, dtype: Dtype) -> None:
    """Set torch's default dtype in the interpreter's state, and record it as the default that a source file sets."""
    frame.state.torch_state = replace(frame.state.torch_state, default_dtype=dtype)
    record_file_defaults(frame)


def record_file_defaults(frame: Frame) -> None:
    """Record the default device and dtype of the interpreter's state as those that a source file sets for torch.

    For code at module level, the file is that module's file. For code inside a function, it is the file that is
    interpreted as the main program; nothing is recorded while a function is analysed with symbolic arguments.
    """
    defaults = frame.analysis.torch_defaults
    file = frame.module if frame.function is None else None if frame.analysis.symbolic else defaults.entry_module
    if file is not None:
        torch_state = frame.state.torch_state
        defaults.by_file[file.path] = FileDefaults(torch_state.default_device, torch_state.default_dtype)
