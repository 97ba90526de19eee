"""A fix that lets a factory call create a tensor directly on the device to which the program later transfers it."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.domain.value import FactoryOrigin, OriginKind
from devlint.fixes.call_edits import find_argument, has_unpacked_keywords, receiver_of, remove_method_call, set_argument
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.import_edits import full_name, write_library_name
from devlint.fixes.name_queries import is_read_elsewhere
from devlint.fixes.operand_placement import FACTORIES_WITHOUT_DEVICE
from devlint.fixes.statement_edits import remove_statement
from devlint.fixes.transfer_targets import TransferTarget, transfer_target
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import descend

TORCH_RANDOM_FACTORIES: Final = {
    "numpy.random.standard_normal": "torch.randn",
    "numpy.random.randn": "torch.randn",
    "numpy.random.rand": "torch.rand",
    "numpy.random.random": "torch.rand",
    "numpy.random.random_sample": "torch.rand",
}
"""Torch's factories of random numbers, by the NumPy function that draws from the same distribution."""


def create_on_target(context: FixContext, place: Place, fresh: FactoryOrigin) -> Fix:
    """Return a fix that passes a device to the factory call that creates a tensor, and removes the tensor's transfer.

    The transfer is at the source location `place`. The fix is safe when the factory makes its elements from nothing, as
    `torch.zeros` does. It is unsafe for random numbers, also when NumPy drew them and torch draws them after the fix.
    """
    region, call = context.region_at(place), node_at(place)
    target, factory = transfer_target(region, call), fresh.step.place.node
    if not isinstance(factory, cst.Call) or target.device is None:
        raise NoFix
    safe = fresh.kind is OriginKind.NOTHING
    home = context.region_at(fresh.step.place)
    name = full_name(home, factory.func)
    if name.startswith("torch.") and name.rpartition(".")[2] not in FACTORIES_WITHOUT_DEVICE:
        at_hand = {wording.text for wording in fresh.step.device_expressions}
        known = target.device in at_hand or _is_known_at(home, factory, target.device)
        edits = (*_factory_edits(home, factory, target), *_transfer_removal(region, call, home, factory, known=known))
    else:
        edits, safe = _random_factory_edits(region, call, target), False
    trust = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(f"Create the tensor on `{target.device}`", trust, edits)


def _factory_edits(region: NodeRegion, factory: cst.Call, target: TransferTarget) -> tuple[Edit, ...]:
    """Return the edit that adds the device and the dtype of a later transfer to the arguments of a factory call.

    Raises NoFix when the factory call has a generator, pinned memory, `**options`, or a dtype or device that would have
    to be merged with those of the transfer.
    """
    if has_unpacked_keywords(factory) or find_argument(factory, "generator") or find_argument(factory, "pin_memory"):
        raise NoFix
    assert target.device is not None
    edit = set_argument(region, factory, "device", target.device)
    if target.dtype is None:
        return (edit,)
    if find_argument(factory, "dtype") is not None or find_argument(factory, "device") is not None:
        raise NoFix
    # Device and dtype are inserted at the same offset, so one edit inserts both.
    return (region.context.extend_edit(edit, f", dtype={target.dtype}"),)


def _transfer_removal(
    region: NodeRegion, call: cst.BaseExpression, home: NodeRegion, factory: cst.Call, *, known: bool
) -> tuple[Edit, ...]:
    """Return the edits that remove the transfer of a tensor that a factory call created.

    The transfer is chained to the factory call, or called on the variable to which the factory's tensor is assigned. A
    statement that only assigns the moved tensor to the same variable is removed as a whole. `known` tells whether the
    device of the transfer has the same value at the factory call. Raises NoFix when it may not, or when the transfer
    does not run each time the factory does.
    """
    receiver = receiver_of(call)
    if any(one is factory for one in (receiver, *descend(receiver))):
        return (remove_method_call(region, call),)
    # A transfer in another block runs on some paths only; the factory must not place the tensor on the others.
    if not isinstance(receiver, cst.Name) or not known or _block_of(region, call) is not _block_of(home, factory):
        raise NoFix
    match region.parent(call), home.parent(factory):
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as statement,
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=first))]),
        ) if name == first == receiver.value:
            return (remove_statement(region, statement),)
    if is_read_elsewhere(region, receiver):
        raise NoFix
    return (remove_method_call(region, call),)


def _block_of(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the block of statements that contains the statement around a node; None at the top level of the file.

    Raises NoFix for a node that is not always evaluated with its statement: one within a conditional expression, a
    boolean operation, a lambda or a comprehension.
    """
    for above in region.ancestors(node):
        if isinstance(above, (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)):
            raise NoFix
        if isinstance(above, (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement)):
            return region.parent(above)
    return None


def _is_known_at(region: NodeRegion, factory: cst.Call, device: str) -> bool:
    """Return whether the expression `device` has the same value at a factory call as at the later transfer.

    That holds for a literal, an argument of the function and a name bound outside of the function.
    """
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", device)))
    function = region.enclosing_function(factory)
    if function is None:
        later = (one for one in region.context.index.statements if one.first_row >= region.statement.first_row)
        return not any(words & one.binds for one in later)
    return not words & {name for node in descend(function.body) for name in names_bound_by(node)}


def _random_factory_edits(region: NodeRegion, call: cst.CSTNode, target: TransferTarget) -> tuple[Edit, ...]:
    """Return the edits that let torch draw random numbers directly on a device.

    Before the edits, NumPy draws the numbers, `torch.from_numpy` converts them and a transfer moves them.
    """
    receiver = receiver_of(call)
    if not isinstance(receiver, cst.Call) or full_name(region, receiver.func) != "torch.from_numpy" or target.dtype:
        raise NoFix
    source = receiver.args[0].value
    removed: tuple[Edit, ...] = ()
    if isinstance(source, cst.Name):
        statement = _only_assignment(region, source)
        removed, source = (remove_statement(region, statement),), statement.value
    drawn, dtype = _split_astype(region, source)
    if (
        not isinstance(drawn, cst.Call)
        or has_unpacked_keywords(drawn)
        or any(one.keyword is not None for one in drawn.args)
    ):
        raise NoFix
    maker = TORCH_RANDOM_FACTORIES.get(full_name(region, drawn.func))
    if maker is None or not drawn.args:
        raise NoFix
    name, imported = write_library_name(region, call, maker)
    sizes = ", ".join(region.context.text[slice(*region.span(one))] for one in drawn.args)
    kind = f", dtype={write_library_name(region, call, f'torch.{dtype}')[0]}" if dtype != "float32" else ""
    return (*imported, *removed, replace_node(region, call, f"{name}({sizes}, device={target.device}{kind})"))


def _only_assignment(region: NodeRegion, name: cst.Name) -> cst.Assign:
    """Return the only assignment to a local variable, provided that nothing but `name` reads the variable.

    Raises NoFix if another read or another assignment exists.
    """
    function = region.enclosing_function(name)
    if function is None or is_read_elsewhere(region, name):
        raise NoFix
    found = [
        node
        for node in descend(function.body)
        if isinstance(node, cst.Assign) and name.value in {one for each in node.targets for one in names_bound_by(each)}
    ]
    if len(found) != 1 or not isinstance(found[0].targets[0].target, cst.Name):
        raise NoFix
    return found[0]


def _split_astype(region: NodeRegion, node: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
    """Return the expression `x` and the dtype name `float32` for `x.astype(np.float32)`.

    For an expression without `.astype(...)`, return the expression itself and `float64`, NumPy's default.
    """
    match node:
        case cst.Call(func=cst.Attribute(value=drawn, attr=cst.Name(value="astype")), args=[cst.Arg(value=dtype)]):
            word = dtype.evaluated_value if isinstance(dtype, cst.SimpleString) else full_name(region, dtype)
            return drawn, str(word).removeprefix("numpy.")
    return node, "float64"
