"""The port of seeds: a seed for CUDA next to `torch.manual_seed` is one too many, for that seeds every accelerator."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.fixes.fix_context import NodeRegion
from devlint.fixes.statement_edits import indentation_at
from devlint.interpreter.program.definitions import names_bound_by
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.port_context import PortContext
from devlint.semantics.accelerators import Replacement
from devlint.syntax.tree_walk import descend, dotted_name

_SEEDS = frozenset({"torch.cuda.manual_seed", "torch.cuda.manual_seed_all"})
_HOST_SEED = "torch.manual_seed"


def is_seed(name: str) -> bool:
    """Return whether a name is that of a function that sets the seed of CUDA devices."""
    return name in _SEEDS


def port_seed(context: PortContext, region: NodeRegion, call: cst.Call | None, by: Replacement) -> Port:
    """Return the port of a call that seeds CUDA devices: it is removed, or becomes one for any accelerator."""
    line = _line_of(region, call) if call is not None else None
    if call is None or line is None or len(call.args) != 1 or call.args[0].star:
        raise LeftForHuman("torch.manual_seed seeds the host too, and every device of every accelerator")
    block = region.parent(line)
    statements: Sequence[cst.CSTNode] = block.body if isinstance(block, cst.IndentedBlock) else ()
    if not statements and region.parent(line) is None:
        statements = _top_level(context, region)
    if any(_seeds_all(context, region, call, one) for one in _around(statements, line, call.args[0].value)):
        start, end = region.span(line)
        first, last = region.context.line_start(start), region.context.next_line(end)
        rest = region.context.text[end:last].strip()
        if indentation_at(region, start) is not None and not rest:
            return Port("nothing: torch.manual_seed beside it seeds every accelerator", [
                region.context.edit(first, last, "")
            ])  # fmt: skip
    if by.name.endswith("_all"):
        raise LeftForHuman("torch.manual_seed seeds the host too, and the module of mps has no manual_seed_all")
    return _under_check(context, region, call)


def _under_check(context: PortContext, region: NodeRegion, call: cst.Call) -> Port:
    """Return the port of a call of `manual_seed` to that of the device's module, where there is an accelerator."""
    start = region.span(call)[0]
    blanks = indentation_at(region, start)
    if blanks is None or not isinstance(region.parent(_line_of(region, call) or call), (cst.IndentedBlock, type(None))):
        raise LeftForHuman("the statement does not begin its line")
    context.refuse_early(region, call)
    available, imports = context.available(region, call)
    module, more = context.library(region, call, "torch.get_device_module")
    inner = f"{region.context.newline(start)}{blanks}{region.context.indent}"
    new = f"{module}({context.device(region, call).text}).manual_seed"
    edit = region.context.edit(start, region.span(call.func)[1], f"if {available}:{inner}{new}")
    return Port(f"if {available}: {new}(...)", [*imports, *more, edit])


def _line_of(region: NodeRegion, call: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """Return the statement line that consists of a call alone; None for another call."""
    expression = region.parent(call)
    line = region.parent(expression) if isinstance(expression, cst.Expr) else None
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None


def _top_level(context: PortContext, region: NodeRegion) -> Sequence[cst.CSTNode]:
    """Return the statements at the top of a file that mention seeds, and those beside them."""
    statements = context.fixes.index.statements
    place = statements.index(region.statement)
    return [one.tree for one in statements[max(0, place - 8) : place + 9]]


def _around(block: Sequence[cst.CSTNode], line: cst.CSTNode, seed: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the statements next to a line of a block, on both sides.

    A statement that may draw random numbers, or assigns to the name of the seed, ends them.
    """
    if line not in block:
        return []
    name = (dotted_name(seed) or "").partition(".")[0]
    place = block.index(line)
    found: list[cst.CSTNode] = []
    for side in (block[place + 1 :], block[:place][::-1]):
        for one in side:
            if not _only_sets(one) or any(name in names_bound_by(part) for part in descend(one)):
                break
            found.append(one)
    return found


def _only_sets(statement: cst.CSTNode) -> bool:
    """Return whether a statement only sets seeds, flags and variables of the environment, and draws no numbers."""
    calls = [one for one in descend(statement) if isinstance(one, cst.Call)]
    names = [(dotted_name(one.func) or "").rpartition(".")[2] for one in calls]
    return all("seed" in one or one in ("str", "int", "is_available", "use_deterministic_algorithms") for one in names)


def _seeds_all(context: PortContext, region: NodeRegion, call: cst.Call, statement: cst.CSTNode) -> bool:
    """Return whether a statement calls `torch.manual_seed` with the same seed as a call."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=func, args=[cst.Arg(star="", value=seed)]))]):
            if context.names.full_name(region, func) != _HOST_SEED:
                return False
            mine = call.args[0].value
            return isinstance(mine, (cst.Name, cst.Attribute, cst.Integer)) and mine.deep_equals(seed)
    return False
