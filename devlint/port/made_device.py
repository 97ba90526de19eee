"""A device made for a file that has none: one assignment at its top, or one in each function that needs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.device_names import AVAILABLE, CURRENT, DeviceName
from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.statement_edits import indentation_at
from devlint.port.cuda_uses import LeftForHuman
from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.statement import Statement


class AsksTooEarly(LeftForHuman):
    """The reason why a use is left that would ask for the device too early; another use may make the device in time."""

    def __init__(self) -> None:
        super().__init__(
            "the program sets the visible devices or forks, perhaps later than this, and must not ask before"
        )


class MadeDevice:
    """The device that the port of one file makes, under a name that the file does not use.

    It is made at the top of the file. Where `lazily`, it is made in each function, just before its first use: asking
    for the accelerator earlier would fix which devices are visible, or refuse them to forked processes.
    """

    def __init__(self, context: FixContext, wanted: str, *, lazily: bool) -> None:
        self._context = context
        self._wanted = wanted
        self._lazily = lazily
        self._asked: list[tuple[int, str]] = []
        self._needed: dict[int, str] = {}

    def at(self, region: NodeRegion, node: cst.CSTNode, *, is_used_now: bool) -> DeviceName:
        """Return the name of the made device for a node. `is_used_now` tells that the node itself reaches the device.

        Raises LeftForHuman where it cannot be made.
        """
        if not self._lazily:
            self._ask(*self._top)
            return DeviceName(self.name)
        if not is_used_now:
            raise AsksTooEarly
        self._ask(*self._before(region, node))
        return DeviceName(self.name)

    def made_before(self, region: NodeRegion, node: cst.CSTNode) -> DeviceName | None:
        """Return the name of the device if its function makes it, for another use, before a node; None otherwise."""
        below = node
        for above in region.ancestors(node):
            if isinstance(above, cst.IndentedBlock) and _is_entered_once(region, above):
                first = self._first_made(region, above)
                return DeviceName(self.name) if first is not None and first <= region.span(below)[0] else None
            if isinstance(above, (cst.ClassDef, cst.Decorator, cst.Param)):
                return None
            below = above
        return None

    def keep(self) -> None:
        """Make what was asked for since the last call: the use that asked is ported."""
        self._needed |= dict(self._asked)
        self._asked.clear()

    def forget_all(self) -> None:
        """Do not make what was asked for at all."""
        self._asked.clear()
        self._needed.clear()

    def forget(self) -> None:
        """Do not make what was asked for since the last call: the use that asked is left."""
        self._asked.clear()

    @property
    def edits(self) -> Iterator[Edit]:
        """The edits that make the device, wherever it is needed."""
        for offset, text in self._needed.items():
            yield self._context.edit(offset, offset, text)

    @cached_property
    def name(self) -> str:
        """The name of the made device: the wanted one, or another if the file uses that as a variable already."""
        tree = try_parse_ast(self._context.text)
        if tree is None:
            raise LeftForHuman("the file has syntax that this Python does not know")
        used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
        used |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)} | self._context.index.bound
        names = (self._wanted, "accelerator", "accelerator_device", "default_accelerator")
        found = next((one for one in names if one not in used), None)
        if found is None:
            raise LeftForHuman("all names for a device are in use")
        return found

    def _ask(self, offset: int, text: str) -> None:
        """Note an insertion that the use being ported needs; at one place, the first one is enough."""
        self._asked.append((offset, self._needed.get(offset, text)))

    @cached_property
    def _top(self) -> tuple[int, str]:
        """The offset at the top of the file where the device is made, and the lines that make it."""
        statements = self._context.index.statements
        last = self._import_of_torch
        imported = last is not None
        if last is None:
            first = next((one for one in statements if one.kind == "import"), None)
            if first is None or "torch" in self._context.index.bound:
                raise LeftForHuman("the file does not import torch")
            last = first
        for one in statements[statements.index(last) :]:
            if one.kind != "import":
                break
            last = one
        newline = self._context.newline(last.start)
        text = self._context.text[last.start : last.end]
        lines = ["" if text.endswith(("\n", "\r")) else newline, "" if imported else f"import torch{newline}", newline]
        return last.end, "".join([*lines, self._assignment, newline])

    @cached_property
    def _import_of_torch(self) -> Statement | None:
        """The statement at the top level that binds `torch` by a plain import; None without one."""
        for one in self._context.index.statements:
            if one.kind == "import" and any(each.name == "torch" and each.module == "torch" for each in one.imports):
                return one
        return None

    @property
    def _assignment(self) -> str:
        """The statement that makes the device."""
        return f'{self.name} = {CURRENT}() if {AVAILABLE}() else torch.device("cpu")'

    def _before(self, region: NodeRegion, node: cst.CSTNode) -> tuple[int, str]:
        """Return the offset before the statement of a function's body that contains a node, and the line to insert."""
        if self._import_of_torch is None:
            raise LeftForHuman("the file does not import torch at its top")
        below = node
        for above in region.ancestors(node):
            match above:
                case cst.ClassDef() | cst.Decorator() | cst.Param():
                    raise LeftForHuman("it runs when the file is imported, before the program sets the visible devices")
                case cst.IndentedBlock() if _is_entered_once(region, above):
                    first = self._first_made(region, above)
                    start = region.span(below)[0] if first is None else min(first, region.span(below)[0])
                    blanks = indentation_at(region, start)
                    if blanks is None:
                        raise LeftForHuman("the statement does not begin its line")
                    return start, f"{self._assignment}{self._context.newline(start)}{blanks}"
            below = above
        starts = {one.start for one in self._context.index.statements}
        start = min({region.statement.start, *(starts & self._needed.keys())})
        return start, f"{self._assignment}{self._context.newline(start)}"

    def _first_made(self, region: NodeRegion, block: cst.IndentedBlock) -> int | None:
        """Return the offset of the statement of a block before which the device is to be made already, if any."""
        return next((start for one in block.body if (start := region.span(one)[0]) in self._needed), None)


def _is_entered_once(region: NodeRegion, block: cst.IndentedBlock) -> bool:
    """Return whether a block is the body of a function, or that of `if __name__ == "__main__":`."""
    match region.parent(block):
        case cst.FunctionDef():
            return True
        case cst.If(test=cst.Comparison(left=cst.Name(value="__name__"))):
            return True
    return False
