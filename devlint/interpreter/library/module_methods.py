"""Models of the methods of `nn.Module`, and of its containers such as `nn.Sequential` and `nn.ModuleList`."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, ParameterCell, Registration, Sequence, join_all
from devlint.domain.placement import Placement
from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.domain.value import NONE, UNKNOWN, Const, ProgramDefinition, Rank, Ref, StringPrefix, Tensor, Tuple, Value
from devlint.interpreter.calls.construction import initialize_base
from devlint.interpreter.calls.failed_results import result_after_failures
from devlint.interpreter.calls.forward_hooks import PRE_HOOK, add_hook
from devlint.interpreter.modules.library_layers import call_library_module
from devlint.interpreter.objects.class_hierarchy import library_base
from devlint.interpreter.objects.contained_tensors import contained_tensors, placing_steps
from devlint.interpreter.objects.havoc import havoc, may_call_back
from devlint.interpreter.objects.module_containers import (
    UnknownSubmodules,
    any_submodule,
    container_parts,
    named_children,
    named_modules,
    with_part,
)
from devlint.interpreter.objects.module_state import (
    ANY_PART,
    CONTAINERS,
    display_name,
    is_module,
    module_tensors,
    move_registered_tensors,
)
from devlint.interpreter.objects.parameters import (
    group_parameters,
    set_requires_grad_of_module,
    surely_has_parameters,
)
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.operations.aliasing import parameter_storage
from devlint.interpreter.operations.module_transfers import transfer_module
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.events import CallOnStack
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

MAX_LISTED: Final = 32
"""The largest number of submodules listed one by one; a longer list has one element that stands for all."""

SELF_RETURNING: Final = ("eval", "train", "share_memory", "compile", "zero_grad", "load_state_dict")
"""Methods that leave every tensor where it is; their result is taken to be the module."""


@models_call(*(f"Module.{name}" for name in TRANSFER_METHODS if name != "type_as"))
def transfer_module_in_place(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.to(...)`, `module.cuda()` and the like: move the module in place and return it."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(frame, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@models_call(*(f"Module.{name}" for name in SELF_RETURNING))
def self_returning_method(frame: Frame, call: LibraryCall) -> Value:
    """Model methods that return the module and move nothing, such as `module.eval()`."""
    return call.receiver or UNKNOWN


@models_call("Module.requires_grad_")
def requires_grad_(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.requires_grad_(False)`: set or clear `requires_grad` of every parameter."""
    wanted = call.arguments.constant("requires_grad", 0, True)
    if call.receiver is not None:
        set_requires_grad_of_module(frame, call.receiver, wanted if isinstance(wanted, bool) else None)
    return call.receiver or UNKNOWN


@models_call("Module.apply")
def apply(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.apply(fn)`: return the module.

    `fn`, which usually initialises weights in place, is only called if it changes what the code around it has.
    """
    may_call_back(frame, call.arguments)
    return call.receiver or UNKNOWN


@models_call("Module._apply")
def apply_to_tensors(frame: Frame, call: LibraryCall) -> Value:
    """Model `module._apply(fn)`: put what `fn` makes of each parameter and buffer in its place; return the module.

    With `recurse=False`, submodules stay as they are.
    """
    thing, fn = frame.instance(call.receiver), call.arguments.value("fn", 0)
    if thing is None or not isinstance(call.receiver, Ref):
        return call.receiver or UNKNOWN
    recurses = call.arguments.constant("recurse", 1, True)
    results: dict[tuple[Placement, Dtype], tuple[Placement, Dtype]] = {}

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        key = placement, dtype
        if key not in results:
            given = Argument(Tensor(placement, dtype, Rank.SOME), call.arguments.expression)
            made = UNKNOWN if fn is None else frame.call(fn, Arguments(call.node, [given]), call.node)
            known = isinstance(made, Tensor) and isinstance(recurses, bool)
            tensor = frame.resolve(made) if known and isinstance(made, Tensor) else Tensor()
            results[key] = tensor.placement, tensor.dtype
        return results[key]

    parts = (one for name in thing.registered for one in alternatives(thing.attributes.get(name, UNKNOWN)))
    inside = {one.address for one in parts if isinstance(one, Ref)} if recurses is False else set()
    move_registered_tensors(frame, call.receiver, change, inside)
    return call.receiver


@models_call("Module.__init__", "torch.nn.Module.__init__", "object.__init__")
def module_init(frame: Frame, call: LibraryCall) -> Value:
    """Model `super().__init__(...)` of a class of the program that derives from a library class.

    If the class derives from a module container such as `nn.Sequential`, the arguments become the modules in it; for
    any other class, the library base class is initialised.
    """
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo):
        info = thing.cls.definition
        if isinstance(call.receiver, Ref):
            name = next((one for one in CONTAINERS if _has_library_base(frame, info, one)), None)
            if name is not None:
                _fill_container(frame, call.receiver, name, call)
            else:
                initialize_base(frame, call.receiver, info, call.arguments, call.node)
    return NONE


def _has_library_base(frame: Frame, info: object, name: str) -> bool:
    """Return whether a class of the program derives from the library class of a given dotted name."""
    return isinstance(info, ClassInfo) and library_base(frame, info) == name


@models_call("Module.register_buffer")
def register_buffer(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.register_buffer(name, tensor)`: store a buffer, persistent or not, that moves with the module."""
    _register(frame, call, Registration.BUFFER, "tensor")
    return NONE


@models_call("Module.register_parameter")
def register_parameter(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.register_parameter(name, parameter)`: store a parameter that moves with the module."""
    _register(frame, call, Registration.PARAMETER, "param")
    return NONE


@models_call("Module.add_module", "Module.register_module")
def add_module(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.add_module(name, submodule)`: store a submodule that moves with the module."""
    _register(frame, call, Registration.MODULE, "module")
    return NONE


def _register(frame: Frame, call: LibraryCall, kind: Registration, keyword: str) -> None:
    """Store an attribute of a module as a buffer, parameter or submodule, as `module.register_buffer(name, x)` does.

    Under a name that is not constant, a parameter or submodule is stored as an attribute of unknown name, and a buffer
    is not stored.
    """
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
def parameters_or_buffers(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.parameters()`, `buffers()` and their `named_` forms: an iterator over all tensors of the kind.

    One abstract tensor stands for every parameter or buffer.
    """
    assert isinstance(call.receiver, Ref)
    found = [one for _, one in module_tensors(frame, call.receiver, buffers="buffers" in call.name)]
    element: Value = Tensor(rank=Rank.SOME)
    if found and all(one.cell is not None for one in found):
        element = replace(group_parameters(frame, found, call.node), memory=parameter_storage(call.receiver))
    elif found:
        element = join_all([frame.resolve(one) for one in found[:8]])
    if call.name.startswith("named"):
        element = Tuple((StringPrefix(), element))
    filled = True if "buffers" not in call.name and surely_has_parameters(frame, call.receiver) else None
    return frame.allocate(call.node, Sequence(None, element, "iterator", filled=filled))


@models_call("Module.state_dict")
def state_dict(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.state_dict()`: a dict of unknown string keys in which one tensor stands for every value.

    The tensor is the join of the module's parameters and buffers: detached, and sharing the memory of the module.
    """
    assert isinstance(call.receiver, Ref)
    memory = parameter_storage(call.receiver)
    found: list[Value] = [
        replace(frame.resolve(one), grad=False, cell=None, memory=memory)
        for buffers in (False, True)
        for _, one in module_tensors(frame, call.receiver, buffers=buffers)
    ]
    filled = surely_has_parameters(frame, call.receiver)
    return frame.allocate(call.node, Dict({}, join_all(list(dict.fromkeys(found))), StringPrefix(), is_filled=filled))


@models_call("Module.children", "Module.modules", "Module.named_children", "Module.named_modules")
def submodules(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.children()`, `modules()` and their `named_` forms: an iterator over the submodules, in order.

    `modules` starts with the module itself. A submodule with several names is listed once, under its first name.
    """
    thing = frame.instance(call.receiver)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    found: list[tuple[str, Value]] | None
    try:
        listed = named_modules(frame, call.receiver) if "modules" in call.name else named_children(frame, thing)
        found = list(islice(listed, MAX_LISTED))
    except UnknownSubmodules:
        found = None
    listed_all = found is not None and len(found) < MAX_LISTED
    parts = [part for _, part in found or ()] if listed_all else list(container_parts(thing).values())
    joined = join_all(parts) if listed_all or "children" in call.name else UNKNOWN
    each = _submodule_item(call, StringPrefix(), any_submodule(call.receiver) if joined == UNKNOWN else joined)
    if found is None or not listed_all:
        return frame.allocate(call.node, Sequence(None, each, "iterator"))
    first = {part: name for name, part in reversed(found)}
    items = tuple(_submodule_item(call, Const(name), part) for part, name in reversed(first.items()))
    return frame.allocate(call.node, Sequence(items, each, "iterator"))


def _submodule_item(call: LibraryCall, name: Value, part: Value) -> Value:
    """Return a submodule as an iterator yields it: with its name for `named_children` and `named_modules`."""
    return Tuple((name, part)) if call.name.startswith("named") else part


@models_call("Module.__call__", "Module.forward")
def call_base_forward(frame: Frame, call: LibraryCall) -> Value:
    """Model `super().forward(x)` and `super().__call__(x)`: call the library class that the module derives from.

    The model runs only if no class of the program that the module derives from defines `forward`.
    """
    thing = frame.instance(call.receiver)
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    found = call_library_module(frame, call.receiver, thing, call.arguments, call.node)
    return found if found is not None else UNKNOWN


# Containers


@models_call(*CONTAINERS)
def make_container(frame: Frame, call: LibraryCall) -> Value:
    """Model `nn.Sequential(a, b)`, `nn.ModuleList([a, b])` and `nn.ModuleDict({...})`: a container of these modules."""
    reference = frame.allocate(call.node, Instance(call.name, {}))
    _fill_container(frame, reference, call.name, call)
    return reference


def _fill_container(frame: Frame, reference: Ref, name: str, call: LibraryCall) -> None:
    """Store the modules and parameters that a container's constructor receives, as in `nn.Sequential(a, b)`."""
    thing = frame.instance(reference)
    if thing is None:
        return
    if name == "torch.nn.Sequential" and (
        len(call.arguments.positional) != 1
        or call.arguments.rest is not None
        or is_module(frame, call.arguments.positional[0].value)
    ):
        parts: list[tuple[str, Value]] = [(str(i), one.value) for i, one in enumerate(call.arguments.positional)]
        if call.arguments.rest is not None:
            parts.append((ANY_PART, call.arguments.rest.value))
    elif call.arguments.positional:
        parts = _parts_of(frame, call.arguments.positional[0])
    else:
        parts = []
    for key, value in parts:
        thing = with_part(frame, thing, key, value)
    frame.put(reference.address, thing)


def _parts_of(frame: Frame, argument: Argument) -> list[tuple[str, Value]]:
    """Return the keys and values of a dict or iterable that is passed to a module container such as `nn.ModuleList`.

    Elements of unknown number or key are returned as one value, under the wildcard key `ANY_PART`.
    """
    thing = frame.object_of(argument.value)
    if isinstance(thing, Dict):
        known = [(str(key), value) for key, value in thing.entries.items()]
        return [*known, *([(ANY_PART, thing.element)] if thing.element is not None else [])]
    if isinstance(thing, Sequence) and thing.items is not None:
        return [(str(i), one) for i, one in enumerate(thing.items)]
    return [(ANY_PART, frame.iterate(argument.value, argument.node).any)]


@models_call("torch.nn.ModuleList.append", "torch.nn.Sequential.append", "torch.nn.ParameterList.append")
def append(frame: Frame, call: LibraryCall) -> Value:
    """Model `module_list.append(module)`: add a module to the list.

    Inside a loop that runs an unknown number of times, the module's position is unknown.
    """
    thing = frame.instance(call.receiver)
    value = call.arguments.value("module", 0)
    if thing is not None and value is not None and isinstance(call.receiver, Ref):
        key = ANY_PART if frame.in_repeated_loop else str(len(thing.registered))
        frame.put(call.receiver.address, with_part(frame, thing, key, value))
    return call.receiver or UNKNOWN


@models_call("torch.nn.ModuleList.insert", "torch.nn.Sequential.insert")
def insert(frame: Frame, call: LibraryCall) -> Value:
    """Model `module_list.insert(index, module)`: add a module under an unknown position."""
    thing = frame.instance(call.receiver)
    value = call.arguments.value("module", 1)
    if thing is not None and value is not None and isinstance(call.receiver, Ref):
        frame.put(call.receiver.address, with_part(frame, thing, ANY_PART, value))
    return call.receiver or UNKNOWN


@models_call(
    "torch.nn.ModuleList.extend",
    "torch.nn.Sequential.extend",
    "torch.nn.ModuleDict.update",
    "torch.nn.ParameterList.extend",
)
def extend(frame: Frame, call: LibraryCall) -> Value:
    """Model `module_list.extend(more)` and `module_dict.update(more)`: add modules under unknown positions or keys."""
    thing = frame.instance(call.receiver)
    if thing is not None and call.arguments.positional and isinstance(call.receiver, Ref):
        for _, value in _parts_of(frame, call.arguments.positional[0]):
            thing = with_part(frame, thing, ANY_PART, value)
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
def module_dict_views(frame: Frame, call: LibraryCall) -> Value:
    """Model `items()`, `values()` and `keys()` of `ModuleDict` and `ParameterDict`: an iterator over the entries."""
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
def call_sequential(frame: Frame, call: LibraryCall) -> Value:
    """Model a call of `nn.Sequential`: call each of its modules with the result of the module before it.

    An empty one returns its input, but for an object of a class of the program, which may fill it unseen.
    """
    thing = frame.instance(call.receiver)
    if thing is None:
        return UNKNOWN
    arguments = call.arguments
    value: Value = arguments.positional[0].value if arguments.positional else UNKNOWN
    causes = frozenset(placing_steps(contained_tensors(frame, [value])))
    on_stack = CallOnStack(frame.place(call.node), display_name(thing), causes, True, call.receiver)
    frame.analysis.calls.append(on_stack)
    try:
        for part in container_parts(thing).values():
            given = Argument(value, arguments.positional[0].node) if arguments.positional else None
            value = frame.call(part, Arguments(arguments.node, [given] if given else []), call.node)
    finally:
        frame.analysis.calls.pop()
    value = result_after_failures(frame, on_stack, value)
    return value if thing.registered or thing.cls == "torch.nn.Sequential" else UNKNOWN


@models_call("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def from_pretrained(frame: Frame, call: LibraryCall) -> Value:
    """Model `nn.Embedding.from_pretrained(table)`: an embedding whose weight is placed where the table is."""
    given = call.arguments.value("embeddings", 0)
    resolved = frame.resolve(given) if isinstance(given, Tensor) else Tensor()
    cell = ParameterCell(resolved.placement, resolved.dtype, False)
    return frame.allocate(call.node, Instance(call.name.rpartition(".")[0], {}, cell=cell))


@models_call(
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
)
def fully_sharded(frame: Frame, call: LibraryCall) -> Value:
    """Model `FullyShardedDataParallel(model)`: an unknown value; it moves the model's parameters to a device."""
    havoc(frame, call.arguments)
    return UNKNOWN


@models_call("torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard")
def fully_shard(frame: Frame, call: LibraryCall) -> Value:
    """Model `fully_shard(model)`: the model itself, with its parameters on the device of the mesh.

    A hook of torch moves the inputs of the outermost such module there.
    """
    havoc(frame, call.arguments)
    module = call.first.value if call.first is not None else UNKNOWN
    if isinstance(module, Ref):
        add_hook(frame, module, PRE_HOOK, UNKNOWN)
    return module


@models_call("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.optimize_for_inference")
def compile_module(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.compile(model)` and the functions of `torch.jit`: the module or function itself."""
    value = call.arguments.value("model", 0)
    return value if value is not None else UNKNOWN
