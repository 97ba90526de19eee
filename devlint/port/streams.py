"""The port of streams: a stream of CUDA becomes one of torch where all that is done with it is the same on CUDA.

Making a stream and entering it are ported together: a `torch.Stream` is a context manager itself, and
`torch.cuda.stream` is for CUDA only. On CUDA both classes take their streams from the same pools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from devlint.fixes.call_edits import find_argument
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.device_indexes import is_index_from_zero
from devlint.port.guards import guard_around
from devlint.port.port_context import PortContext
from devlint.syntax.tree_walk import descend, dotted_name

STREAMS: Final = frozenset({"torch.cuda.Stream", "torch.cuda.stream"})
"""The names that make a stream and enter it, which are ported together or not at all."""
_NEW: Final = "torch.Stream"
_METHODS: Final = frozenset({"synchronize", "query", "wait_stream", "wait_event", "record_event"})
"""The methods that do the same for streams of CUDA and of torch."""
_TAKING: Final = frozenset({"wait_stream", "record_stream", "record", "wait"})
"""The methods of streams, tensors and events that take a stream of either class."""


def port_stream(context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call | None, name: str) -> Port:
    """Return the port of a name in STREAMS that makes a stream, or enters one by `with`."""
    if context.traits.has_raw_streams:
        raise LeftForHuman("the program hands streams to CUDA code of its own")
    if call is None:
        raise LeftForHuman("it is not called here, but passed on")
    holder = _made_for(context, region, call) if name == "torch.cuda.Stream" else _entered(region, call)
    _Holder(context, region, holder).check(call)
    if name == "torch.cuda.stream":
        return Port(f"with {holder}", [replace_node(region, call, holder)])
    context.need_torch((2, 7), "with stream:")
    text, imports = context.library(region, node, _NEW)
    return Port(f"{text}(...)" if call.args else f"{text}()", [*imports, replace_node(region, node, text)])


def is_plain_use_of_stream(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether an expression, a stream, is used in a way that is the same for streams of CUDA and of torch.

    Such a use calls a method that both have, or passes the stream to another stream, to an event or to `record_stream`.
    """
    above = region.parent(node)
    match above:
        case cst.Attribute(value=value, attr=cst.Name(value=method)) if value is node:
            call = region.parent(above)
            return method in _METHODS and isinstance(call, cst.Call) and call.func is above
        case cst.Arg(keyword=None, star=""):
            taking = region.parent(above)
            match taking:
                case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=[_]):
                    return method in _TAKING
    return False


def _made_for(context: PortContext, region: NodeRegion, call: cst.Call) -> str:
    """Return the name or attribute to which a new stream is assigned. Raises LeftForHuman for any other stream."""
    if not _takes_the_same(context, region, call):
        raise LeftForHuman(f"`{_NEW}` takes an index, and this may be a negative one, or a device without one")
    match region.parent(call):
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name() | cst.Attribute() as target)])
            | cst.AnnAssign(target=cst.Name() | cst.Attribute() as target)
        ):
            name = dotted_name(target)
            if name is not None and name.count(".") <= 1:
                return name
    raise LeftForHuman("what is done with the stream may need one of CUDA")


def _takes_the_same(context: PortContext, region: NodeRegion, call: cst.Call) -> bool:
    """Return whether a call that makes a stream passes only what streams of both classes take: an index, a priority.

    A stream of CUDA is made on the current device for -1, which a stream of torch refuses.
    """
    device = find_argument(call, "device", 0)
    others = [one for one in call.args if one is not device]
    if any(one.keyword is None or one.keyword.value != "priority" for one in others):
        return False
    return device is None or (not device.star and is_index_from_zero(context, region, device.value))


def _entered(region: NodeRegion, call: cst.Call) -> str:
    """Return the name or attribute of the stream that a `with` statement enters. Raises LeftForHuman for others."""
    above = region.parent(call)
    match call.args:
        case [cst.Arg(keyword=None, star="", value=cst.Name() | cst.Attribute() as stream)]:
            name = dotted_name(stream)
            if isinstance(above, cst.WithItem) and above.asname is None and name is not None:
                return name
    raise LeftForHuman("it is entered in another way than by `with` and a name, or the stream may be None")


class _Holder:
    """A variable, or an attribute of a class's objects, that holds a stream, with all code that mentions it."""

    def __init__(self, context: PortContext, region: NodeRegion, name: str) -> None:
        self._context = context
        self._region = region
        self._name = name

    def check(self, call: cst.Call) -> None:
        """Raise LeftForHuman unless the holder is bound once, to a new stream, and each use is the same for torch's.

        `call` is the use that is ported.
        """
        scope = self._scope(call)
        bound = 0
        for node in (scope, *descend(scope)):
            if not isinstance(node, (cst.Name, cst.Attribute)) or dotted_name(node) != self._name:
                continue
            above = self._region.parent(node)
            if isinstance(above, cst.Attribute) and above.attr is node:
                continue
            if isinstance(above, (cst.AssignTarget, cst.AnnAssign, cst.Param, cst.For, cst.AsName)):
                bound += 1
                if not self._is_new_stream(above):
                    raise LeftForHuman("the stream may be None, or one that other code has made")
            elif not is_plain_use_of_stream(self._region, node) and not self._is_entered(node, scope):
                raise LeftForHuman("what is done with the stream may need one of CUDA")
        if bound != 1:
            raise LeftForHuman("the stream may be None, or one that other code has made")

    def _scope(self, call: cst.Call) -> cst.CSTNode:
        """Return the function or the class that holds all mentions of the holder. Raises LeftForHuman without one."""
        if "." not in self._name:
            function = self._region.enclosing_function(call)
            if function is None or any(isinstance(one, (cst.Global, cst.Nonlocal)) for one in descend(function)):
                raise LeftForHuman("what is done with the stream may need one of CUDA")
            return function
        owner, _, attribute = self._name.rpartition(".")
        classes = [one for one in self._region.ancestors(call) if isinstance(one, cst.ClassDef)]
        elsewhere = (one for one in self._context.fixes.index.statements if one is not self._region.statement)
        if owner != "self" or len(classes) != 1 or any(attribute in one.mentions for one in elsewhere):
            raise LeftForHuman("what is done with the stream may need one of CUDA")
        return classes[0]

    def _is_new_stream(self, binding: cst.CSTNode) -> bool:
        """Return whether a binding assigns a new stream, wherever the code runs."""
        assignment = binding if isinstance(binding, cst.AnnAssign) else self._region.parent(binding)
        match assignment:
            case cst.Assign(targets=[_], value=cst.Call() as call) | cst.AnnAssign(value=cst.Call() as call):
                if not _takes_the_same(self._context, self._region, call):
                    return False
                made = self._context.names.full_name(self._region, call.func) in ("torch.cuda.Stream", _NEW)
                return made and guard_around(self._region, assignment) is None
        return False

    def _is_entered(self, node: cst.CSTNode, scope: cst.CSTNode) -> bool:
        """Return whether a `with` statement enters the stream at a node, and nothing in the block enters it again."""
        argument = self._region.parent(node)
        call = self._region.parent(argument) if isinstance(argument, cst.Arg) else None
        item: cst.CSTNode = node
        if isinstance(call, cst.Call) and self._context.names.full_name(self._region, call.func) == "torch.cuda.stream":
            item = call
        above = self._region.parent(item)
        block = self._region.parent(above) if isinstance(above, cst.WithItem) and above.asname is None else None
        return isinstance(block, cst.With) and not self._enters_again(block, scope)

    def _enters_again(self, block: cst.With, scope: cst.CSTNode) -> bool:
        """Return whether the items or the body of a `with` may enter the stream once more, by a method perhaps.

        Torch before 2.12 refuses that for its own streams.
        """
        entering = {one.name.value for one in descend(scope) if isinstance(one, cst.FunctionDef) and self._enters(one)}
        called = (one.func for one in descend(block.body) if isinstance(one, cst.Call))
        names = {(dotted_name(one) or "").rpartition(".")[2] for one in called}
        return self._enters(block.body) or len(self._mentions(block.items)) > 1 or not names.isdisjoint(entering)

    def _enters(self, code: cst.CSTNode) -> bool:
        """Return whether code has a `with` statement on the stream."""
        return any(isinstance(one, cst.With) and self._mentions(one.items) for one in descend(code))

    def _mentions(self, items: Sequence[cst.WithItem]) -> list[cst.CSTNode]:
        """Return the mentions of the holder in the items of a `with` statement."""
        return [one for item in items for one in self._named_in(item)]

    def _named_in(self, code: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the mentions of the holder in code."""
        for one in descend(code):
            if isinstance(one, (cst.Name, cst.Attribute)) and dotted_name(one) == self._name:
                yield one
