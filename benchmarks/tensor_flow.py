"""What the syntax of a file says about its tensors: which names enter an expression, and on which device they lie.

This knows nothing of devlint's analysis. `seeded_bugs.py` decides with it whether a change of a program is a bug.
It errs on the side of silence: what it does not recognise enters nothing and lies nowhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

FACTORIES: Final = frozenset("zeros ones full arange rand randn tensor empty eye linspace".split())
"""The functions of torch that make a tensor on the default device."""
ELEMENTWISE: Final = frozenset(
    "abs add clamp cos cumprod cumsum div exp expm1 log log1p log_softmax masked_fill matmul mm bmm mul neg pow relu"
    " rsqrt sigmoid sin softmax softplus sqrt square sub tanh tril triu where maximum minimum logical_and logical_or"
    " bitwise_and cat concat stack einsum outer meshgrid conv1d conv2d conv3d linear addmm baddbmm dot normalize pad"
    " grid_sample interpolate mse_loss l1_loss cross_entropy nll_loss binary_cross_entropy kl_div smooth_l1_loss"
    " binary_cross_entropy_with_logits flip roll clone repeat_interleave gather index_select lerp atan2 dist cdist"
    " fmod remainder eq ne lt gt le ge round floor ceil gelu silu leaky_relu elu".split()
)
"""Functions of torch, and methods, whose result holds elements of their tensor arguments, which must share a device."""
SHAPE_METHODS: Final = frozenset(
    "view reshape unsqueeze expand expand_as repeat permute transpose flatten contiguous clone float double half long"
    " int bool type view_as unflatten swapaxes movedim unfold detach requires_grad_ t".split()
)
"""Methods whose result has the elements of the receiver, and a dimension where the receiver has one."""
COMBINING: Final = frozenset(
    "cat concat stack where matmul mm bmm einsum maximum minimum add sub mul div pow outer conv1d conv2d conv3d linear"
    " addmm baddbmm logical_and logical_or bitwise_and masked_fill masked_fill_ add_ sub_ mul_ div_ gather scatter_"
    " scatter index_select lerp atan2 mse_loss l1_loss cross_entropy nll_loss grid_sample eq ne lt gt le ge fmod"
    " cdist dot binary_cross_entropy binary_cross_entropy_with_logits smooth_l1_loss kl_div".split()
)
"""Functions and methods that raise when their tensors lie on different devices."""
FUNCTION_ROOMS: Final = ("torch", "F", "torch.nn.functional", "nn.functional", "functional")
"""The names by which programs call torch's functions."""
PLAIN_ATTRIBUTES: Final = frozenset("T data mT H real imag".split())
"""The attributes whose value has the elements of the tensor."""
FACT_ATTRIBUTES: Final = frozenset("shape device dtype ndim requires_grad is_cuda grad_fn layout".split())
"""The attributes whose value has no elements of the tensor."""
MODULE_NAME: Final = re.compile(
    r"(^|[._])(model|net|network|generator|discriminator|encoder|decoder|module|layer|backbone|policy|actor|critic|vae"
    r"|gan|unet|criterion|loss_fn|classifier|head|netg|netd|agent|teacher|student|ema|transformer|diffusion|optimizer"
    r"|pipe|pipeline|tokenizer|processor|scheduler|metric|metrics|sampler)\d*(_\w+)?$",
    re.IGNORECASE,
)
"""The names that programs give to modules and to other objects whose `.to()` changes the object itself."""
PATH_TO_DEVICE: Final = re.compile(
    r"(^|[._])(device|dev|gpu|rank|cuda|local_rank|gpu_id|device_id)s?$|^['\"](cuda|mps)"
)
"""The text of an expression that is a device."""

MOVES_INPUTS: Final = re.compile(r"DataParallel\b|Accelerator\(|accelerator\.prepare|LightningModule|Fabric\(")
"""The text of code whose models may move their inputs themselves."""


def dotted(node: ast.AST | None) -> str:
    """Return the dotted text of a name or of attributes of a name; empty for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def is_torch_function(node: ast.AST, names: frozenset[str]) -> bool:
    """Return whether a node is a call of one of these functions of torch or torch.nn.functional."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names):
        return False
    return dotted(node.func.value) in FUNCTION_ROOMS


def method_of(node: ast.AST) -> str:
    """Return the name of the method that a call calls on an expression; empty for any other node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return "" if dotted(node.func.value) in FUNCTION_ROOMS else node.func.attr
    return ""


def receiver_of(node: ast.AST) -> ast.expr:
    """Return the expression on which a method call calls its method."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.value


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """Return a keyword argument of a call by its name; None if it is not given."""
    return next((one for one in call.keywords if one.arg == name), None)


def transfer_target(node: ast.AST) -> str:
    """Return the text of the device to which a call moves its receiver (`x.to(device)`, `x.cuda()`); empty if none."""
    if not isinstance(node, ast.Call):
        return ""
    method = method_of(node)
    if method == "cuda":
        return ast.unparse(node.args[0]) if node.args else "'cuda'"
    if method != "to":
        return ""
    given = keyword(node, "device")
    text = ast.unparse(given.value) if given else ast.unparse(node.args[0]) if node.args else ""
    return text if PATH_TO_DEVICE.search(text) else ""


def entering(node: ast.AST | None, marks: Mapping[ast.AST, str] | None = None) -> set[str]:
    """Return the dotted names whose elements enter an expression's value without a transfer, keeping a dimension.

    `marks` gives names to expressions of their own.
    """
    if node is None:
        return set()
    if marks and node in marks:
        return {marks[node]}

    def inside(one: ast.AST | None) -> set[str]:
        return entering(one, marks)

    match node:
        case ast.Name():
            return {node.id}
        case ast.Attribute(attr=attr):
            if attr in PLAIN_ATTRIBUTES:
                return inside(node.value)
            return {dotted(node)} - {""} if attr not in FACT_ATTRIBUTES else set()
        case ast.Subscript():
            return inside(node.value) if keeps_dimension(node.slice) else set()
        case ast.BinOp():
            return inside(node.left) | inside(node.right)
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return inside(node.operand)
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.Gt() | ast.LtE() | ast.GtE()]):
            return inside(node.left) | inside(node.comparators[0])
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return set().union(*map(inside, parts))
        case ast.Call():
            return _entering_call(node, marks)
    return set()


def _entering_call(node: ast.Call, marks: Mapping[ast.AST, str] | None) -> set[str]:
    given = [*node.args, *(one.value for one in node.keywords)]
    if is_torch_function(node, ELEMENTWISE):
        return set().union(*(entering(one, marks) for one in given))
    method = method_of(node)
    if method in SHAPE_METHODS:
        return entering(receiver_of(node), marks)
    if method in ELEMENTWISE:
        return entering(receiver_of(node), marks).union(*(entering(one, marks) for one in given))
    if method == "to" and not transfer_target(node) and node.args and "dtype" in ast.unparse(node.args[0]):
        return entering(receiver_of(node), marks)
    if dotted(node.func) == "Variable" and node.args:
        return entering(node.args[0], marks)
    return set()


def keeps_dimension(index: ast.expr) -> bool:
    """Return whether an index surely leaves a dimension: it has a slice, a new dimension or an ellipsis."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and (one.value is None or one.value is Ellipsis))
        for one in parts
    )


def combinations(root: ast.AST, marks: Mapping[ast.AST, str] | None = None) -> Iterator[tuple[ast.AST, list[set[str]]]]:
    """Yield the operations below a node that raise on mixed devices, each with the names that enter each operand."""
    for node in ast.walk(root):
        parts: list[ast.expr] = []
        match node:
            case ast.BinOp():
                parts = [node.left, node.right]
            case ast.AugAssign():
                parts = [node.target, node.value]
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.Gt() | ast.LtE() | ast.GtE()]):
                parts = [node.left, node.comparators[0]]
            case ast.Call() if is_torch_function(node, COMBINING):
                for one in (*node.args, *(each.value for each in node.keywords)):
                    parts += one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one]
            case ast.Call() if method_of(node) in COMBINING:
                parts = [receiver_of(node), *node.args]
            case _:
                continue
        yield node, [entering(one, marks) for one in parts]


Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
Assignment = tuple[str, ast.expr | None, ast.stmt]
"""An assigned dotted name, its value (None for a part of a value) and the statement."""


class FileFacts:
    """A parsed file: its tree with parents, its modules that are moved, and the devices of the names of a function.

    `given_models_move_inputs` is whether a model that the file does not construct may move its inputs itself.
    """

    def __init__(self, text: str, *, given_models_move_inputs: bool = False) -> None:
        self.text = text
        self.given_models_move_inputs = given_models_move_inputs
        self.data = text.encode()
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.nodes = list(ast.walk(self.tree))
        self.parents = {child: parent for parent in self.nodes for child in ast.iter_child_nodes(parent)}
        self._placed: dict[Scope, dict[str, str]] = {}
        self._below: dict[ast.AST, list[ast.AST]] = {}
        self._assignments: dict[ast.AST, list[Assignment]] = {}

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node in the file's bytes."""
        start = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """Return the statement that a node is part of."""
        return next(one for one in (node, *self.ancestors(node)) if isinstance(one, ast.stmt))

    @cached_property
    def dead_rows(self) -> frozenset[int]:
        """Return the rows that never run: a statement before them leaves their block, or a constant switches it off."""
        found: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and self._is_off(node.test):
                found.update(range(node.body[0].lineno, (node.body[-1].end_lineno or node.body[-1].lineno) + 1))
            block = getattr(node, "body", None)
            if isinstance(block, list):
                leaves = [
                    isinstance(one, (ast.Raise, ast.Return, ast.Continue, ast.Break))
                    or self._calls_next_of_python_2(one)
                    for one in block
                ]
                dead = block[leaves.index(True) + 1 :] if True in leaves else []
                found.update(row for one in dead for row in range(one.lineno, (one.end_lineno or one.lineno) + 1))
        return frozenset(found)

    def _calls_next_of_python_2(self, statement: ast.stmt) -> bool:
        """Return whether a statement calls `iter(x).next()`, which raises in Python 3, with torch 2 for loaders too."""
        if not isinstance(statement, (ast.Assign, ast.Expr)):
            return False
        for node in ast.walk(statement.value):
            if method_of(node) == "next" and isinstance(node, ast.Call) and not node.args:
                owner = receiver_of(node)
                values = self.values_of(dotted(owner), self.scope_of(node)) if dotted(owner) else [owner]
                if values and all(map(_makes_iterator, values)):
                    return True
        return False

    def _is_off(self, name: ast.Name) -> bool:
        """Return whether a name of the file's top level is only ever False: `pretrain = False`."""
        if not isinstance(self.scope_of(name), ast.Module):
            return False
        values = self.values_of(name.id, self.tree)
        return bool(values) and all(isinstance(one, ast.Constant) and one.value is False for one in values)

    def scope_of(self, node: ast.AST) -> Scope:
        """Return the function around a node, or the file."""
        return next(
            one for one in self.ancestors(node) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))
        )

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around a node."""
        return next((one for one in self.ancestors(node) if isinstance(one, ast.ClassDef)), None)

    def loops_around(self, node: ast.AST) -> Iterator[ast.For]:
        """Yield the `for` statements around a node within its function."""
        for one in self.ancestors(node):
            if isinstance(one, ast.For):
                yield one
            elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return

    def below(self, scope: ast.AST) -> list[ast.AST]:
        """Return the nodes of a function or file, in order, without those of functions and classes inside of it."""
        if scope not in self._below:
            found: list[ast.AST] = []
            waiting = list(ast.iter_child_nodes(scope))[::-1]
            while waiting:
                node = waiting.pop()
                found.append(node)
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                    waiting += list(ast.iter_child_nodes(node))[::-1]
            self._below[scope] = found
        return self._below[scope]

    def assignments(self, scope: ast.AST) -> list[Assignment]:
        """Return the dotted names that a function assigns, in order."""
        if scope not in self._assignments:
            self._assignments[scope] = list(self._find_assignments(scope))
        return self._assignments[scope]

    def _find_assignments(self, scope: ast.AST) -> Iterator[Assignment]:
        """Yield each assigned dotted name of a function with the value, or None where the name gets a part of one."""
        for node in self.below(scope):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
                    values
                ):
                    yield from ((dotted(name), value, node) for name, value in zip(names, values, strict=True))
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        if isinstance(target, (ast.Tuple, ast.List)):
                            yield from ((dotted(one), None, node) for one in target.elts)
                        else:
                            yield dotted(target), value, node
                case ast.AnnAssign(target=target, value=value):
                    yield dotted(target), value, node
                case ast.For(target=target):
                    yield from ((one.id, None, node) for one in ast.walk(target) if isinstance(one, ast.Name))
                case ast.With(items=items):
                    for item in items:
                        yield from (
                            (one.id, None, node)
                            for one in ast.walk(item.optional_vars or ast.Pass())
                            if isinstance(one, ast.Name)
                        )

    def values_of(self, name: str, scope: ast.AST) -> list[ast.expr | None]:
        """Return the values that a function assigns to a dotted name."""
        return [value for one, value, _ in self.assignments(scope) if one == name]

    @cached_property
    def moved_modules(self) -> dict[str, str]:
        """The dotted names of modules that the file moves, with the text of the device."""
        found: dict[str, str] = {}
        for node in self.nodes:
            match node:
                case ast.Expr(value=ast.Call() as call) if device := transfer_target(call):
                    name = dotted(receiver_of(call))
                case ast.Assign(targets=[target], value=ast.Call() as call) if device := transfer_target(call):
                    name = dotted(target)
                    held = receiver_of(call)
                    if not (dotted(held) == name or is_constructor_call(held) or self.looks_like_module(dotted(held))):
                        continue
                case ast.Assign(targets=[target], value=ast.Attribute(value=ast.Call() as call, attr="device")) if (
                    dotted(call.func) == "next" and call.args and method_of(call.args[0]) == "parameters"
                ):
                    # `device = next(model.parameters()).device` names the device of the model.
                    name, device = dotted(receiver_of(call.args[0])), dotted(target)
                case _:
                    continue
            if name and self.looks_like_module(name):
                found[name] = device
        return found

    def made_modules(self, name: str) -> list[ast.expr]:
        """Return the values that the file assigns to a module's name, without transfers and wrappers of the module."""
        values = [
            _without_transfers(value)
            for node in self.nodes
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))
            for value in self.values_of(name, node)
            if value is not None
        ]
        return [
            one
            for one in values
            if dotted(one) != name
            and not (isinstance(one, ast.Call) and any(_dotted_module(each) == name for each in one.args))
        ]

    def has_default_dtype(self, name: str) -> bool:
        """Return whether all modules that the file assigns to a name are constructed in it, none is loaded or given."""
        values = self.made_modules(name)
        return bool(values) and all(map(is_constructor_call, values))

    @cached_property
    def loads_from_device(self) -> bool:
        """Whether the file makes a dataset of tensors that it has moved to a device: their batches lie there."""
        moved: set[str] = set()
        scopes = [one for one in self.nodes if isinstance(one, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))]
        for _round in range(4):
            for scope in scopes:
                for name, value, _ in self.assignments(scope):
                    if value is not None and name and self._is_of_moved(value, moved):
                        moved.add(name)
        return any(
            isinstance(node, ast.Call)
            and dotted(node.func).rpartition(".")[2] == "TensorDataset"
            and any(self._is_of_moved(one, moved) for one in node.args)
            for node in self.nodes
        )

    def _is_of_moved(self, value: ast.expr, moved: set[str]) -> bool:
        """Return whether an expression is a moved tensor, a part of one, or computed of one tensor by tensor."""
        while not isinstance(value, ast.Name):
            if transfer_target(value):
                return transfer_target(value) not in ("'cpu'", "torch.device('cpu')")
            if isinstance(value, ast.Subscript):
                value = value.value
            elif method_of(value) in SHAPE_METHODS | {"squeeze"}:
                value = receiver_of(value)
            else:
                break
        return bool(entering(value) & moved)

    def looks_like_module(self, name: str) -> bool:
        """Return whether a dotted name may hold a module or another object that its `.to()` changes in place."""
        if MODULE_NAME.search(name) or name in self._constructed:
            return True
        return any(
            f"{name}.{use}" in self.text
            for use in ("parameters()", "train()", "eval()", "state_dict()", "load_state_dict(", "zero_grad(")
        )

    @cached_property
    def _constructed(self) -> frozenset[str]:
        return frozenset(
            dotted(node.targets[0])
            for node in self.nodes
            if isinstance(node, ast.Assign) and is_constructor_call(_without_transfers(node.value))
        )

    @cached_property
    def has_data_parallel(self) -> bool:
        """Whether something in the file may move the inputs of models itself."""
        return MOVES_INPUTS.search(self.text) is not None

    def placed(self, scope: Scope) -> dict[str, str]:
        """Return the dotted names of a function whose tensors lie on a device, with the text of that device.

        A name counts where every assignment in the function puts it there: a transfer, a factory with a device, a call
        of a moved module, an operation on such names, or a device expression that reads the name's own device.
        """
        if scope not in self._placed:
            self._placed[scope] = self._find_placed(scope)
        return self._placed[scope]

    def moved(self, scope: Scope) -> dict[str, str]:
        """Return the names of `placed` that the function itself put on the device, and did not only ask for theirs."""
        own = {name for name, value, _ in self.assignments(scope) if value is not None}
        return {name: device for name, device in self.placed(scope).items() if name in own}

    def _find_placed(self, scope: Scope) -> dict[str, str]:
        steps = self.assignments(scope)
        known: dict[str, str] = {}
        for name, value, _ in steps:
            if isinstance(value, ast.Attribute) and value.attr == "device" and dotted(value.value):
                known[dotted(value.value)] = name
        counts: dict[str, list[str]] = {}
        for _round in range(3):
            counts = {}
            for name, value, _ in steps:
                counts.setdefault(name, []).append(self.device_text(value, known) if value is not None else "")
            for name, devices in counts.items():
                # `x = x.to(device)` after the name was bound: uses before the transfer are rare and do not matter here.
                strong = {one for one in devices if one}
                if len(strong) == 1 and (all(devices) or self._ends_placed(name, steps)):
                    known.setdefault(name, next(iter(strong)))
        return known

    @staticmethod
    def _ends_placed(name: str, steps: Iterable[Assignment]) -> bool:
        """Return whether the last assignment of a name moves the name itself, as in `x = x.to(device)`."""
        last = [value for one, value, _ in steps if one == name][-1]
        return last is not None and bool(transfer_target(_innermost_variable(last)))

    def device_text(self, value: ast.expr, known: Mapping[str, str]) -> str:
        """Return the text of the device of an expression; empty if the syntax does not tell."""
        value = _innermost_variable(value)
        if target := transfer_target(value):
            return "" if self.looks_like_module(dotted(receiver_of(value))) else target
        if is_torch_function(value, FACTORIES):
            assert isinstance(value, ast.Call)
            given = keyword(value, "device")
            return ast.unparse(given.value) if given else ""
        if isinstance(value, ast.Call) and (name := dotted(value.func)) in self.moved_modules:
            return self.moved_modules[name]
        devices = {known[one] for one in entering(value) if one in known}
        return next(iter(devices)) if len(devices) == 1 else ""


def _makes_iterator(value: ast.expr | None) -> bool:
    """Return whether an expression makes an iterator: `iter(loader)` or `loader.__iter__()`."""
    return isinstance(value, ast.Call) and (dotted(value.func) == "iter" or method_of(value) == "__iter__")


def _innermost_variable(value: ast.expr) -> ast.expr:
    """Return the argument of `Variable(...)`, or the expression itself."""
    return value.args[0] if isinstance(value, ast.Call) and dotted(value.func) == "Variable" and value.args else value


def _without_transfers(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and method_of(value) in ("to", "cuda", "cpu", "eval", "train", "half", "float"):
        value = receiver_of(value)
    return value


def _dotted_module(node: ast.AST) -> str:
    """Return the dotted name of a module that an expression moves, or of the module itself."""
    return dotted(_without_transfers(node))


def is_constructor_call(node: ast.AST) -> bool:
    """Return whether a call calls something with the name of a class, such as `Net(...)` or `nn.Linear(...)`."""
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func).rpartition(".")[2]
    return name[:1].isupper() and not re.fullmatch(r"[A-Z]\w*Tensor|Variable|Tensor", name)
