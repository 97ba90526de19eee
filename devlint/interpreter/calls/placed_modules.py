"""Calls of modules of which only the placement of the weights is known, not the code."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, is_floating, promotion_category
from devlint.domain.placement import Placement
from devlint.domain.value import (
    UNKNOWN,
    DeviceString,
    DeviceValue,
    OpaqueData,
    Rank,
    Ref,
    Tensor,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.objects.havoc import assume_synchronized
from devlint.interpreter.objects.module_state import display_name, module_tensors, placement_of_module
from devlint.interpreter.operations.calls_into_other_files import dtypes_at_call_from_given_file
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.events import DtypeConflict, Operand
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

_TEXT_WORDS: Final = frozenset(
    "caption captions length lengths lens name names path paths prompt prompts question questions sentence sentences"
    " string strings text texts".split()
)
"""The words in names of what a batch may hold besides tensors, or holds on the host for `pack_padded_sequence`."""

FORWARD_METHODS: Final = frozenset({"forward", "generate", "encode", "decode"})
"""Methods that run a module on their arguments, as calling the module does.

Only `forward` returns what the call returns: the others may make text of it, or NumPy arrays.
"""


def call_placed_module(frame: Frame, placement: Placement, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a module of which only the placement is known, and return its result, which is on the module's device.

    An input tensor on another device is reported, except lengths that are passed beside another input. What is told a
    device moves its inputs there itself. What an option beside the inputs is for (`model(images, boxes=boxes)`), only
    the code of the module tells.
    """
    if any(_is_device(argument.value, argument.node) for argument in arguments):
        assume_synchronized(frame)
        return UNKNOWN
    own = frame.resolve(Tensor(placement, rank=Rank.SOME))
    operands = [Operand("parameters", frame.place(node), own, of_module=name)]
    for argument in arguments.positional or arguments:
        if isinstance(argument.value, (Tensor, OpaqueData)):
            tensor = as_tensor(argument.value)
            assert tensor is not None
            given = frame.resolve(tensor)
            is_tensor = isinstance(argument.value, Tensor)
            if not (_may_be_lengths(given) and arguments.has_several if is_tensor else _may_be_text(argument.node)):
                operands.append(Operand("input", frame.place(argument.node), given))
    for operand in operands[1:]:
        conflict = find_device_conflict(frame, node, name, [operands[0], operand], 0)
        if conflict is not None:
            frame.emit(replace(conflict, unseen=True))
            return UNKNOWN
    assume_synchronized(frame)
    return OpaqueData(placement, of_call=True) if method_of_call(node) in (None, "forward") else UNKNOWN


def _is_device(value: Value, node: cst.CSTNode) -> bool:
    """Return whether an argument is a device: by its value, or by the name of what is not known."""
    if isinstance(value, Unknown):
        name = dotted_name(node) if isinstance(node, cst.BaseExpression) else None
        return name is not None and name.rpartition(".")[2] == "device"
    return isinstance(value, (DeviceValue, DeviceString))


def _may_be_lengths(given: Tensor) -> bool:
    """Return whether an input may be the lengths of another one, which stay on the host where a module packs it."""
    name = given.dtype.name
    return given.rank in (Rank.ONE, Rank.SOME) and (name is None or promotion_category(name) == 1)


def _may_be_text(node: cst.CSTNode) -> bool:
    """Return whether a part of a loader's batch may be no tensor on a device, by its name: texts, or their lengths."""
    name = dotted_name(node) if isinstance(node, cst.BaseExpression) else None
    return name is not None and not _TEXT_WORDS.isdisjoint(name.rpartition(".")[2].lower().split("_"))


def call_parts_of_module(frame: Frame, whole: Ref, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call some submodules of a library's module one after another; their weights lie where those of the module do."""
    thing = frame.instance(whole)
    name = display_name(thing) if thing is not None else "the module"
    dtypes = {frame.resolve(tensor).dtype for _, tensor in module_tensors(frame, whole)}
    own = Tensor(placement_of_module(frame, whole), dtypes.pop() if len(dtypes) == 1 else UNKNOWN_DTYPE, Rank.SOME)
    _report_other_dtype(frame, Operand("parameters", frame.place(node), own, of_module=name), arguments, node)
    return call_placed_module(frame, own.placement, name, arguments, node)


def _report_other_dtype(frame: Frame, own: Operand, arguments: Arguments, node: cst.CSTNode) -> None:
    """Report the first floating input of another dtype than a module's parameters, outside of autocast."""
    if frame.state.torch_state.autocast or not is_floating(own.tensor.dtype.name):
        return
    for argument in arguments.positional[:1]:
        tensor = frame.resolve(argument.value) if isinstance(argument.value, Tensor) else Tensor()
        if is_floating(tensor.dtype.name) and tensor.dtype.name != own.tensor.dtype.name:
            given = Operand("input", frame.place(argument.node), tensor)
            conflict = DtypeConflict(frame.event_context(node), own.of_module or "", given, own)
            frame.emit(dtypes_at_call_from_given_file(frame, conflict))


def method_of_call(node: cst.CSTNode) -> str | None:
    """Return the name of the method that runs a module in a call; None where the call calls the module itself."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in FORWARD_METHODS:
            return name
    return None
