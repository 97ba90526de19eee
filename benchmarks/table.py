"""Measure the processor time that the semantics tables add to a run: loading them and building the rows in use.

    python benchmarks/table.py [--rounds N]

Each round is a process of its own that imports all of devlint before the clock starts; the medians count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

ROUND = """
import json, sys, time
import devlint.api
from devlint.semantics.table import load_numpy_table, load_semantics

clock = time.process_time
marks = [clock()]
table = load_semantics()
marks.append(clock())
arrays = load_numpy_table()
marks.append(clock())
for name in NAMES:
    assert table.find(name) is not None, name
marks.append(clock())
json.dump([1000 * (later - earlier) for earlier, later in zip(marks, marks[1:])], sys.stdout)
"""
NAMES = [
    *(f"torch.{name}" for name in "zeros ones rand arange cat stack where matmul exp mean linspace".split()),
    *(f"torch.Tensor.{name}" for name in "to cpu view reshape sum mean item float unsqueeze __add__ __mul__".split()),
    *(f"torch.nn.{name}" for name in "Linear Conv2d ReLU BatchNorm2d Dropout LSTM Embedding CrossEntropyLoss".split()),
    *(f"torch.nn.functional.{name}" for name in "relu softmax cross_entropy mse_loss interpolate".split()),
]
PARTS = ("torch and the models of libraries", "NumPy and pandas", f"{len(NAMES)} rows of a usual training program")


def measure() -> list[float]:
    """Return the milliseconds of each part, measured in a new process."""
    code = ROUND.replace("NAMES", repr(NAMES))
    found: list[float] = json.loads(
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    )
    return found


def main() -> None:
    """Print the median of each part, and their sum."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = [measure() for _ in range(parser.parse_args().rounds)]
    medians = [statistics.median(times) for times in zip(*rounds, strict=True)]
    for title, median in (*zip(PARTS, medians, strict=True), ("together", sum(medians))):
        print(f"{title}: {median:.1f} ms")


if __name__ == "__main__":
    main()
