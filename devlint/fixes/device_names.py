"""The program's device: names that hold the accelerator where there is one, and the expressions that choose it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

import libcst as cst

from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.name_queries import names_bound_in_function
from devlint.fixes.torch_names import TorchNames
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.source import SourceError
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import descend

AVAILABLE: Final = "torch.accelerator.is_available"
CURRENT: Final = "torch.accelerator.current_accelerator"
CUDA_AVAILABLE: Final = "torch.cuda.is_available"

_DEVICE_WORD: Final = re.compile(r"(^|[^a-z])(dev|device|map_location)([^a-z]|$)")
"""A name that says it is a device."""
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""The place where a new word begins in a name such as `deviceOfHead`."""
_OTHER_WORDS: Final = re.compile(r"name|types|list|id|index|map(?!_location)|count|num|info|prop")
"""Words in a name that says it is something about a device, or several devices."""
_CUDA: Final = re.compile(r"cuda$")
"""The text that names the current CUDA device; with an index, it would name one of them."""

MENTIONS_DEVICE: Final = re.compile(r"cuda|accelerator")
"""Text that a file or statement has if it chooses a device."""


@dataclass(frozen=True, slots=True)
class DeviceName:
    """An expression that holds the program's device: the accelerator without an index, or the host without one.

    Where `is_text`, it holds the type as a string such as "cuda", otherwise a `torch.device`.
    """

    text: str
    is_text: bool = False

    @property
    def argument(self) -> str:
        """The source text of the device where it is an argument, which needs no parentheses around it."""
        return self.text[1:-1] if self.text.startswith("(") else self.text

    @property
    def type_text(self) -> str:
        """The source text of the device's type as a string."""
        return self.text if self.is_text else f"{self.text}.type"


class DeviceNames:
    """The names in one file that hold the program's device, found by the expressions that are assigned to them.

    A name for a device that is set to `"cuda"` counts where `constants_are_ported`: the port lets it choose.
    `imported` are the names that hold the device in the file of the program from which this file imports them.
    """

    def __init__(
        self,
        context: FixContext,
        names: TorchNames,
        *,
        constants_are_ported: bool,
        imported: Mapping[str, DeviceName] = MappingProxyType({}),
    ) -> None:
        self._context = context
        self._imported = imported
        self._constants_are_ported = constants_are_ported
        self._names = names
        self._by_function: dict[cst.FunctionDef, dict[str, tuple[int, DeviceName]]] = {}

    def visible_at(self, region: NodeRegion, node: cst.CSTNode) -> DeviceName | None:
        """Return a name that holds the program's device where a node runs; None if there is none."""
        hidden: set[str] = set()
        below: cst.CSTNode = node
        for above in region.ancestors(node):
            if isinstance(above, cst.FunctionDef) and above.body is below:
                bound = region.cached(names_bound_in_function, above)
                for name, (end, found) in self._assigned_in(region, above).items():
                    if name not in hidden and end <= region.span(node)[0]:
                        return found
                hidden |= bound
            elif isinstance(above, (cst.Lambda, cst.BaseComp)):
                hidden |= {name for one in (above, *descend(above)) for name in _bound(one)}
            below = above
        visible = ((name, one) for name, one in (self._at_top | self._imports).items() if name not in hidden)
        return next((found for _, (start, found) in visible if start < region.statement.start), None)

    @property
    def exported(self) -> Mapping[str, DeviceName]:
        """The names that hold the device at the top level of the file, for other files to import."""
        return {name: found for name, (_, found) in self._at_top.items()}

    @cached_property
    def _imports(self) -> dict[str, tuple[int, DeviceName]]:
        """The names for the device that the file imports at its top level, each with the start of the import."""
        statements = self._context.index.statements
        found = {}
        for name, device in self._imported.items():
            binding = [one for one in statements if name in one.binds or name in one.globals]
            if len(binding) == 1 and binding[0].kind == "import":
                found[name] = (binding[0].start, device)
        return found

    def held(self, region: NodeRegion, value: cst.CSTNode) -> bool | None:
        """Return whether an expression chooses the program's device as a string (True), as a `torch.device` (False).

        None for any other expression.
        """
        match value:
            case cst.IfExp(test=cst.Call(func=test, args=[]), body=body, orelse=host):
                if self._names.full_name(region, test) not in (AVAILABLE, CUDA_AVAILABLE):
                    return None
                kind = self.held(region, body)
                return kind if kind is not None and kind is self._host(region, host) else None
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=host):
                kind = self.held(region, left)
                return kind if kind is not None and kind is self._host(region, host) else None
            case cst.SimpleString():
                text = string_value(value)
                return True if isinstance(text, str) and _CUDA.match(text) else None
            case cst.Call(func=func, args=args):
                name = self._names.full_name(region, func)
                if name == CURRENT:
                    return False
                if name == "torch.device" and len(args) == 1 and args[0].star == "":
                    return False if self.held(region, args[0].value) is not None else None
            case cst.Attribute(value=inner, attr=cst.Name(value="type")):
                return True if self.held(region, inner) is False else None
        return None

    def _host(self, region: NodeRegion, value: cst.CSTNode) -> bool | None:
        """Return whether an expression is the host as a string (True) or as a `torch.device` (False), else None."""
        match value:
            case cst.SimpleString():
                return True if string_value(value) == "cpu" else None
            case cst.Call(func=func, args=[cst.Arg(star="", value=cst.SimpleString() as text)]):
                is_device = self._names.full_name(region, func) == "torch.device" and string_value(text) == "cpu"
                return False if is_device else None
        return None

    @cached_property
    def _at_top(self) -> dict[str, tuple[int, DeviceName]]:
        """The names at the top level of the file that hold the device, each with the start of its assignment.

        Such a name is bound by one statement only.
        """
        index = self._context.index
        found = {}
        for statement in index.statements:
            if statement.kind != "other" or len(statement.binds) != 1 or not MENTIONS_DEVICE.search(statement.text):
                continue
            (name,) = statement.binds
            others = [one for one in index.statements if name in one.binds or name in one.globals]
            try:
                region = self._context.statement_region(statement)
            except SourceError:
                continue
            held = self._assigned(region, statement.tree, name)
            if len(others) == 1 and held is not None:
                found[name] = (statement.start, DeviceName(name, held))
        return found

    def _assigned_in(self, region: NodeRegion, function: cst.FunctionDef) -> dict[str, tuple[int, DeviceName]]:
        """Return the names that hold the device in a function, each with the end of its only assignment."""
        if function in self._by_function:
            return self._by_function[function]
        found = self._by_function[function] = {}
        bound = [name for one in descend(function) for name in _bound(one)]
        for statement in function.body.body:
            if not isinstance(statement, cst.SimpleStatementLine):
                continue
            names = [name for one in descend(statement) for name in names_bound_by(one)]
            if len(names) == 1 and bound.count(names[0]) == 1:
                held = self._assigned(region, statement, names[0])
                if held is not None:
                    found[names[0]] = (region.span(statement)[1], DeviceName(names[0], held))
        return found

    def _assigned(self, region: NodeRegion, statement: cst.CSTNode, name: str) -> bool | None:
        """Return what kind of device a statement assigns to a name (see `held`); None for another statement."""
        match statement:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value)
                    | cst.AnnAssign(target=cst.Name(value=target), value=cst.BaseExpression() as value)
                ]
            ):
                is_constant = not isinstance(value, (cst.IfExp, cst.BooleanOperation)) and not self._asks(region, value)
                if target != name or (is_constant and not (self._constants_are_ported and is_device_name(name))):
                    return None
                return self.held(region, value)
        return None

    def _asks(self, region: NodeRegion, value: cst.CSTNode) -> bool:
        """Return whether an expression asks what accelerator there is."""
        calls = [one for one in (value, *descend(value)) if isinstance(one, cst.Call)]
        return any(self._names.full_name(region, one.func) in (CURRENT, AVAILABLE, CUDA_AVAILABLE) for one in calls)


def is_device_name(name: str) -> bool:
    """Return whether a name says that it holds one device."""
    lower = _HUMP.sub("_", name).lower()
    return _DEVICE_WORD.search(lower) is not None and _OTHER_WORDS.search(lower.replace("map_location", "")) is None


def _bound(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that one syntax node binds, parameters included."""
    yield from names_bound_by(node)
    if isinstance(node, cst.Param):
        yield node.name.value
    if isinstance(node, (cst.Global, cst.Nonlocal)):
        yield from (item.name.value for item in node.names)
