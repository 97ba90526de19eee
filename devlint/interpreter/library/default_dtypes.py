"""The dtype that torch gives to what is told none."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import NONE, DtypeValue, Value
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.interpreter.state.torch_defaults import FileDefaults


@models_call("torch.set_default_dtype")
def set_default_dtype(frame: Frame, call: LibraryCall) -> Value:
    """Afterwards Python floats, and factories and layers without a dtype, are of this one."""
    given = call.arguments.value("d", 0)
    dtype = requested_dtype(given) if given is not None else UNKNOWN_DTYPE
    _set(frame, replace(dtype, source=DtypeSource.DEFAULT))
    return NONE


@models_call("torch.get_default_dtype")
def get_default_dtype(frame: Frame, call: LibraryCall) -> Value:
    """What torch makes of Python floats."""
    return DtypeValue(frame.state.torch_state.default_dtype)


@models_call("torch.set_default_tensor_type")
def set_default_tensor_type(frame: Frame, call: LibraryCall) -> Value:
    """The old way to change the default device and dtype: what factories do then is not followed."""
    _set(frame, UNKNOWN_DTYPE)
    frame.state.torch_state = replace(frame.state.torch_state, default_device=UNKNOWN_PLACEMENT)
    keep_defaults(frame)
    return NONE


def _set(frame: Frame, dtype: Dtype) -> None:
    frame.state.torch_state = replace(frame.state.torch_state, default_dtype=dtype)
    keep_defaults(frame)


def keep_defaults(frame: Frame) -> None:
    """The code being run has changed the defaults: for the file, if that is what happens when it runs."""
    defaults = frame.analysis.torch_defaults
    file = frame.module if frame.function is None else None if frame.analysis.symbolic else defaults.entered
    if file is not None:
        torch_state = frame.state.torch_state
        defaults.by_file[file.path] = FileDefaults(torch_state.default_device, torch_state.default_dtype)
