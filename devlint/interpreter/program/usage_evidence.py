"""Usage evidence: what the uses of a name in a function tell about its type, such as a tensor or a module.

An argument without an annotation is often plainly a tensor: the code reads `.unsqueeze` of it, or combines it with `@`.
Without such evidence the argument's type stays unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import libcst as cst

from devlint.domain.torch_names import IN_PLACE_ON_MODULES
from devlint.interpreter.program.tensor_annotations import is_shape_of_numbers
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
"""The attributes that a tensor has and that arrays, containers and modules lack."""

ARRAY_LIKE: Final = frozenset(
    "shape ndim size sum mean max min abs std var t T transpose reshape flatten squeeze clamp float"
    " int bool argmax"
    " argmin item tolist numpy cpu exp log sqrt pow any all sort topk repeat norm cumsum dtype prod clone"
    " chunk split device round".split()
)
"""The attributes that tensors and arrays share; in code that handles tensors they are evidence of a tensor."""

SHARED_WITH_MODULES: Final = frozenset({"device", "dtype"})
"""The attributes that many libraries' modules have as well as tensors.

They are no evidence of a tensor where the same name is moved in place.
"""

OF_OTHERS_TOO: Final = frozenset({"detach", "requires_grad_"})
"""The methods of tensors that streams, sessions or modules have as well and that are called on those as statements."""

OF_OTHER_LIBRARIES: Final[Mapping[str, frozenset[str]]] = {
    "scatter": frozenset({"dim", "index", "src", "value", "reduce"}),
    "gather": frozenset({"dim", "index", "sparse_grad", "out"}),
    "expand": frozenset({"size", "implicit"}),
    "view": frozenset({"size", "dtype"}),
    "unbind": frozenset({"dim"}),
    "new": frozenset({"device"}),
    "backward": frozenset({"gradient", "retain_graph", "create_graph", "inputs"}),
}
"""The methods that objects of other libraries have as well (axes, communicators, loaders), with a tensor's keywords.

Only a call that a tensor accepts is evidence of one.
"""

MODULE_ONLY: Final = frozenset(
    "parameters named_parameters state_dict load_state_dict train eval modules children named_modules zero_grad buffers"
    " named_buffers register_buffer register_forward_hook apply forward generate requires_grad_".split()
)
"""The attributes that a module has and a tensor lacks (except `requires_grad_`, which is no evidence by itself)."""

MODULE_MEMBERS: Final = frozenset(
    "parameters named_parameters state_dict load_state_dict train eval modules named_modules zero_grad buffers"
    " named_buffers register_forward_hook".split()
)
"""The attributes that a plain nn.Module has, and pipelines, which move their inputs themselves, lack."""

_MODULE_EVIDENCE: Final = MODULE_ONLY - TENSOR_ONLY
"""The attributes whose use shows that an object is a module."""
_FREEZING: Final = frozenset({"requires_grad_"})
"""The method by which a program freezes a model; it returns the model, or the tensor."""
_TENSOR_EVIDENCE: Final = TENSOR_ONLY - OF_OTHERS_TOO - OF_OTHER_LIBRARIES.keys()
"""The attributes whose mere use shows that an object is a tensor."""
EVIDENCE_BY_CALL: Final = OF_OTHERS_TOO | OF_OTHER_LIBRARIES.keys()
"""The methods of tensors that only some calls show to be those of a tensor."""

LOSS_FUNCTIONS: Final = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy"
    " binary_cross_entropy_with_logits".split()
)
"""The loss functions of torch, whose first two arguments are tensors."""

LOSS_OBJECTS: Final = frozenset({"criterion", "loss_criterion"})
"""The names under which training loops keep a loss; called with two arguments, it compares two tensors.

What is called `loss_fn` may be a function of the program that takes a model.
"""

_TORCH_FUNCTIONS: Final = (TENSOR_ONLY | ARRAY_LIKE) - {"device", "dtype"}
"""The names of methods whose namesakes in torch, such as `torch.sum`, take a tensor as first argument."""

DEVICE_ATTRIBUTES: Final = frozenset(
    "device cuda is_cuda type_as new_zeros new_ones new_full new_empty new_tensor".split()
)
"""The attributes by which code asks for a device, or creates a tensor on another tensor's device.

Code that uses them is meant for any device.
"""

SIZE_FUNCTIONS: Final = frozenset(
    "range int float bool len view reshape expand repeat zeros ones empty full rand randn randint arange linspace eye"
    " new_zeros new_ones new_full new_empty unfold".split()
)
"""The functions and methods that are called with sizes and counts."""


def is_tensor_method(method: str, node: cst.CSTNode, *, is_statement: bool) -> bool:
    """Return whether a call of a method of the given name shows that the object it is called on is a tensor.

    `node` is the call, and `is_statement` is true when its result is discarded.
    """
    if method not in TENSOR_ONLY or (is_statement and method in OF_OTHERS_TOO):
        return False
    return method not in OF_OTHER_LIBRARIES or (isinstance(node, cst.Call) and _is_accepted(method, node))


def _is_accepted(method: str, call: cst.Call) -> bool:
    """Return whether a tensor accepts the arguments with which a method that other libraries have as well is called."""
    given = [one.value for one in call.args if one.keyword is None]
    keywords = {one.keyword.value for one in call.args if one.keyword is not None}
    if not keywords <= OF_OTHER_LIBRARIES[method] or any(isinstance(one, cst.SimpleString) for one in given):
        return False
    match method:
        case "scatter" | "gather":
            return len(call.args) > 1 and ("dim" in keywords or (bool(given) and _is_dimension(given[0])))
        case "backward":
            return not given
        case "view":
            return bool(call.args) and not any((dotted_name(one) or "").startswith(("np.", "numpy.")) for one in given)
        case "expand":
            return bool(call.args)
    return True


def _is_dimension(node: cst.BaseExpression) -> bool:
    """Return whether an argument is the number of a dimension, or a name that says so (`dim`, `self.axis`)."""
    match node:
        case cst.Integer() | cst.UnaryOperation(expression=cst.Integer()):
            return True
    name = (dotted_name(node) or "").rpartition(".")[2].lower()
    return "dim" in name or "axis" in name


class UsageEvidence:
    """What some pieces of code tell, by use, about the types of names and dotted names (`x`, `self.model`).

    `tensors`, `arrays`, `modules` and `numbers` are the names used as such. `mentions_device` is true when the code
    mentions a device, `reads_clock` when it reads a clock.
    """

    def __init__(self, *nodes: cst.CSTNode) -> None:
        self.tensors: set[str] = set()
        self._called: set[str] = set()
        """The tensors of which the code calls a method that objects of other libraries have as well."""
        self.arrays: set[str] = set()
        self._device_read: set[str] = set()
        """The names whose device or dtype the code reads."""
        self.device_givers: set[str] = set()
        """The names on whose device the code places other tensors: `x` of `device=x.device` and `y.to(x.device)`."""
        self._moved_in_place: set[str] = set()
        self.modules: set[str] = set()
        self._owners_of_module_members: set[str] = set()
        """The names of which the code uses what only a module has; calling a name is not enough."""
        self.numbers: set[str] = set()
        """The names used to count, index or decide: numbers as likely as tensors."""
        self._operands: set[str] = set()
        """The names passed to functions of torch that take tensors only, or indexed as only tensors and arrays can be.

        An array is not moved: of a name that the code moves, this is evidence of a tensor.
        """
        self._compared: dict[str, cst.BaseExpression] = {}
        """Where names are passed to what is called a loss, such as the `labels` of `criterion(output, labels)`."""
        self._discarded_functions: set[cst.CSTNode] = set()
        self._of_modules: set[cst.CSTNode] = set()
        """The calls whose results are used as modules."""
        self._stored: set[cst.CSTNode] = set()
        """The attributes that the code assigns to."""
        self.other_attributes: defaultdict[str, set[str]] = defaultdict(set)
        """The attributes that the code reads of each name and that are evidence of no type here."""
        self._no_tensors: set[str] = set()
        """The names of which the code replaces what is a method of tensors (`batch.split = "train"`)."""
        self.mentions_device = False
        self.reads_clock = False
        for node in nodes:
            self._collect(node)

    def is_tensor(self, name: str, *, array_like: bool = False) -> bool:
        """Return whether the code uses a name as only a tensor can be used.

        With `array_like`, uses that fit a tensor as well as a NumPy array count too.
        """
        if name in self.modules or name in self._no_tensors:
            return False
        if name in self.tensors or name in self._called:
            return True
        return array_like and (name in self.arrays or name in self._device_read - self._moved_in_place)

    def is_moved_tensor(self, name: str) -> bool:
        """Return whether a name that the code moves is used as only a tensor can be used, and not as a module too."""
        shown = self.tensors | self._called | self._operands
        return name in shown and name not in self.modules | self._no_tensors

    def denies_plain_value(self, name: str) -> bool:
        """Return whether the code uses a name as no number, flag or text can be used."""
        if self.is_tensor(name, array_like=True) or self.is_moved_tensor(name):
            return True
        return name in self.modules or name in self._compared

    def is_shown_by_calls_alone(self, name: str) -> bool:
        """Return whether all that shows a name to be a tensor are methods that objects of other libraries have too."""
        return name in self._called and name not in self.tensors

    def compared_at(self, name: str) -> cst.BaseExpression | None:
        """Return where the code passes a name to what is called a loss; None where it also uses it as a module."""
        return self._compared.get(name) if name not in self.modules | self._no_tensors else None

    def is_module(self, name: str) -> bool:
        """Return whether the code uses a name as only an nn.Module is used: calls it, or asks for its parameters."""
        return name in self.modules and name not in self.tensors | self._called

    def has_module_members(self, name: str) -> bool:
        """Return whether the code uses attributes of a name that only an nn.Module has, such as `.eval`."""
        return name in self._owners_of_module_members and name not in self.tensors | self._called

    def _collect(self, node: cst.CSTNode) -> None:
        """Record the evidence of types in a syntax node and all nodes inside it."""
        readers = _COLLECTORS
        for one in descend(node):
            kind = one.__class__
            if kind in readers:
                readers[kind](self, one)

    def _name(self, node: cst.Name) -> None:
        """Record that the code mentions a device if a name is `device`."""
        if node.value == "device":
            self.mentions_device = True

    def _call(self, node: cst.Call) -> None:
        """Record what a call (`model(x)`, `x.detach()`, `range(n)`) tells about its callee and arguments."""
        name = dotted_name(node.func)
        if name is not None and "." not in name.removeprefix("self."):
            self.modules.add(name)
        called = name
        if type(node.func) is cst.Attribute:
            called = node.func.attr.value
            owner = dotted_name(node.func.value)
            is_statement = node.func in self._discarded_functions
            shows = called in EVIDENCE_BY_CALL and node not in self._of_modules
            if shows and owner is not None and is_tensor_method(called, node, is_statement=is_statement):
                self._called.add(owner)
        if name is not None and called is not None:
            self._operands.update(_tensor_arguments(node, name, called))
            if called in LOSS_OBJECTS and len(node.args) == 2:
                self._compared.update((name, one.value) for one in node.args for name in _names([one]))
        self.device_givers.update(_device_givers(node, called))
        if called in SIZE_FUNCTIONS or (name is not None and name.startswith("math.")):
            for argument in node.args:
                self.numbers.update(_terms(argument.value))

    def _subscript(self, node: cst.Subscript) -> None:
        """Record that a name is indexed as only a tensor or an array can be: `x[None]`, `x[..., 0]`, `x[:, 0]`."""
        name = dotted_name(node.value)
        several = len(node.slice) > 1
        if name is not None and any(
            _is_new_axis(one.slice) or (several and isinstance(one.slice, cst.Slice)) for one in node.slice
        ):
            self._operands.add(name)

    def _index(self, node: cst.Index) -> None:
        """Record that the names in an index (`x[i]`) are used as numbers."""
        self.numbers.update(_terms(node.value))

    def _slice(self, node: cst.Slice) -> None:
        """Record that the names in the bounds of a slice (`x[:n]`) are used as numbers."""
        for bound in (node.lower, node.upper):
            self.numbers.update(_terms(bound) if bound is not None else ())

    def _test(self, node: cst.If | cst.IfExp) -> None:
        """Record that the names in a test (`if n:`, `a if n else b`, `if rate == 1.0:`) are used as numbers."""
        self.numbers.update(_terms(node.test))
        self.numbers.update(_compared_with_numbers(node.test))

    def _negation(self, node: cst.UnaryOperation) -> None:
        """Record that the names in a negation (`not n`) are used as numbers."""
        if isinstance(node.operator, cst.Not):
            self.numbers.update(_terms(node.expression))

    def _statement(self, node: cst.Expr) -> None:
        """Record the callee of a call whose result is discarded.

        Such a call is different evidence: `x.to(device)` as a statement of its own shows that `x` is a module.
        """
        if isinstance(node.value, cst.Call):
            self._discarded_functions.add(node.value.func)

    def _attribute(self, node: cst.Attribute) -> None:
        """Record what reading an attribute (`x.unsqueeze`, `model.parameters`) tells about the type of its owner.

        Reading a clock function such as `time.perf_counter` is recorded too.
        """
        attribute = node.attr.value
        if attribute.removesuffix("_ns") in ("time", "perf_counter", "monotonic", "elapsed_time", "default_timer"):
            self.reads_clock = True
        if attribute in DEVICE_ATTRIBUTES:
            self.mentions_device = True
        name = dotted_name(node.value)
        if name is None:
            # `net.cpu().state_dict()`: a transfer returns what it moves. Pipelines have `eval` and `train` as well.
            if attribute in _MODULE_EVIDENCE:
                methods = _FREEZING if attribute in ("eval", "train") else IN_PLACE_ON_MODULES | _FREEZING
                returned = _returned_name(node.value, methods)
                if returned is not None:
                    self._of_modules.add(node.value)
                    self._module(returned, attribute)
            return
        if node in self._stored:
            if attribute in TENSOR_ONLY | ARRAY_LIKE:
                self._no_tensors.add(name)
        elif attribute in _TENSOR_EVIDENCE:
            self.tensors.add(name)
        elif attribute in IN_PLACE_ON_MODULES and node in self._discarded_functions:
            self._moved_in_place.add(name)
        elif attribute in SHARED_WITH_MODULES:
            self._device_read.add(name)
        elif attribute in ARRAY_LIKE:
            if node not in self._discarded_functions:  # Tensors and arrays keep their shape: others may change it.
                self.arrays.add(name)
        elif attribute in _MODULE_EVIDENCE:
            self._module(name, attribute)
        else:
            self.other_attributes[name].add(attribute)

    def _module(self, name: str, attribute: str) -> None:
        """Record that the code reads an attribute of a name that only modules have."""
        self.modules.add(name)
        if attribute in MODULE_MEMBERS:
            self._owners_of_module_members.add(name)

    def _target(self, node: cst.AssignTarget) -> None:
        """Record the attribute that an assignment replaces: it is no evidence of a type that has it."""
        if type(node.target) is cst.Attribute:
            self._stored.add(node.target)

    def _operation(self, node: cst.BinaryOperation) -> None:
        """Record that the operands of a matrix product (`a @ b`) are used as arrays."""
        if isinstance(node.operator, cst.MatrixMultiply):
            for side in (node.left, node.right):
                name = dotted_name(side)
                if name is not None:
                    self.arrays.add(name)


_COLLECTORS: Final[dict[type, Callable[[UsageEvidence, Any], None]]] = {
    cst.AssignTarget: UsageEvidence._target,
    cst.Attribute: UsageEvidence._attribute,
    cst.Expr: UsageEvidence._statement,
    cst.Call: UsageEvidence._call,
    cst.BinaryOperation: UsageEvidence._operation,
    cst.Name: UsageEvidence._name,
    cst.Subscript: UsageEvidence._subscript,
    cst.Index: UsageEvidence._index,
    cst.Slice: UsageEvidence._slice,
    cst.If: UsageEvidence._test,
    cst.IfExp: UsageEvidence._test,
    cst.UnaryOperation: UsageEvidence._negation,
}
"""The collectors of evidence by node type."""


def _returned_name(node: cst.BaseExpression, methods: Collection[str]) -> str | None:
    """Return the dotted name of what a call of some methods returns (`net` of `net.cpu()`); None for anything else."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method))) if method in methods:
            return dotted_name(owner)
    return None


def _tensor_arguments(node: cst.Call, name: str, called: str) -> Iterator[str]:
    """Yield the dotted names that a call passes where a function of torch takes tensors only (`torch.sum(x)`)."""
    count = 2 if called in LOSS_FUNCTIONS else int(called in _TORCH_FUNCTIONS and name == f"torch.{called}")
    yield from _names(node.args[:count])


def _device_givers(node: cst.Call, called: str | None) -> Iterator[str]:
    """Yield the names on whose device a call places a tensor: `x` of `f(device=x.device)` and `y.to(x.device)`."""
    for argument in node.args:
        is_device = argument.keyword.value == "device" if argument.keyword is not None else called == "to"
        match argument.value:
            case cst.Attribute(value=owner, attr=cst.Name(value="device")) if is_device:
                name = dotted_name(owner)
                if name is not None:
                    yield name


def _names(arguments: Iterable[cst.Arg]) -> Iterator[str]:
    """Yield the dotted names that are passed as positional arguments."""
    for argument in arguments:
        if argument.keyword is None and not argument.star:
            given = dotted_name(argument.value)
            if given is not None:
                yield given


def _is_new_axis(node: cst.BaseSlice) -> bool:
    """Return whether a part of an index is `None` or `...`."""
    match node:
        case cst.Index(value=cst.Ellipsis() | cst.Name(value="None")):
            return True
    return False


_OF_NUMBERS: Final = (
    cst.Equal | cst.NotEqual | cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual
)
"""The operators that compare numbers."""
TERM_TYPES: Final = frozenset({cst.Name, cst.BinaryOperation, cst.UnaryOperation, cst.Tuple, cst.List})
"""The types of expressions whose parts are terms, as in a sum or a tuple."""


def _terms(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the plain variable names among the operands of a sum or product, or the elements of a tuple or list."""
    if type(node) not in TERM_TYPES:
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


def _compared_with_numbers(test: cst.BaseExpression) -> Iterator[str]:
    """Yield the plain variable names that a test compares with a number that is written out."""
    match test:
        case cst.BooleanOperation(left=left, right=right):
            yield from _compared_with_numbers(left)
            yield from _compared_with_numbers(right)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _compared_with_numbers(inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            if isinstance(operator, _OF_NUMBERS) and isinstance(right, cst.Integer | cst.Float):
                yield from _terms(left)


def annotation_names(node: cst.BaseExpression | None) -> Iterator[str]:
    """Yield the dotted names in an annotation, including quoted ones.

    `Optional["torch.Tensor"]` gives `Optional` and `torch.Tensor`; `float["b n"]` gives `Tensor`.
    """
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
    parts = (node, *descend(node))
    shaped = [one for one in parts if is_shape_of_numbers(one)]
    yield from ("Tensor" for _ in shaped)
    inside = {each for one in shaped for each in descend(one)}
    for one in parts:
        name = dotted_name(one)
        if name is not None and one not in inside:
            yield name


def parse_quoted_annotation(node: cst.SimpleString) -> cst.BaseExpression | None:
    """Return the expression inside a quoted annotation; None when it cannot be parsed."""
    try:
        return cst.parse_expression(str(node.evaluated_value))
    except (cst.ParserSyntaxError, TypeError, ValueError):
        return None
