"""Measure how much devlint knows: of how many tensors in `forward` methods and training loops it knows the device.

    python benchmarks/knowledge.py CHECKOUTS... [--files 25] [--seed 7] [--jobs 2]

Each directory of CHECKOUTS is a repository; of each, at most `--files` files that have a `forward` method or a training
loop are drawn at random and analysed as by `devlint check`, but for one thing: `devlint check` skips definitions that
can hold no finding. Here they are analysed too, because the question is what devlint knows where it is asked. A
training loop is a `for` loop over a data loader, or one that calls `.backward()`; nested loops and functions belong to
the outer one.

The analyser cannot say which expressions are tensors, because it knows only those that it knows. An expression counts

1. if devlint gives it a tensor as its value, or
2. if its value is unknown, or devlint never evaluates it, but its syntax says that it is a tensor: a call of a function
   of torch or torch.nn.functional that returns a tensor; a call of a module (an attribute of `self` that the class
   assigns from a call of a capitalised name, or a module that the file moves); a call of a method that only tensors
   have, such as `unsqueeze`, and its receiver; arithmetic with one of these; and a name, in the same function, that is
   the receiver of such a method or that is only assigned such expressions. Targets of assignments do not count.

An expression that devlint evaluates several times, for several callers, counts once, with the share of evaluations in
which the fact is known. A device is known if it is a device, or the same as that of an input, a parameter or the module
(a symbol), on every path. A dtype is known if it has a name, or is the same as that of an input, a parameter or the
module (a symbol), on every path; "the same" includes the promotion with a number, as `x.dtype or float` of `x * 0.5`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

import libcst as cst

sys.path.insert(0, str(Path(__file__).parent))

from seeded_bugs import LARGEST, NO_USERS_CODE
from seeded_operators import LOADER
from tensor_flow import (
    ELEMENTWISE,
    FACTORIES,
    PLAIN_ATTRIBUTES,
    FileFacts,
    dotted,
    is_constructor_call,
    is_torch_function,
    method_of,
    receiver_of,
)

from devlint.domain.device import UnknownDevice
from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives
from devlint.domain.placement import placement_cases
from devlint.domain.value import Tensor, Unknown, Value
from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.entry_points import analyse_file
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.program_facts import ProgramFacts
from devlint.linter.deep_stack import with_deep_stack
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import SourceError
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend

ONLY_TENSORS: Final = frozenset(
    "unsqueeze unsqueeze_ permute view expand expand_as view_as contiguous masked_fill masked_fill_ detach softmax"
    " log_softmax sigmoid tanh relu matmul bmm scatter scatter_ gather index_select repeat_interleave type_as"
    " new_zeros new_ones new_full numel softplus unfold logsumexp topk argsort norm backward requires_grad_ cuda"
    " movedim unflatten chunk rsqrt masked_select log_softmax logsumexp".split()
)
"""The methods that, among the objects of deep learning programs, only tensors have."""
NO_TENSOR_RESULT: Final = frozenset("numel topk chunk backward unfold".split())
"""Those of the methods whose result is no tensor, or a tuple."""
TUPLE_MODULES: Final = re.compile(r"(LSTM|GRU|RNN|MultiheadAttention)$")
"""The modules of torch whose call returns a tuple."""

Span = tuple[int, int, int, int]
"""A place in a file: first row and column, last row and column; columns count characters from 1."""


class ValueRecord:
    """An observer that counts, for each expression, how often it was a tensor with known device and known dtype."""

    def __init__(self, units: set[int]) -> None:
        self.units = units
        self.seen: dict[Statement, dict[cst.CSTNode, list[int]]] = defaultdict(dict)

    def see(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Count the value of an expression: evaluations, tensors, known devices, known dtypes, unknown values."""
        unit = frame.unit
        if id(unit) not in self.units or not isinstance(unit, Statement):
            return
        counts = self.seen[unit].setdefault(node, [0, 0, 0, 0, 0])
        cases = list(alternatives(value))
        tensors = [frame.resolve(one) for one in cases if isinstance(one, Tensor)]
        counts[0] += 1
        if tensors:
            whole = all(isinstance(one, Tensor) for one in cases)
            counts[1] += 1
            counts[2] += whole and all(map(has_device, tensors))
            counts[3] += whole and all(has_dtype(one.dtype) for one in tensors)
        elif any(isinstance(one, Unknown) for one in cases):
            counts[4] += 1

    def bind(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Ignore what a target is bound to."""


def has_device(tensor: Tensor) -> bool:
    """Return whether the device of a tensor is known, or a symbol, on every path."""
    return not any(isinstance(case.device, UnknownDevice) for _, case in placement_cases(tensor.placement))


def has_dtype(dtype: Dtype) -> bool:
    """Return whether a dtype is known, or a symbol, on every path."""
    return dtype.is_known or (bool(dtype.cases) and all(one.is_known for _, one in dtype.cases))


def regions_of(facts: FileFacts) -> list[ast.AST]:
    """Return the `forward` methods and training loops of a file, none inside another."""
    found: list[ast.AST] = []
    for node in facts.nodes:
        is_forward = (
            isinstance(node, ast.FunctionDef)
            and node.name == "forward"
            and isinstance(facts.parents.get(node), ast.ClassDef)
        )
        is_training = isinstance(node, ast.For) and bool(
            LOADER.search(ast.unparse(node.iter)) or ".backward(" in facts.source(node)
        )
        if (is_forward or is_training) and not any(one in found for one in facts.ancestors(node)):
            found.append(node)
    return found


class SyntacticTensors:
    """The expressions of a function or a loop that are tensors by their syntax."""

    def __init__(self, facts: FileFacts, region: ast.AST) -> None:
        self.facts = facts
        self.nodes = list(ast.walk(region))
        scope = region if isinstance(region, ast.FunctionDef) else facts.scope_of(region)
        found = facts.class_of(region)
        self.modules = set(facts.moved_modules)
        for node in ast.walk(found) if found is not None else ():
            match node:
                case ast.Assign(targets=[target, *_], value=ast.Call() as call) if is_constructor_call(call):
                    self.modules |= set() if TUPLE_MODULES.search(dotted(call.func)) else {dotted(target)}
        self.modules -= {""}
        self.names = {
            name
            for node in self.nodes
            if method_of(node) in ONLY_TENSORS and (name := dotted(receiver_of(node))) and name not in self.modules
        }
        values: dict[str, list[ast.expr | None]] = defaultdict(list)
        for name, value, _ in facts.assignments(scope):
            values[name].append(value)
        for _round in range(3):
            self.names |= {
                name
                for name, given in values.items()
                if name and name not in self.modules and all(one is not None and self.is_tensor(one) for one in given)
            }

    def is_tensor(self, node: ast.AST) -> bool:
        """Return whether an expression is a tensor by its syntax."""
        if is_torch_function(node, ELEMENTWISE - {"meshgrid"} | FACTORIES):
            return True
        match node:
            case ast.Call() if method := method_of(node):
                if dotted(node.func) in self.modules:
                    return True
                return (
                    method in ONLY_TENSORS - NO_TENSOR_RESULT and dotted(receiver_of(node)) not in self.modules
                ) or (
                    method in ELEMENTWISE | {"float", "long", "half", "to", "mean", "sum", "transpose", "reshape"}
                    and self.is_tensor(receiver_of(node))
                )
            case ast.Call():
                return dotted(node.func) in self.modules
            case ast.BinOp():
                return self.is_tensor(node.left) or self.is_tensor(node.right)
            case ast.UnaryOp(op=ast.USub() | ast.Invert()):
                return self.is_tensor(node.operand)
            case ast.Subscript():
                return self.is_tensor(node.value)
            case ast.Attribute(attr=attr) if attr in PLAIN_ATTRIBUTES:
                return self.is_tensor(node.value)
            case ast.Name() | ast.Attribute():
                return dotted(node) in self.names
        return False

    def expressions(self) -> Iterator[ast.expr]:
        """Yield the expressions that are tensors by their syntax and that are read."""
        receivers = {
            receiver_of(node)
            for node in self.nodes
            if method_of(node) in ONLY_TENSORS and dotted(receiver_of(node)) not in self.modules
        }
        for node in self.nodes:
            is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            if isinstance(node, ast.expr) and is_read and (node in receivers or self.is_tensor(node)):
                yield node


def span_of(facts: FileFacts, node: ast.expr) -> Span:
    """Return the place of an expression in characters, as devlint counts them."""

    def column(row: int, offset: int) -> int:
        return len(facts.data[facts.starts[row - 1] : facts.starts[row - 1] + offset].decode(errors="replace")) + 1

    last_row, last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return node.lineno, column(node.lineno, node.col_offset), last_row, column(last_row, last)


@with_deep_stack
def measure(folder: Path, most: int, seed: int) -> tuple[str, int, float, float]:
    """Return the name of a repository, its number of tensors, and of how many the device and the dtype are known."""
    os.chdir(folder)
    name = folder.name.replace("+", "/", 1)
    paths = [
        one
        for one in sorted(folder.rglob("*.py"))
        if one.is_file() and not NO_USERS_CODE.search(one.relative_to(folder).as_posix())
    ]
    chosen: dict[Path, tuple[FileFacts, list[ast.AST]]] = {}
    for path in random.Random(f"{seed}/{name}").sample(paths, len(paths)):
        data = path.read_bytes()
        if len(chosen) == most or b"torch" not in data or len(data) > LARGEST:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                facts = FileFacts(data.decode())
        except (SyntaxError, ValueError, RecursionError):
            continue
        if regions := regions_of(facts):
            chosen[path.resolve()] = (facts, regions)
    source_folders = [one for one in (folder, folder / "src") if one.is_dir()]
    program = Program([(path, path.relative_to(folder).as_posix()) for path in paths], source_folders)
    units: set[int] = set()
    record = ValueRecord(units)
    known_facts = ProgramFacts(program)
    total, devices, dtypes = 0, 0.0, 0.0
    for path in chosen:
        module = program.load(path)
        units |= {id(one) for one in module.index.statements} if module is not None else set()
    for path in chosen:
        module = program.load(path)
        if module is not None:
            analyse_file(Analysis(known_facts, lambda event: None, record), module, even_irrelevant=True)
    for path, (facts, regions) in chosen.items():
        module = program.load(path)
        if module is None:
            continue
        counts: dict[Span, list[int]] = {}
        for unit in module.index.statements:
            seen = record.seen.get(unit, {})
            if not seen:
                continue
            try:
                # The interpreter also evaluates nodes that it makes itself, which have no place.
                written = [node for node in descend(unit.tree) if node in seen]
                places = node_positions(unit, written, module.index)
            except SourceError:
                continue
            for node, (start, end) in places.items():
                key = (start.row, start.column, end.row, end.column)
                counts[key] = [one + other for one, other in zip(counts.get(key, [0] * 5), seen[node], strict=True)]
        wanted: dict[Span, bool] = {}
        for region in regions:
            tensors = {span_of(facts, one) for one in SyntacticTensors(facts, region).expressions()}
            for node in ast.walk(region):
                if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                    wanted[span_of(facts, node)] = span_of(facts, node) in tensors
        for key, is_tensor in wanted.items():
            _evaluated, valued, device, dtype, unknown = counts.get(key, [0] * 5)
            if valued:
                # Of the evaluations, an unknown value counts as a tensor too.
                total += 1
                devices += device / (valued + unknown)
                dtypes += dtype / (valued + unknown)
            elif is_tensor and (unknown or key not in counts):
                total += 1
    return name, total, devices, dtypes


def main() -> None:
    """Print the rates of each repository and of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=25, help="the most files of one repository")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folders = [one.resolve() for each in options.checkouts for one in sorted(each.iterdir()) if one.is_dir()]
    total, devices, dtypes = 0, 0.0, 0.0
    print(f"{'repository':<60}{'tensors':>8}{'device':>8}{'dtype':>8}")
    with ProcessPoolExecutor(options.jobs) as pool:
        count = len(folders)
        for name, *rates in pool.map(measure, folders, [options.files] * count, [options.seed] * count):
            print(_line(name, *rates), flush=True)
            total, devices, dtypes = total + rates[0], devices + rates[1], dtypes + rates[2]
    print(_line("total", total, devices, dtypes))


def _line(name: str, total: int, devices: float, dtypes: float) -> str:
    if total == 0:
        return f"{name:<60}{0:>8}"
    return f"{name:<60}{total:>8}{100 * devices / total:>7.1f}%{100 * dtypes / total:>7.1f}%"


if __name__ == "__main__":
    main()
