"""Run every check that needs a CUDA device, in one command, and write the results to files.

    python benchmarks/runtime_gpu.py RESULTS [--cases CASES]

RESULTS is a folder for `suite.txt` and `suite.xml` (the tests marked `gpu`: the semantics table compared with the
device, and the cases), `cases.txt` (what `devlint run --device cuda` shows of each case), `training.html` and
`training.json` (the report of a training script, with times), `environment.json` and `summary.txt`. Without a CUDA
device the script writes nothing, and the exit status is 2.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
TRAINING = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10))
model.to(device)
optimizer = torch.optim.AdamW(model.parameters())
total = 0.0
for step in range(50):
    images, labels = torch.randn(64, 3, 64, 64), torch.randint(0, 10, (64,))
    loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total)
"""


def environment() -> dict[str, object]:
    """Return the versions of torch, CUDA and Python, and the device."""
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "device": torch.cuda.get_device_name(),
        "capability": torch.cuda.get_device_capability(),
        "python": sys.version,
    }


def commands(results: Path, cases: Path | None) -> dict[str, list[str]]:
    """Return the commands to run, by the name of their result."""
    devlint = [sys.executable, "-m", "devlint", "run", "--device", "cuda", "--isolated"]
    script = results / "training.py"
    script.write_text(TRAINING, encoding="utf-8")
    suite = [sys.executable, "-m", "pytest", "-m", "gpu", "-s", f"--junit-xml={results / 'suite.xml'}", "tests"]
    found = {"suite": suite}
    for form in ("html", "json"):
        options = ["--output-format", form, "--output", str(results / f"training.{form}")]
        found[f"training, {form}"] = [*devlint, *options, str(script)]
    if cases is not None:
        found["cases"] = [sys.executable, "benchmarks/runtime_cases.py", str(cases), "--device", "cuda"]
    return found


def main() -> int:
    """Run the commands one after the other, and write their output and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--cases", type=Path, help="the folder of cases, if it is at hand")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print("there is no CUDA device: nothing was run", file=sys.stderr)
        return 2
    results = given.results.absolute()
    results.mkdir(parents=True, exist_ok=True)
    (results / "environment.json").write_text(json.dumps(environment(), indent=2) + "\n", encoding="utf-8")
    cases = given.cases.absolute() if given.cases is not None else None
    summary = []
    for name, command in commands(results, cases).items():
        start = time.perf_counter()
        with (results / f"{name.partition(',')[0]}.txt").open("a", encoding="utf-8") as output:
            status = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        summary.append(f"{name}: exit status {status}, {time.perf_counter() - start:.0f} s")
        print(summary[-1], flush=True)
        (results / "summary.txt").write_text("\n".join([*summary, ""]), encoding="utf-8")
    return int(any(not line.partition(", ")[0].endswith("status 0") for line in summary))


if __name__ == "__main__":
    sys.exit(main())
