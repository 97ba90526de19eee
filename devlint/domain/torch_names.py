"""Method names of torch that several parts of devlint must know: what moves a tensor, what casts it, what returns it.

Each list stands here once. Lists that differ in a name or two differ on purpose: the docstring of each says what it is
for.
"""

from __future__ import annotations

from typing import Final

CAST_METHODS: Final = {
    "half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "char": "int8", "byte": "uint8", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
"""Methods that cast a tensor, each with the dtype that it casts to."""

FLOAT_CASTS: Final = frozenset({"half", "float", "double", "bfloat16"})
"""The cast methods that modules have as well: they cast floating parameters in place."""

ACCELERATOR_METHODS: Final = ("cuda", "xpu", "npu", "hpu", "ipu")
"""Methods that move a tensor, or a module, to an accelerator of that type."""

DEVICE_METHODS: Final = frozenset({"cpu", *ACCELERATOR_METHODS})
"""Methods that are named after the device that they move to."""

MOVE_METHODS: Final = ("to", "cuda", "cpu", *ACCELERATOR_METHODS[1:], "type_as", "type")
"""Methods that may move a tensor to another device."""

TRANSFER_METHODS: Final = (*MOVE_METHODS, *CAST_METHODS)
"""Methods that move or cast a tensor, and return a tensor."""

IN_PLACE_ON_MODULES: Final = frozenset({"to", "cuda", "cpu", "xpu", "npu", "type"}) | FLOAT_CASTS
"""Methods that move or cast a module in place: as a statement, such a call is what one writes of a module."""

REBOUND_METHODS: Final = (
    frozenset({"to", "cuda", "cpu", "xpu", "type", "pin_memory", "detach", "contiguous"}) | FLOAT_CASTS
)
"""Methods whose result programs bind to the name that they called the method on: `x = x.to(device)`."""

CHAINED_METHODS: Final = (
    frozenset({"to", "cuda", "cpu", "xpu", "type", "type_as", "detach", "pin_memory", "contiguous", "clone"})
    | FLOAT_CASTS
    | {"long", "int", "short", "bool"}
)
"""Methods that return their receiver, moved, cast or copied: `x.detach().cpu()` is still about `x`."""

SELF_RETURNING_MODULE_METHODS: Final = frozenset(
    {"eval", "train", "requires_grad_", "share_memory", "apply", "compile"}
)
"""Methods by which a module returns itself, and moves nothing."""
