"""What the port of one use of CUDA asks about its file: names, the device at hand, and the torch to support."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.device_names import AVAILABLE, CURRENT, DeviceName, DeviceNames
from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.torch_names import TorchNames
from devlint.port.cuda_uses import LeftForHuman
from devlint.port.made_device import AsksTooEarly, MadeDevice
from devlint.semantics.accelerators import DEFAULT_MIN_TORCH, Version, version_text


@dataclass(frozen=True, slots=True)
class PortOptions:
    """What the user asks of a port: the oldest torch that the program supports, and the name of a device to make."""

    min_torch: Version = DEFAULT_MIN_TORCH
    device_name: str = "device"


@dataclass(frozen=True, slots=True)
class ProgramTraits:
    """What the port of one file has to know of the whole program.

    `asks_late` is true where the accelerator must not be asked for at import: the program sets the visible devices, or
    makes processes; `sets` is the text of code that does so, and `called_early` are the names of functions that are
    called just before. `has_own_transfers` is true where objects of a class that defines `cuda` or `to` itself may
    occur.
    `is_scripted` is true where TorchScript may compile the methods of the file's classes, and `has_many_devices` where
    tensors may lie on another device than the current one. `has_raw_streams` is true where the program may pass a
    stream of CUDA to code that is not torch's.
    `imported_devices` are the names for the program's device that the file imports from another one.
    """

    asks_late: bool = False
    called_early: frozenset[str] = frozenset()
    sets: re.Pattern[str] | None = None
    has_own_transfers: bool = False
    is_scripted: bool = False
    has_many_devices: bool = False
    has_raw_streams: bool = False
    imported_devices: Mapping[str, DeviceName] = field(default_factory=dict)


class PortContext:
    """One file under port: its text and names, the devices it has, and the device that the port makes for it.

    `may_run_on_host` is False where the file surely needs CUDA as it is: its port then decides what the host does.
    """

    def __init__(self, fixes: FixContext, options: PortOptions, traits: ProgramTraits) -> None:
        self.fixes = fixes
        self.options = options
        self.traits = traits
        self.names = TorchNames(fixes)
        self.devices = DeviceNames(
            fixes, self.names, constants_are_ported=not traits.asks_late, imported=traits.imported_devices
        )
        self.may_run_on_host = True
        self.made = MadeDevice(fixes, options.device_name, lazily=traits.asks_late)

    def device(self, region: NodeRegion, node: cst.CSTNode, *, is_used_now: bool = True) -> DeviceName:
        """Return the name of the program's device for use at a node: one in sight, or the one that the port makes.

        `is_used_now` tells that the node itself reaches the device, and does not only name it.
        """
        if any(self._is_script(region, one) for one in region.ancestors(node)):
            raise LeftForHuman("TorchScript does not read the names of the file")
        if self.traits.is_scripted and any(isinstance(one, cst.ClassDef) for one in region.ancestors(node)):
            raise LeftForHuman("TorchScript may compile the class, and does not read the names of the file")
        found = self.known_device(region, node)
        return found if found is not None else self.made.at(region, node, is_used_now=is_used_now)

    def device_of_default(self, region: NodeRegion, node: cst.CSTNode) -> tuple[DeviceName, tuple[Edit, ...]]:
        """Return the program's device for a default value, and the edits that import what names it.

        A default is computed as the file is imported. Where the accelerator must not be asked for so early, it is the
        one that torch is built for: that reaches no driver, and on CUDA it is the same one.
        """
        try:
            return self.device(region, node, is_used_now=False), ()
        except AsksTooEarly:
            self.need_torch((2, 7), CURRENT)
        current, imports = self.library(region, node, CURRENT)
        device, more = self.library(region, node, "torch.device")
        return DeviceName(f'({current}() or {device}("cpu"))'), (*imports, *more)

    def known_device(self, region: NodeRegion, node: cst.CSTNode) -> DeviceName | None:
        """Return the name of the program's device that is in sight at a node: the program's own, or one made before."""
        return self.devices.visible_at(region, node) or self.made.made_before(region, node)

    def _is_script(self, region: NodeRegion, node: cst.CSTNode) -> bool:
        """Return whether a node is a function that TorchScript or another compiler of its own kind reads."""
        if not isinstance(node, cst.FunctionDef):
            return False
        names = [self.names.full_name(region, decorator_function(one)) for one in node.decorators]
        return any(name.startswith(("torch.jit.", "triton.", "numba.")) for name in names)

    def library(self, region: NodeRegion, node: cst.CSTNode, dotted: str) -> tuple[str, tuple[Edit, ...]]:
        """Return the text by which code refers to a library object, and the edits that import it where necessary."""
        return write_library_name(region, node, dotted)

    def available(self, region: NodeRegion, node: cst.CSTNode) -> tuple[str, tuple[Edit, ...]]:
        """Return the text of a call that asks whether there is an accelerator, and the edits that import it."""
        text, edits = self.library(region, node, AVAILABLE)
        return f"{text}()", edits

    def refuse_early(self, region: NodeRegion, node: cst.CSTNode) -> None:
        """Raise AsksTooEarly where a call that reaches no device runs before the program sets the visible devices.

        Its port would ask whether there is an accelerator, and that fixes which devices are seen.
        """
        if not self.traits.asks_late or self.known_device(region, node) is not None:
            return
        function = region.enclosing_function(node)
        if function is None or function.name.value in self.traits.called_early:
            raise AsksTooEarly
        start, end = region.span(node)[0], region.span(function)[1]
        if self.traits.sets is not None and self.traits.sets.search(self.fixes.text, start, end):
            raise AsksTooEarly

    def need_torch(self, version: Version, name: str) -> None:
        """Raise LeftForHuman if the oldest torch to support lacks a name, which came with `version`."""
        if self.options.min_torch < version:
            raise LeftForHuman(f"`{name}` came with torch {version_text(version)}; raise --min-torch to use it")


def decorator_function(decorator: cst.Decorator) -> cst.BaseExpression:
    """Return the function of a decorator, without the call that passes it arguments."""
    return decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator


def plain_arguments(region: NodeRegion, call: cst.Call) -> str:
    """Return the source text of a call's arguments. Raises LeftForHuman for unpacked arguments and comments."""
    if not call.args:
        return ""
    if any(one.star for one in call.args):
        raise LeftForHuman("its arguments are unpacked")
    start, end = region.span(call.args[0])[0], region.span(call.args[-1])[1]
    return region.context.text[start:end]


def replace_text(region: NodeRegion, node: cst.CSTNode, new: str) -> Edit:
    """Return the edit that replaces a string literal by an expression. Raises LeftForHuman inside an f-string.

    Unlike a literal, an expression needs blanks between it and the words around it.
    """
    if any(isinstance(one, cst.FormattedString) for one in region.ancestors(node)):
        raise LeftForHuman("it is part of an f-string")
    start, end = region.span_with_parentheses(node)
    text = region.context.text
    before = " " if start and (text[start - 1].isalnum() or text[start - 1] == "_") else ""
    after = " " if text[end : end + 1].isalnum() else ""
    return region.context.edit(start, end, f"{before}{new}{after}")
