"""Classes of the analysed program: their ancestors, and the methods, setters and attributes that a name resolves to."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, Mapping
from typing import Final

import libcst as cst

from devlint.domain.held_values import without_sizes
from devlint.domain.placement import Scope
from devlint.domain.value import Const, LibraryName, ProgramDefinition, Tuple, Value
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.base_heap import write_to_base_heap
from devlint.interpreter.state.frame import Frame

MAX_ANCESTORS: Final = 40
"""The number of ancestors kept for one class; deeper hierarchies do not occur outside generated code."""


def defined_class(cls: Hashable) -> ClassInfo | None:
    """Return the definition of a class of the analysed program; None for a library class and for anything else."""
    definition = cls.definition if isinstance(cls, ProgramDefinition) else None
    return definition if isinstance(definition, ClassInfo) else None


def class_of_definition(frame: Frame, node: cst.ClassDef) -> ClassInfo:
    """Return the ClassInfo record of the class that a `class` statement defines.

    A class defined inside a function has one record for each chain of calls that runs the statement.
    """

    def make() -> ClassInfo:
        return ClassInfo(node.name.value, frame.module, frame.unit, lambda: node)

    info = frame.analysis.class_definition(node, make)
    if info.closure is not None and info.closure.context != frame.context:
        info = frame.analysis.class_definition((id(node), frame.context), make)
    info.closure = frame if frame.function is not None else None
    return info


def ancestors(frame: Frame, info: ClassInfo) -> list[Value]:
    """Return a class and everything it inherits from, in Python's lookup order (depth first, without repeats).

    A base that is not a class of the program is represented by the value of its expression. At most `MAX_ANCESTORS` are
    kept.
    """
    found = frame.analysis.ancestry.get(info)
    if found is not None:
        return found
    found = frame.analysis.ancestry[info] = [ProgramDefinition(info)]
    around = definition_frame(frame, info)
    for arg in info.node.bases:
        value = (
            around.evaluate(arg.value) if not isinstance(arg.value, cst.Subscript) else around.evaluate(arg.value.value)
        )
        below = (
            ancestors(frame, value.definition)
            if isinstance(value, ProgramDefinition) and isinstance(value.definition, ClassInfo)
            else [value]
        )
        for one in below:
            if one in found:
                found.remove(one)
            found.append(one)
    del found[MAX_ANCESTORS:]
    return found


def definition_frame(frame: Frame, info: ClassInfo | FunctionInfo) -> Frame:
    """Return the frame in which the expressions of a definition's header (bases, defaults, decorators) are evaluated.

    For a definition inside a function, this is the frame of that function; for any other, a new frame at module level.
    """
    if info.closure is not None:
        around: Frame = info.closure
        return around
    outer = frame.analysis.module_frame(info.module)
    scope = Scope(info.name, info.module.filename, entry=True)
    return type(frame)(frame.analysis, info.module, info.unit, scope, State({}, frame.state.heap), outer=outer)


def is_module_class(frame: Frame, info: ClassInfo) -> bool:
    """Return whether a class of the program inherits from `nn.Module`."""
    known = frame.analysis.module_classes.get(info)
    if known is None:
        known = frame.analysis.module_classes[info] = any(
            is_module_name(frame, one.name) for one in ancestors(frame, info) if isinstance(one, LibraryName)
        )
    return known


def is_autograd_function_class(frame: Frame, info: ClassInfo) -> bool:
    """Return whether a class inherits from `torch.autograd.Function`.

    The static methods of such a class define a new operation and compute for tensors on any device.
    """
    return any(isinstance(one, LibraryName) and one.name in AUTOGRAD_FUNCTION_CLASSES for one in ancestors(frame, info))


def is_dataset_class(frame: Frame, info: ClassInfo) -> bool:
    """Return whether a class inherits from one of torch's datasets, whose samples a DataLoader makes batches of."""
    return any(isinstance(one, LibraryName) and one.name in DATASET_CLASSES for one in ancestors(frame, info))


DATASET_CLASSES: Final = frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"})
"""The dotted names of torch's dataset base classes."""
AUTOGRAD_FUNCTION_CLASSES: Final = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
"""The dotted names of the base class of operations with a backward pass of their own."""


def is_module_name(frame: Frame, name: str) -> bool:
    """Return whether devlint's semantics table describes a library class of this name as an `nn.Module` class."""
    row = frame.analysis.table.find(name)
    return row is not None and (row.module is not None or row.special in ("container", "module"))


def _is_bare_base(frame: Frame, name: str) -> bool:
    """Return whether a library class is a base class without layers: `nn.Module`, or a framework's counterpart."""
    row = frame.analysis.table.find(name)
    return row is not None and (row.special == "module" or row.name == "torch.nn.Module")


def library_base(frame: Frame, info: ClassInfo) -> str | None:
    """Return the name of the first library module class among a class's ancestors; None without one.

    Classes without layers of their own, such as `nn.Module`, do not count.
    """
    for one in ancestors(frame, info):
        if isinstance(one, LibraryName) and is_module_name(frame, one.name) and not _is_bare_base(frame, one.name):
            return frame.analysis.table.canonical(one.name)
    return None


def has_unknown_base(frame: Frame, info: ClassInfo) -> bool:
    """Return whether part of a class's ancestry is unknown: neither in the program nor a known library class.

    So is a base that had the name of the class before it.
    """
    for one in ancestors(frame, info):
        if isinstance(one, ProgramDefinition):
            if isinstance(one.definition, ClassInfo) and one.definition.name in one.definition.unit.bases:
                return True
            continue
        if not isinstance(one, LibraryName) or not (one.name in HARMLESS_BASES or is_module_name(frame, one.name)):
            return True
    return False


HARMLESS_BASES: Final = frozenset(
    "builtins.object abc.ABC typing.Generic typing.Protocol typing.NamedTuple torch.utils.data.Dataset enum.Enum"
    " torch.utils.data.IterableDataset torch.utils.data.Sampler torch.optim.Optimizer builtins.dict"
    " builtins.list".split()
)
"""Library classes without a module row that a class may inherit from and still count as fully known."""


def find_method(frame: Frame, info: ClassInfo, name: str, after: ClassInfo | None = None) -> FunctionInfo | None:
    """Return the method that a name resolves to on a class; None when no class of the program defines one.

    With `after`, the lookup starts behind the class `after`, as for `super()` in that class. A method that the program
    has replaced by assigning to the class resolves to the assigned function, and to None if the assigned value is no
    function.
    """
    lookup_order = ancestors(frame, info)
    if after is not None:
        position = next((i for i, one in enumerate(lookup_order) if one == ProgramDefinition(after)), -1)
        lookup_order = lookup_order[position + 1 :]
    for one in lookup_order:
        if isinstance(one, ProgramDefinition) and isinstance(one.definition, ClassInfo):
            method = one.definition.methods.get(name)
            if method is None:
                continue
            if (one.definition, name) in frame.analysis.patched_methods:
                value = class_body_values(frame, one.definition)[name]
                assigned = value.definition if isinstance(value, ProgramDefinition) else None
                return assigned if isinstance(assigned, FunctionInfo) else None
            return frame.analysis.method_definition(method)
    return None


def find_special_method(frame: Frame, value: Value, name: str) -> FunctionInfo | None:
    """Return the special method (`__add__`, `__enter__`) of an object of a class in the program; None without one."""
    thing = frame.instance(value)
    cls = thing.cls if thing is not None else value.cls if isinstance(value, Tuple) else None
    info = cls.definition if isinstance(cls, ProgramDefinition) else None
    return find_method(frame, info, name) if isinstance(info, ClassInfo) else None


def find_setter(frame: Frame, info: ClassInfo, name: str) -> FunctionInfo | None:
    """Return the setter function of a property of a class; None when the name is not a property with a setter."""
    for one in program_classes(frame, info):
        if name in one.setters:
            return frame.analysis.method_definition(one.setters[name])
        if name in one.methods:
            return None
    return None


def find_class_attribute(frame: Frame, info: ClassInfo, name: str) -> Value | None:
    """Return the value of a class attribute that is not a method; None when no class body of the program binds it."""
    for one in program_classes(frame, info):
        values = class_body_values(frame, one)
        if name in values:
            return values[name]
    return None


def class_attributes(frame: Frame, info: ClassInfo) -> Mapping[str, Value]:
    """Return the attributes of a class and its ancestors that are not methods; the first class in lookup order wins."""
    return ChainMap(*(class_body_values(frame, one) for one in program_classes(frame, info)))


def program_classes(frame: Frame, info: ClassInfo) -> Iterator[ClassInfo]:
    """Yield a class and those of its ancestors that the analysed program defines, in lookup order."""
    for one in ancestors(frame, info):
        if isinstance(one, ProgramDefinition) and isinstance(one.definition, ClassInfo):
            yield one.definition


def later_methods(frame: Frame, info: ClassInfo) -> Iterator[FunctionInfo]:
    """Yield the methods of a class and of its ancestors in the program, except for `__init__`."""
    for one in program_classes(frame, info):
        for name, method in one.methods.items():
            if name != "__init__":
                yield frame.analysis.method_definition(method)


def class_body_values(frame: Frame, info: ClassInfo) -> dict[str, Value]:
    """Run a class body and return the names it binds, methods excluded; the result is computed once for each class."""
    values = frame.analysis.class_values.get(info)
    if values is not None:
        return values
    values = frame.analysis.class_values[info] = {}
    header_frame = definition_frame(frame, info)
    scope = Scope(info.name, info.module.filename, entry=True)
    body_frame = type(frame)(
        frame.analysis, info.module, info.unit, scope, State({}, frame.state.heap), outer=header_frame
    )
    body_frame.state.names["__name__"] = Const(info.name)
    with write_to_base_heap(body_frame):
        for node in info.node.body.body:
            if not isinstance(node, cst.FunctionDef):
                body_frame.execute(node)
    for name, value in body_frame.state.names.items():
        _bind(frame, info, name, value)
    return values


def classes_with_empty_tensors(frame: Frame) -> set[ClassInfo]:
    """Return the classes of the program's objects that themselves hold, or have held, a tensor without elements."""
    for info in list(frame.analysis.newly_instantiated):
        for one in program_classes(frame, info):
            class_body_values(frame, one)
        frame.analysis.newly_instantiated.pop(info, None)
    return frame.analysis.classes_with_empty_tensors


def bind_class_attribute(frame: Frame, info: ClassInfo, name: str, value: Value) -> None:
    """Bind an attribute of a class itself, as `Model.cache = ...` does."""
    class_body_values(frame, info)
    _bind(frame, info, name, value)
    if name in info.methods:
        frame.analysis.patched_methods.add((info, name))


def _bind(frame: Frame, info: ClassInfo, name: str, value: Value) -> None:
    """Bind an attribute of a class whose body has begun to run."""
    frame.analysis.class_values[info][name] = value
    if without_sizes(value) is not value:
        frame.analysis.classes_with_empty_tensors.add(info)


def enclosing_class(frame: Frame) -> ClassInfo | None:
    """Return the class whose method a frame runs, nested functions included; None outside of methods.

    A bare `super()` refers to this class.
    """
    current: Frame | None = frame
    while current is not None:
        if current.function is not None and current.function.owner is not None:
            return current.function.owner
        current = current.outer
    return None
