"""The dtypes that an emulated backend does not have: checks that raise its errors, and casts that it changes."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.backends import Backend
from devlint.runtime.storage_labels import label_of
from devlint.runtime.tensor_arguments import tensors_in
from devlint.semantics.dtype_limits import DtypeLimit, LimitedUse

COPIES = frozenset({"_to_copy", "copy_", "clone", "contiguous", "empty_like", "new_empty", "_local_scalar_dense"})
"""Operators that copy or allocate without computing."""
CAST = "_to_copy"
"""The operator behind `Tensor.to(dtype)` and `Tensor.double()`."""


class DtypeLimits:
    """The dtype limits of an emulated backend, for look-up by dtype; false if the backend has none."""

    def __init__(self, backend: Backend) -> None:
        self._by_use: dict[LimitedUse, dict[torch.dtype, DtypeLimit]] = {use: {} for use in LimitedUse}
        for limit in backend.limits:
            self._by_use[limit.use][getattr(torch, limit.dtype)] = limit
        self._warned: set[DtypeLimit] = set()

    def __bool__(self) -> bool:
        return any(self._by_use.values())

    @property
    def unsupported(self) -> frozenset[torch.dtype]:
        """Return the dtypes with which the backend does not compute."""
        return frozenset(dtype for limits in self._by_use.values() for dtype in limits)

    def check_made(self, dtype: torch.dtype) -> None:
        """Raise the backend's error if no tensor of a dtype can be made on its device."""
        limit = self._by_use[LimitedUse.MADE].get(dtype)
        if limit is not None:
            raise torch_errors.dtype_not_on_device(limit)

    def check_operator(self, name: str, view: bool, args: tuple[Any, ...], out: Any) -> None:
        """Raise the backend's error if an operator on its device cannot have these operands or this result.

        `view` tells whether the operator only makes views, which compute nothing.
        """
        for tensor in tensors_in((out,)):
            if (label := label_of(tensor)) is not None and label.place.key:
                self.check_made(tensor.dtype)
        computed = self._by_use[LimitedUse.COMPUTED]
        if not computed or view or name in COPIES:
            return
        for tensor in tensors_in(args):
            limit = computed.get(tensor.dtype)
            if limit is not None and (label := label_of(tensor)) is not None and label.place.key:
                raise torch_errors.dtype_not_on_device(limit)

    def replace_cast(self, name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments with which the backend really runs a cast of a tensor on its device.

        The first cast that it changes gives its warning. Other calls are returned as they are.
        """
        limit = self._by_use[LimitedUse.CAST].get(kwargs["dtype"]) if name == CAST and "dtype" in kwargs else None
        if limit is None or kwargs.get("device") is not None:
            return kwargs
        if limit not in self._warned:
            self._warned.add(limit)
            warnings.warn(limit.message, UserWarning, stacklevel=2)
        return {**kwargs, "dtype": torch.float32}
