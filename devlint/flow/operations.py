"""A library operation as its row describes it: what it checks, what it costs, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.flow.arguments import Argument, Arguments, bind_row
from devlint.flow.clash import find_clash
from devlint.flow.devices import default_placement, explicit_placement, placement_from
from devlint.flow.events import DtypeClash, HostOnlyClash, HostRead, Operand, TargetDtype
from devlint.flow.iteration import iterate
from devlint.flow.run import Run
from devlint.semantics.table import Row
from devlint.values.device import is_accelerator, is_host
from devlint.values.dtype import UNKNOWN_DTYPE, Dtype, Source, category, is_floating, promote_names
from devlint.values.heap import Sequence as SequenceObject
from devlint.values.placement import UNKNOWN_PLACEMENT, Choice, How, Leaf, Placement, is_unknown, leaves
from devlint.values.trace import Kind
from devlint.values.value import (
    NONE,
    UNKNOWN,
    Const,
    DtypeValue,
    Fresh,
    Number,
    Origin,
    Rank,
    Tensor,
    Text,
    Tuple,
    Unknown,
    Value,
    as_tensor,
    computed,
)

DEFAULT_FLOAT: Final = Dtype("float32", Source.DEFAULT)
IMPLICIT: Final = "parameters"
"""The pseudo-argument of a module's row: its own parameters."""

Bound = Mapping[str, list[Argument]]


def apply_row(
    run: Run, row: Row, arguments: Arguments, receiver: Argument | None = None, own: Operand | None = None
) -> Value:
    """Run a library call by its row."""
    bound = bind_row(row, arguments, receiver, dict(run.engine.table.argument_aliases))
    return operate(run, row, bound, arguments.node, own, complete=arguments.complete)


def operate(
    run: Run, row: Row, bound: Bound, node: cst.CSTNode, own: Operand | None = None, *, complete: bool = True
) -> Value:
    """Check an operation's operands, and compute what it returns."""
    operands = operands_of(run, row, bound)
    same = row.same
    if own is not None:
        operands.append(own)
        same = (*same, IMPLICIT)
    name = short_name(row.name)
    _check_host_only(run, row, operands, node, name)
    grouped = [one for one in operands if one.name in same or one.name in row.index]
    clash = find_clash(run, node, name, grouped, row.scalars, row.index)
    if clash is not None:
        run.emit(clash)
    elif not run.state.ambient.autocast and not _check_targets(run, row, operands, node, name):
        _check_dtypes(run, row, operands, node, name)
    _follow_time(run, row, operands, node, name)
    # What follows is read as if the tensor had been where it should: one bug is told once.
    mended = clash.other.tensor.placement if clash is not None else None
    result = _result(run, row, bound, operands, node, mended=mended, complete=complete)
    return _shape(run, row, bound, result, node)


def short_name(name: str) -> str:
    """The name a reader knows an operation by: `torch.cat`, `F.linear`, `.sum()`, `+`."""
    if name.startswith("torch.Tensor.__"):
        return OPERATORS.get(name.removeprefix("torch.Tensor."), name.removeprefix("torch.Tensor."))
    if name.startswith("torch.Tensor."):
        return f".{name.removeprefix('torch.Tensor.')}()"
    return name.replace("torch.nn.functional.", "F.")


OPERATORS: Final = {
    "__add__": "+",
    "__sub__": "-",
    "__mul__": "*",
    "__truediv__": "/",
    "__floordiv__": "//",
    "__mod__": "%",
    "__pow__": "**",
    "__matmul__": "@",
    "__and__": "&",
    "__or__": "|",
    "__xor__": "^",
    "__lshift__": "<<",
    "__rshift__": ">>",
    "__eq__": "==",
    "__ne__": "!=",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
    "__iadd__": "+=",
    "__isub__": "-=",
    "__imul__": "*=",
    "__itruediv__": "/=",
    "__ifloordiv__": "//=",
    "__imod__": "%=",
    "__ipow__": "**=",
    "__iand__": "&=",
    "__ior__": "|=",
    "__ixor__": "^=",
    "__neg__": "-",
    "__invert__": "~",
    "__imatmul__": "@=",
}


# Operands


def operands_of(run: Run, row: Row, bound: Bound) -> list[Operand]:
    """The tensors among the arguments, those inside sequences included."""
    found: list[Operand] = []
    for name in row.tensors:
        for argument in bound.get(name, ()):
            if name in row.sequences and not isinstance(argument.value, (Tensor, Unknown)):
                found.extend(_inside(run, name, argument))
            else:
                tensor = (
                    as_tensor(argument.value)
                    if name not in row.sequences or isinstance(argument.value, Tensor)
                    else None
                )
                if tensor is not None:
                    found.append(Operand(name, run.place(argument.node), run.settle(tensor)))
    return found


def _inside(run: Run, name: str, argument: Argument) -> list[Operand]:
    elements = iterate(run, argument.value, argument.node)
    values = elements.items if elements.items is not None else (elements.element,)
    nodes: Sequence[cst.BaseExpression] = [argument.node] * len(values)
    if isinstance(argument.node, (cst.List, cst.Tuple)) and len(argument.node.elements) == len(values):
        nodes = [element.value for element in argument.node.elements]
    found = []
    for value, node in zip(values, nodes, strict=True):
        tensor = as_tensor(value)
        if tensor is not None:
            found.append(Operand(name, run.place(node), run.settle(tensor)))
    return found


# Checks


def _check_host_only(run: Run, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    for operand in operands:
        if operand.name not in row.host:
            continue
        for when, leaf in leaves(operand.tensor.placement, run.state.facts):
            if is_accelerator(leaf.device):
                run.emit(HostOnlyClash(run.context_at(node), name, replace(operand, leaf=leaf), when))
                break


def _check_dtypes(run: Run, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    for group in row.match:
        known = [one for one in operands if one.name in group and one.tensor.dtype.name is not None]
        for left, right in pairwise(known):
            if left.tensor.dtype.name != right.tensor.dtype.name:
                run.emit(DtypeClash(run.context_at(node), name, left, right))
                return


def _check_targets(run: Run, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> bool:
    """Tell of a target whose dtype the loss refuses; whether there was one."""
    for operand in operands:
        accepted = row.target_dtypes.get(operand.name)
        dtype = operand.tensor.dtype.name
        if accepted and dtype is not None and dtype not in accepted:
            run.emit(TargetDtype(run.context_at(node), name, operand, tuple(sorted(accepted))))
            return True
    return False


def _follow_time(run: Run, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    """Keep account of what the accelerator was given and what the host has waited for."""
    if not any(
        is_accelerator(leaf.device) for one in operands for _, leaf in leaves(one.tensor.placement, run.state.facts)
    ):
        if row.sync == "always" and operands:
            _read(run, operands[0], node, name)
        return
    run.launch(run.step(Kind.PASSED, f"{name} is launched on the accelerator", node))
    if row.sync == "always":
        _read(run, operands[0], node, name)
        run.synchronize(run.step(Kind.PASSED, f"{name} waits for the accelerator", node))


def _read(run: Run, operand: Operand, node: cst.CSTNode, name: str) -> None:
    pending = operand.tensor.pending
    unfinished = pending if pending is not None and pending.epoch == run.state.ambient.epoch else None
    run.emit(HostRead(run.context_at(node), name, operand.tensor, operand.place, unfinished=unfinished))


# Results


def _result(
    run: Run,
    row: Row,
    bound: Bound,
    operands: list[Operand],
    node: cst.CSTNode,
    *,
    mended: Placement | None,
    complete: bool,
) -> Tensor:
    """The tensor that comes out (the first, where several do)."""
    placement = mended if mended is not None else _placement(run, row, bound, operands, node, complete=complete)
    first = operands[0].tensor if operands else None
    result = Tensor(
        placement=placement,
        dtype=result_dtype(
            run, row.dtype if isinstance(row.dtype, str) else (row.dtype or ("unknown",))[0], row, bound, operands, node
        ),
        rank=_rank(run, row, bound, operands),
        grad=_grad(run, row, operands),
    )
    shared = row.view or row.may_view
    if shared and first is not None:
        result = replace(
            result, storage=first.storage, pending=first.pending, pinned=first.pinned if row.view else None
        )
    if row.factory or row.device.startswith("kwarg"):
        result = _made(run, row, bound, result, node)
    return result


def _made(run: Run, row: Row, bound: Bound, result: Tensor, node: cst.CSTNode) -> Tensor:
    """The marks of a tensor straight from its factory."""
    requires = bound.get("requires_grad")
    wanted = requires[0].value if requires else Const(False)
    grad = bool(wanted.value) if isinstance(wanted, Const) else None
    step = next((leaf.cause for _, leaf in leaves(result.placement) if leaf.cause is not None), None)
    pinned = bound.get("pin_memory")
    return replace(
        result,
        grad=grad,
        leaf=True,
        fresh=Fresh(Origin.RANDOM if row.random else Origin.NOTHING, step) if step is not None else None,
        pinned=pinned[0].value == Const(True) if pinned else None,
        storage=frozenset({(id(node), run.context)}),
    )


def _placement(
    run: Run, row: Row, bound: Bound, operands: list[Operand], node: cst.CSTNode, *, complete: bool
) -> Placement:
    kind, _, argument = row.device.partition(":")
    match kind:
        case "group":
            return group_placement(
                [one.tensor for one in operands if one.name in row.same] or [one.tensor for one in operands]
            )
        case "arg":
            return next((one.tensor.placement for one in operands if one.name == argument), UNKNOWN_PLACEMENT)
        case "host":
            return Leaf(
                explicit_placement("cpu"),
                How.DEFAULT,
                run.step(Kind.CREATED, f"made on the host by {short_name(row.name)}", node),
            )
        case "kwarg" | "kwarg-or":
            given = bound.get("device")
            name = short_name(row.name)
            if given is not None and given[0].value != NONE:
                step = run.step(Kind.CREATED, f"created by {name}", node)
                return placement_from(run, given[0].value, given[0].node, step)
            if not complete:
                return UNKNOWN_PLACEMENT
            if kind == "kwarg":
                return default_placement(run, name, node)
            return next((one.tensor.placement for one in operands if one.name == argument), UNKNOWN_PLACEMENT)
    return UNKNOWN_PLACEMENT


def group_placement(tensors: Sequence[Tensor]) -> Placement:
    """Where the result of an operation on these tensors lies, given that it did not fail."""
    if not tensors:
        return UNKNOWN_PLACEMENT
    large = [one for one in tensors if one.rank is not Rank.ZERO] or list(tensors)
    unknown = [one for one in large if is_unknown(one.placement)]
    known = [one for one in large if not is_unknown(one.placement)]
    if not known:
        return UNKNOWN_PLACEMENT
    best = min(known, key=lambda one: _vagueness(one.placement))
    if unknown and best.rank is not Rank.SOME and _is_host(best.placement):
        return UNKNOWN_PLACEMENT
    return best.placement


def _vagueness(placement: Placement) -> int:
    """Which of several placements tells most of their common device: an accelerator, a condition, the caller's, the
    host."""
    if isinstance(placement, Choice):
        return 1
    if is_accelerator(placement.device):
        return 0
    return 3 if is_host(placement.device) else 2


def _is_host(placement: Placement) -> bool:
    return isinstance(placement, Leaf) and is_host(placement.device)


def _rank(run: Run, row: Row, bound: Bound, operands: list[Operand]) -> Rank:
    kind, _, argument = row.rank.partition(":")
    match kind:
        case "broadcast":
            ranks = {one.tensor.rank for one in operands}
            if Rank.SOME in ranks:
                return Rank.SOME
            return Rank.ZERO if ranks == {Rank.ZERO} else Rank.ANY
        case "same":
            return next((one.tensor.rank for one in operands if one.name == argument), Rank.ANY)
        case "reduce":
            given = bound.get("dim")
            return Rank.ZERO if given is None or given[0].value == NONE else Rank.ANY
        case "zero":
            return Rank.ZERO
        case "some":
            return Rank.SOME
        case "reduction":
            given = bound.get("reduction")
            return Rank.SOME if given is not None and given[0].value == Const("none") else Rank.ZERO
        case "shape":
            return _rank_of_shape(run, row, bound)
    return Rank.ANY


def _rank_of_shape(run: Run, row: Row, bound: Bound) -> Rank:
    given = bound.get("size", [])
    if len(given) != 1:
        return Rank.SOME if given else Rank.ANY
    value = given[0].value
    if isinstance(value, Tuple):
        return Rank.SOME if value.items else Rank.ZERO
    if isinstance(value, (Const, Number)):
        return Rank.SOME
    found = iterate(run, value, given[0].node)
    if found.items is not None:
        return Rank.SOME if found.items else Rank.ZERO
    return Rank.ANY


def _grad(run: Run, row: Row, operands: list[Operand]) -> bool | None:
    if row.grad in ("none", "detach") or not run.state.ambient.grad:
        return False
    grads = {one.tensor.grad for one in operands}
    if True in grads:
        return True
    return False if grads == {False} else None


def result_dtype(run: Run, rule: str, row: Row, bound: Bound, operands: list[Operand], node: cst.CSTNode) -> Dtype:
    """The dtype that a row's rule gives."""
    kind, _, argument = rule.partition(":")
    if kind in ("kwarg", "kwarg-or"):
        given = bound.get("dtype")
        if given is not None and given[0].value != NONE:
            value = given[0].value
            return replace(value.dtype, source=Source.EXPLICIT) if isinstance(value, DtypeValue) else UNKNOWN_DTYPE
        if kind == "kwarg":
            return DEFAULT_FLOAT if argument in ("", "default") else Dtype(argument, Source.DEFAULT)
        kind = "same"
    own = {one.name: one.tensor.dtype for one in reversed(operands)}
    match kind:
        case "literal":
            return _literal(bound, argument.split(","))
        case "double":
            return Dtype("float64")
        case "same":
            return own.get(argument, UNKNOWN_DTYPE)
        case "promote" | "promote-all" | "pow":
            return _promoted(bound, operands)
        case "float" | "real-float":
            dtype = _promoted(bound, operands)
            return DEFAULT_FLOAT if dtype.name is not None and category(dtype.name) < 2 else dtype
        case "sum":
            dtype = _promoted(bound, operands[:1])
            return Dtype("int64") if dtype.name is not None and category(dtype.name) < 2 else dtype
        case "real":
            dtype = own.get(argument, UNKNOWN_DTYPE)
            return {"complex64": Dtype("float32"), "complex128": Dtype("float64")}.get(dtype.name or "", dtype)
        case "unknown" | "complex" | "":
            return UNKNOWN_DTYPE
    return Dtype(kind)


def _literal(bound: Bound, names: list[str]) -> Dtype:
    """The dtype a factory takes from the Python numbers it is given (`torch.full`, `torch.arange`), unless told."""
    given = bound.get("dtype")
    if given is not None and given[0].value != NONE:
        value = given[0].value
        return replace(value.dtype, source=Source.EXPLICIT) if isinstance(value, DtypeValue) else UNKNOWN_DTYPE
    kinds = {_kind_of_number(argument.value) for name in names for argument in bound.get(name, ())}
    if "float" in kinds:
        return DEFAULT_FLOAT
    if None in kinds or not kinds:
        return UNKNOWN_DTYPE
    return Dtype("int64" if "int" in kinds else "bool", Source.DEFAULT)


def _kind_of_number(value: Value) -> str | None:
    match value:
        case Const(value=bool() | int() | float() as constant):
            return type(constant).__name__
        case Number(kind=kind):
            return kind
    return None


def _promoted(bound: Bound, operands: Sequence[Operand]) -> Dtype:
    """Torch's promotion: the highest among the dimensioned tensors; a 0-dim one or a number counts only by category."""
    if not operands or any(one.tensor.dtype.name is None for one in operands):
        return UNKNOWN_DTYPE
    large = [one.tensor.dtype for one in operands if one.tensor.rank is not Rank.ZERO]
    small = [one.tensor.dtype for one in operands if one.tensor.rank is Rank.ZERO]
    if (
        large
        and any(one.tensor.rank is Rank.ANY for one in operands)
        and len({one.tensor.dtype.name for one in operands}) > 1
    ):
        return UNKNOWN_DTYPE
    ranked = large or small
    result = ranked[0]
    for dtype in ranked[1:]:
        result = _higher(result, dtype)
    for dtype in small if large else ():
        if result.name and dtype.name and category(dtype.name) > category(result.name):
            result = dtype
    names = {operand.name for operand in operands}
    for name, arguments in bound.items():
        for argument in arguments:
            if name not in names and name in ("other", "value", "exponent", "divisor") and result.name is not None:
                result = _with_number(result, argument.value)
    return result


def _higher(left: Dtype, right: Dtype) -> Dtype:
    if left.name is None or right.name is None:
        return UNKNOWN_DTYPE
    name = promote_names(left.name, right.name)
    if name == left.name:
        return left
    return right if name == right.name else Dtype(name)


def _with_number(dtype: Dtype, value: Value) -> Dtype:
    name = dtype.name
    if name is None or is_floating(name) or name.startswith("complex"):
        return dtype
    match value:
        case Const(value=float()) | Number(kind="float"):
            return DEFAULT_FLOAT
        case Const(value=bool()) | Number(kind="bool"):
            return dtype
        case Const(value=int()) | Number(kind="int"):
            return Dtype("int64") if name == "bool" else dtype
    return UNKNOWN_DTYPE


# What is handed back


def _shape(run: Run, row: Row, bound: Bound, result: Tensor, node: cst.CSTNode) -> Value:
    """The result in the structure the call returns."""
    returns = row.returns
    for name, form in row.returns_if.items():
        given = bound.get(name)
        if given is None or given[0].value in (NONE, Const(False)):
            continue
        if name != "dim" or not isinstance(given[0].value, Tensor):
            returns = form
            break
    kind, _, names = returns.partition(":")
    match kind:
        case "tensor":
            return result
        case "self":
            receiver = bound.get("self") or bound.get("input") or bound.get(row.tensors[0] if row.tensors else "", [])
            return _mutated(receiver[0].value, result) if receiver else result
        case "none":
            return NONE
        case "number":
            return Number()
        case "bool":
            return Number("bool")
        case "string":
            return Text()
        case "list":
            return run.allocate(node, SequenceObject(None, replace(result, rank=Rank.ANY), "tuple"))
        case "tuple" | "nested":
            return _named_tuple(run, row, bound, result, names, node)
    return UNKNOWN


def _mutated(receiver: Value, result: Tensor) -> Value:
    """The receiver after an in-place operation: the same tensor, no longer fresh."""
    if not isinstance(receiver, Tensor):
        return receiver
    grad = True if result.grad else receiver.grad
    return replace(receiver, fresh=None, grad=grad)


def _named_tuple(run: Run, row: Row, bound: Bound, result: Tensor, names: str, node: cst.CSTNode) -> Value:
    """A tuple of tensors; `a,(b,c)` nests. Each takes its own dtype when the row lists several."""
    dtypes = list(row.dtype) if isinstance(row.dtype, tuple) else []
    operands = operands_of(run, row, bound)

    def tensor(position: int) -> Value:
        if position < len(dtypes):
            return replace(result, dtype=result_dtype(run, dtypes[position], row, bound, operands, node))
        return result if position == 0 else replace(result, dtype=UNKNOWN_DTYPE if not dtypes else result.dtype)

    parsed = _parse_names(names)
    position = 0
    items: list[Value] = []
    for part in parsed:
        if isinstance(part, list):
            items.append(Tuple(tuple(tensor(position + i) for i in range(len(part)))))
            position += len(part)
        else:
            items.append(tensor(position))
            position += 1
    flat = all(isinstance(part, str) for part in parsed)
    return Tuple(tuple(items), tuple(part for part in parsed if isinstance(part, str)) if flat else ())


def _parse_names(names: str) -> list[str | list[str]]:
    outer, bracket, inner = names.partition("(")
    parts: list[str | list[str]] = [part for part in outer.split(",") if part]
    if bracket:
        parts.append([part for part in inner.rstrip(")").split(",") if part])
    return parts


def element_of(run: Run, tensor: Tensor) -> Tensor:
    """One element of a tensor along its first dimension."""
    settled = run.settle(tensor)
    return replace(computed(settled), pending=settled.pending, storage=settled.storage, rank=Rank.ANY)


def as_operand(run: Run, name: str, argument: Argument) -> Operand | None:
    """An argument as an operand, if it is a tensor."""
    tensor = as_tensor(argument.value)
    return Operand(name, run.place(argument.node), run.settle(tensor)) if tensor is not None else None
