"""Sample calls of nearly every operator, from torch's own tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

SAMPLES = 2


@dataclass(frozen=True)
class Call:
    """One call of an operator."""

    name: str
    function: Callable[..., Any]
    flat: list[Any]
    spec: Any

    @property
    def tensors(self) -> list[int]:
        """Return the positions of the call's tensors."""
        return [index for index, value in enumerate(self.flat) if isinstance(value, torch.Tensor)]

    def on_host(self) -> Any:
        """Return the result with all tensors on the host."""
        return self._call([v.detach().clone() if isinstance(v, torch.Tensor) else v for v in self.flat])

    def on_device(self, stays: int | None = None) -> Any:
        """Return the result with all tensors but one on the device; `stays` is the position of that one."""
        flat = [
            value.detach().to("cuda") if index in self.tensors and index != stays else value
            for index, value in enumerate(self.flat)
        ]
        return self._call(flat)

    def _call(self, flat: list[Any]) -> Any:
        first, args, kwargs = tree_unflatten(flat, self.spec)
        torch.manual_seed(0)
        return self.function(first, *args, **({**kwargs, "device": "cuda"} if "device" in kwargs else kwargs))


def calls() -> Iterator[Call]:
    """Yield two calls of each operator, with tensors on the host."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db

        for info in op_db:
            if info.name in ("to", "as_strided", "torch._scaled_mm") or "empty" in info.name:
                continue
            dtype = torch.float32 if torch.float32 in info.dtypes else next(iter(info.dtypes), None)
            if dtype is None:
                continue
            for _, sample in zip(range(SAMPLES), info.sample_inputs("cpu", dtype), strict=False):
                flat, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
                yield Call(info.name, info.op, flat, spec)


def outcome(call: Callable[[], Any]) -> tuple[str, ...]:
    """Return the type of the exception that a call raises, or the devices and dtypes of its results."""
    try:
        result = call()
    except NotImplementedError:
        return ("not implemented",)
    except Exception as error:
        return (type(error).__name__,)
    return tuple(f"{t.device.type} {t.dtype}" for t in tree_leaves(result) if isinstance(t, torch.Tensor))
