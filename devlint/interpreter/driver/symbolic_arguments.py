"""Symbolic arguments: the values that an unknown caller outside the program passes to a function.

Each is derived from the name, the annotation and the use of a parameter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import CPU
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import PERHAPS_ON_HOST, Basis, PlacementCase, Step, StepKind
from devlint.domain.storage import Storage
from devlint.domain.value import (
    UNKNOWN,
    LibraryName,
    Number,
    ProgramDefinition,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
    is_single_object,
    named_dtype,
    named_placement,
)
from devlint.interpreter.calls.parameter_binding import parameter_default
from devlint.interpreter.objects.class_hierarchy import (
    ancestors,
    defined_class,
    definition_frame,
    is_autograd_function_class,
    is_module_class,
)
from devlint.interpreter.objects.conventions import is_operation_context
from devlint.interpreter.objects.data_classes import Field, construct_record, data_fields
from devlint.interpreter.objects.evidence import is_tensor_by_uses
from devlint.interpreter.objects.module_state import is_module
from devlint.interpreter.objects.placeholders import forget_tensors_replaced_from_outside
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, Parameter
from devlint.interpreter.program.function_roles import is_test
from devlint.interpreter.program.tensor_annotations import is_tensor_annotation
from devlint.interpreter.program.usage_evidence import annotation_names, parse_quoted_annotation
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.private_call_sites import HostData
from devlint.interpreter.state.unknown_records import ANNOTATED_MODULE, unknown_object_site
from devlint.syntax.tree_walk import dotted_name

NUMBER_ANNOTATIONS: Final = frozenset({"int", "float"})
"""The annotations of parameters that are numbers."""

LIST_ANNOTATIONS: Final = frozenset(
    "List list Sequence MutableSequence Iterable Collection Set set FrozenSet frozenset Deque".split()
)
"""The annotations of containers whose elements all have one type."""
DICT_ANNOTATIONS: Final = frozenset("Dict dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split())
"""The annotations of mappings."""
_HOST_WORDS: Final = frozenset({"cpu", "host"})
"""The words in the name of a parameter that say that callers pass a tensor of the host."""
MAX_DEPTH: Final = 3
"""The depth up to which nested annotations are followed: enough for a record of lists of tensors."""


def symbolic_arguments(frame: Frame, info: FunctionInfo, *, skip_first: bool) -> Arguments:
    """Return the arguments that an unknown caller outside the program passes to a function.

    `skip_first` leaves out the first parameter, `self` or `cls`.
    """
    arguments = Arguments(info.node)
    parameters = info.parameters[1:] if skip_first else info.parameters
    in_module = info.owner is not None and (
        is_module_class(frame, info.owner) or is_autograd_function_class(frame, info.owner)
    )
    for parameter in parameters:
        if parameter.kind in ("star", "star-star"):
            arguments.complete = False
            continue
        value = UNKNOWN if is_test(info) else symbolic_value(frame, info, parameter, in_module=in_module)
        value = _as_the_file_passes_it(frame, info, parameter, value)
        argument = Argument(value, parameter.node)
        if parameter.kind == "keyword":
            arguments.keywords[parameter.name] = argument
        else:
            arguments.positional.append(argument)
    return arguments


def _as_the_file_passes_it(frame: Frame, info: FunctionInfo, parameter: Parameter, value: Value) -> Value:
    """Return a symbolic argument, changed where the calls in the function's own file decide on its placement.

    Data of unknown structure that these calls put on the host becomes unknown, since no caller chooses its device. Of
    the device of a tensor whose name says that it is on the host (`lengths_cpu`) nothing is known.
    """
    if isinstance(value, Tensor) and not _HOST_WORDS.isdisjoint(parameter.name.lower().split("_")):
        return replace(value, placement=PERHAPS_ON_HOST)
    sites = frame.analysis.private_call_sites
    passed = sites.host_data(info, parameter.name)
    if passed is HostData.TENSOR or (isinstance(value, Tensor) and sites.is_parameter_on_host(info, parameter.name)):
        tensor = as_tensor(value)
        return value if tensor is None else _assume_on_host(frame, parameter, tensor)
    if passed is HostData.CONTAINER or _is_collating(info):
        return _assume_on_host(frame, parameter, value) if isinstance(value, Tensor) else UNKNOWN
    return value


def _is_collating(info: FunctionInfo) -> bool:
    """Return whether a loader of the file collates its samples, which are on the host, by a function or method."""
    name = info.name.rpartition(".")[2]
    owner = info.owner.name if info.owner is not None and name == "__call__" else name
    return owner in info.module.collating_functions


def _assume_on_host(frame: Frame, parameter: Parameter, tensor: Tensor) -> Tensor:
    """Return a tensor argument placed on the host, for a function that its file only calls with host tensors."""
    message = "passed from the host in every call of the file"
    step = frame.assuming_step(
        StepKind.ASSUMED, message, parameter.node, AssumptionKind.CALL_SITES, "no other file calls the function"
    )
    return replace(tensor, placement=PlacementCase(CPU, Basis.ASSUMED, step))


def symbolic_fields(frame: Frame, info: ClassInfo, fields: list[Field]) -> Arguments:
    """Return symbolic arguments for the constructor of a record, such as a dataclass.

    They stand for what an unknown caller outside the program passes.
    """
    message = f"the fields of `{info.name}` come from the caller, who chooses their device"
    step = frame.step(StepKind.CALLER, message, info.node.name)
    arguments = Arguments(info.node)
    for one in fields:
        place = info.node.name
        if one.is_argument:
            value = _value_of_field(frame, info, one, ("param", info, "self"), "self", step, 0)
            arguments.keywords[one.name] = Argument(value, place)
    return arguments


def _value_of_field(
    frame: Frame, info: ClassInfo, field: Field, owner: Hashable, text: str, step: Step, depth: int
) -> Value:
    """Return the symbolic value of a record's field by the field's annotation.

    If the annotation does not tell, the result is an unknown value named after the field.
    """
    origin, text = ("attr", owner, field.name), f"{text}.{field.name}"
    found = _value_of_annotation(
        _AnnotationContext(definition_frame(frame, info), step, frame), field.annotation, origin, text, depth
    )
    return found if found is not None else Unknown(origin, text, step)


def symbolic_value(frame: Frame, info: FunctionInfo, parameter: Parameter, *, in_module: bool) -> Value:
    """Return the symbolic value of a parameter, judged by its annotation, the uses of its name, and its default value.

    The value is a tensor, a container or record of tensors, a number, or an unknown value named after the parameter.
    """
    origin = ("param", info, parameter.name)
    known, step = _caller_steps(frame, parameter)
    names = set(annotation_names(parameter.annotation))
    if names and names <= NUMBER_ANNOTATIONS:
        return Number(names.pop() if len(names) == 1 else None, origin, parameter.name)
    found = _value_of_annotation(
        _AnnotationContext(definition_frame(frame, info), known, frame), parameter.annotation, origin, parameter.name, 0
    )
    if found is not None:
        return found
    # A context holds whatever `forward` has stored in it, under the names of a tensor's attributes too.
    is_context = is_operation_context(frame, info, parameter.name)
    used = not is_context and is_tensor_by_uses(frame, parameter.name, info.evidence, array_like=in_module)
    if not names and not used and _is_number(parameter.default):
        return Number(None, origin, parameter.name)
    if not names and not used and _is_bool(parameter.default):
        return Number("bool", origin, parameter.name)
    if used and not names:
        return Tensor(
            named_placement(origin, f"`{parameter.name}`", step),
            named_dtype(origin, parameter.name),
            memory=Storage(origin),
        )
    default = _callable_default(frame, info, parameter)
    if default is not None:
        return default
    value = Unknown(origin, parameter.name, step)
    if _names_module_class(frame, info, parameter):
        frame.put(unknown_object_site(value), Instance(ANNOTATED_MODULE, {}))
    return value


def _names_module_class(frame: Frame, info: FunctionInfo, parameter: Parameter) -> bool:
    """Return whether the annotation of a parameter names a module class of the program."""
    if parameter.annotation is None or dotted_name(parameter.annotation) is None:
        return False
    cls = defined_class(definition_frame(frame, info).evaluate(parameter.annotation))
    return cls is not None and is_module_class(frame, cls)


def _callable_default(frame: Frame, info: FunctionInfo, parameter: Parameter) -> Value | None:
    """Return the default value of a parameter if it is a function or a module of the program, and None if not.

    That is what the code is written for. A function that returns its argument is only a place for another one.
    """
    if parameter.default is None or isinstance(parameter.default, (cst.Integer, cst.Float, cst.SimpleString)):
        return None
    value = parameter_default(frame, info, parameter)
    if isinstance(value, ProgramDefinition) and isinstance(value.definition, FunctionInfo):
        return None if value.definition.returns_its_argument else value
    return value if is_module(frame, value) else None


def _caller_steps(frame: Frame, parameter: Parameter) -> tuple[Step, Step]:
    """Return the steps that introduce an argument of an unknown caller: one whose type is known, and any other.

    The latter assumes that the argument is a tensor, which counts wherever it is used as one.
    """
    message = f"`{parameter.name}` comes from the caller, who chooses its device"
    known = frame.step(StepKind.CALLER, message, parameter.node)
    clause = f"`{parameter.name}` is a tensor"
    return known, frame.assuming_step(StepKind.CALLER, message, parameter.node, AssumptionKind.TENSOR, clause)


def _is_number(node: cst.BaseExpression | None) -> bool:
    """Return whether a parameter's default value is written as a number, so that the argument is a number too."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    return isinstance(node, (cst.Integer, cst.Float))


def _is_bool(node: cst.BaseExpression | None) -> bool:
    """Return whether a parameter's default value is written as True or False, so that the argument is a flag."""
    return isinstance(node, cst.Name) and node.value in ("True", "False")


@dataclass(frozen=True, slots=True)
class _AnnotationContext:
    """The context in which a parameter's annotation is turned into a symbolic value.

    `home` is the frame in which the annotation's names are looked up, `step` is the step that introduces the caller's
    values in their history, and `frame` allocates the objects that the annotation describes.
    """

    home: Frame
    step: Step
    frame: Frame


def _value_of_annotation(
    context: _AnnotationContext, node: cst.BaseExpression | None, origin: Hashable, text: str, depth: int
) -> Value | None:
    """Return the symbolic value that an annotation describes: a tensor, or a container or record of tensors.

    The result is None if the annotation tells nothing of tensors, or is nested too deep.
    """
    if node is None or depth > MAX_DEPTH:
        return None
    if isinstance(node, cst.SimpleString):
        return _value_of_annotation(context, parse_quoted_annotation(node), origin, text, depth)
    if is_tensor_annotation(node):
        memory = Storage(origin) if is_single_object(origin) else None
        return Tensor(named_placement(origin, f"`{text}`", context.step), named_dtype(origin, text), memory=memory)
    if depth and dotted_name(node) in NUMBER_ANNOTATIONS:
        # Integers are passed where `float` is asked for, as counts in a list of figures.
        return Number("int" if dotted_name(node) == "int" else None, origin, text)
    sides = [one for one in _alternatives(node) if dotted_name(one) != "None"]
    if sides != [node]:
        kinds = [_value_of_annotation(context, one, origin, text, depth) for one in sides]
        return kinds[0] if len(kinds) == 1 or (kinds and all(isinstance(one, Tensor) for one in kinds)) else None
    if isinstance(node, cst.Subscript):
        return _value_of_container(context, node, origin, text, depth)
    return _value_of_record(context, node, origin, text, depth)


def _alternatives(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the alternatives of a union annotation: `X` and `None` of `X | None`, `Optional[X]` or `Union[X, None]`.

    Any other annotation is its own only alternative.
    """
    match node:
        case cst.BinaryOperation(operator=cst.BitOr(), left=left, right=right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case cst.Subscript() if _last_name(node.value) in ("Optional", "Union"):
            yield from _type_arguments(node)
        case _:
            yield node


def _last_name(node: cst.BaseExpression) -> str:
    """Return the last part of the dotted name in a syntax node (`Tensor` of `torch.Tensor`)."""
    return (dotted_name(node) or "").rpartition(".")[2]


def _type_arguments(node: cst.Subscript) -> list[cst.BaseExpression]:
    """Return the syntax nodes of the type arguments of an annotation (`str` and `Tensor` of `Dict[str, Tensor]`)."""
    return [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]


def _value_of_container(
    context: _AnnotationContext, node: cst.Subscript, origin: Hashable, text: str, depth: int
) -> Value | None:
    """Return the symbolic container that an annotation such as `List[Tensor]` describes.

    The result is None if the annotated container holds no tensors.
    """
    kind, inner = _last_name(node.value), _type_arguments(node)
    if not inner:
        return None
    if kind in LIST_ANNOTATIONS or (kind in ("Tuple", "tuple") and isinstance(inner[-1], cst.Ellipsis)):
        element = _value_of_annotation(context, inner[0], ("element", origin), text, depth + 1)
        name = "tuple" if kind in ("Tuple", "tuple") else "list"
        return context.frame.allocate(node, Sequence(None, element, name)) if element is not None else None
    if kind in DICT_ANNOTATIONS:
        element = _value_of_annotation(context, inner[-1], ("element", origin), text, depth + 1)
        return context.frame.allocate(node, Dict({}, element)) if element is not None else None
    if kind in ("Tuple", "tuple"):
        items = [
            _value_of_annotation(context, one, ("item", origin, i), text, depth + 1) for i, one in enumerate(inner)
        ]
        if any(one is not None for one in items):
            found = (one or Unknown(("item", origin, i), text, context.step) for i, one in enumerate(items))
            return Tuple(tuple(found))
    return None


def _is_loader(frame: Frame, cls: Value) -> bool:
    """Return whether a class is a data loader, whose batches are placed on a device by the loader itself."""
    info = defined_class(cls)
    line = ancestors(frame, info) if info is not None else [cls]
    return any(isinstance(one, LibraryName) and one.name.rpartition(".")[2] == "DataLoader" for one in line)


def _value_of_record(
    context: _AnnotationContext, node: cst.BaseExpression, origin: Hashable, text: str, depth: int
) -> Value | None:
    """Return a symbolic object of the record class (such as a dataclass) that an annotation names.

    The result is None unless at least one of the record's fields is a tensor or contains one.
    """
    if dotted_name(node) is None or depth == MAX_DEPTH:
        return None
    cls = context.home.evaluate(node)
    if _is_loader(context.frame, cls):
        return UNKNOWN
    info = defined_class(cls)
    fields = data_fields(context.frame, info) if info is not None else None
    if info is None or fields is None:
        return None
    given = {
        one.name: _value_of_field(context.frame, info, one, origin, text, context.step, depth + 1)
        for one in fields
        if one.is_argument
    }
    if all(isinstance(one, (Unknown, Number)) for one in given.values()):
        return None
    arguments = Arguments(node, keywords={name: Argument(value, node) for name, value in given.items()})
    record = construct_record(context.frame, info, fields, arguments, node)
    if isinstance(record, Ref):
        forget_tensors_replaced_from_outside(context.frame, record, info, given)
    return record
