"""nn.Module's methods, and its containers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from devlint.domain.objects import Cell, Dict, Instance, Registration, Sequence, join_all
from devlint.domain.value import NONE, UNKNOWN, Callable_, Const, Rank, Ref, Tensor, Text, Tuple, Value
from devlint.interpreter.calls.construction import initialize_base
from devlint.interpreter.modules.library_layers import call_layer
from devlint.interpreter.objects.class_hierarchy import library_base
from devlint.interpreter.objects.module_containers import Unlisted, _with_part, named_children, named_modules, parts_of
from devlint.interpreter.objects.module_state import ANY, CONTAINERS, is_module, tensors_of
from devlint.interpreter.objects.parameters import as_one, require_grad_of_all
from devlint.interpreter.objects.plain_attributes import hold
from devlint.interpreter.operations.aliasing import memory_of_parameters
from devlint.interpreter.operations.transfer_methods import METHODS, transfer_module
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments, Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model

MAX_LISTED: Final = 32
"""Submodules told apart; a loop over more is followed for none of them."""

ITSELF: Final = ("eval", "train", "share_memory", "compile", "zero_grad", "load_state_dict")


@model(*(f"Module.{name}" for name in METHODS if name != "type_as"))
def transfer(run: Run, call: Invocation) -> Value:
    """`module.to(...)`: in place, and handed back."""
    assert isinstance(call.receiver, Ref)
    return transfer_module(run, call.receiver, call.name, call.arguments, call.node, call.receiver_node)


@model(*(f"Module.{name}" for name in ITSELF))
def itself(run: Run, call: Invocation) -> Value:
    """Methods that hand the module back and move nothing."""
    return call.receiver or UNKNOWN


@model("Module.requires_grad_")
def requires_grad_(run: Run, call: Invocation) -> Value:
    """`module.requires_grad_(False)`: freezes every parameter."""
    wanted = call.arguments.constant("requires_grad", 0, True)
    if call.receiver is not None:
        require_grad_of_all(run, call.receiver, wanted if isinstance(wanted, bool) else None)
    return call.receiver or UNKNOWN


@model("Module.apply")
def apply(run: Run, call: Invocation) -> Value:
    """`module.apply(fn)`: used to initialise weights in place."""
    return call.receiver or UNKNOWN


@model("Module.__init__", "torch.nn.Module.__init__", "object.__init__")
def initialize(run: Run, call: Invocation) -> Value:
    """`super().__init__()` of a module built on a library class."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is not None and isinstance(thing.cls, Callable_) and isinstance(thing.cls.definition, ClassInfo):
        info = thing.cls.definition
        if isinstance(call.receiver, Ref):
            name = next((one for one in CONTAINERS if _is_built_on(run, info, one)), None)
            if name is not None:
                _fill(run, call.receiver, name, call)
            else:
                initialize_base(run, call.receiver, info, call.arguments, call.node)
    return NONE


def _is_built_on(run: Run, info: object, name: str) -> bool:
    return isinstance(info, ClassInfo) and library_base(run, info) == name


@model("Module.register_buffer")
def register_buffer(run: Run, call: Invocation) -> Value:
    """`register_buffer(name, tensor)`: moves with the module, persistent or not."""
    _register(run, call, Registration.BUFFER, "tensor")
    return NONE


@model("Module.register_parameter")
def register_parameter(run: Run, call: Invocation) -> Value:
    """`register_parameter(name, parameter)`."""
    _register(run, call, Registration.PARAMETER, "param")
    return NONE


@model("Module.add_module", "Module.register_module")
def add_module(run: Run, call: Invocation) -> Value:
    """`add_module(name, module)`."""
    _register(run, call, Registration.MODULE, "module")
    return NONE


def _register(run: Run, call: Invocation, kind: Registration, keyword: str) -> None:
    thing = run.instance(call.receiver) if call.receiver is not None else None
    name, value = call.arguments.value("name", 0), call.arguments.value(keyword, 1)
    if thing is None or not isinstance(call.receiver, Ref) or value is None:
        return
    hold(run, value)
    if isinstance(name, Const):
        run.put(call.receiver.address, thing.with_attribute(str(name.value), value, kind))
    elif kind is not Registration.BUFFER:
        run.put(call.receiver.address, thing.with_attribute(ANY + getattr(name, "prefix", ""), value, kind))


@model("Module.parameters", "Module.named_parameters", "Module.buffers", "Module.named_buffers")
def tensors(run: Run, call: Invocation) -> Value:
    """A module's parameters or buffers, one standing for all."""
    assert isinstance(call.receiver, Ref)
    found = [one for _, one in tensors_of(run, call.receiver, buffers="buffers" in call.name)]
    element: Value = Tensor(rank=Rank.SOME)
    if found and all(one.cell is not None for one in found):
        element = replace(as_one(run, found, call.node), memory=memory_of_parameters(call.receiver))
    elif found:
        element = join_all([run.settle(one) for one in found[:8]])
    if call.name.startswith("named"):
        element = Tuple((Text(), element))
    return run.allocate(call.node, Sequence(None, element, "iterator"))


@model("Module.state_dict")
def state_dict(run: Run, call: Invocation) -> Value:
    """`state_dict()`: the tensors themselves, detached."""
    assert isinstance(call.receiver, Ref)
    memory = memory_of_parameters(call.receiver)
    found: list[Value] = [
        replace(run.settle(one), grad=False, cell=None, memory=memory) for _, one in tensors_of(run, call.receiver)
    ]
    return run.allocate(call.node, Dict({}, join_all(found[:8]), Text()))


@model("Module.children", "Module.modules", "Module.named_children", "Module.named_modules")
def submodules(run: Run, call: Invocation) -> Value:
    """A module's submodules, in order; `modules` begins with itself."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is None or call.receiver is None:
        return UNKNOWN
    found: list[tuple[str, Value]] | None
    try:
        listed = named_modules(run, call.receiver) if "modules" in call.name else named_children(thing)
        found = list(islice(listed, MAX_LISTED))
    except Unlisted:
        found = None
    if found is None or len(found) == MAX_LISTED:
        direct = list(parts_of(thing).values()) if "children" in call.name else []
        element = join_all(direct) if direct else UNKNOWN
        return run.allocate(call.node, Sequence(None, _submodule(call, Text(), element), "iterator"))
    first = {part: name for name, part in reversed(found)}
    items = tuple(_submodule(call, Const(name), part) for part, name in reversed(first.items()))
    return run.allocate(call.node, Sequence(items, kind="iterator"))


def _submodule(call: Invocation, name: Value, part: Value) -> Value:
    return Tuple((name, part)) if call.name.startswith("named") else part


@model("Module.__call__", "Module.forward")
def call_module(run: Run, call: Invocation) -> Value:
    """Calling a library module through `super().forward(x)`; the engine has looked for the class's own `forward`
    already."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    found = call_layer(run, call.receiver, thing, call.arguments, call.node)
    return found if found is not None else UNKNOWN


# Containers


@model(*CONTAINERS)
def container(run: Run, call: Invocation) -> Value:
    """`nn.Sequential(a, b)`, `nn.ModuleList([a, b])`, `nn.ModuleDict({...})`."""
    reference = run.allocate(call.node, Instance(call.name, {}))
    _fill(run, reference, call.name, call)
    return reference


def _fill(run: Run, reference: Ref, name: str, call: Invocation) -> None:
    thing = run.instance(reference)
    if thing is None:
        return
    if name == "torch.nn.Sequential" and (
        len(call.arguments.positional) != 1 or is_module(run, call.arguments.positional[0].value)
    ):
        parts: list[tuple[str, Value]] = [(str(i), one.value) for i, one in enumerate(call.arguments.positional)]
        if call.arguments.rest is not None:
            parts.append((ANY, call.arguments.rest.value))
    elif call.arguments.positional:
        parts = _parts(run, call.arguments.positional[0])
    else:
        parts = []
    for key, value in parts:
        thing = _with_part(run, thing, key, value)
    run.put(reference.address, thing)


def _parts(run: Run, argument: Argument) -> list[tuple[str, Value]]:
    thing = run.get(argument.value.address) if isinstance(argument.value, Ref) else None
    if isinstance(thing, Dict):
        known = [(str(key), value) for key, value in thing.entries.items()]
        return [*known, *([(ANY, thing.element)] if thing.element is not None else [])]
    if isinstance(thing, Sequence) and thing.items is not None:
        return [(str(i), one) for i, one in enumerate(thing.items)]
    return [(ANY, run.iterate(argument.value, argument.node).any)]


@model("torch.nn.ModuleList.append", "torch.nn.Sequential.append", "torch.nn.ParameterList.append")
def append(run: Run, call: Invocation) -> Value:
    """`modules.append(module)`."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    value = call.arguments.value("module", 0)
    if thing is not None and value is not None and isinstance(call.receiver, Ref):
        key = ANY if run.repeating else str(len(thing.registered))
        run.put(call.receiver.address, _with_part(run, thing, key, value))
    return call.receiver or UNKNOWN


@model(
    "torch.nn.ModuleList.extend",
    "torch.nn.Sequential.extend",
    "torch.nn.ModuleDict.update",
    "torch.nn.ParameterList.extend",
)
def extend(run: Run, call: Invocation) -> Value:
    """`modules.extend(more)`."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is not None and call.arguments.positional and isinstance(call.receiver, Ref):
        for _, value in _parts(run, call.arguments.positional[0]):
            thing = _with_part(run, thing, ANY, value)
        run.put(call.receiver.address, thing)
    return call.receiver or UNKNOWN


@model(
    "torch.nn.ModuleDict.items",
    "torch.nn.ModuleDict.values",
    "torch.nn.ModuleDict.keys",
    "torch.nn.ParameterDict.items",
    "torch.nn.ParameterDict.values",
    "torch.nn.ParameterDict.keys",
)
def views(run: Run, call: Invocation) -> Value:
    """The parts of a ModuleDict."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is None:
        return UNKNOWN
    kept = parts_of(thing)
    known = ANY not in kept
    parts = [(Const(name) if name != ANY else Text(), value) for name, value in kept.items()]
    items: list[Value] = [
        Tuple((key, value)) if call.name == "items" else value if call.name == "values" else key for key, value in parts
    ]
    return run.allocate(call.node, Sequence(tuple(items) if known else None, join_all(items), "iterator"))


@model("torch.nn.Sequential.__call__", "torch.nn.Sequential.forward")
def run_sequential(run: Run, call: Invocation) -> Value:
    """Each part in turn, on what the one before returned."""

    thing = run.instance(call.receiver) if call.receiver is not None else None
    if thing is None:
        return UNKNOWN
    arguments = call.arguments
    value: Value = arguments.positional[0].value if arguments.positional else UNKNOWN
    for part in parts_of(thing).values():
        given = Argument(value, arguments.positional[0].node) if arguments.positional else None
        value = run.call(part, Arguments(arguments.node, [given] if given else []), call.node)
    return value if thing.registered else UNKNOWN


@model("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def from_pretrained(run: Run, call: Invocation) -> Value:
    """An embedding over a given table, which becomes its parameter."""
    given = call.arguments.value("embeddings", 0)
    settled = run.settle(given) if isinstance(given, Tensor) else Tensor()
    cell = Cell(settled.placement, settled.dtype, False)
    return run.allocate(call.node, Instance(call.name.rpartition(".")[0], {}, cell=cell))


@model("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
def parallel(run: Run, call: Invocation) -> Value:
    """Wrappers that scatter their inputs themselves: what they accept is not followed."""
    return UNKNOWN


@model("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.optimize_for_inference")
def compiled(run: Run, call: Invocation) -> Value:
    """A compiled module or function behaves as the one it was made from."""
    value = call.arguments.value("model", 0)
    return value if value is not None else UNKNOWN
