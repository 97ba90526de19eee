"""The port of one file: each use of CUDA-only API in it is replaced, or left with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import libcst as cst

from devlint.diagnostic import Edit
from devlint.explain.cut_texts import cut_at_end
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix
from devlint.port.amp_imports import AmpImports
from devlint.port.api_names import port_name
from devlint.port.choices import choice_around, port_choice
from devlint.port.collectives import port_backend
from devlint.port.cuda_uses import CudaUse, Left, LeftForHuman, LeftInGuard, Outcome, Port, WithoutEquivalent
from devlint.port.device_texts import is_device_of_torch, port_text
from devlint.port.guards import (
    choice_after,
    choice_in_argument,
    early_exit,
    guard_around,
    is_default_of_choice,
    test_around,
)
from devlint.port.made_device import AsksTooEarly
from devlint.port.old_tensor_types import port_tensor_type
from devlint.port.port_context import PortContext, PortOptions, ProgramTraits
from devlint.port.transfers import port_transfer
from devlint.port.use_sites import SiteKind, UseSite, use_sites
from devlint.semantics.accelerators import needs_cuda, reason_without_equivalent, replacements_of
from devlint.syntax.index import FileIndex
from devlint.syntax.source import SourceError

_ASKING: Final = frozenset(
    "is_available device_count is_bf16_supported is_tf32_supported get_device_name is_initialized".split()
)
"""The names of functions of `torch.cuda` that, in a condition, ask whether code for CUDA can run."""
_SHOWN_LENGTH: Final = 60
"""The most characters of a use's source text that a report shows."""


@dataclass(frozen=True, slots=True)
class FilePort:
    """The port of one file: what became of each use, and the edits of the file.

    `is_finished` is False if uses overlap, so that the edited file has to be ported again.
    """

    uses: tuple[CudaUse, ...]
    edits: tuple[Edit, ...]
    is_finished: bool = True


class _Overlap(Exception):
    """The exception for a use inside another one that is ported: it is ported in the next round."""


def port_file(index: FileIndex, options: PortOptions, traits: ProgramTraits) -> FilePort:
    """Return the port of a file, given its index, what the user asks for, and what the program is like."""
    return _FilePorter(PortContext(FixContext(index), options, traits)).run()


class _FilePorter:
    """The port of one file in progress: the edits made so far, and the choices of a device that are ported."""

    def __init__(self, context: PortContext) -> None:
        self._context = context
        self._edits: dict[Edit, None] = {}
        self._choices: dict[cst.CSTNode, Port] = {}
        self._is_finished = True

    def run(self) -> FilePort:
        """Return the port of the file."""
        sites = list(use_sites(self._context.fixes, self._context.names))
        amp = AmpImports(self._context, sites)
        self._context.may_run_on_host = not any(map(self._needs_cuda, sites))
        uses = [*self._port_together(amp)]
        uses += self._port_each(site for site in sites if not amp.has(site))
        uses.sort(key=lambda one: (one.region.cell or 0, one.region.start))
        return FilePort(tuple(uses), (*self._edits, *self._context.made.edits), self._is_finished)

    def _port_each(self, sites: Iterable[UseSite]) -> Iterator[CudaUse]:
        """Yield what becomes of uses that are ported one by one.

        Those that must not make the device where they are come last: others may have made it in time.
        """
        early = []
        for site in sites:
            found = self._attempt(site, partial(self._ported, site))
            if isinstance(found, AsksTooEarly):
                early.append(site)
            else:
                yield from self._taken(site, found)
        for site in early:
            yield from self._taken(site, self._attempt(site, partial(self._ported, site)))

    def _taken(self, site: UseSite, found: Port | Left) -> Iterator[CudaUse]:
        """Yield what becomes of a use, and add the edits of its port; nothing for a use inside one that is ported."""
        try:
            if isinstance(found, Port):
                self._take(found.edits)
        except _Overlap:
            self._context.made.forget()
            self._is_finished = False
        else:
            yield self._use(site, found)

    def _port_together(self, amp: AmpImports) -> Iterator[CudaUse]:
        """Yield what becomes of the uses of names imported from `torch.cuda.amp`.

        Where all of them can be ported, the imports are; where some cannot, the others get their full names.
        """
        found = [(site, self._attempt(site, partial(amp.port, site))) for site in amp.sites]
        left: Left | None = None
        try:
            imports = list(amp.edits)
        except Left as reason:
            left = reason
        except SourceError:
            left = LeftForHuman("a statement is nested too deeply")
        if left is None and any(isinstance(one, Left) for _, one in found):
            self._context.made.forget_all()
            yield from self._port_each(amp.sites)
            return
        if left is None:
            self._take([*imports, *(edit for _, one in found if isinstance(one, Port) for edit in one.edits)])
        else:
            self._context.made.forget_all()
        for site, one in found:
            if left is not None and isinstance(one, Port):
                yield self._use(site, LeftForHuman(f"its import is left: {left.reason}"))
            else:
                yield self._use(site, one)

    def _attempt(self, site: UseSite, port: Callable[[], Port]) -> Port | Left:
        """Return the port of a use, or the reason why it is left."""
        try:
            self._refuse_guarded(site)
            found = port()
        except Left as reason:
            self._context.made.forget()
            return reason
        except (NoFix, SourceError):
            self._context.made.forget()
            return LeftForHuman("its layout is unusual")
        self._context.made.keep()
        return found

    def _take(self, edits: Sequence[Edit]) -> None:
        """Add edits to those of the file. Raises _Overlap if they change what other edits change."""
        new = [one for one in edits if one not in self._edits]
        if any(_overlap(one, other) for one in new for other in self._edits):
            raise _Overlap
        self._edits.update(dict.fromkeys(new))

    def _refuse_guarded(self, site: UseSite) -> None:
        """Raise Left for a use that belongs to one backend on purpose: in a guard, or without an equivalent."""
        if site.kind is SiteKind.NAME and not replacements_of(site.name):
            reason = reason_without_equivalent(site.name)
            if reason is not None:
                raise WithoutEquivalent(reason)
        if site.kind is SiteKind.TENSOR_QUERY:
            raise LeftInGuard("it asks whether the tensor is on CUDA")
        if site.kind is SiteKind.NAME and is_default_of_choice(site.region, site.node):
            raise LeftInGuard("the module of another device is taken where there is one")
        choice = choice_around(self._context.names, site.region, site.node)
        asks = site.kind is SiteKind.NAME and site.name.rpartition(".")[2] in _ASKING
        if asks and choice is None and test_around(site.region, site.node) is not None:
            raise LeftInGuard("it is part of a condition on code that is for CUDA")
        inside: cst.CSTNode = choice if choice is not None else site.node
        guard = guard_around(site.region, inside)
        if guard is None and site.kind is SiteKind.NAME:
            guard = choice_after(site.region, site.node) or choice_in_argument(site.region, site.node)
        row = self._row(site.region, guard) if guard is not None else self._exit_before(site.region)
        if row is not None:
            raise LeftInGuard(f"line {row} asks for the device, and decides whether this runs")

    def _needs_cuda(self, site: UseSite) -> bool:
        """Return whether a use surely fails on a machine without CUDA: nothing asks for CUDA before it."""
        match site.kind:
            case SiteKind.TRANSFER | SiteKind.TENSOR_TYPE:
                fails = True
            case SiteKind.NAME:
                fails = needs_cuda(site.name) or site.name.endswith("Tensor")
            case SiteKind.TEXT:
                fails = is_device_of_torch(self._context, site.region, site.node)
            case _:
                fails = False
        if not fails:
            return False
        try:
            self._refuse_guarded(site)
        except Left:
            return False
        return choice_around(self._context.names, site.region, site.node) is None

    def _ported(self, site: UseSite) -> Port:
        """Return the port of a use that is in no guard. Raises Left where it is left."""
        context, region, node = self._context, site.region, site.node
        choice = choice_around(context.names, region, node)
        if choice is not None:
            if choice not in self._choices:
                self._choices[choice] = port_choice(context, region, choice)
            return self._choices[choice]
        if site.kind is SiteKind.TRANSFER and isinstance(node, cst.Call):
            return port_transfer(context, region, node)
        if site.kind is SiteKind.TEXT and site.spelling is not None:
            return port_text(context, region, node, site.spelling)
        if site.kind is SiteKind.BACKEND and isinstance(node, cst.SimpleString):
            return port_backend(context, region, node)
        if site.kind is SiteKind.TENSOR_TYPE:
            found = replacements_of(site.name)
            if not found:
                raise LeftForHuman(f"nothing is known that replaces `{site.name}`")
            return port_tensor_type(context, region, node, None, found[0])
        return port_name(context, region, node, site.name)

    @cached_property
    def _exits(self) -> list[tuple[int, int]]:
        """The statements at the top of the file that end the program without the right device: offsets and rows."""
        index = self._context.fixes.index
        found = []
        for one in index.statements:
            if one.kind == "other" and one.text.startswith(("if", "assert")):
                region = self._context.fixes.statement_region(one)
                test = early_exit(one.tree)
                if test is not None:
                    found.append((one.start, self._row(region, test)))
        return found

    def _exit_before(self, region: NodeRegion) -> int | None:
        """Return the row of a condition at the top of the file that ends the program before a statement, if any."""
        return next((row for start, row in self._exits if start < region.statement.start), None)

    def _row(self, region: NodeRegion, node: cst.CSTNode) -> int:
        """Return the row at which a node starts; in a notebook, the row in its cell."""
        return self._context.fixes.edit(region.span(node)[0], region.span(node)[0], "").start.row

    def _use(self, site: UseSite, found: Port | Left) -> CudaUse:
        """Return the record of a use, given its port or the reason why it is left."""
        context = self._context.fixes
        start, end = site.region.span(site.node)
        position = context.index.lines.position
        region = context.index.source.region(position(start), position(end))
        text = cut_at_end(" ".join(context.text[start:end].split()), _SHOWN_LENGTH)
        if isinstance(found, Port):
            return CudaUse(region, text, Outcome.PORTED, found.shown, tuple(found.edits))
        return CudaUse(region, text, found.outcome, found.reason, has_equivalent=found.has_equivalent)


def _overlap(one: Edit, other: Edit) -> bool:
    """Return whether two different edits change the same text, or insert text at the same position."""
    if one.cell != other.cell:
        return False
    if one.start == one.end == other.start == other.end:
        return True
    return one.start < other.end and other.start < one.end
