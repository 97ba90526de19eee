"""Loops by their text: what an iteration pays once for an inner loop, and which loops a person or a disk drives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.branches import is_in_branch
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.program.training_code import straight_code
from devlint.syntax.tree_walk import descend, dotted_name, names_in_target

_GRADIENTS: Final = frozenset({"backward", "grad"})
"""The last names of the calls that compute gradients."""

_FILE_CALLS: Final = frozenset(
    {"open", "load", "save", "savez", "imread", "imwrite", "imsave", "savefig", "save_image", "read_csv", "to_csv"}
    | {"from_pretrained", "save_pretrained", "loadmat", "savemat", "read_image", "write_png", "write_jpeg"}
)
"""The last names of the calls that read or write a file."""

_FEW: Final = 8
"""The largest number of iterations of a loop for which a single copy still counts."""

_SHORT: Final = 100
"""The largest number of iterations of a loop that counts as run once, unless its function is called again and again."""


@lru_cache(maxsize=256)
def pays_for_inner_loop(loop: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a loop's body runs once for all the iterations of an inner loop, which it is not in.

    An inner loop counts if it repeats a computation: a `while`, a `for` over a range of unknown length, or a loop that
    runs a backward pass. A loop over the entries of a container may be a line of bookkeeping and does not count.
    """
    around = path_to(loop, node)
    inner = (one for one in descend(loop, into_functions=False) if isinstance(one, (cst.For, cst.While)))
    return any(one not in around and _repeats_computation(one) for one in inner)


@lru_cache(maxsize=256)
def stands_beside_training_loop(body: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a function stands beside a loop that computes gradients, and in no such loop itself."""
    around = path_to(body, node)
    loops = [one for one in descend(body) if isinstance(one, (cst.For, cst.While)) and _computes_gradients(one)]
    return bool(loops) and not any(one in around for one in loops)


@lru_cache(maxsize=256)
def is_kept_for_inner_loop(code: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether what a node computes gets a name that an inner loop reads, so that it serves all its iterations.

    `code` is a function or a loop around the node. A loop over a few elements that the source writes down does not
    count, nor does one that the node is in itself.
    """
    around = path_to(code, node)
    names = set(_names_given(around))
    inner = (one for one in descend(code, into_functions=False) if isinstance(one, (cst.For, cst.While)))
    return bool(names) and any(
        one not in around and not _is_over_few(one) and not names.isdisjoint(_names_in(one.body)) for one in inner
    )


def is_loop_variable(loop: cst.For | cst.CompFor, node: cst.BaseExpression) -> bool:
    """Return whether an expression is a variable that a loop binds, or an attribute or entry of one."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return isinstance(node, cst.Name) and node.value in set(names_in_target(loop.target))


@lru_cache(maxsize=256)
def asks_for_input(loop: cst.CSTNode) -> bool:
    """Return whether each iteration of a loop waits for a line that a person types."""
    return any(isinstance(one, cst.Call) and dotted_name(one.func) == "input" for one in descend(loop))


@lru_cache(maxsize=256)
def is_short(loop: cst.For | cst.While | cst.CompFor) -> bool:
    """Return whether a loop is known to end after so many iterations that their copies together hardly show."""
    length = _literal_length(loop)
    return length is not None and length <= _SHORT


@lru_cache(maxsize=256)
def handles_files(loop: cst.For | cst.While) -> bool:
    """Return whether each iteration of a loop reads or writes a file, outside of branches and inner loops."""
    calls = (one for one in straight_code(loop.body) if isinstance(one, cst.Call))
    return any(_handles_file(one) and not is_in_branch(loop, one) for one in calls)


def _handles_file(call: cst.Call) -> bool:
    """Return whether a call reads or writes a file, by its name."""
    return (dotted_name(call.func) or "").rpartition(".")[2] in _FILE_CALLS


def _computes_gradients(loop: cst.For | cst.While) -> bool:
    """Return whether a loop of an unknown number of iterations runs a backward pass, or asks for gradients."""
    named = (one.func for one in descend(loop.body) if isinstance(one, cst.Call))
    return any((dotted_name(one) or "").rpartition(".")[2] in _GRADIENTS for one in named)


def _repeats_computation(loop: cst.For | cst.While) -> bool:
    """Return whether a loop runs a computation an unknown number of times."""
    calls = [one for one in descend(loop.body) if isinstance(one, cst.Call)]
    if any(isinstance(one.func, cst.Attribute) and one.func.attr.value == "backward" for one in calls):
        return True
    return bool(calls) and (isinstance(loop, cst.While) or _is_over_unknown_range(loop.iter))


def _names_given(path: list[cst.CSTNode]) -> Iterator[str]:
    """Yield the names that an assignment on a path down to a node gives to what the node computes, and to no more.

    Methods may follow (`x = node.requires_grad_()`), and another value may take its place (`x = node if a else b`).
    """
    for above, below in reversed([*pairwise(path)]):
        match above:
            case cst.Assign(targets=targets, value=value) if below is value:
                yield from (one.target.value for one in targets if isinstance(one.target, cst.Name))
                return
            case cst.Call(func=followed) if followed is not below:
                return
            case cst.Call() | cst.Attribute() | cst.IfExp():
                continue
        return


def _is_over_few(loop: cst.For | cst.While) -> bool:
    """Return whether a loop goes over a display (`for x in (a, b)`) or over a range of a few numbers."""
    if isinstance(loop, cst.For) and isinstance(loop.iter, (cst.Tuple, cst.List, cst.Set)):
        return True
    length = _literal_length(loop)
    return length is not None and length <= _FEW


def _literal_length(loop: cst.For | cst.While | cst.CompFor) -> int | None:
    """Return the number of iterations of a loop over a range that is written in numbers; None for any other loop."""
    match loop:
        case (
            cst.For(iter=cst.Call(func=cst.Name(value="range"), args=given))
            | cst.CompFor(iter=cst.Call(func=cst.Name(value="range"), args=given))
        ):
            numbers = [int(one.value.value, 0) for one in given if isinstance(one.value, cst.Integer)]
            valid = len(numbers) == len(given) and len(numbers) in (1, 2, 3) and 0 not in numbers[2:]
            return len(range(*numbers)) if valid else None
    return None


def _names_in(code: cst.CSTNode) -> frozenset[str]:
    """Return the names that some code mentions."""
    return frozenset(one.value for one in descend(code) if isinstance(one, cst.Name))


def goes_over_range(iterated: cst.BaseExpression) -> bool:
    """Return whether an expression that a loop iterates over is a range of numbers, or wraps one, as `tqdm` does."""
    nodes = (iterated, *descend(iterated))
    return any(isinstance(one, cst.Call) and dotted_name(one.func) == "range" for one in nodes)


def _is_over_unknown_range(iterated: cst.BaseExpression) -> bool:
    """Return whether an iterated expression is a range, written with anything but numbers, or wraps such a range."""
    return any(
        isinstance(one, cst.Call)
        and dotted_name(one.func) == "range"
        and not all(isinstance(each.value, cst.Integer) for each in one.args)
        for one in (iterated, *descend(iterated))
    )
