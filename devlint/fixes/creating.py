"""What is created and then moved is created where it is wanted."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.domain.value import FactoryOrigin, OriginKind
from devlint.fixes.calls import drop_method, find_argument, is_open, receiver_of, set_argument
from devlint.fixes.edits import replace
from devlint.fixes.imports import full_name, spell
from devlint.fixes.names import is_read_again
from devlint.fixes.placing import DEVICELESS
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.statements import take_out
from devlint.fixes.transfers import Target, target_of
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import descend

NUMPY: Final = {
    "numpy.random.standard_normal": "torch.randn",
    "numpy.random.randn": "torch.randn",
    "numpy.random.rand": "torch.rand",
    "numpy.random.random": "torch.rand",
    "numpy.random.random_sample": "torch.rand",
}
"""Random numbers of NumPy's, and torch's factory of numbers of the same distribution."""


def create_there(sheet: FixContext, place: Place, fresh: FactoryOrigin) -> Fix:
    """The factory is told the device, and the transfer at `place` is left out."""
    part, call = sheet.part(place), node_at(place)
    target, factory = target_of(part, call), fresh.step.place.node
    if not isinstance(factory, cst.Call) or target.device is None:
        raise NoFix
    safe = fresh.origin is OriginKind.NOTHING
    home = sheet.part(fresh.step.place)
    name = full_name(home, factory.func)
    if name.startswith("torch.") and name.rpartition(".")[2] not in DEVICELESS:
        at_hand = {wording.text for wording in fresh.step.wordings}
        known = target.device in at_hand or _is_known_at(home, factory, target.device)
        edits = (*_told(home, factory, target), *_left_out(part, call, home, factory, known=known))
    else:
        edits, safe = _made_by_torch(part, call, target), False
    trust = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(f"Create it on `{target.device}`", trust, edits)


def _told(part: NodeRegion, factory: cst.Call, target: Target) -> tuple[Edit, ...]:
    if is_open(factory) or find_argument(factory, "generator") or find_argument(factory, "pin_memory"):
        raise NoFix
    assert target.device is not None
    edit = set_argument(part, factory, "device", target.device)
    if target.dtype is None:
        return (edit,)
    if find_argument(factory, "dtype") is not None or find_argument(factory, "device") is not None:
        raise NoFix
    # Both go to one place, in one edit.
    return (part.sheet.insert(edit, f", dtype={target.dtype}"),)


def _left_out(
    part: NodeRegion, call: cst.BaseExpression, home: NodeRegion, factory: cst.Call, *, known: bool
) -> tuple[Edit, ...]:
    """The transfer taken away: from behind the factory, or from a statement that rebinds the factory's name."""
    receiver = receiver_of(call)
    if any(one is factory for one in (receiver, *descend(receiver))):
        return (drop_method(part, call),)
    # Where only some path moves the tensor, the factory must not decide for the others.
    if not isinstance(receiver, cst.Name) or not known or _block_of(part, call) is not _block_of(home, factory):
        raise NoFix
    match part.parent(call), home.parent(factory):
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as statement,
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=first))]),
        ) if name == first == receiver.value:
            return (take_out(part, statement),)
    if is_read_again(part, receiver):
        raise NoFix
    return (drop_method(part, call),)


def _block_of(part: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """The block whose statement a node is in; None at the top level. Raises Unfit where it is not always evaluated."""
    for above in part.parents(node):
        if isinstance(above, (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)):
            raise NoFix
        if isinstance(above, (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement)):
            return part.parent(above)
    return None


def _is_known_at(part: NodeRegion, factory: cst.Call, device: str) -> bool:
    """Whether a device means the same where the factory stands: a literal, an argument, a name bound outside."""
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", device)))
    function = part.function(factory)
    if function is None:
        later = (one for one in part.sheet.index.statements if one.first_row >= part.unit.first_row)
        return not any(words & one.binds for one in later)
    return not words & {name for node in descend(function.body) for name in names_bound_by(node)}


def _made_by_torch(part: NodeRegion, call: cst.CSTNode, target: Target) -> tuple[Edit, ...]:
    """Random numbers that NumPy draws, `torch.from_numpy` takes and a transfer moves are drawn by torch."""
    receiver = receiver_of(call)
    if not isinstance(receiver, cst.Call) or full_name(part, receiver.func) != "torch.from_numpy" or target.dtype:
        raise NoFix
    source = receiver.args[0].value
    removed: tuple[Edit, ...] = ()
    if isinstance(source, cst.Name):
        statement = _binding(part, source)
        removed, source = (take_out(part, statement),), statement.value
    drawn, dtype = _without_cast(part, source)
    if not isinstance(drawn, cst.Call) or is_open(drawn) or any(one.keyword is not None for one in drawn.args):
        raise NoFix
    maker = NUMPY.get(full_name(part, drawn.func))
    if maker is None or not drawn.args:
        raise NoFix
    name, imported = spell(part, call, maker)
    sizes = ", ".join(part.sheet.text[slice(*part.span(one))] for one in drawn.args)
    kind = f", dtype={spell(part, call, f'torch.{dtype}')[0]}" if dtype != "float32" else ""
    return (*imported, *removed, replace(part, call, f"{name}({sizes}, device={target.device}{kind})"))


def _binding(part: NodeRegion, name: cst.Name) -> cst.Assign:
    """The one assignment in the function of a name that is read nowhere else."""
    function = part.function(name)
    if function is None or is_read_again(part, name):
        raise NoFix
    found = [
        node
        for node in descend(function.body)
        if isinstance(node, cst.Assign) and name.value in {one for each in node.targets for one in names_bound_by(each)}
    ]
    if len(found) != 1 or not isinstance(found[0].targets[0].target, cst.Name):
        raise NoFix
    return found[0]


def _without_cast(part: NodeRegion, node: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
    """What `.astype(np.float32)` is called on, and the dtype that comes of it."""
    match node:
        case cst.Call(func=cst.Attribute(value=drawn, attr=cst.Name(value="astype")), args=[cst.Arg(value=dtype)]):
            word = dtype.evaluated_value if isinstance(dtype, cst.SimpleString) else full_name(part, dtype)
            return drawn, str(word).removeprefix("numpy.")
    return node, "float64"
