"""What a function's own use of a name says about it: that it must be a tensor, or a module.

An argument nobody has annotated is often plainly a tensor: it has `.unsqueeze`, or stands next to `@`. Without such
evidence nothing is claimed of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import libcst as cst

from devlint.domain.torch_names import IN_PLACE_ON_MODULES
from devlint.syntax.tree_walk import descend, dotted_name

TENSOR_ONLY: Final = frozenset(
    "unsqueeze unsqueeze_ view permute backward detach is_cuda numel contiguous new_zeros new_ones new_tensor"
    " new_full new_empty"
    " masked_fill masked_fill_ expand expand_as softmax log_softmax sigmoid tanh matmul bmm long index_select"
    " scatter_ scatter"
    " gather dim view_as requires_grad_ is_floating_point unbind chunk unfold logsumexp cumsum_ add_ sub_"
    " mul_ div_ clamp_"
    " argmax_ pin_memory data_ptr grad_fn rsqrt type_as new pow_ squeeze_ flatten_ softplus narrow"
    " index_copy_ index_add_ index_add index_fill index_fill_ scatter_add scatter_add_ repeat_interleave"
    " masked_select masked_scatter baddbmm addmm diag_embed tril triu movedim unflatten logaddexp amax amin"
    " clamp_min clamp_max normal_ uniform_ bernoulli_ zero_ fill_ copy_".split()
)
"""Attributes that a tensor has and neither an array, a container nor a module has."""

ARRAY_LIKE: Final = frozenset(
    "shape ndim size sum mean max min abs std var t T transpose reshape flatten squeeze clamp float"
    " int bool argmax"
    " argmin item tolist numpy cpu exp log sqrt pow any all sort topk repeat norm cumsum dtype prod clone"
    " chunk split device round".split()
)
"""Attributes that tensors share with arrays; among code that handles tensors they are evidence enough."""

OF_MODELS_TOO: Final = frozenset({"device", "dtype"})
"""Attributes that many libraries' modules have as well: evidence of nothing where the same name is moved in place."""

OF_OTHERS_TOO: Final = frozenset({"detach", "requires_grad_"})
"""Methods that streams and sessions, or modules, have as well, and that are called on them as statements."""

MODULE_ONLY: Final = frozenset(
    "parameters named_parameters state_dict load_state_dict train eval modules children named_modules zero_grad buffers"
    " named_buffers register_buffer register_forward_hook apply forward generate requires_grad_".split()
)
"""Attributes that a module has and a tensor has not. (`requires_grad_` both have; it is no evidence by itself.)"""

_MODULE_EVIDENCE: Final = MODULE_ONLY - TENSOR_ONLY
_TENSOR_EVIDENCE: Final = TENSOR_ONLY - OF_OTHERS_TOO

NAMING_DEVICES: Final = frozenset(
    "device cuda is_cuda type_as new_zeros new_ones new_full new_empty new_tensor".split()
)
"""Attributes by which code asks for a device, or makes a tensor where another is: it is meant for any."""

COUNTED: Final = frozenset(
    "range int float bool len view reshape expand repeat zeros ones empty full rand randn randint arange linspace eye"
    " new_zeros new_ones new_full new_empty unfold".split()
)
"""What is called with sizes and counts."""


def is_tensor_method(method: str, *, is_statement: bool) -> bool:
    """Whether a call of this method shows that its receiver is a tensor."""
    return method in TENSOR_ONLY and not (is_statement and method in OF_OTHERS_TOO)


class UsageEvidence:
    """The uses of dotted names (`x`, `self.model`) within some pieces of syntax."""

    def __init__(self, *nodes: cst.CSTNode) -> None:
        self.tensors: set[str] = set()
        self.arrays: set[str] = set()
        self._placed: set[str] = set()
        """Names that are asked for their device or dtype."""
        self._moved_in_place: set[str] = set()
        self.modules: set[str] = set()
        self.numbers: set[str] = set()
        """Names that count, index or decide something: Python numbers as likely as tensors."""
        self._thrown_away: set[cst.CSTNode] = set()
        self.devices = False
        self.clock = False
        for node in nodes:
            self._read(node)

    def is_tensor(self, name: str, *, array_like: bool = False) -> bool:
        """Whether the name is used as only a tensor can be; with `array_like`, as tensors and arrays can."""
        if name in self.modules:
            return False
        if name in self.tensors:
            return True
        return array_like and (name in self.arrays or name in self._placed - self._moved_in_place)

    def is_module(self, name: str) -> bool:
        """Whether the name is used as only a module can be: called, or asked for its parameters."""
        return name in self.modules and name not in self.tensors

    def _read(self, node: cst.CSTNode) -> None:
        for one in descend(node):
            reader = _READERS.get(type(one))
            if reader is not None:
                reader(self, one)

    def _name(self, node: cst.Name) -> None:
        if node.value == "device":
            self.devices = True

    def _call(self, node: cst.Call) -> None:
        name = dotted_name(node.func)
        if name is not None and "." not in name.removeprefix("self."):
            self.modules.add(name)
        called = name
        if type(node.func) is cst.Attribute:
            called = node.func.attr.value
            owner = dotted_name(node.func.value)
            if owner is not None and called in OF_OTHERS_TOO and node.func not in self._thrown_away:
                self.tensors.add(owner)
        if called in COUNTED or (name is not None and name.startswith("math.")):
            for argument in node.args:
                self.numbers.update(_terms(argument.value))

    def _index(self, node: cst.Index) -> None:
        self.numbers.update(_terms(node.value))

    def _slice(self, node: cst.Slice) -> None:
        for bound in (node.lower, node.upper):
            self.numbers.update(_terms(bound) if bound is not None else ())

    def _decision(self, node: cst.If | cst.IfExp) -> None:
        self.numbers.update(_terms(node.test))

    def _opposite(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.Not):
            self.numbers.update(_terms(node.expression))

    def _statement(self, node: cst.Expr) -> None:
        if isinstance(node.value, cst.Call):
            self._thrown_away.add(node.value.func)

    def _attribute(self, node: cst.Attribute) -> None:
        attribute = node.attr.value
        if attribute in ("time", "perf_counter", "monotonic", "elapsed_time", "default_timer"):
            self.clock = True
        if attribute in NAMING_DEVICES:
            self.devices = True
        name = dotted_name(node.value)
        if name is None:
            return
        if attribute in _TENSOR_EVIDENCE:
            self.tensors.add(name)
        elif attribute in IN_PLACE_ON_MODULES and node in self._thrown_away:
            self._moved_in_place.add(name)
        elif attribute in OF_MODELS_TOO:
            self._placed.add(name)
        elif attribute in ARRAY_LIKE:
            self.arrays.add(name)
        elif attribute in _MODULE_EVIDENCE:
            self.modules.add(name)

    def _operation(self, node: cst.BinaryOperation) -> None:
        if isinstance(node.operator, cst.MatrixMultiply):
            for side in (node.left, node.right):
                name = dotted_name(side)
                if name is not None:
                    self.arrays.add(name)


_READERS: Final[dict[type, Callable[[UsageEvidence, Any], None]]] = {
    cst.Attribute: UsageEvidence._attribute,
    cst.Expr: UsageEvidence._statement,
    cst.Call: UsageEvidence._call,
    cst.BinaryOperation: UsageEvidence._operation,
    cst.Name: UsageEvidence._name,
    cst.Index: UsageEvidence._index,
    cst.Slice: UsageEvidence._slice,
    cst.If: UsageEvidence._decision,
    cst.IfExp: UsageEvidence._decision,
    cst.UnaryOperation: UsageEvidence._opposite,
}


TERMS: Final = frozenset({cst.Name, cst.BinaryOperation, cst.UnaryOperation, cst.Tuple, cst.List})
"""The expressions in which a name is a term."""


def _terms(node: cst.BaseExpression) -> Iterator[str]:
    """The bare names that a sum, a product or a display is made of."""
    if type(node) not in TERMS:
        return
    match node:
        case cst.Name(value=value):
            yield value
        case cst.BinaryOperation(left=left, right=right):
            yield from _terms(left)
            yield from _terms(right)
        case cst.UnaryOperation(expression=inner):
            yield from _terms(inner)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _terms(element.value)


def annotation_names(node: cst.BaseExpression | None) -> Iterator[str]:
    """The dotted names in an annotation, those in quotes included: `Optional["torch.Tensor"]` gives `Optional`,
    `torch.Tensor`."""
    if node is None:
        return
    if isinstance(node, cst.SimpleString):
        node = parse_quoted_annotation(node)
        if node is None:
            return
    name = dotted_name(node)
    if name is not None:
        yield name
        return
    for one in descend(node):
        name = dotted_name(one)
        if name is not None:
            yield name


def parse_quoted_annotation(node: cst.SimpleString) -> cst.BaseExpression | None:
    """An annotation in quotes as the expression it holds."""
    try:
        return cst.parse_expression(str(node.evaluated_value))
    except (cst.ParserSyntaxError, TypeError, ValueError):
        return None
