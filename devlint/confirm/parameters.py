"""The parameters of functions, and what their uses tell: which are tensors, and of how many dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from devlint.confirm.source_files import Function, last_name

_TENSOR_METHODS = frozenset(
    "size view reshape permute transpose unsqueeze squeeze dim shape to device expand expand_as float long mean sum "
    "contiguous flatten softmax matmul bmm masked_fill clone detach repeat new_zeros new_ones numel cpu cuda clamp "
    "chunk type_as requires_grad gather scatter_ ndim dtype abs exp log max min argmax pow sqrt is_cuda".split()
)
"""Attributes that say that a value is a tensor."""
_AS_NUMBER = frozenset(
    "range arange linspace randperm randint zeros ones empty rand randn eye Tensor FloatTensor DoubleTensor "
    "HalfTensor LongTensor IntTensor ByteTensor Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding LayerNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d Dropout Dropout2d LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention "
    "TransformerEncoderLayer PixelShuffle ReflectionPad2d".split()
)
"""Functions whose positional arguments are numbers; the only one of a `Tensor` may be its data."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a driver may give: its name, its annotation, and its default if it has one."""

    name: str
    annotation: str = ""
    default: ast.expr | None = None

    @property
    def required(self) -> bool:
        """Return whether a call must give it."""
        return self.default is None


@dataclass(slots=True)
class Uses:
    """What the body of a function does with one parameter."""

    tensor: bool = False
    number: bool = False
    called: bool = False
    iterated: bool = False
    rank: int = 0
    """The number of dimensions, where a shape is unpacked or indexed; 0 if nothing tells."""
    at_least: int = 0
    attributes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def parameters_of(function: Function, *, bound: bool) -> list[Parameter]:
    """Return the parameters of a function, without the first one of a method that is `bound`."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(spec.defaults))
    found = [
        Parameter(one.arg, ast.unparse(one.annotation) if one.annotation else "", default)
        for one, default in [
            *zip(positional, [*missing, *spec.defaults], strict=True),
            *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
        ]
    ]
    return found[1:] if bound else found


def uses_of(function: Function, name: str) -> Uses:
    """Return what a function does with one of its parameters, and what its docstring says of the shape."""
    uses = Uses()
    attributes: dict[str, None] = {}
    keys: dict[str, None] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and _is(node.value, name):
            attributes[node.attr] = None
        elif isinstance(node, ast.Subscript) and _is(node.value, name):
            _read_subscript(node.slice, uses, keys)
        elif isinstance(node, ast.Call):
            _read_call(node, name, uses)
        elif isinstance(node, ast.For | ast.comprehension) and _is(node.iter, name):
            uses.iterated = True
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and _is_shape(node.value, name):
            uses.rank = len(node.targets[0].elts)
        elif isinstance(node, ast.Subscript) and _is_shape(node.value, name):
            uses.at_least = max(uses.at_least, _index(node.slice) + 1)
    uses.tensor = uses.tensor or uses.rank > 0 or any(one in _TENSOR_METHODS for one in attributes)
    uses.attributes, uses.keys = tuple(attributes), tuple(keys)
    uses.rank = uses.rank or _rank_in_text(ast.get_docstring(function) or "", name)
    return uses


def _read_subscript(index: ast.expr, uses: Uses, keys: dict[str, None]) -> None:
    """Take from `x[...]` how many dimensions there are, or the key of a dict."""
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        keys[index.value] = None
    elif isinstance(index, ast.Tuple):
        parts = [one for one in index.elts if not (isinstance(one, ast.Constant) and one.value in (None, ...))]
        uses.tensor, uses.at_least = True, max(uses.at_least, len(parts))


def _read_call(node: ast.Call, name: str, uses: Uses) -> None:
    """Take from a call what it says of the parameter: called itself, given as a number, asked for its size."""
    if _is(node.func, name):
        uses.called = True
        return
    called = last_name(node.func)
    if called in _AS_NUMBER:
        of_data = called.endswith("Tensor") and len(node.args) == 1
        uses.number |= not of_data and any(_is(one, name) for one in node.args)
        return
    if not isinstance(node.func, ast.Attribute):
        return
    if _is(node.func.value, name):
        if called == "permute":
            uses.rank = len(node.args)
        elif called in ("size", "transpose", "softmax", "mean", "sum", "flatten", "unsqueeze") and node.args:
            uses.at_least = max([uses.at_least, *(_index(one) + (called != "unsqueeze") for one in node.args)])
    elif isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F", "self"):
        uses.tensor = uses.tensor or any(_is(one, name) for one in node.args)


def _is(node: ast.expr, name: str) -> bool:
    """Return whether an expression is the parameter itself."""
    return isinstance(node, ast.Name) and node.id == name


def _is_shape(node: ast.expr, name: str) -> bool:
    """Return whether an expression is the whole shape of the parameter."""
    if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute):
        return node.func.attr == "size" and _is(node.func.value, name)
    return isinstance(node, ast.Attribute) and node.attr == "shape" and _is(node.value, name)


def _index(node: ast.expr) -> int:
    """Return the index that an expression is, if it is a number that counts from the front; else -1."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else -1


def _rank_in_text(text: str, name: str) -> int:
    """Return the number of dimensions that a docstring gives a parameter, such as 3 for `x: (B, N, C)`; else 0."""
    for line in text.splitlines():
        if re.search(rf"\b{re.escape(name)}\b", line) and (shape := next(_shapes(line), None)):
            return len(shape)
    return 0


def _shapes(line: str) -> Iterator[list[str]]:
    """Yield what looks like a shape in a line of text: names or numbers in brackets, with commas between them."""
    for found in re.finditer(r"[\[(]([\w.*/+\- ]+(?:[,x][\w.*/+\- ]+)+)[\])]", line):
        parts = [one.strip() for one in re.split(r",| x ", found[1])]
        if 2 <= len(parts) <= 5 and all(len(one) <= 12 for one in parts) and "optional" not in parts:
            yield parts
