"""Classes of the program: their ancestors, and what a name means on them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, Mapping
from typing import Final

import libcst as cst

from devlint.domain.placement import Scope
from devlint.domain.value import Const, LibraryName, ProgramDefinition, Tuple, Value
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.base_heap import write_to_base_heap
from devlint.interpreter.state.frame import Frame

MAX_ANCESTORS: Final = 40
"""Classes looked at for one instance; deeper hierarchies do not occur outside generated code."""


def defined_class(cls: Hashable) -> ClassInfo | None:
    """Return the definition of one of the program's classes, None for a library's class and for anything else."""
    definition = cls.definition if isinstance(cls, ProgramDefinition) else None
    return definition if isinstance(definition, ClassInfo) else None


def class_of_definition(frame: Frame, node: cst.ClassDef) -> ClassInfo:
    """The class a statement defines."""

    def make() -> ClassInfo:
        return ClassInfo(node.name.value, frame.module, frame.unit, lambda: node)

    info = frame.analysis.class_(node, make)
    if info.closure is not None and info.closure.context != frame.context:
        info = frame.analysis.class_((id(node), frame.context), make)
    info.closure = frame if frame.function is not None else None
    return info


def ancestors(frame: Frame, info: ClassInfo) -> list[Value]:
    """The class itself and all it inherits from, in the order Python looks names up (depth first, without repeats)."""
    found = frame.analysis.ancestry.get(info)
    if found is not None:
        return found
    found = frame.analysis.ancestry[info] = [ProgramDefinition(info)]
    home = definition_frame(frame, info)
    for arg in info.node.bases:
        value = home.evaluate(arg.value) if not isinstance(arg.value, cst.Subscript) else home.evaluate(arg.value.value)
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
    """A run in which the expressions of a definition's head (bases, defaults, decorators) mean what they mean there."""
    if info.closure is not None:
        around: Frame = info.closure
        return around
    outer = frame.analysis.module_frame(info.module)
    scope = Scope(info.name, info.module.filename, entry=True)
    return type(frame)(frame.analysis, info.module, info.unit, scope, State({}, frame.state.heap), outer=outer)


def is_module_class(frame: Frame, info: ClassInfo) -> bool:
    """Whether instances are nn.Modules."""
    known = frame.analysis.module_classes.get(info)
    if known is None:
        known = frame.analysis.module_classes[info] = any(
            is_module_name(frame, one.name) for one in ancestors(frame, info) if isinstance(one, LibraryName)
        )
    return known


def is_autograd_function_class(frame: Frame, info: ClassInfo) -> bool:
    """Whether the class is an operation that autograd is taught: its static methods compute for any device."""
    return any(isinstance(one, LibraryName) and one.name in OPERATIONS for one in ancestors(frame, info))


def is_dataset_class(frame: Frame, info: ClassInfo) -> bool:
    """Whether the class is one of torch's datasets, whose samples a loader collects."""
    return any(isinstance(one, LibraryName) and one.name in DATASETS for one in ancestors(frame, info))


DATASETS: Final = frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"})
OPERATIONS: Final = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def is_module_name(frame: Frame, name: str) -> bool:
    """Whether a library name is an nn.Module class."""
    row = frame.analysis.table.find(name)
    return row is not None and (row.module is not None or row.special in ("container", "module"))


def _registers_nothing(frame: Frame, name: str) -> bool:
    """Whether a module class is one to build on: `nn.Module` itself, and what frameworks make of it."""
    row = frame.analysis.table.find(name)
    return row is not None and (row.special == "module" or row.name == "torch.nn.Module")


def library_base(frame: Frame, info: ClassInfo) -> str | None:
    """The first library class among the ancestors that the table describes as a module."""
    for one in ancestors(frame, info):
        if isinstance(one, LibraryName) and is_module_name(frame, one.name) and not _registers_nothing(frame, one.name):
            return frame.analysis.table.canonical(one.name)
    return None


def has_unknown_base(frame: Frame, info: ClassInfo) -> bool:
    """Whether part of the class lies outside what can be read."""
    for one in ancestors(frame, info):
        if isinstance(one, ProgramDefinition):
            continue
        if not isinstance(one, LibraryName) or not (one.name in HARMLESS_BASES or is_module_name(frame, one.name)):
            return True
    return False


HARMLESS_BASES: Final = frozenset(
    "builtins.object abc.ABC typing.Generic typing.Protocol typing.NamedTuple torch.utils.data.Dataset enum.Enum"
    " torch.utils.data.IterableDataset torch.utils.data.Sampler torch.optim.Optimizer builtins.dict"
    " builtins.list".split()
)


def find_method(frame: Frame, info: ClassInfo, name: str, after: ClassInfo | None = None) -> FunctionInfo | None:
    """The method a name means on a class; with `after`, the one `super()` in that class finds."""
    line = ancestors(frame, info)
    if after is not None:
        position = next((i for i, one in enumerate(line) if one == ProgramDefinition(after)), -1)
        line = line[position + 1 :]
    for one in line:
        if isinstance(one, ProgramDefinition) and isinstance(one.definition, ClassInfo):
            method = one.definition.methods.get(name)
            if method is None:
                continue
            if (one.definition, name) in frame.analysis.patched:
                value = class_body_values(frame, one.definition)[name]
                put = value.definition if isinstance(value, ProgramDefinition) else None
                return put if isinstance(put, FunctionInfo) else None
            return frame.analysis.method(method)
    return None


def find_special_method(frame: Frame, value: Value, name: str) -> FunctionInfo | None:
    """The method by which an object of one of the program's classes answers an operator or a statement."""
    thing = frame.instance(value)
    cls = thing.cls if thing is not None else value.cls if isinstance(value, Tuple) else None
    info = cls.definition if isinstance(cls, ProgramDefinition) else None
    return find_method(frame, info, name) if isinstance(info, ClassInfo) else None


def find_setter(frame: Frame, info: ClassInfo, name: str) -> FunctionInfo | None:
    """The function that assigning to a property calls, None where the name is no such property."""
    for one in program_classes(frame, info):
        if name in one.setters:
            return frame.analysis.method(one.setters[name])
        if name in one.methods:
            return None
    return None


def find_class_attribute(frame: Frame, info: ClassInfo, name: str) -> Value | None:
    """A class attribute that is no method, by running the class bodies in order."""
    for one in program_classes(frame, info):
        values = class_body_values(frame, one)
        if name in values:
            return values[name]
    return None


def class_attributes(frame: Frame, info: ClassInfo) -> Mapping[str, Value]:
    """The attributes of a class that are no methods, its ancestors' included; the nearest of a name counts."""
    return ChainMap(*(class_body_values(frame, one) for one in program_classes(frame, info)))


def program_classes(frame: Frame, info: ClassInfo) -> Iterator[ClassInfo]:
    """The class and those it inherits from, as far as the program defines them."""
    for one in ancestors(frame, info):
        if isinstance(one, ProgramDefinition) and isinstance(one.definition, ClassInfo):
            yield one.definition


def class_body_values(frame: Frame, info: ClassInfo) -> dict[str, Value]:
    """What a class body binds besides methods; run once."""
    values = frame.analysis.class_values.get(info)
    if values is not None:
        return values
    values = frame.analysis.class_values[info] = {}
    home = definition_frame(frame, info)
    scope = Scope(info.name, info.module.filename, entry=True)
    body = type(frame)(frame.analysis, info.module, info.unit, scope, State({}, frame.state.heap), outer=home)
    body.state.names["__name__"] = Const(info.name)
    with write_to_base_heap(body):
        for node in info.node.body.body:
            if not isinstance(node, cst.FunctionDef):
                body.execute(node)
    values.update(body.state.names)
    return values


def enclosing_class(frame: Frame) -> ClassInfo | None:
    """The class whose method is being run, closures included: what a bare `super()` means."""
    current: Frame | None = frame
    while current is not None:
        if current.function is not None and current.function.owner is not None:
            return current.function.owner
        current = current.outer
    return None
