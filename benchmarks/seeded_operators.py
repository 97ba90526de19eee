"""The operators of `seeded_bugs.py`: changes of one place of a program that make a device or dtype bug.

Each operator yields the changes that its precondition allows. The precondition looks only at the syntax of the file
and makes the change a bug by construction, for who runs the code on an accelerator or for everybody.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tensor_flow import (
    COMBINING,
    FACT_ATTRIBUTES,
    FACTORIES,
    PATH_TO_DEVICE,
    PLAIN_ATTRIBUTES,
    SHAPE_METHODS,
    FileFacts,
    Scope,
    combinations,
    dotted,
    entering,
    is_torch_function,
    keyword,
    method_of,
    receiver_of,
    transfer_target,
)

HOST_TEXTS: Final = ("'cpu'", "torch.device('cpu')")
"""The texts of expressions that are the host."""
LOADER: Final = re.compile(
    r"loader|dataloader|_iter\b|_iterator\b|\bdls?\b|_dl\b|\bbatches\b|\bdata\b|_data\b|dataset|_ds\b|_set\b",
    re.IGNORECASE,
)
"""The text of what a training loop iterates over."""
WITHOUT_PARAMETERS: Final = re.compile(
    r"\b(Dropout\w*|ReLU\w*|\w*Pool\w*|Identity|Upsample|Flatten|Tanh|Sigmoid|GELU|SiLU|LeakyReLU|Softmax|ELU"
    r"|\w*Loss|DropPath|\w*Pad\w*|Activation\w*|Permute|Rearrange|Transform\w*|Compose)\b"
)
"""The names of modules that have neither parameters nor buffers."""
SITE: Final = "<site>"
"""The name that an operator gives to the expression that it changes."""


@dataclass(frozen=True)
class Mutation:
    """A change of a file: the bytes from `start` to `end` become `text`. `names` are those that the bug reaches."""

    operator: str
    start: int
    end: int
    text: str
    row: int
    last_row: int
    names: frozenset[str]

    def apply(self, data: bytes) -> bytes:
        """Return the changed content of the file."""
        return data[: self.start] + self.text.encode() + data[self.end :]

    def added_rows(self, data: bytes) -> int:
        """Return how many rows the change adds to the file."""
        return self.text.count("\n") - data[self.start : self.end].count(b"\n")


Operator = Callable[[FileFacts], Iterator[Mutation]]


def _mutation(
    facts: FileFacts, operator: str, node: ast.AST, span: tuple[int, int], text: str, names: set[str]
) -> Mutation:
    statement = facts.statement_of(node)
    last = statement.body[0].lineno - 1 if isinstance(statement, (ast.For, ast.If, ast.With)) else statement.end_lineno
    return Mutation(operator, *span, text, statement.lineno, max(last or 0, statement.lineno), frozenset(names - {""}))


def _without_last_call(facts: FileFacts, call: ast.expr) -> tuple[tuple[int, int], str]:
    """Return the change that removes the last method call of an expression: `x.f().cpu()` becomes `x.f()`."""
    return (_method_start(facts, call), facts.span(call)[1]), ""


def _method_start(facts: FileFacts, call: ast.expr) -> int:
    """Return where the text of a method call begins behind its receiver, at the dot."""
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return facts.data.rfind(b".", 0, facts.span(call.func)[1] - len(call.func.attr.encode()))


def _argument_cut(facts: FileFacts, call: ast.Call, argument: ast.keyword) -> tuple[int, int]:
    """Return the span of an argument with the comma that goes with it, rows unchanged."""
    start, end = facts.starts[argument.lineno - 1] + argument.col_offset, facts.span(argument.value)[1]
    before = re.search(rb",[ \t]*$", facts.data[:start])
    if before is not None:
        return before.start(), end
    after = re.match(rb"[ \t]*,[ \t]*", facts.data[end:])
    return start, end + (after.end() if after else 0)


def _derived(facts: FileFacts, scope: Scope, names: set[str]) -> set[str]:
    """Return names, and the names that a function computes of them tensor by tensor."""
    found = set(names)
    for _round in range(2):
        for name, value, _ in facts.assignments(scope):
            if value is not None and name and entering(value) & found:
                found.add(name)
    return found


def _module_class(facts: FileFacts, node: ast.AST) -> ast.ClassDef | None:
    """Return the class around a node if it is surely an nn.Module; it may not move itself in a way of its own."""
    found = facts.class_of(node)
    if found is None or not found.bases or "super(" not in facts.source(found):
        return None
    methods = {one.name for one in found.body if isinstance(one, ast.FunctionDef)}
    return None if methods & {"to", "_apply", "cuda", "cpu"} or "forward" not in methods else found


def _forward_methods(found: ast.ClassDef) -> list[ast.FunctionDef]:
    """Return `forward` and the methods of a class that it calls, and those that these call."""
    methods = {one.name: one for one in found.body if isinstance(one, ast.FunctionDef)}
    names, seen = ["forward"], []
    while names:
        name = names.pop()
        if name in methods and methods[name] not in seen:
            seen.append(methods[name])
            names += [
                node.func.attr
                for node in ast.walk(methods[name])
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and dotted(node.func.value) == "self"
            ]
    return seen


def _inputs(facts: FileFacts, method: ast.FunctionDef) -> set[str]:
    """Return the names of a method that hold its inputs, or what modules and operations made of them."""
    arguments = [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
    defaults = dict(zip(reversed(method.args.args), reversed(method.args.defaults), strict=False))
    plain = re.compile(r"int|float|bool|str|List|Dict|dict|list|Tuple|Callable")
    found = {
        one.arg
        for one in arguments
        if one.arg not in ("self", "device", "dtype")
        and one not in defaults
        and not (one.annotation is not None and plain.search(ast.unparse(one.annotation)))
    }
    # An input counts as a tensor only if the method uses it as one.
    used = {
        dotted(node.value)
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and node.attr in SHAPE_METHODS | {"shape", "size", "device", "dtype", "ndim", "dim"}
    }
    annotated = {
        one.arg
        for one in arguments
        if one.annotation and re.fullmatch(r"(torch\.)?Tensor", ast.unparse(one.annotation))
    }
    found = found & used | annotated
    for _round in range(2):
        for name, value, _ in facts.assignments(method):
            called = isinstance(value, ast.Call) and re.fullmatch(r"self\.\w+", dotted(value.func))
            of_module = called and isinstance(value, ast.Call) and any(entering(one) & found for one in value.args)
            if value is not None and (of_module or entering(value) & found) and name:
                found.add(name)
    return found


def _parameters(scope: Scope) -> set[str]:
    """Return the names of the parameters of a function; none of a file."""
    if isinstance(scope, ast.Module):
        return set()
    return {one.arg for one in (*scope.args.args, *scope.args.kwonlyargs, *scope.args.posonlyargs)}


def _has_dimension(facts: FileFacts, node: ast.expr, scope: Scope, depth: int = 3) -> bool:
    """Return whether an expression is surely a host tensor that has a dimension."""
    if depth == 0:
        return False
    if is_torch_function(node, FACTORIES):
        assert isinstance(node, ast.Call)
        if keyword(node, "device") is not None:
            return False
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("tensor", "full", "empty", "zeros", "ones", "rand", "randn"):
            first = node.args[0] if node.args else None
            if name == "tensor":
                return isinstance(first, (ast.List, ast.ListComp)) and bool(getattr(first, "elts", [1]))
            if first is None or isinstance(first, ast.Starred):
                return False
            return ast.unparse(first) not in ("()", "[]", "0")
        return True
    if is_torch_function(node, frozenset({"from_numpy", "as_tensor"})):
        assert isinstance(node, ast.Call)
        return bool(node.args) and "np." in ast.unparse(node.args[0])
    if is_torch_function(node, frozenset({"cat", "stack"})):
        assert isinstance(node, ast.Call)
        parts = getattr(node.args[0], "elts", []) if node.args else []
        return bool(parts) and all(_has_dimension(facts, one, scope, depth - 1) for one in parts)
    if is_torch_function(node, frozenset({"tril", "triu", "outer"})):
        assert isinstance(node, ast.Call)
        return bool(node.args) and _has_dimension(facts, node.args[0], scope, depth - 1)
    if is_torch_function(node, frozenset("exp log sin cos sqrt pow cumprod cumsum clamp abs".split())):
        assert isinstance(node, ast.Call)
        return bool(node.args) and _has_dimension(facts, node.args[0], scope, depth)
    match node:
        case ast.Name():
            values = facts.values_of(node.id, scope)
            if node.id in _parameters(scope):
                return False
            return bool(values) and all(
                one is not None
                and (_has_dimension(facts, one, scope, depth - 1) or (len(values) > 1 and node.id in entering(one)))
                for one in values
            )
        case ast.BinOp():
            return _has_dimension(facts, node.left, scope, depth) or _has_dimension(facts, node.right, scope, depth)
        case ast.UnaryOp():
            return _has_dimension(facts, node.operand, scope, depth)
        case ast.Subscript():
            return bool(entering(node)) and _has_dimension(facts, node.value, scope, depth)
        case ast.Call() if method_of(node) in ("view", "reshape", "unsqueeze", "expand") and node.args:
            return _is_on_host(facts, receiver_of(node), scope, depth - 1)
        case ast.Call() if method_of(node) in SHAPE_METHODS | {"exp", "log", "sqrt", "clamp", "tril", "triu", "pow"}:
            return _has_dimension(facts, receiver_of(node), scope, depth)
    return False


def register(facts: FileFacts) -> Iterator[Mutation]:
    """REG: a buffer that forward combines with its input becomes a plain attribute."""
    for node in facts.nodes:
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name("self"), attr="register_buffer"),
                    args=[ast.Constant(value=str(name)), value, *_],
                )
            ) if name.isidentifier():
                pass
            case _:
                continue
        found, scope = _module_class(facts, node), facts.scope_of(node)
        if found is None or getattr(scope, "name", "") != "__init__" or not _is_on_host(facts, value, scope):
            continue
        attribute = f"self.{name}"
        proven = _has_dimension(facts, value, scope)
        elsewhere = [
            one
            for one in ast.walk(found)
            if isinstance(one, ast.Attribute) and dotted(one) == attribute and isinstance(one.ctx, ast.Store)
        ]
        methods = _forward_methods(found)
        if elsewhere or not any(_meets_input(facts, found, method, attribute, proven) for method in methods):
            continue
        text = f"{attribute} = {facts.source(value)}"
        if "\n" in text:
            text = f"{attribute} = ({facts.source(value)})"
        yield _mutation(facts, "REG", node, facts.span(node), text, {attribute})


def _meets_input(facts: FileFacts, found: ast.ClassDef, method: ast.FunctionDef, attribute: str, proven: bool) -> bool:
    """Return whether an operation of a method combines an attribute with the method's input or with a parameter.

    Unless it is proven that the attribute has a dimension, the operation must read a slice or a view of it. A lookup of
    the attribute in an embedding counts too.
    """
    parameters = _attributes_made_by(found, "Parameter")
    clean = (_inputs(facts, method) | parameters) - {attribute}
    values = facts.assignments(method)
    aliases = {name for name, value, _ in values if value is not None and name and attribute in entering(value)}
    clean -= aliases
    embeddings = _attributes_made_by(found, "Embedding")
    for node, operands in combinations(method):
        mine = [one & (aliases | {attribute}) and not one & clean for one in operands]
        if any(mine) and any(one & clean for one in operands) and (proven or _reads_slice(method, attribute)):
            return facts.scope_of(node) is method
    return any(
        isinstance(node, ast.Call)
        and dotted(node.func) in embeddings
        and any(entering(one) & (aliases | {attribute}) and not entering(one) & clean for one in node.args)
        for node in ast.walk(method)
    )


def _reads_slice(method: ast.FunctionDef, attribute: str) -> bool:
    """Return whether a method reads an attribute only as a slice or as a view, which have a dimension."""
    reads = [node for node in ast.walk(method) if isinstance(node, ast.Attribute) and dotted(node) == attribute]
    slices = [
        node
        for node in ast.walk(method)
        if (isinstance(node, ast.Subscript) and dotted(node.value) == attribute and entering(node))
        or (method_of(node) in ("view", "reshape", "unsqueeze", "expand") and dotted(receiver_of(node)) == attribute)
    ]
    return len(reads) == len(slices) > 0


def _attributes_made_by(found: ast.ClassDef, kind: str) -> set[str]:
    """Return the attributes of `self` that a class assigns from a call of a class with this name."""
    return {
        dotted(node.targets[0])
        for node in ast.walk(found)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and dotted(node.value.func).rpartition(".")[2] == kind
    } - {""}


def _is_on_host(facts: FileFacts, node: ast.expr, scope: Scope, depth: int = 3) -> bool:
    """Return whether an expression is surely a host tensor; its rank does not matter."""
    if depth == 0:
        return False
    if _has_dimension(facts, node, scope, depth):
        return True
    if is_torch_function(node, FACTORIES | {"from_numpy", "Tensor", "FloatTensor", "LongTensor"}):
        return isinstance(node, ast.Call) and keyword(node, "device") is None
    match node:
        case ast.Name():
            values = facts.values_of(node.id, scope) if node.id not in _parameters(scope) else []
            return bool(values) and all(one is not None and _is_on_host(facts, one, scope, depth - 1) for one in values)
        case ast.Call() if method_of(node) in SHAPE_METHODS:
            return _is_on_host(facts, receiver_of(node), scope, depth)
        case ast.Subscript():
            return _is_on_host(facts, node.value, scope, depth)
    return False


def _later_use(facts: FileFacts, scope: Scope, name: str, after: ast.stmt) -> bool:
    return any(
        isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, ast.Load)
        and dotted(one) == name
        and one.lineno > (after.end_lineno or 0)
        for one in facts.below(scope)
    )


def _is_used_as_tensor(facts: FileFacts, scope: Scope, name: str) -> bool:
    """Return whether a function uses a name as only a tensor can be used, and never as a mapping."""
    proof = False
    for node in facts.below(scope):
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if dotted(value) == name:
                return False
            case ast.Attribute(value=value, attr=attr) if dotted(value) == name:
                if not _is_attribute_of_tensors(facts, node):
                    return False
                proof |= attr in SHAPE_METHODS | {"size", "shape", "dim", "sum", "mean", "numel", "item", "ndim"}
            case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Sub() | ast.Add() | ast.Div() | ast.MatMult()):
                proof |= name in (dotted(left), dotted(right))
            case ast.Starred(value=value) if dotted(value) == name:
                return False
            case ast.Call():
                proof |= is_torch_function(node, COMBINING) and name in map(dotted, node.args)
                called = dotted(node.func)
                proof |= bool(re.search(r"criterion|loss_fn|loss_func", called)) and name in map(dotted, node.args)
    return proof


def _is_attribute_of_tensors(facts: FileFacts, node: ast.Attribute) -> bool:
    """Return whether an attribute may be one of a tensor: a method that is called, other than those of mappings."""
    parent = facts.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        return node.attr not in ("items", "keys", "values", "get", "pop", "update")
    return node.attr in FACT_ATTRIBUTES | PLAIN_ATTRIBUTES | {"grad"}


def _comes_from_outside(facts: FileFacts, scope: Scope, name: str, before: ast.stmt) -> bool:
    """Return whether a name holds a parameter, an element of a loop, or a host tensor where a statement reads it."""
    earlier = [
        (value, statement)
        for one, value, statement in facts.assignments(scope)
        if one == name and statement.lineno < before.lineno
    ]
    if not earlier:
        return name in _parameters(scope) and isinstance(before, ast.Assign)
    value, statement = earlier[-1]
    if isinstance(statement, ast.For):
        return True
    if value is None:
        parts = statement.value if isinstance(statement, ast.Assign) else None
        is_next = isinstance(parts, ast.Call) and dotted(parts.func) == "next"
        return is_next or isinstance(parts, (ast.Name, ast.Subscript))
    return _has_dimension(facts, value, scope) or is_torch_function(value, frozenset({"from_numpy", "tensor"}))


def discard(facts: FileFacts) -> Iterator[Mutation]:
    """DISCARD: the result of a transfer of a tensor is no longer assigned."""
    for node in facts.nodes:
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call) if transfer_target(call):
                name = dotted(target)
            case _:
                continue
        scope = facts.scope_of(node)
        if name == "" or dotted(receiver_of(call)) != name or facts.looks_like_module(name):
            continue
        if transfer_target(call) in HOST_TEXTS or not _later_use(facts, scope, name, node):
            continue
        if not (_is_used_as_tensor(facts, scope, name) and _comes_from_outside(facts, scope, name, node)):
            continue
        start = facts.span(node)[0]
        yield _mutation(facts, "DISCARD", node, (start, facts.span(call)[0]), "", {name})


def factory(facts: FileFacts) -> Iterator[Mutation]:
    """FACTORY: a factory loses its device, and its result meets a tensor on that device."""
    for node in facts.nodes:
        if not is_torch_function(node, FACTORIES):
            continue
        assert isinstance(node, ast.Call)
        given = keyword(node, "device")
        if given is None or keyword(node, "out") or keyword(node, "pin_memory") or keyword(node, "generator"):
            continue
        device, scope = ast.unparse(given.value), facts.scope_of(node)
        if not _is_free_device(facts, scope, device) or not _makes_dimension(node):
            continue
        if _is_device_of_host_tensor(facts, scope, given.value):
            continue
        names = _mixed_names(facts, scope, node, device)
        if names:
            yield _mutation(facts, "FACTORY", node, _argument_cut(facts, node, given), "", names)


def _is_device_of_host_tensor(facts: FileFacts, scope: Scope, device: ast.expr) -> bool:
    """Return whether a device is that of a tensor which the function itself makes on the host, or a constructor has."""
    if isinstance(device, ast.Name):
        values = facts.values_of(device.id, scope)
        device = values[0] if len(values) == 1 and values[0] is not None else device
    if not (isinstance(device, ast.Attribute) and device.attr == "device" and dotted(device.value) != "self"):
        return False
    return getattr(scope, "name", "") == "__init__" or _is_on_host(facts, device.value, scope)


def _is_free_device(facts: FileFacts, scope: Scope, device: str) -> bool:
    """Return whether the text of a device may be an accelerator: a name, an attribute or a written accelerator."""
    if device in HOST_TEXTS or not re.fullmatch(
        r"[\w.]*(device|dev)|'(cuda|mps)(:\d)?'|torch\.device\('cuda'\)", device
    ):
        return False
    values = [value for value in (*facts.values_of(device, scope), *facts.values_of(device, facts.tree)) if value]
    return not any(ast.unparse(one) in HOST_TEXTS for one in values)


def _makes_dimension(call: ast.Call) -> bool:
    """Return whether a factory surely makes a tensor with a dimension and elements."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    first = call.args[0] if call.args else None
    if first is None:
        return False
    if name == "tensor":
        return isinstance(first, (ast.List, ast.ListComp)) and bool(getattr(first, "elts", [1]))
    if isinstance(first, ast.Starred):
        return False
    return name in ("arange", "eye", "linspace") or ast.unparse(first) not in ("()", "[]", "0", "(0,)", "[0]")


def _mixed_names(facts: FileFacts, scope: Scope, call: ast.Call, device: str) -> set[str]:
    """Return the names that hold a factory's result if an operation combines one with a tensor on the same device."""
    marks: dict[ast.AST, str] = {call: SITE}
    holders = {SITE}
    for _round in range(2):
        for name, value, statement in facts.assignments(scope):
            if (
                value is None
                or not name
                or "self." in name
                or not entering(value, marks) & holders
                or any(facts.placed(scope).get(one) for one in entering(value, marks) - holders)
                or (statement.lineno < call.lineno)
            ):
                continue
            others = [each for one, each, _ in facts.assignments(scope) if one == name and each is not value]
            if all(each is not None and entering(each, marks) & (holders | {name}) for each in others):
                holders.add(name)
    placed = {
        name for name, where in facts.placed(scope).items() if where == device or device == f"{name}.device"
    } - holders
    if device.endswith(".device"):
        placed.add(device.removesuffix(".device"))
        if _module_class(facts, scope) is not None and not isinstance(scope, ast.Module):
            placed |= _module_results(facts, scope, placed)
    placed = {one for one in placed if one and one != "self"}
    for node, operands in combinations(scope, marks):
        if facts.scope_of(node) is not scope or node.lineno < call.lineno:  # type: ignore[attr-defined]
            continue
        if any(one & holders and not one & placed for one in operands) and any(
            one & placed and not one & holders for one in operands
        ):
            return holders - {SITE}
    return set()


def _module_results(facts: FileFacts, scope: Scope, placed: set[str]) -> set[str]:
    """Return the names that hold the result of a submodule called with a tensor on the device."""
    found: set[str] = set()
    for name, value, _ in facts.assignments(scope):
        called = isinstance(value, ast.Call) and re.fullmatch(r"self\.\w+", dotted(value.func))
        if called and isinstance(value, ast.Call) and any(entering(one) & placed for one in value.args):
            found.add(name)
    return found


def _loader_loop(facts: FileFacts, node: ast.AST) -> ast.For | None:
    """Return the innermost loop around a node, if it runs over a data loader."""
    loop = next(facts.loops_around(node), None)
    return loop if loop is not None and LOADER.search(ast.unparse(loop.iter)) else None


def _batch_names(facts: FileFacts, loop: ast.For) -> set[str]:
    """Return the names that hold a batch of a loop, or parts of it."""
    target = loop.target
    if isinstance(target, ast.Tuple) and ast.unparse(loop.iter).startswith(("enumerate", "tqdm(enumerate")):
        target = target.elts[-1]
    found = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=[target], value=value) if _root(value) in found:
                found |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def _root(node: ast.expr) -> str:
    """Return the name at the left end of subscripts and transfers: `batch` for `batch[0].to(device)`."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and method_of(node)):
        node = node.value if isinstance(node, ast.Subscript) else receiver_of(node)
    if isinstance(node, ast.Call) and dotted(node.func) == "Variable" and node.args:
        return _root(node.args[0])
    return dotted(node)


def _goes_into_model(facts: FileFacts, loop: ast.For, names: set[str], site: ast.AST | None = None) -> bool:
    """Return whether names of a batch go into a moved model, or into a loss beside the output of one."""
    marks: dict[ast.AST, str] = {site: SITE} if site is not None else {}
    outputs: set[str] = set()
    moved = {one for one in facts.moved_modules if not _is_loaded_before(facts, loop, one)}
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=func)) if dotted(func) in moved:
                outputs |= {dotted(one) for one in getattr(target, "elts", [target])} - {""}
    for node in ast.walk(loop):
        if not isinstance(node, ast.Call):
            continue
        operands = [entering(one, marks) for one in (*node.args, *(one.value for one in node.keywords))]
        mine = any(one & names for one in operands)
        called = dotted(node.func)
        moves_inputs = facts.given_models_move_inputs and not facts.has_default_dtype(called)
        if (
            mine
            and called in moved
            and not moves_inputs
            and not re.search(r"crit|loss|optim|metric", called, re.IGNORECASE)
        ):
            return True
        is_loss = re.search(r"criterion|loss_fn|loss_func|cross_entropy|nll_loss|mse_loss|l1_loss|binary_cross", called)
        if is_loss and mine and any(one & outputs and not one & names for one in operands):
            return True
    return False


def _is_loaded_before(facts: FileFacts, loop: ast.For, name: str) -> bool:
    """Return whether a function loads a whole module from a file before a loop, and does not move it from there on."""
    is_loaded = False
    for node in sorted(
        (one for one in facts.below(facts.scope_of(loop)) if isinstance(one, (ast.Assign, ast.Expr))),
        key=lambda one: one.lineno,
    ):
        if node.lineno > loop.lineno:
            break
        if any(transfer_target(one) and dotted(receiver_of(one)) == name for one in ast.walk(node)):
            is_loaded = False
        elif isinstance(node, ast.Assign) and name in map(dotted, node.targets):
            is_loaded = isinstance(node.value, ast.Call) and dotted(node.value.func) == "torch.load"
    return is_loaded


def _transfers_of(root: ast.AST, name: str) -> int:
    return sum(bool(transfer_target(node)) and _root(receiver_of(node)) == name for node in ast.walk(root))


def forget(facts: FileFacts) -> Iterator[Mutation]:
    """FORGET: a training loop no longer moves a part of the batch that goes into the moved model or its loss."""
    if facts.has_data_parallel or facts.loads_from_device:
        return
    for node in facts.nodes:
        target = transfer_target(node)
        if not target or target in HOST_TEXTS:
            continue
        assert isinstance(node, ast.Call)
        loop = _loader_loop(facts, node)
        if loop is None or _root(receiver_of(node)) not in _batch_names(facts, loop):
            continue
        names = _assigned_by(facts, node)
        if any(facts.looks_like_module(one) for one in names):
            continue
        if names and any(_transfers_of(loop, one) > (one == _root(receiver_of(node))) for one in names):
            continue
        if _goes_into_model(facts, loop, names or {SITE}, None if names else node):
            reached = names | _collected(facts, names)
            yield _mutation(facts, "FORGET", node, *_without_last_call(facts, node), reached)


def _collected(facts: FileFacts, names: set[str]) -> set[str]:
    """Return the lists to which a file appends what some names hold, and the names of what it makes of these lists."""
    lists = {
        dotted(receiver_of(node))
        for node in facts.nodes
        if method_of(node) == "append" and isinstance(node, ast.Call) and node.args and entering(node.args[0]) & names
    } - {""}
    scopes = [one for one in facts.nodes if isinstance(one, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))]
    made = {
        name
        for scope in scopes
        for name, value, _ in facts.assignments(scope)
        if value is not None and name and entering(value) & lists
    }
    return lists | made


def _assigned_by(facts: FileFacts, node: ast.Call) -> set[str]:
    """Return the name that is assigned a transfer: `x` in `x = x.to(device)` and in `x, y = x.to(device), y.cuda()`."""
    statement = facts.statement_of(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return set()
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return {
        dotted(one) for one, each in pairs if each is node or (_root(each) == _root(node) and node in ast.walk(each))
    } - {""}


def loop(facts: FileFacts) -> Iterator[Mutation]:
    """LOOP: transfers of a batch become a loop that rebinds its own variable, which loses them."""
    if facts.has_data_parallel or facts.loads_from_device:
        return
    for node in facts.nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case _:
                continue
        around = _loader_loop(facts, node)
        if around is None:
            continue
        batch, indent = _batch_names(facts, around), " " * node.col_offset
        if isinstance(value, (ast.ListComp, ast.DictComp)) and dotted(target) in batch and len(value.generators) == 1:
            element = value.elt if isinstance(value, ast.ListComp) else value.value
            over = value.generators[0]
            moved = _root(element)
            if transfer_target(element) and ast.unparse(over.iter).startswith(dotted(target)) and not over.ifs:
                head = f"for {facts.source(over.target)} in {facts.source(over.iter)}:"
                text = f"{head}\n{indent}    {moved} = {facts.source(element)}"
                if moved in {one.id for one in ast.walk(over.target) if isinstance(one, ast.Name)}:
                    yield _mutation(facts, "LOOP", node, facts.span(node), text, {dotted(target), moved})
            continue
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        names = [dotted(one) for one in targets]
        devices = {transfer_target(one) for one in values}
        if len(values) != len(names) or len(devices) != 1 or not devices - {"", *HOST_TEXTS}:
            continue
        if any(dotted(receiver_of(one)) != name for one, name in zip(values, names, strict=True)):
            continue
        if not set(names) <= batch or any(_transfers_of(around, one) > 1 for one in names):
            continue
        if any(facts.looks_like_module(one) for one in names) or not _goes_into_model(facts, around, set(names)):
            continue
        if not all(
            _is_attribute_of_tensors(facts, one)
            for one in ast.walk(around)
            if isinstance(one, ast.Attribute) and dotted(one.value) in names
        ):
            continue
        tail = facts.data[_method_start(facts, values[0]) : facts.span(values[0])[1]].decode()
        text = f"for part in [{', '.join(names)}]:\n{indent}    part = part{tail}"
        yield _mutation(facts, "LOOP", node, facts.span(node), text, {*names, "part"})


def _numpy_chain(node: ast.AST) -> list[ast.Call]:
    """Return the method calls of `x.detach().cpu().numpy()`, outermost first; empty for anything else."""
    if method_of(node) != "numpy":
        return []
    chain: list[ast.Call] = []
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Call):
            if not method_of(node):
                break
            chain.append(node)
            node = receiver_of(node)
        elif node.attr == "data":
            node = node.value
        else:
            break
    return chain


def _enters_chain(node: ast.expr) -> set[str]:
    """Return the names that enter the expression at the left end of a chain of methods, and keep their device."""
    return entering(_strip_reductions(node))


def _strip_reductions(node: ast.expr) -> ast.expr:
    while method_of(node) in ("sum", "mean", "squeeze", "argmax", "max", "min", "detach", "norm", "std") or (
        isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant)
    ):
        node = node.value if isinstance(node, ast.Subscript) else receiver_of(node)
    return node


def numpy_of_accelerator(facts: FileFacts) -> Iterator[Mutation]:
    """NUMPY: the copy to the host before `.numpy()` is gone."""
    for node in facts.nodes:
        copy = next((one for one in _numpy_chain(node) if method_of(one) == "cpu"), None)
        if copy is None:
            continue
        placed = _placed_before(facts, facts.scope_of(node), node)
        roots = _enters_chain(receiver_of(copy))
        devices = {placed.get(one, "") for one in roots}
        direct = _strip_reductions(receiver_of(copy))
        if isinstance(direct, ast.Call) and dotted(direct.func) in facts.moved_modules:
            devices = {facts.moved_modules[dotted(direct.func)]}
        is_free = [one not in HOST_TEXTS and _is_free_target(facts, facts.scope_of(node), one) for one in devices]
        if devices and all(is_free):
            yield _mutation(facts, "NUMPY", node, *_without_last_call(facts, copy), roots)


def _placed_before(facts: FileFacts, scope: Scope, node: ast.expr) -> dict[str, str]:
    """Return the names that a function has put on a device before a node, with the texts of the devices."""
    placed = facts.moved(scope)
    before = {
        name
        for name, value, statement in facts.assignments(scope)
        if value is not None and statement.lineno < node.lineno and facts.device_text(value, placed)
    }
    return {name: device for name, device in placed.items() if name in before}


def _is_free_target(facts: FileFacts, scope: Scope, device: str) -> bool:
    values = [value for value in (*facts.values_of(device, scope), *facts.values_of(device, facts.tree)) if value]
    return bool(PATH_TO_DEVICE.search(device)) and not any(ast.unparse(one) in HOST_TEXTS for one in values)


def _is_without_gradients(facts: FileFacts, node: ast.AST) -> bool:
    """Return whether a node is in a block or a function that surely or possibly records no gradients."""
    for one in facts.ancestors(node):
        if isinstance(one, ast.With) and re.search(r"no_grad|inference_mode|set_grad", ast.unparse(one.items[0])):
            return True
        if isinstance(one, ast.FunctionDef) and any(
            re.search(r"no_grad|inference", ast.unparse(each)) for each in one.decorator_list
        ):
            return True
    return False


def grad(facts: FileFacts) -> Iterator[Mutation]:
    """GRAD: `.numpy()` of what needs a gradient, without `.detach()` or in place of `loss.item()`."""
    yield from _read_losses(facts)
    for node in facts.nodes:
        chain = _numpy_chain(node)
        detach = next((one for one in chain if method_of(one) == "detach"), None)
        if detach is None or sum(method_of(one) == "detach" for one in chain) > 1 or ".data" in ast.unparse(node):
            continue
        if any(method_of(one) in ("argmax", "long", "int", "bool", "max", "min") for one in chain):
            continue
        source, scope = _strip_reductions(receiver_of(detach)), facts.scope_of(node)
        name = dotted(source)
        if _is_parameter(facts, source) or (
            not _is_without_gradients(facts, node) and name and _needs_gradient(facts, scope, name)
        ):
            yield _mutation(facts, "GRAD", node, *_without_last_call(facts, detach), {name})


def _read_losses(facts: FileFacts) -> Iterator[Mutation]:
    """Yield the changes of `loss.item()` to `loss.cpu().numpy()` beside `loss.backward()` in the same loop."""
    for node in facts.nodes:
        if method_of(node) != "item" or not isinstance(node, ast.Call) or _is_without_gradients(facts, node):
            continue
        name, around = dotted(receiver_of(node)), next(facts.loops_around(node), None)
        if not name or around is None:
            continue
        backward = [
            one
            for one in ast.walk(around)
            if isinstance(one, ast.Call) and method_of(one) == "backward" and dotted(receiver_of(one)) == name
        ]
        bound = [
            (value, statement)
            for one, value, statement in facts.assignments(facts.scope_of(node))
            if one == name and around in facts.ancestors(statement)
        ]
        kept = all(value is not None and not LOSES_GRADIENT.search(ast.unparse(value)) for value, _ in bound)
        if backward and bound and kept and not any(_is_without_gradients(facts, one) for _, one in bound):
            span = (_method_start(facts, node), facts.span(node)[1])
            yield _mutation(facts, "GRAD", node, span, ".cpu().numpy()", {name})


def _is_parameter(facts: FileFacts, node: ast.expr) -> bool:
    """Return whether an expression is a module's weight or bias, or an attribute that holds an nn.Parameter."""
    name, found = dotted(node), facts.class_of(node)
    if re.fullmatch(r"self\.\w+", name) and found is not None:
        values = [
            value
            for method in found.body
            if isinstance(method, ast.FunctionDef)
            for value in facts.values_of(name, method)
        ]
        return bool(values) and all(
            isinstance(one, ast.Call)
            and dotted(one.func) in ("nn.Parameter", "torch.nn.Parameter", "Parameter")
            and "requires_grad" not in ast.unparse(one)
            for one in values
        )
    return bool(re.search(r"\.(weight|bias)$", name)) and "requires_grad" not in facts.text


WITHOUT_TRAINING: Final = re.compile(
    r"eval|test|valid|infer|predict|sampl|generat|plot|visuali[sz]e|embed|extract|forward"
)
"""The names of functions that callers may call without recording gradients."""


def _needs_gradient(facts: FileFacts, scope: Scope, name: str) -> bool:
    """Return whether a name holds a model's output, a loss, a leaf that requires a gradient, or what is made of these.

    Calls of models count only in a function that calls `.backward()`, or at the top of a file, where it is sure that
    gradients are recorded, or in a function that the file does not call without gradients.
    """
    text = "" if isinstance(scope, ast.Module) else scope.name
    records = ".backward(" in facts.source(scope) if text else "no_grad" not in facts.text
    quiet = WITHOUT_TRAINING.search(text) or re.search(r"no_grad|inference_mode|set_grad_enabled", facts.text)
    models = {one for one in facts.moved_modules if not re.search(r"optim|metric", one, re.IGNORECASE)}
    found_class = facts.class_of(scope) if text else None
    if found_class is not None:
        models |= {one for kind in LAYERS for one in _attributes_made_by(found_class, kind)}
    found: set[str] = set()
    values = facts.assignments(scope)
    for one, value, statement in values:
        if not isinstance(value, ast.Call) or _is_without_gradients(facts, statement):
            continue
        if dotted(value.func) in models and (records or not quiet):
            found.add(one)
        leaf = dotted(value.func) in ("nn.Parameter", "torch.nn.Parameter") or method_of(value) == "requires_grad_"
        given = keyword(value, "requires_grad")
        if (leaf and not value.args[1:] and given is None) or (given and ast.unparse(given.value) == "True"):
            found.add(one)
    found |= {
        dotted(receiver_of(node))
        for node in facts.below(scope)
        if isinstance(node, ast.Call) and method_of(node) == "backward"
    }
    for _round in range(3):
        for one, value, statement in values:
            kept = value is not None and not LOSES_GRADIENT.search(ast.unparse(value))
            if kept and entering(value) & found and not _is_without_gradients(facts, statement):
                found.add(one)
    return name in found and all(
        value is not None and (one != name or not LOSES_GRADIENT.search(ast.unparse(value)))
        for one, value, _ in values
        if one == name
    )


LAYERS: Final = ("Linear", "Conv1d", "Conv2d", "Conv3d", "LayerNorm", "Embedding", "BatchNorm2d", "BatchNorm1d")
"""The modules of torch that surely have parameters."""
LOSES_GRADIENT: Final = re.compile(r"detach|argmax|\.data\b|item\(|numpy|==|<|>|long|bool|\bint|no_grad|max\(|min\(")
"""The text of expressions whose result needs no gradient, although it is computed of a tensor that does."""


def module_list(facts: FileFacts) -> Iterator[Mutation]:
    """LIST: an nn.ModuleList or nn.ParameterList that forward uses becomes a plain list."""
    for node in facts.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name("self"), attr=name)], value=ast.Call() as call):
                pass
            case _:
                continue
        kind = dotted(call.func).rpartition(".")[2]
        if kind not in ("ModuleList", "ParameterList") or len(call.args) > 1 or call.keywords:
            continue
        found = _module_class(facts, node)
        if found is None:
            continue
        attribute, scope = f"self.{name}", facts.scope_of(node)
        first = call.args[0] if call.args else None
        if first is not None and not isinstance(first, (ast.List, ast.ListComp, ast.GeneratorExp)):
            continue
        if not _uses_as_list(facts, found, attribute) or len(facts.values_of(attribute, scope)) != 1:
            continue
        made = ast.unparse(first) if first is not None else _appended(facts, found, attribute)
        if kind == "ModuleList" and not _makes_parameters(made):
            continue
        text = "[]" if first is None else facts.source(first)
        if isinstance(first, ast.GeneratorExp):
            text = f"list({text})" if not text.startswith("(") else f"list{text}"
        yield _mutation(facts, "LIST", node, facts.span(call), text, {attribute})


def _appended(facts: FileFacts, found: ast.ClassDef, attribute: str) -> str:
    return " ".join(
        ast.unparse(node.args[0])
        for node in ast.walk(found)
        if isinstance(node, ast.Call)
        and facts.class_of(node) is found
        and dotted(node.func) in (f"{attribute}.append", f"{attribute}.extend")
        and node.args
    )


def _makes_parameters(text: str) -> bool:
    """Return whether a text constructs a module that surely has parameters."""
    return bool(
        re.search(
            r"\b(Linear|Conv[123]d|ConvTranspose\w+|BatchNorm\w*|LayerNorm|GroupNorm|Embedding|LSTM\w*|GRU\w*|RNN\w*"
            r"|MultiheadAttention|\w*Block|\w*Layer|\w*Attention|\w*Head|MLP|FFN|FeedForward|\w*Conv)\(",
            WITHOUT_PARAMETERS.sub("", text),
        )
    )


def _uses_as_list(facts: FileFacts, found: ast.ClassDef, attribute: str) -> bool:
    """Return whether forward iterates over an attribute or indexes it, and the class uses it only as a list can be."""
    for node in ast.walk(found):
        match node:
            case ast.Attribute(value=value, attr=attr) if dotted(value) == attribute:
                if attr not in ("append", "extend", "insert"):
                    return False
    return any(
        (isinstance(node, (ast.For, ast.comprehension)) and attribute in ast.unparse(node.iter))
        or (isinstance(node, ast.Subscript) and dotted(node.value) == attribute)
        for method in _forward_methods(found)
        for node in ast.walk(method)
    )


def _is_float64_array(facts: FileFacts, node: ast.expr, scope: Scope, depth: int = 3) -> bool:
    """Return whether an expression is a NumPy array of float64 by construction."""
    if depth == 0:
        return False

    def is_float64(one: ast.expr) -> bool:
        return _is_float64_array(facts, one, scope, depth)

    match node:
        case ast.Name():
            values = facts.values_of(node.id, scope)
            return bool(values) and all(
                one is not None and _is_float64_array(facts, one, scope, depth - 1) for one in values
            )
        case ast.BinOp():
            kinds = [is_float64(one) for one in (node.left, node.right)]
            plain = [isinstance(one, ast.Constant) for one in (node.left, node.right)]
            return all(kind or one for kind, one in zip(kinds, plain, strict=True)) and any(kinds)
        case ast.Subscript():
            return bool(entering(node)) and is_float64(node.value)
        case ast.Call():
            name = dotted(node.func)
            room, _, function = name.rpartition(".")
            method = method_of(node) if room not in ("np", "numpy", "np.random", "numpy.random") else ""
            if method == "astype":
                return bool(node.args) and ast.unparse(node.args[0]) in ("np.float64", "float", "'float64'")
            if method in ("reshape", "transpose", "copy", "squeeze", "cumsum", "clip"):
                return is_float64(receiver_of(node))
            if keyword(node, "dtype") is not None or "dtype" in ast.unparse(node):
                return False
            if room in ("np", "numpy"):
                if function == "array":
                    return bool(node.args) and bool(re.search(r"^\[+-?\d+\.\d", ast.unparse(node.args[0])))
                if function in ("stack", "concatenate", "expand_dims", "sin", "cos", "exp", "abs", "clip", "sqrt"):
                    parts = getattr(node.args[0], "elts", [node.args[0]]) if node.args else []
                    return bool(parts) and all(map(is_float64, parts))
                return function in ("zeros", "ones", "linspace", "eye", "hanning", "hamming", "logspace", "empty")
            return (room in ("np.random", "numpy.random") or room.endswith("rng")) and function in (
                "randn rand normal uniform random random_sample standard_normal".split()
            )
    return False


def double(facts: FileFacts) -> Iterator[Mutation]:
    """DOUBLE: a float64 array becomes a tensor without a cast to float32, and goes into a module of float32."""
    yield from _arrays_for_factories(facts)
    conversions = frozenset({"from_numpy", "tensor", "as_tensor"})
    for node in facts.nodes:
        if method_of(node) == "float" and isinstance(node, ast.Call):
            made = receiver_of(node)
            change = _without_last_call(facts, node)
        elif is_torch_function(node, conversions) and isinstance(node, ast.Call) and keyword(node, "dtype"):
            given = keyword(node, "dtype")
            if given is None or ast.unparse(given.value) not in ("torch.float32", "torch.float"):
                continue
            made, change = node, (_argument_cut(facts, node, given), "")
        elif (
            is_torch_function(node, conversions)
            and isinstance(node, ast.Call)
            and node.args
            and (method_of(node.args[0]) == "astype" and "float32" in ast.unparse(node.args[0]))
        ):
            cast = node.args[0]
            assert isinstance(cast, ast.Call)
            scope = facts.scope_of(node)
            if not _is_float64_array(facts, receiver_of(cast), scope):
                continue
            marks: dict[ast.AST, str] = {node: SITE}
            holders = _derived_through_transfers(facts, scope, marks)
            if _goes_into_any_module(facts, scope, marks, holders):
                yield _mutation(facts, "DOUBLE", node, *_without_last_call(facts, cast), holders - {SITE})
            continue
        elif isinstance(node, ast.Call) and dotted(node.func) == "torch.FloatTensor" and len(node.args) == 1:
            made, span = node, facts.span(node.func)
            change = (span, "torch.tensor")
        else:
            continue
        scope = facts.scope_of(node)
        if not (isinstance(made, ast.Call) and made.args and _is_conversion(made)):
            continue
        if not _is_float64_array(facts, made.args[0], scope):
            continue
        marks = {node: SITE}
        holders = _derived_through_transfers(facts, scope, marks)
        if _goes_into_any_module(facts, scope, marks, holders):
            yield _mutation(facts, "DOUBLE", node, *change, holders - {SITE})


def _arrays_for_factories(facts: FileFacts) -> Iterator[Mutation]:
    """Yield the changes of a factory, whose result goes into a module, to NumPy's function of the same meaning."""
    if not re.search(r"^import numpy as np$", facts.text, re.MULTILINE):
        return
    for node in facts.nodes:
        if not is_torch_function(node, frozenset({"randn", "rand", "zeros", "ones"})):
            continue
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        device = keyword(node, "device")
        if len(node.keywords) != (device is not None) or not node.args:
            continue
        if any(isinstance(one, (ast.Starred, ast.Attribute)) for one in node.args):
            continue
        marks: dict[ast.AST, str] = {node: SITE}
        scope = facts.scope_of(node)
        holders = _derived_through_transfers(facts, scope, marks)
        if not _goes_into_any_module(facts, scope, marks, holders):
            continue
        sizes = [facts.source(one) for one in node.args]
        if isinstance(node.args[0], (ast.Tuple, ast.List)):
            sizes = [facts.source(one) for one in node.args[0].elts]
        room = "np.random." if node.func.attr.startswith("rand") else "np."
        size = f"({', '.join(sizes)},)" if room == "np." else ", ".join(sizes)
        tail = "" if device is None else f".to({facts.source(device.value)})"
        text = f"torch.from_numpy({room}{node.func.attr}({size})){tail}"
        yield _mutation(facts, "DOUBLE", node, facts.span(node), text, holders - {SITE})


def _is_conversion(call: ast.Call) -> bool:
    return is_torch_function(call, frozenset({"from_numpy", "tensor", "as_tensor"})) or dotted(call.func) in (
        "torch.FloatTensor",
    )


def _derived_through_transfers(facts: FileFacts, scope: Scope, marks: dict[ast.AST, str]) -> set[str]:
    """Return the names that hold a marked expression after shape methods, transfers and `Variable`.

    A name that a function also assigns a cast of itself does not count.
    """
    found = {SITE}
    for _round in range(3):
        for name, value, _ in facts.assignments(scope):
            if value is not None and name and _through(value, marks) & found:
                found.add(name)
    return {one for one in found if one == SITE or not _is_cast_again(facts, scope, one, marks)}


def _is_cast_again(facts: FileFacts, scope: Scope, name: str, marks: Mapping[ast.AST, str]) -> bool:
    """Return whether a function assigns a name a cast of what it holds: `x = x.type(torch.float32).to(device)`."""
    for value in facts.values_of(name, scope):
        if value is None or _through(value, dict(marks)) & {name, SITE}:
            continue
        casts = (one for one in ast.walk(value) if method_of(one) in ("float", "double", "half", "type", "to", "long"))
        if any(_root(one) == name for one in casts if isinstance(one, ast.expr)):
            return True
    return False


def _through(node: ast.expr, marks: dict[ast.AST, str]) -> set[str]:
    while node not in marks and transfer_target(node):
        node = receiver_of(node)
    if node not in marks and method_of(node) in SHAPE_METHODS - {
        "float",
        "double",
        "half",
        "long",
        "int",
        "bool",
        "type",
    }:
        return _through(receiver_of(node), marks)
    if node in marks:
        return {marks[node]}
    if isinstance(node, ast.Call) and dotted(node.func) == "Variable" and node.args:
        return _through(node.args[0], marks)
    return {dotted(node)} - {""}


def _goes_into_any_module(facts: FileFacts, scope: Scope, marks: dict[ast.AST, str], holders: set[str]) -> bool:
    """Return whether a function calls a module that is known to have float32 parameters with one of some tensors."""
    if re.search(r"\.double\(\)|\.half\(\)|autocast|set_default_dtype|bfloat16", facts.text):
        return False
    for node in facts.below(scope):
        # A module with several inputs may have no parameters, and compute in the dtype of its inputs.
        if isinstance(node, ast.Call) and len(node.args) == 1 and _through(node.args[0], marks) & holders:
            name = dotted(node.func)
            is_module = name in facts.moved_modules or re.fullmatch(
                r"(self\.)?(\w+_)?(model|net|network|generator|discriminator|policy|encoder|decoder|actor|critic|netG"
                r"|netD|G|D|linear|fc|conv|mlp)\d*",
                name,
            )
            if is_module and facts.has_default_dtype(name):
                return True
    return False


CLASS_LOSSES: Final = re.compile(r"(^|\.)(cross_entropy|nll_loss)$")
"""The functions whose target holds classes."""


def dtype(facts: FileFacts) -> Iterator[Mutation]:
    """DTYPE: class targets, or the indexes of an embedding, are no longer integers; or a model's input is float64."""
    losses = {
        dotted(node.targets[0])
        for node in facts.nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(
            isinstance(one, ast.Call) and re.search(r"(^|\.)(CrossEntropyLoss|NLLLoss)$", dotted(one.func))
            for one in ast.walk(node.value)
        )
    }
    others = {
        dotted(node.targets[0])
        for node in facts.nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and re.search(r"(BCE|MSE|L1|KLDiv|Huber)\w*Loss\(", facts.source(node.value))
    }
    yield from _float64_inputs(facts)
    for node in facts.nodes:
        if not isinstance(node, ast.Call):
            continue
        given = keyword(node, "dtype")
        if method_of(node) == "long":
            span, text = (_method_start(facts, node), facts.span(node)[1]), ".float()"
        elif is_torch_function(node, FACTORIES) and given and ast.unparse(given.value) in ("torch.long", "torch.int64"):
            span, text = facts.span(given.value), "torch.float32"
        else:
            continue
        scope = facts.scope_of(node)
        marks: dict[ast.AST, str] = {node: SITE}
        holders = _long_holders(facts, scope, marks)
        for one in facts.below(scope):
            if not isinstance(one, ast.Call) or one.lineno < node.lineno:
                continue
            name = dotted(one.func)
            target = one.args[1] if len(one.args) > 1 else getattr(keyword(one, "target"), "value", None)
            is_loss = CLASS_LOSSES.search(name) or (name in losses - others)
            as_target = bool(is_loss and target is not None and _through(target, marks) & holders)
            as_index = any(_through(each, marks) & holders for each in _index_arguments(facts, one))
            if as_target or as_index:
                yield _mutation(facts, "DTYPE", node, span, text, holders - {SITE})
                break


def _index_arguments(facts: FileFacts, call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that must be integers: of an embedding, of `gather` and its like."""
    if _is_embedding(facts, call):
        return call.args[:1]
    if method_of(call) in ("gather", "index_select", "scatter_", "scatter_add_", "scatter"):
        return call.args[1:2]
    if is_torch_function(call, frozenset({"gather", "index_select"})):
        return call.args[2:3]
    return []


def _float64_inputs(facts: FileFacts) -> Iterator[Mutation]:
    """Yield the changes that cast the first input of a float32 model in a training loop to float64."""
    if re.search(r"\.double\(|\.half\(|autocast|set_default_dtype|bfloat16|float64|float16|precision", facts.text):
        return
    for node in facts.nodes:
        if not (isinstance(node, ast.Call) and dotted(node.func) in facts.moved_modules and len(node.args) == 1):
            continue
        name, around = dotted(node.args[0]), _loader_loop(facts, node)
        if around is None or name not in _batch_names(facts, around) or name in facts.moved_modules:
            continue
        if re.search(r"crit|loss|metric", dotted(node.func), re.IGNORECASE):
            continue
        if not facts.has_default_dtype(dotted(node.func)):
            continue
        if _transfers_of(around, name) or any(name in _assigned_by(facts, one) for one in _transfers(around)):
            end = facts.span(node.args[0])[1]
            yield _mutation(facts, "DTYPE", node, (end, end), ".double()", {name})


def _transfers(root: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(root) if isinstance(node, ast.Call) and transfer_target(node)]


def _long_holders(facts: FileFacts, scope: Scope, marks: dict[ast.AST, str]) -> set[str]:
    """Return the names that hold a marked cast, each assigned only once or by itself."""
    return {
        name
        for name in _derived_through_transfers(facts, scope, marks)
        if name == SITE
        or all(
            one is not None and (_through(one, marks) & {SITE, name} or any(each in marks for each in ast.walk(one)))
            for one in facts.values_of(name, scope)[-1:]
        )
    }


def _is_embedding(facts: FileFacts, call: ast.Call) -> bool:
    """Return whether a call looks up an nn.Embedding of the class around it."""
    name, found = dotted(call.func), facts.class_of(call)
    if found is None or not re.fullmatch(r"self\.\w+", name):
        return dotted(call.func) in ("F.embedding", "torch.nn.functional.embedding")
    return any(
        isinstance(node, ast.Assign)
        and dotted(node.targets[0]) == name
        and isinstance(node.value, ast.Call)
        and dotted(node.value.func) in ("nn.Embedding", "torch.nn.Embedding")
        for node in ast.walk(found)
    )


def index(facts: FileFacts) -> Iterator[Mutation]:
    """INDEX: an index that is computed in floats is no longer cast to integers."""
    for node in facts.nodes:
        is_cast = method_of(node) in ("long", "int") or (
            method_of(node) in ("to", "type")
            and isinstance(node, ast.Call)
            and [ast.unparse(one) for one in node.args] in (["torch.long"], ["torch.int64"], ["torch.int32"])
        )
        if not isinstance(node, ast.Call) or not is_cast:
            continue
        scope = facts.scope_of(node)
        if not _is_float_tensor(facts, receiver_of(node), scope):
            continue
        marks: dict[ast.AST, str] = {node: SITE}
        holders = _long_holders(facts, scope, marks)
        for one in facts.below(scope):
            used: list[ast.expr] = []
            match one:
                case ast.Subscript(slice=slice_):
                    used = slice_.elts if isinstance(slice_, ast.Tuple) else [slice_]
                case ast.Call():
                    used = _index_arguments(facts, one)
            if any(_through(each, marks) & holders for each in used) and _indexes_tensor(one):
                yield _mutation(facts, "INDEX", node, *_without_last_call(facts, node), holders - {SITE})
                break


def _indexes_tensor(node: ast.AST) -> bool:
    return not (isinstance(node, ast.Subscript) and re.search(r"dict|list|\bnp\.", ast.unparse(node.value)))


def _is_float_tensor(facts: FileFacts, node: ast.expr, scope: Scope, depth: int = 3) -> bool:
    """Return whether an expression is a tensor of floats by construction."""
    if depth == 0:
        return False
    if is_torch_function(node, frozenset({"linspace", "rand", "randn", "normal"})):
        return isinstance(node, ast.Call) and keyword(node, "dtype") is None
    if is_torch_function(node, frozenset({"floor", "ceil", "round", "clamp", "abs", "sqrt", "log", "exp"})):
        assert isinstance(node, ast.Call)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("sqrt", "log", "exp", "floor", "round", "ceil"):
            return True
        return bool(node.args) and _is_float_tensor(facts, node.args[0], scope, depth)
    match node:
        case ast.Name():
            values = facts.values_of(node.id, scope)
            return len(values) == 1 and values[0] is not None and _is_float_tensor(facts, values[0], scope, depth - 1)
        case ast.BinOp(op=ast.Div()):
            return True
        case ast.BinOp(op=ast.Mult() | ast.Add() | ast.Sub()):
            return any(_is_float_tensor(facts, one, scope, depth) for one in (node.left, node.right))
        case ast.UnaryOp(op=ast.USub()):
            return _is_float_tensor(facts, node.operand, scope, depth)
        case ast.Call():
            method = method_of(node)
            if method in ("float", "uniform_", "normal_", "sigmoid", "exp", "log", "sqrt", "floor", "round", "ceil"):
                return True
            if method in SHAPE_METHODS - {"long", "int", "bool", "type"} | {
                "floor",
                "ceil",
                "round",
                "clamp",
                "clip",
                "mul",
                "add",
                "squeeze",
                "abs",
                "floor_",
                "round_",
                "clamp_",
            }:
                return _is_float_tensor(facts, receiver_of(node), scope, depth)
            return False
        case ast.Subscript():
            return _is_float_tensor(facts, node.value, scope, depth)
    return False


def generator(facts: FileFacts) -> Iterator[Mutation]:
    """GENERATOR: a generator for a device becomes one for the host, and is passed to a factory on the device."""
    for node in facts.nodes:
        if not (isinstance(node, ast.Call) and dotted(node.func) == "torch.Generator"):
            continue
        given = keyword(node, "device")
        device = given.value if given else node.args[0] if node.args else None
        if device is None or ast.unparse(device) in HOST_TEXTS:
            continue
        text, scope = ast.unparse(device), facts.scope_of(node)
        if not _is_free_device(facts, scope, text):
            continue
        holders = {
            name
            for name, value, _ in facts.assignments(scope)
            if value is not None and any(one is node for one in ast.walk(value))
        }
        reach = facts.class_of(node) if any(one.startswith("self.") for one in holders) else scope
        for one in ast.walk(reach or scope):
            if not isinstance(one, ast.Call):
                continue
            passed, where = keyword(one, "generator"), keyword(one, "device")
            if passed is None or where is None or ast.unparse(where.value) != text:
                continue
            if dotted(passed.value) in holders or passed.value is node:
                span = (facts.span(node.func)[1], facts.span(node)[1])
                yield _mutation(facts, "GENERATOR", node, span, "()", holders)
                break


OPERATORS: Final[dict[str, tuple[Operator, str]]] = {
    "REG": (register, r"\.register_buffer\("),
    "DISCARD": (discard, r"\.to\(|\.cuda\("),
    "FACTORY": (factory, r"device="),
    "FORGET": (forget, r"\.to\(|\.cuda\("),
    "NUMPY": (numpy_of_accelerator, r"\.cpu\("),
    "GRAD": (grad, r"\.detach\(|\.item\("),
    "LIST": (module_list, r"(Module|Parameter)List\("),
    "DOUBLE": (double, r"torch\.(from_numpy|tensor|as_tensor|FloatTensor|randn?|zeros|ones)\("),
    "LOOP": (loop, r"\.to\(|\.cuda\("),
    "DTYPE": (dtype, r"\.long\(|torch\.long|torch\.int64|\.to\(|\.cuda\("),
    "INDEX": (index, r"\.long\(|\.int\(|torch\.(long|int64|int32)"),
    "GENERATOR": (generator, r"\.Generator\("),
}
"""The operators by name, each with a pattern that occurs in every file that has a place for it."""


def mutations_of(
    text: str, only: frozenset[str] = frozenset(OPERATORS), *, given_models_move_inputs: bool = False
) -> Iterator[Mutation]:
    """Yield the changes of a file that the operators allow and that leave it a program.

    `given_models_move_inputs` is whether other files make models that move their inputs themselves.
    """
    fitting = [operator for name, (operator, needed) in OPERATORS.items() if name in only and re.search(needed, text)]
    if not fitting:
        return
    facts = FileFacts(text, given_models_move_inputs=given_models_move_inputs)
    for operator in fitting:
        for one in operator(facts):
            if one.row in facts.dead_rows:
                continue
            try:
                ast.parse(one.apply(facts.data))
            except (SyntaxError, ValueError):
                continue
            yield one
