"""Print how devlint's processor time grows with inputs that are hard on it.

    python benchmarks/pathological.py [NAME...] [--size N]

Each input is generated with N, 2N and 4N parts. The last column is the growth: the power of the size with which the
processor time has grown from 2N to 4N, without the time that a small input takes. 1 is linear, 2 is quadratic; n log n
shows as little more than 1.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Final

import devlint

STEPS: Final = (1, 2, 4)
"""The sizes of an input, as multiples of the size asked for."""


def main() -> None:
    """Measure the inputs named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(INPUTS))
    parser.add_argument("--size", type=int, default=500, metavar="N", help="the parts of the smallest input")
    given = parser.parse_args()
    print(f"{'input':24}" + "".join(f"{step * given.size:>9}" for step in STEPS) + f"{'growth':>9}")
    for name in given.names or INPUTS:
        base = min(seconds_of(INPUTS[name](1)) for _ in range(3))
        seconds = [seconds_of(INPUTS[name](step * given.size)) - base for step in STEPS]
        growth = math.log2(seconds[-1] / seconds[-2]) if min(seconds) > 0 else math.nan
        print(f"{name:24}" + "".join(f"{one:7.2f} s" for one in seconds) + f"{growth:9.2f}", flush=True)


def seconds_of(text: str) -> float:
    """Return the processor time that devlint takes for a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(f"import torch\nfrom torch import nn\n\n{text}")
        before = time.process_time()
        devlint.check_paths([path])
        return time.process_time() - before


def changed_tensors(size: int) -> str:
    """Return a function that changes many tensors in place, one after another."""
    lines = [f"x{i} = torch.zeros(3).requires_grad_()" for i in range(size)]
    return f"def run():\n{_indented(lines)}"


def tables_and_changes(size: int) -> str:
    """Return many tables at the top level of a module, and classes that change tensors in place."""
    tables = [f"TABLE_{i} = dict(name='x{i}', mean=(0.5, 0.5), device=torch.device('cpu'))" for i in range(size)]
    classes = [
        f"class Layer{i}(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.zeros(3))\n"
        "        self.scale = torch.ones(3).requires_grad_()\n"
        "    def forward(self, x):\n"
        "        return x * self.weight\n"
        for i in range(max(1, size // 10))
    ]
    return "\n".join([*tables, *classes])


def growing_copies(size: int) -> str:
    """Return a function that copies a growing dict of tensors many times."""
    lines = ["kept = {}", *(f"kept = {{**kept, 'k{i}': torch.zeros(3)}}" for i in range(size))]
    return f"def run():\n{_indented(lines)}"


def growing_in_loop(size: int) -> str:
    """Return a loop whose body copies a growing list of tensors many times."""
    lines = [f"kept = [*kept, torch.zeros({i})]" for i in range(size)]
    return f"def run(count):\n    kept = []\n    for _ in range(count):\n{_indented(lines, 8)}"


def branches(size: int) -> str:
    """Return a function with many branches, each of which chooses a device."""
    lines = [f"if kind == {i}:\n    x = torch.zeros(3, device='cuda')" for i in range(size)]
    return f"def run(kind):\n    x = torch.zeros(3)\n{_indented(lines)}\n    return x"


def chosen_devices(size: int) -> str:
    """Return a function that combines tensors many times on devices that depend on three flags."""
    chosen = [f"d{i} = 'cuda' if flag{i} else 'cpu'" for i in range(3)]
    made = [f"x{i} = torch.zeros(3, device=d{i})" for i in range(3)]
    sums = [f"y{i} = x{i % 3} + x{(i + 1) % 3}" for i in range(size)]
    return f"def run(flag0, flag1, flag2):\n{_indented([*chosen, *made, *sums])}"


def literal_table(size: int) -> str:
    """Return a long table, and a function that looks into it."""
    rows = ",\n".join(f"    'k{i}': (torch.float32, 'cpu', {i})" for i in range(size))
    return f"TABLE = {{\n{rows}\n}}\ndef run(x):\n    return x.to(TABLE['k0'][1])"


def _indented(lines: list[str], width: int = 4) -> str:
    """Return the lines of a body."""
    return indent("\n".join(lines), " " * width)


def registered_hooks(size: int) -> str:
    """Return a loop that registers hooks on a module, and runs it, again and again in nested loops and helpers."""
    lines = [
        f"def helper_{i}(net, x):\n    net.register_forward_hook(lambda m, i, o, k={i}: o)\n    return net(x)"
        for i in range(size)
    ]
    calls = [f"helper_{i}(net, x)" for i in range(size)]
    return "\n\n".join(lines) + f"\n\ndef run(x):\n    net = nn.Linear(3, 3)\n{_indented(calls)}"


INPUTS: Final[dict[str, Callable[[int], str]]] = {
    "changed-tensors": changed_tensors,
    "tables-and-changes": tables_and_changes,
    "growing-copies": growing_copies,
    "growing-in-loop": growing_in_loop,
    "branches": branches,
    "chosen-devices": chosen_devices,
    "literal-table": literal_table,
    "registered-hooks": registered_hooks,
}
"""The generators of inputs by name."""


if __name__ == "__main__":
    main()
