"""Names of the torch methods that move, cast or return a tensor or a module, for all parts of devlint.

Each list is defined once. Some lists differ in only a name or two, on purpose: the docstring below each list says what
it is for.
"""

from __future__ import annotations

from typing import Final

CAST_METHODS: Final = {
    "half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "char": "int8", "byte": "uint8", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
"""The methods that cast a tensor, each with the dtype that it casts to."""

FLOAT_CASTS: Final = frozenset({"half", "float", "double", "bfloat16"})
"""The cast methods that nn.Module has as well, where they cast the floating parameters in place."""

ACCELERATOR_METHODS: Final = ("cuda", "xpu", "npu", "hpu", "ipu")
"""The methods that move a tensor or a module to an accelerator, named after the accelerator's device type."""

DEVICE_METHODS: Final = frozenset({"cpu", *ACCELERATOR_METHODS})
"""The methods named after the device that they move a tensor or module to."""

MOVE_METHODS: Final = ("to", "cuda", "cpu", *ACCELERATOR_METHODS[1:], "type_as", "type")
"""The methods that may move a tensor to another device."""

TRANSFER_METHODS: Final = (*MOVE_METHODS, *CAST_METHODS)
"""The methods that move or cast a tensor and return a tensor."""

IN_PLACE_ON_MODULES: Final = frozenset({"to", "cuda", "cpu", "xpu", "npu", "type"}) | FLOAT_CASTS
"""The methods that move or cast a module in place.

A call of one of these as a statement of its own is evidence that its receiver is a module.
"""

REBOUND_METHODS: Final = (
    frozenset({"to", "cuda", "cpu", "xpu", "type", "pin_memory", "detach", "contiguous"}) | FLOAT_CASTS
)
"""The methods whose result programs bind to the name of the receiver: `x = x.to(device)`."""

CHAINED_METHODS: Final = (
    frozenset({"to", "cuda", "cpu", "xpu", "type", "type_as", "detach", "pin_memory", "contiguous", "clone"})
    | FLOAT_CASTS
    | {"long", "int", "short", "bool"}
)
"""The methods that return their receiver moved, cast or copied: `x.detach().cpu()` still means `x`."""

SELF_RETURNING_MODULE_METHODS: Final = frozenset(
    {"eval", "train", "requires_grad_", "share_memory", "apply", "compile"}
)
"""The methods of nn.Module that return the module itself and move nothing."""

OTHER_TENSOR_LIBRARIES: Final = frozenset({"chainer", "dezero", "jittor", "mindspore", "oneflow", "paddle", "tinygrad"})
"""The libraries whose tensors have `backward` as torch's do, but may be read by NumPy afterwards."""

TENSOR_ANNOTATIONS: Final = frozenset(
    "Tensor torch.Tensor FloatTensor LongTensor BoolTensor IntTensor torch.FloatTensor torch.LongTensor"
    " torch.BoolTensor"
    " torch.IntTensor nn.Parameter torch.nn.Parameter".split()
)
"""The annotations of parameters that are tensors."""
SHAPED_ANNOTATIONS: Final = frozenset(
    "Annotated BFloat16 Bool Complex Complex64 Complex128 Float Float16 Float32 Float64 Inexact"
    " Int Int8 Int16 Int32 Int64 Integer Num Real Shaped UInt UInt8 UInt16 UInt32 UInt64".split()
)
"""The names of classes whose subscript says more of the annotation that comes first in it: jaxtyping's and typing's."""

NUMBER_TYPES: Final = frozenset({"int", "float", "bool"})
"""The types of Python's numbers; programs subscribe them by dimensions, to annotate tensors of such numbers."""

LAYER_BASES: Final = {
    **dict.fromkeys(("RNN", "LSTM", "GRU"), "RNNBase"),
    **dict.fromkeys(("RNNCell", "LSTMCell", "GRUCell"), "RNNCellBase"),
    **{f"Lazy{name}": name for name in ("Linear", "Conv1d", "Conv2d", "Conv3d")},
    **{f"Lazy{name}": name for name in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")},
    **dict.fromkeys(("UpsamplingNearest2d", "UpsamplingBilinear2d"), "Upsample"),
    **{f"ZeroPad{dims}": f"ConstantPad{dims}" for dims in ("1d", "2d", "3d")},
    "ReLU6": "Hardtanh",
    "NLLLoss2d": "NLLLoss",
}
"""The classes of `torch.nn` that derive from another public one than `Module`, and that one."""
