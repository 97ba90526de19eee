"""Arguments of which only the name, the annotation and the use are known: what somebody outside would give."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import Basis, PlacementCase, Step, StepKind
from devlint.domain.storage import Storage
from devlint.domain.value import (
    UNKNOWN,
    LibraryName,
    Number,
    Tensor,
    Tuple,
    Unknown,
    Value,
    is_single_object,
    named_placement,
)
from devlint.interpreter.objects.class_hierarchy import (
    ancestors,
    defined_class,
    definition_frame,
    is_autograd_function_class,
    is_module_class,
)
from devlint.interpreter.objects.data_classes import Field, construct_record, data_fields
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, Parameter
from devlint.interpreter.program.usage_evidence import annotation_names, parse_quoted_annotation
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

TENSOR_ANNOTATIONS: Final = frozenset(
    "Tensor torch.Tensor FloatTensor LongTensor BoolTensor IntTensor torch.FloatTensor torch.LongTensor"
    " torch.BoolTensor"
    " torch.IntTensor nn.Parameter torch.nn.Parameter".split()
)


NUMBERS: Final = frozenset({"int", "float"})

LISTS: Final = frozenset(
    "List list Sequence MutableSequence Iterable Collection Set set FrozenSet frozenset Deque".split()
)
DICTS: Final = frozenset("Dict dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split())
MAX_DEPTH: Final = 3
"""How deep annotations are followed: a record of lists of tensors."""


def symbolic_arguments(frame: Frame, info: FunctionInfo, *, skip_first: bool) -> Arguments:
    """Arguments of which only the parameter's name, annotation and use are known."""
    arguments = Arguments(info.node)
    parameters = info.parameters[1:] if skip_first else info.parameters
    in_module = info.owner is not None and (
        is_module_class(frame, info.owner) or is_autograd_function_class(frame, info.owner)
    )
    for parameter in parameters:
        if parameter.kind in ("star", "star-star"):
            arguments.complete = False
            continue
        value = UNKNOWN if _is_test(info) else symbolic_value(frame, info, parameter, in_module=in_module)
        if frame.analysis.private_call_sites.takes(info, parameter.name):
            value = _on_host(frame, parameter, value)
        argument = Argument(value, parameter.node)
        if parameter.kind == "keyword":
            arguments.keywords[parameter.name] = argument
        else:
            arguments.positional.append(argument)
    return arguments


def _is_test(info: FunctionInfo) -> bool:
    """Whether pytest calls it, with what its fixtures make: a test is called by nobody else."""
    name = info.name.rpartition(".")[2]
    if not name.startswith("test_"):
        return "fixture" in info.decorator_names
    return not any(name in unit.mentions for unit in info.module.index.statements if unit is not info.unit)


def _on_host(frame: Frame, parameter: Parameter, value: Value) -> Value:
    """An argument of private code that the file itself only ever hands over on the host."""
    step = frame.step(StepKind.ASSUMED, f"`{parameter.name}` is on the host in every call of the file", parameter.node)
    return replace(value, placement=PlacementCase(CPU, Basis.ASSUMED, step)) if isinstance(value, Tensor) else value


def symbolic_fields(frame: Frame, info: ClassInfo, fields: list[Field]) -> Arguments:
    """What a record is made of by somebody outside."""
    step = frame.step(StepKind.CALLER, f"the fields of `{info.name}` are the caller's, on any device", info.node.name)
    arguments = Arguments(info.node)
    for one in fields:
        place = info.node.name
        if one.given:
            value = _field(frame, info, one, ("param", info, "self"), "self", step, 0)
            arguments.keywords[one.name] = Argument(value, place)
    return arguments


def _field(frame: Frame, info: ClassInfo, field: Field, owner: Hashable, text: str, step: Step, depth: int) -> Value:
    origin, text = ("attr", owner, field.name), f"{text}.{field.name}"
    found = _annotated(_Named(definition_frame(frame, info), step, frame), field.annotation, origin, text, depth)
    return found if found is not None else Unknown(origin, text, step)


def symbolic_value(frame: Frame, info: FunctionInfo, parameter: Parameter, *, in_module: bool) -> Value:
    """An argument: a tensor where its annotation or its use says so, else something with a name."""
    origin = ("param", info, parameter.name)
    step = frame.step(StepKind.CALLER, f"`{parameter.name}` is the caller's, on any device", parameter.node)
    names = set(annotation_names(parameter.annotation))
    if names and names <= NUMBERS:
        return Number(names.pop() if len(names) == 1 else None, origin, parameter.name)
    found = _annotated(
        _Named(definition_frame(frame, info), step, frame), parameter.annotation, origin, parameter.name, 0
    )
    if found is not None:
        return found
    used = info.evidence.is_tensor(parameter.name, array_like=in_module)
    if not names and not used and _is_number(parameter.default):
        return Number(None, origin, parameter.name)
    if used and not names:
        return Tensor(named_placement(origin, f"`{parameter.name}`", step), memory=Storage(origin))
    return Unknown(origin, parameter.name, step)


def _is_number(node: cst.BaseExpression | None) -> bool:
    """Whether a default is a number as the program writes it: what stands in for it is one too."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    return isinstance(node, (cst.Integer, cst.Float))


@dataclass(frozen=True, slots=True)
class _Named:
    """Where an annotation's names mean something, the caller's step, and where what it describes is made."""

    home: Frame
    step: Step
    frame: Frame


def _annotated(at: _Named, node: cst.BaseExpression | None, origin: Hashable, text: str, depth: int) -> Value | None:
    """What an annotation says: a tensor, or a container or a record of tensors; None where it says nothing of them."""
    if node is None or depth > MAX_DEPTH:
        return None
    if isinstance(node, cst.SimpleString):
        return _annotated(at, parse_quoted_annotation(node), origin, text, depth)
    if dotted_name(node) in TENSOR_ANNOTATIONS:
        memory = Storage(origin) if is_single_object(origin) else None
        return Tensor(named_placement(origin, f"`{text}`", at.step), memory=memory)
    if depth and dotted_name(node) in NUMBERS:
        return Number(dotted_name(node), origin, text)
    sides = [one for one in _sides(node) if dotted_name(one) != "None"]
    if sides != [node]:
        kinds = [_annotated(at, one, origin, text, depth) for one in sides]
        return kinds[0] if len(kinds) == 1 or (kinds and all(isinstance(one, Tensor) for one in kinds)) else None
    if isinstance(node, cst.Subscript):
        return _container(at, node, origin, text, depth)
    return _record(at, node, origin, text, depth)


def _sides(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The alternatives of `X | None`, `Optional[X]` and `Union[X, None]`; any other annotation itself."""
    match node:
        case cst.BinaryOperation(operator=cst.BitOr(), left=left, right=right):
            yield from _sides(left)
            yield from _sides(right)
        case cst.Subscript() if _last(node.value) in ("Optional", "Union"):
            yield from _inner(node)
        case _:
            yield node


def _last(node: cst.BaseExpression) -> str:
    return (dotted_name(node) or "").rpartition(".")[2]


def _inner(node: cst.Subscript) -> list[cst.BaseExpression]:
    return [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]


def _container(at: _Named, node: cst.Subscript, origin: Hashable, text: str, depth: int) -> Value | None:
    kind, inner = _last(node.value), _inner(node)
    if not inner:
        return None
    if kind in LISTS or (kind in ("Tuple", "tuple") and isinstance(inner[-1], cst.Ellipsis)):
        element = _annotated(at, inner[0], ("element", origin), text, depth + 1)
        name = "tuple" if kind in ("Tuple", "tuple") else "list"
        return at.frame.allocate(node, Sequence(None, element, name)) if element is not None else None
    if kind in DICTS:
        element = _annotated(at, inner[-1], ("element", origin), text, depth + 1)
        return at.frame.allocate(node, Dict({}, element)) if element is not None else None
    if kind in ("Tuple", "tuple"):
        items = [_annotated(at, one, ("item", origin, i), text, depth + 1) for i, one in enumerate(inner)]
        if any(one is not None for one in items):
            found = (one or Unknown(("item", origin, i), text, at.step) for i, one in enumerate(items))
            return Tuple(tuple(found))
    return None


def _is_loader(frame: Frame, cls: Value) -> bool:
    """Whether a class is one of loaders: where their batches are is for the loader to say, not for the caller."""
    info = defined_class(cls)
    line = ancestors(frame, info) if info is not None else [cls]
    return any(isinstance(one, LibraryName) and one.name.rpartition(".")[2] == "DataLoader" for one in line)


def _record(at: _Named, node: cst.BaseExpression, origin: Hashable, text: str, depth: int) -> Value | None:
    """An object of one of the program's records, if any of its fields is a tensor."""
    if dotted_name(node) is None or depth == MAX_DEPTH:
        return None
    cls = at.home.evaluate(node)
    if _is_loader(at.frame, cls):
        return UNKNOWN
    info = defined_class(cls)
    fields = data_fields(at.frame, info) if info is not None else None
    if info is None or fields is None:
        return None
    given = {one.name: _field(at.frame, info, one, origin, text, at.step, depth + 1) for one in fields if one.given}
    if all(isinstance(one, (Unknown, Number)) for one in given.values()):
        return None
    arguments = Arguments(node, keywords={name: Argument(value, node) for name, value in given.items()})
    return construct_record(at.frame, info, fields, arguments, node)
