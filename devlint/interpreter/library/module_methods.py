"""nn.Module's methods, and its containers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from devlint.domain.objects import Dict, Instance, ParameterCell, Registration, Sequence, join_all
from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.domain.value import NONE, UNKNOWN, Const, ProgramDefinition, Rank, Ref, StringPrefix, Tensor, Tuple, Value
from devlint.interpreter.calls.construction import initialize_base
from devlint.interpreter.modules.library_layers import call_library_module
from devlint.interpreter.objects.class_hierarchy import library_base
from devlint.interpreter.objects.module_containers import (
    UnknownSubmodules,
    _with_part,
    container_parts,
    named_children,
    named_modules,
)
from devlint.interpreter.objects.module_state import ANY_PART, CONTAINERS, is_module, module_tensors
from devlint.interpreter.objects.parameters import group_parameters, set_requires_grad_of_module
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.operations.aliasing import parameter_storage
from devlint.interpreter.operations.tensor_transfers import transfer_module
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

MAX_LISTED: Final = 32
"""Submodules told apart; a loop over more is followed for none of them."""

SELF_RETURNING: Final = ("eval", "train", "share_memory", "compile", "zero_grad", "load_state_dict")


@models_call(*(f"Module.{name}" for name in TRANSFER_METHODS if name != "type_as"))
def transfer(frame: Frame, call: LibraryCall) -> Value:
    """`module.to(...)`: in place, and handed back."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(frame, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@models_call(*(f"Module.{name}" for name in SELF_RETURNING))
def itself(frame: Frame, call: LibraryCall) -> Value:
    """Methods that hand the module back and move nothing."""
    return call.receiver or UNKNOWN


@models_call("Module.requires_grad_")
def requires_grad_(frame: Frame, call: LibraryCall) -> Value:
    """`module.requires_grad_(False)`: freezes every parameter."""
    wanted = call.arguments.constant("requires_grad", 0, True)
    if call.receiver is not None:
        set_requires_grad_of_module(frame, call.receiver, wanted if isinstance(wanted, bool) else None)
    return call.receiver or UNKNOWN


@models_call("Module.apply")
def apply(frame: Frame, call: LibraryCall) -> Value:
    """`module.apply(fn)`: used to initialise weights in place."""
    return call.receiver or UNKNOWN


@models_call("Module.__init__", "torch.nn.Module.__init__", "object.__init__")
def initialize(frame: Frame, call: LibraryCall) -> Value:
    """`super().__init__()` of a module built on a library class."""
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo):
        info = thing.cls.definition
        if isinstance(call.receiver, Ref):
            name = next((one for one in CONTAINERS if _is_built_on(frame, info, one)), None)
            if name is not None:
                _fill(frame, call.receiver, name, call)
            else:
                initialize_base(frame, call.receiver, info, call.arguments, call.node)
    return NONE


def _is_built_on(frame: Frame, info: object, name: str) -> bool:
    return isinstance(info, ClassInfo) and library_base(frame, info) == name


@models_call("Module.register_buffer")
def register_buffer(frame: Frame, call: LibraryCall) -> Value:
    """`register_buffer(name, tensor)`: moves with the module, persistent or not."""
    _register(frame, call, Registration.BUFFER, "tensor")
    return NONE


@models_call("Module.register_parameter")
def register_parameter(frame: Frame, call: LibraryCall) -> Value:
    """`register_parameter(name, parameter)`."""
    _register(frame, call, Registration.PARAMETER, "param")
    return NONE


@models_call("Module.add_module", "Module.register_module")
def add_module(frame: Frame, call: LibraryCall) -> Value:
    """`add_module(name, module)`."""
    _register(frame, call, Registration.MODULE, "module")
    return NONE


def _register(frame: Frame, call: LibraryCall, kind: Registration, keyword: str) -> None:
    thing = frame.instance(call.receiver)
    name, value = call.arguments.value("name", 0), call.arguments.value(keyword, 1)
    if thing is None or not isinstance(call.receiver, Ref) or value is None:
        return
    mark_as_registered(frame, value)
    if isinstance(name, Const):
        frame.put(call.receiver.address, thing.with_attribute(str(name.value), value, kind))
    elif kind is not Registration.BUFFER:
        frame.put(call.receiver.address, thing.with_attribute(ANY_PART + getattr(name, "prefix", ""), value, kind))


@models_call("Module.parameters", "Module.named_parameters", "Module.buffers", "Module.named_buffers")
def tensors(frame: Frame, call: LibraryCall) -> Value:
    """A module's parameters or buffers, one standing for all."""
    assert isinstance(call.receiver, Ref)
    found = [one for _, one in module_tensors(frame, call.receiver, buffers="buffers" in call.name)]
    element: Value = Tensor(rank=Rank.SOME)
    if found and all(one.cell is not None for one in found):
        element = replace(group_parameters(frame, found, call.node), memory=parameter_storage(call.receiver))
    elif found:
        element = join_all([frame.resolve(one) for one in found[:8]])
    if call.name.startswith("named"):
        element = Tuple((StringPrefix(), element))
    return frame.allocate(call.node, Sequence(None, element, "iterator"))


@models_call("Module.state_dict")
def state_dict(frame: Frame, call: LibraryCall) -> Value:
    """`state_dict()`: the tensors themselves, detached."""
    assert isinstance(call.receiver, Ref)
    memory = parameter_storage(call.receiver)
    found: list[Value] = [
        replace(frame.resolve(one), grad=False, cell=None, memory=memory)
        for _, one in module_tensors(frame, call.receiver)
    ]
    return frame.allocate(call.node, Dict({}, join_all(found[:8]), StringPrefix()))


@models_call("Module.children", "Module.modules", "Module.named_children", "Module.named_modules")
def submodules(frame: Frame, call: LibraryCall) -> Value:
    """A module's submodules, in order; `modules` begins with itself."""
    thing = frame.instance(call.receiver)
    if thing is None or call.receiver is None:
        return UNKNOWN
    found: list[tuple[str, Value]] | None
    try:
        listed = named_modules(frame, call.receiver) if "modules" in call.name else named_children(thing)
        found = list(islice(listed, MAX_LISTED))
    except UnknownSubmodules:
        found = None
    if found is None or len(found) == MAX_LISTED:
        direct = list(container_parts(thing).values()) if "children" in call.name else []
        element = join_all(direct) if direct else UNKNOWN
        return frame.allocate(call.node, Sequence(None, _submodule(call, StringPrefix(), element), "iterator"))
    first = {part: name for name, part in reversed(found)}
    items = tuple(_submodule(call, Const(name), part) for part, name in reversed(first.items()))
    return frame.allocate(call.node, Sequence(items, kind="iterator"))


def _submodule(call: LibraryCall, name: Value, part: Value) -> Value:
    return Tuple((name, part)) if call.name.startswith("named") else part


@models_call("Module.__call__", "Module.forward")
def call_module(frame: Frame, call: LibraryCall) -> Value:
    """Calling a library module through `super().forward(x)`; the engine has looked for the class's own `forward`
    already."""
    thing = frame.instance(call.receiver)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    found = call_library_module(frame, call.receiver, thing, call.arguments, call.node)
    return found if found is not None else UNKNOWN


# Containers


@models_call(*CONTAINERS)
def container(frame: Frame, call: LibraryCall) -> Value:
    """`nn.Sequential(a, b)`, `nn.ModuleList([a, b])`, `nn.ModuleDict({...})`."""
    reference = frame.allocate(call.node, Instance(call.name, {}))
    _fill(frame, reference, call.name, call)
    return reference


def _fill(frame: Frame, reference: Ref, name: str, call: LibraryCall) -> None:
    thing = frame.instance(reference)
    if thing is None:
        return
    if name == "torch.nn.Sequential" and (
        len(call.arguments.positional) != 1 or is_module(frame, call.arguments.positional[0].value)
    ):
        parts: list[tuple[str, Value]] = [(str(i), one.value) for i, one in enumerate(call.arguments.positional)]
        if call.arguments.rest is not None:
            parts.append((ANY_PART, call.arguments.rest.value))
    elif call.arguments.positional:
        parts = _parts(frame, call.arguments.positional[0])
    else:
        parts = []
    for key, value in parts:
        thing = _with_part(frame, thing, key, value)
    frame.put(reference.address, thing)


def _parts(frame: Frame, argument: Argument) -> list[tuple[str, Value]]:
    thing = frame.object_of(argument.value)
    if isinstance(thing, Dict):
        known = [(str(key), value) for key, value in thing.entries.items()]
        return [*known, *([(ANY_PART, thing.element)] if thing.element is not None else [])]
    if isinstance(thing, Sequence) and thing.items is not None:
        return [(str(i), one) for i, one in enumerate(thing.items)]
    return [(ANY_PART, frame.iterate(argument.value, argument.node).any)]


@models_call("torch.nn.ModuleList.append", "torch.nn.Sequential.append", "torch.nn.ParameterList.append")
def append(frame: Frame, call: LibraryCall) -> Value:
    """`modules.append(module)`."""
    thing = frame.instance(call.receiver)
    value = call.arguments.value("module", 0)
    if thing is not None and value is not None and isinstance(call.receiver, Ref):
        key = ANY_PART if frame.in_repeated_loop else str(len(thing.registered))
        frame.put(call.receiver.address, _with_part(frame, thing, key, value))
    return call.receiver or UNKNOWN


@models_call(
    "torch.nn.ModuleList.extend",
    "torch.nn.Sequential.extend",
    "torch.nn.ModuleDict.update",
    "torch.nn.ParameterList.extend",
)
def extend(frame: Frame, call: LibraryCall) -> Value:
    """`modules.extend(more)`."""
    thing = frame.instance(call.receiver)
    if thing is not None and call.arguments.positional and isinstance(call.receiver, Ref):
        for _, value in _parts(frame, call.arguments.positional[0]):
            thing = _with_part(frame, thing, ANY_PART, value)
        frame.put(call.receiver.address, thing)
    return call.receiver or UNKNOWN


@models_call(
    "torch.nn.ModuleDict.items",
    "torch.nn.ModuleDict.values",
    "torch.nn.ModuleDict.keys",
    "torch.nn.ParameterDict.items",
    "torch.nn.ParameterDict.values",
    "torch.nn.ParameterDict.keys",
)
def views(frame: Frame, call: LibraryCall) -> Value:
    """The parts of a ModuleDict."""
    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    kept = container_parts(thing)
    known = ANY_PART not in kept
    parts = [(Const(name) if name != ANY_PART else StringPrefix(), value) for name, value in kept.items()]
    items: list[Value] = [
        Tuple((key, value)) if call.name == "items" else value if call.name == "values" else key for key, value in parts
    ]
    return frame.allocate(call.node, Sequence(tuple(items) if known else None, join_all(items), "iterator"))


@models_call("torch.nn.Sequential.__call__", "torch.nn.Sequential.forward")
def run_sequential(frame: Frame, call: LibraryCall) -> Value:
    """Each part in turn, on what the one before returned."""

    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    arguments = call.arguments
    value: Value = arguments.positional[0].value if arguments.positional else UNKNOWN
    for part in container_parts(thing).values():
        given = Argument(value, arguments.positional[0].node) if arguments.positional else None
        value = frame.call(part, Arguments(arguments.node, [given] if given else []), call.node)
    return value if thing.registered else UNKNOWN


@models_call("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def from_pretrained(frame: Frame, call: LibraryCall) -> Value:
    """An embedding over a given table, which becomes its parameter."""
    given = call.arguments.value("embeddings", 0)
    settled = frame.resolve(given) if isinstance(given, Tensor) else Tensor()
    cell = ParameterCell(settled.placement, settled.dtype, False)
    return frame.allocate(call.node, Instance(call.name.rpartition(".")[0], {}, cell=cell))


@models_call("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
def parallel(frame: Frame, call: LibraryCall) -> Value:
    """Wrappers that scatter their inputs themselves: what they accept is not followed."""
    return UNKNOWN


@models_call("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.optimize_for_inference")
def compiled(frame: Frame, call: LibraryCall) -> Value:
    """A compiled module or function behaves as the one it was made from."""
    value = call.arguments.value("model", 0)
    return value if value is not None else UNKNOWN
