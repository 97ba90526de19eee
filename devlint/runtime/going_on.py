"""Going on after an error of a dtype or of a host-only function: the call is repeated with arguments that fit.

Errors of mixed devices need no repetition: there the emulation itself goes on. See `emulation_mode`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from devlint.runtime.call_sites import user_frame, user_site, user_stack
from devlint.runtime.error_reports import code_for, mark_interrupted, report_operator_error
from devlint.runtime.patches.tensor_queries import device_of
from devlint.runtime.runtime_session import RuntimeSession
from devlint.runtime.storage_labels import label_tensor
from devlint.runtime.tensor_arguments import tensors_in
from devlint.runtime.tensor_iterator import decided_placement

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The positional and the keyword arguments of a call."""
Change = Callable[[Any], Any]
_CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss", "nll_loss_nd", "multi_margin_loss", "multilabel_margin_loss"})
"""Losses whose targets are numbers of classes."""
_INDICES = {"embedding": 0, "embedding_bag": 0, "one_hot": 0, "__getitem__": 1, "__setitem__": 1, "take": 1}
"""The position of the index among the arguments of functions that take it elsewhere than after a dimension."""
_MASKS = {"where": 0, "masked_fill": 1, "masked_fill_": 1, "masked_select": 1, "masked_scatter": 1}
"""The position of the mask among the arguments of functions that take one."""


@contextmanager
def going_on(session: RuntimeSession) -> Iterator[None]:
    """Context manager in whose block a program goes on after errors of devices, dtypes and host-only functions."""
    session.keep_going = True
    with _GoingOn(session):
        yield


class _GoingOn(TorchFunctionMode):
    """Torch function mode that repeats a failed call with arguments that fit, after recording the error."""

    def __init__(self, session: RuntimeSession) -> None:
        super().__init__()
        self._session = session

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a torch function, and once more with arguments that fit if it raises an error that a rule is about."""
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            code = code_for(str(error))
            # The repair is devlint's work, not the program's: the tables of the report do not count it.
            with self._session.unrecorded():
                fitting = fitting_call(getattr(func, "__name__", ""), code, args, kwargs) if code is not None else None
            if fitting is None:
                mark_interrupted(self._session, user_stack(user_frame()))
                raise
            report_operator_error(self._session, error, args, kwargs)
            try:
                out = func(*fitting[0], **fitting[1])
            except Exception:
                mark_interrupted(self._session, user_stack(user_frame()))
                raise error from None
        for tensor in tensors_in((out,)):
            place = decided_placement(tensor)
            if place is not None:
                label_tensor(tensor, place.after_going_on(str(code), user_site()))
        return out


def fitting_call(name: str, code: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """Return the arguments with which a failed call of a torch function is repeated; None if none are known to fit.

    `name` is the name of the function, and `code` that of the rule that is about its error.
    """
    if code in ("DEV301", "DEV302"):
        written = args[0].dtype if name.endswith("_") and args and isinstance(args[0], torch.Tensor) else None
        floats = [tensor for tensor in tensors_in((*args, *kwargs.values())) if tensor.is_floating_point()]
        common = written or _common_dtype(floats)
        return _changed(args, kwargs, partial(_cast, dtype=common)) if common is not None else None
    if code == "DEV304":
        dtype = torch.int64 if name in _CLASS_LOSSES else args[0].dtype
        return _with_changed_argument(args, kwargs, 1, "target", lambda value: value.to(dtype))
    if code == "DEV305":
        if name in _MASKS:
            return _with_changed_argument(args, kwargs, _MASKS[name], "mask", lambda value: value.to(torch.bool))
        return _with_changed_argument(args, kwargs, _INDICES.get(name, 2), "index", _as_index)
    if code == "DEV108":
        return _changed(args, kwargs, _counts_on_host)
    if code == "DEV109":
        return args, {key: value for key, value in kwargs.items() if key != "generator"}
    return None


def _common_dtype(tensors: list[torch.Tensor]) -> torch.dtype | None:
    """Return the dtype that floating-point operands of several dtypes are cast to; None if they have one dtype.

    It is the widest, but float64 only counts where nothing else is there: it mostly comes from NumPy by accident.
    """
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) < 2:
        return None
    narrow = sorted(dtypes - {torch.float64}, key=str)
    common = narrow[0]
    for dtype in narrow[1:]:
        common = torch.promote_types(common, dtype)
    return common


def _cast(value: Any, dtype: torch.dtype) -> Any:
    """Return a floating-point tensor in a dtype, and any other value as it is."""
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _as_index(value: Any) -> Any:
    """Return a tensor that is used as an index as one of integers; a tuple of indices has each of them changed."""
    if isinstance(value, torch.Tensor):
        return value if value.dtype is torch.bool else value.to(torch.int64)
    return tuple(map(_as_index, value)) if isinstance(value, tuple | list) else value


def _counts_on_host(value: Any) -> Any:
    """Return a tensor of integers on an accelerator as one on the host, and any other value as it is."""
    whole = isinstance(value, torch.Tensor) and not value.is_floating_point() and device_of(value).type != "cpu"
    return value.cpu() if whole else value


def _changed(args: tuple[Any, ...], kwargs: dict[str, Any], change: Change) -> Call:
    """Return the arguments of a call with a function applied to each, also inside of lists and tuples."""

    def applied(value: Any) -> Any:
        return type(value)(map(change, value)) if type(value) in (list, tuple) else change(value)

    return tuple(map(applied, args)), {key: applied(value) for key, value in kwargs.items()}


def _with_changed_argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], position: int, name: str, change: Change
) -> Call | None:
    """Return the arguments of a call with a function applied to one of them; None if that argument is not given."""
    if name in kwargs:
        return args, {**kwargs, name: change(kwargs[name])}
    if position < len(args):
        return (*args[:position], change(args[position]), *args[position + 1 :]), kwargs
    return None
