"""Names of the values that steps of a history speak of: `model` at `model = nn.Linear(3, 1).cuda()`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from devlint.domain.placement import Place, Step, StepKind
from devlint.domain.torch_names import CHAINED_METHODS, SELF_RETURNING_MODULE_METHODS, TRANSFER_METHODS
from devlint.explain.place_texts import dotted_name_at, place_text
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement

_SAME_VALUE: Final = CHAINED_METHODS | SELF_RETURNING_MODULE_METHODS | {*TRANSFER_METHODS, "manual_seed"}
"""The methods whose result still goes by the name that the receiver has: `x = torch.ones(3).cuda()` makes `x`."""


@dataclass(frozen=True, slots=True)
class StepNames:
    """The names that a statement gives to the value of a step: one, or several to its parts, as in `a, b = f(x)`.

    `inside` is true for a value that a container with that name holds: `x` holds the tensor of `x = [torch.ones(3)]`.
    """

    names: tuple[str, ...] = ()
    inside: bool = False

    def name(self, told: str) -> str | None:
        """Return the name of the step's value, None if it has none; `told` is the text of the operand of the story.

        Of the parts of a value, or of what a container holds, only the operand of the story is told by name.
        """
        if self.inside:
            return told if any(told.startswith(f"{one}[") for one in self.names) else None
        if told in self.names:
            return told
        return self.names[0] if len(self.names) == 1 else None


NO_NAMES: Final = StepNames()
"""The names of a step whose value the program gives none."""


def names_of_step(step: Step) -> StepNames:
    """Return the names of the value that a step made, moved or kept, as the step's own statement gives them."""
    place, node = step.place, step.place.node
    if isinstance(node, cst.Param):
        return StepNames((node.name.value,))
    own = dotted_name_at(place)
    if own is not None and step.kind is not StepKind.CREATED:
        return StepNames((own,), inside=step.kind is StepKind.STORED_INSIDE)
    path = path_to(place.unit.tree, node) if isinstance(place.unit, Statement) and isinstance(node, cst.CSTNode) else []
    if step.kind is StepKind.CACHED and isinstance(node, cst.Subscript):
        return _stored_by(path, place)
    found = _assigned_from(path, place)
    if not found.names and step.kind is StepKind.MOVED and isinstance(node, cst.Call):
        moved = dotted_name_at(replace(place, node=node.func.value)) if isinstance(node.func, cst.Attribute) else None
        return StepNames((moved,)) if moved is not None else NO_NAMES
    return found


def _keeps_name(method: str) -> bool:
    """Return whether the result of a method goes by the name of the receiver; torch marks in-place ones by `_`."""
    return method in _SAME_VALUE or method.endswith("_")


def _stored_by(path: Sequence[cst.CSTNode], place: Place) -> StepNames:
    """Return the name of the value that an assignment stores under an index: `mask` of `cache[n] = mask`."""
    for one in reversed(path):
        if isinstance(one, cst.Assign):
            stored = dotted_name_at(replace(place, node=one.value))
            return StepNames((stored,)) if stored is not None else NO_NAMES
    return NO_NAMES


def _assigned_from(path: Sequence[cst.CSTNode], place: Place) -> StepNames:
    """Return the names to which a statement or an expression binds the value of the last node of a path."""
    inside, position = False, None
    for child, parent in zip(path[::-1], path[-2::-1], strict=False):
        match parent:
            case cst.Attribute(attr=cst.Name(value=method), value=value) if value is child and _keeps_name(method):
                continue
            case cst.Call(func=called) if called is child:
                continue
            case cst.IfExp(test=test) if test is not child:
                continue
            case cst.Element() | cst.DictElement():
                continue
            case cst.Tuple(elements=elements) if not inside and position is None:
                position = next((number for number, one in enumerate(elements) if one is child), None)
            case cst.Tuple() | cst.List() | cst.Set() | cst.Dict() | cst.ListComp() | cst.SetComp() | cst.DictComp():
                inside = True
            case cst.NamedExpr(target=target) | cst.AnnAssign(target=target):
                return _names((target,), place, position, inside=inside)
            case cst.Assign(targets=targets):
                return _names([one.target for one in targets], place, position, inside=inside)
            case cst.For(target=target, iter=source) | cst.CompFor(target=target, iter=source) if source is child:
                return _names((target,), place, None, inside=inside)
            case cst.WithItem(asname=cst.AsName(name=cst.BaseExpression() as target)):
                return _names((target,), place, None, inside=inside)
            case _:
                return NO_NAMES
    return NO_NAMES


def _names(targets: Iterable[cst.BaseExpression], place: Place, position: int | None, *, inside: bool) -> StepNames:
    """Return the names that the targets of an assignment give to a value.

    `position` is the value's place in a tuple on the right side, None where the value is the whole right side.
    """
    names: list[str] = []
    for target in targets:
        parts = [one.value for one in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else []
        if position is None:
            names += [place_text(replace(place, node=one)) for one in parts or (target,)]
        elif position < len(parts) and not any(isinstance(one, cst.StarredElement) for one in parts):
            names.append(place_text(replace(place, node=parts[position])))
        elif not parts:
            names, inside = [*names, place_text(replace(place, node=target))], True
    return StepNames(tuple(names), inside)
