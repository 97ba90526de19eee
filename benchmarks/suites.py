"""Measure devlint on the test suites of packages: what the emulated accelerator sees in them, and what the linter says.

    python benchmarks/suites.py run CHECKOUTS RESULTS [--only WORD] [--seconds 900]
    python benchmarks/suites.py modes CHECKOUTS TABLE [--only WORD] [--seconds 900] [--outputs DIR]
    python benchmarks/suites.py report RESULTS

CHECKOUTS holds one folder OWNER+NAME for each repository of `SUITES`, with the commit in a file OWNER+NAME.commit
beside it. What the suites import must be installed in the Python that runs this script. `run` runs each suite under
`devlint run --device emulated -m pytest`, which also lints the files that ran, and `devlint check` on the whole
package. RESULTS gets a line for each suite: `repository`, `commit`, `tests` (pytest's last line), `operators` and
`findings`, all those of DEV1 to DEV3 in the package: `file`, `row`, `code`, `message`, and `verdict`. A verdict is
"confirmed", "refuted" or "not-reached" for a finding of the linter, and "observed" for a problem that only the run
shows, which the linter has missed. A reader adds the `reason` of each that is refuted or observed. A new run keeps the
reasons.

`modes` runs each suite by itself, under `pytest --devlint` and `pytest --devlint=move`. TABLE gets a line for each:
the mode, pytest's last line, and the device coverage. What pytest printed, a line for each failed test among it, is
kept in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

JUDGED: Final = ("DEV1", "DEV2", "DEV3")
EMULATED: Final = "emulated"
MODES: Final = ("", EMULATED, "move")
"""The modes in which `modes` runs each suite; the first is the suite by itself."""
PYTEST: Final = ("-m", "pytest", "-q", "--timeout=120", "-p", "no:cacheprovider")
LAST_SECONDS: Final = 600
"""The seconds that a suite has for the linter and its report after it was interrupted at its time limit."""

Record = dict[str, Any]
"""One line of the results: a suite with its findings."""


@dataclass(frozen=True)
class Suite:
    """A package with tests: its folder, the tests, and what pytest must be told so that they use an accelerator.

    `root` is the folder from which the package is imported; all paths are relative to the checkout. `environment` and
    `options` ask the tests to use an accelerator; `needed` is the environment that they need wherever they run.
    """

    repository: str
    package: str
    tests: Sequence[str]
    root: str = "."
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    needed: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of the checkout's folder."""
        return self.repository.replace("/", "+")


SUITES: Final = (
    Suite("cornellius-gp/linear_operator", "linear_operator", ["test"]),
    Suite("cornellius-gp/gpytorch", "gpytorch", ["test"]),
    Suite(
        "KevinMusgrave/pytorch-metric-learning",
        "src/pytorch_metric_learning",
        ["tests"],
        "src",
        environment={"TEST_DEVICE": "cuda", "TEST_DTYPES": "float32"},
    ),
    Suite("rtqichen/torchdiffeq", "torchdiffeq", ["tests/api_tests.py", "tests/gradient_tests.py"]),
    Suite("google-research/torchsde", "torchsde", ["tests"]),
    Suite("photosynthesis-team/piq", "piq", ["tests"]),
    Suite("kornia/kornia", "kornia", ["tests/geometry", "tests/enhance", "tests/losses"], options=["--device=cuda"]),
    Suite("e3nn/e3nn", "e3nn", ["tests"]),
    Suite("geoopt/geoopt", "geoopt", ["tests"]),
    Suite("arogozhnikov/einops", "einops", ["einops/tests"], needed={"EINOPS_TEST_BACKENDS": "numpy,torch"}),
    Suite("jeshraghian/snntorch", "snntorch", ["tests"]),
    Suite("pytorch/captum", "captum", ["tests/attr"]),
    Suite("skorch-dev/skorch", "skorch", ["skorch/tests"]),
    Suite("probabilists/zuko", "zuko", ["tests"]),
    Suite("patrick-kidger/torchcde", "torchcde", ["test"]),
    Suite("facebookresearch/higher", "higher", ["tests"]),
    Suite("bayesiains/nflows", "nflows", ["tests"], options=["-o", "python_files=*_test.py"]),
    Suite(
        "Lightning-AI/torchmetrics",
        "src/torchmetrics",
        ["tests/unittests/regression", "tests/unittests/classification"],
        "src",
    ),
    Suite("deep-spin/entmax", "entmax", ["entmax"]),
    Suite("TorchJD/torchjd", "src/torchjd", ["tests/unit"], "src", environment={"PYTEST_TORCH_DEVICE": "cuda:0"}),
)


def run_suite(suite: Suite, checkouts: Path, seconds: int) -> Record:
    """Run one suite on the emulated accelerator and the linter on its package, and return its line of the results."""
    home = (checkouts / suite.folder).resolve()
    path = os.pathsep.join([str(home / suite.root), str(home), os.environ.get("PYTHONPATH", "")])
    asked = {**suite.needed, **suite.environment}
    environment = {**os.environ, **asked, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-P", "-m", "devlint", "run", "--device", "emulated", "--isolated"]
        command += ["--output-format", "json", "--output", str(report)]
        command += [*PYTEST, "--tb=no", *suite.options]
        output = _interrupted_at(seconds, [*command, *suite.tests], home, environment)
        seen: Record = json.loads(report.read_text()) if report.exists() else {"findings": [], "operators": 0}
    outcomes = {_key(one): one for one in seen["findings"] if _is_judged(one, suite)}
    for one in _linted(suite, home, environment):
        if _is_judged(one, suite):
            outcomes.setdefault(_key(one), {**one, "verdict": "not-reached"})
    note = home.with_name(f"{home.name}.commit")
    return {
        "repository": suite.repository,
        "commit": note.read_text().strip() if note.exists() else "",
        "tests": _last_line(output),
        "operators": seen["operators"],
        "findings": [_finding(outcomes[key]) for key in sorted(outcomes)],
    }


def run_mode(suite: Suite, checkouts: Path, seconds: int, mode: str, outputs: Path | None) -> Record:
    """Run one suite by itself (`mode` is empty) or under `pytest --devlint=MODE`, and return its line of the table.

    What pytest prints is written to a file in `outputs`.
    """
    home = (checkouts / suite.folder).resolve()
    path = os.pathsep.join([str(home / suite.root), str(home), os.environ.get("PYTHONPATH", "")])
    asking = suite.environment if mode == EMULATED else {}
    environment = {**os.environ, **suite.needed, **asking, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-P", *PYTEST, "-rfE", "--tb=line"]
        if mode:
            command += [f"--devlint={mode}", "--devlint-no-lint", "--devlint-report", str(report)]
        options = () if mode != EMULATED else suite.options
        output = _interrupted_at(seconds, [*command, *options, *suite.tests], home, environment)
        seen: Record = json.loads(report.read_text()) if report.exists() else {"device_coverage": {}}
    if outputs is not None:
        outputs.mkdir(parents=True, exist_ok=True)
        (outputs / f"{suite.folder}.{mode or 'alone'}.txt").write_text(output, encoding="utf-8")
    coverage = {name: value for name, value in seen["device_coverage"].items() if isinstance(value, int)}
    return {"repository": suite.repository, "mode": mode or "alone", "tests": _last_line(output), **coverage}


def _last_line(output: str) -> str:
    """Return pytest's last line: how many tests passed and failed."""
    return next((line for line in reversed(output.splitlines()) if " in " in line), "no end").strip("= ")


def _interrupted_at(seconds: int, command: Sequence[str], home: Path, environment: Mapping[str, str]) -> str:
    """Run a command, interrupt it as Ctrl-C does once its time is over, and return what it printed."""
    with subprocess.Popen(
        command, cwd=home, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=LAST_SECONDS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]


def _linted(suite: Suite, home: Path, environment: Mapping[str, str]) -> list[Record]:
    """Return all findings of the linter in a suite's package, as the JSON format has them."""
    command = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--exit-zero", "--no-respect-gitignore"]
    done = subprocess.run(
        [*command, "--no-cache", "--output-format", "json", suite.package],
        cwd=home,
        env=environment,
        capture_output=True,
        check=True,
    )
    return list(json.loads(done.stdout))


def _is_judged(finding: Record, suite: Suite) -> bool:
    """Return whether a finding is one of DEV1 to DEV3 in the package itself, not in its tests."""
    path = Path(finding["filename"])
    tested = path.is_relative_to(suite.package) and not any(path.is_relative_to(one) for one in suite.tests)
    return tested and str(finding["code"]).startswith(JUDGED)


def _key(finding: Record) -> tuple[str, int, str]:
    """Return the file, row and code of a finding, as the JSON format has it."""
    return finding["filename"], finding["location"]["row"], finding["code"]


def _finding(outcome: Record) -> Record:
    """Return the part of a finding with a verdict that the results keep."""
    path, row, code = _key(outcome)
    return {"file": path, "row": row, "code": code, "message": outcome["message"], "verdict": outcome["verdict"]}


def _known_reasons(results: Path) -> dict[tuple[str, str, int, str], str]:
    """Return the reasons that readers have written into earlier results, by repository, file, row and code."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {
        (suite["repository"], one["file"], one["row"], one["code"]): one["reason"]
        for suite in map(json.loads, lines)
        for one in suite["findings"]
        if "reason" in one
    }


def run(checkouts: Path, results: Path, only: str, seconds: int) -> None:
    """Run the suites whose repository's name contains a word, and write or replace their lines of the results."""
    reasons = _known_reasons(results)
    lines = results.read_text().splitlines() if results.exists() else []
    known = {suite["repository"]: suite for suite in map(json.loads, lines)}
    for suite in SUITES:
        if only not in suite.repository or not (checkouts / suite.folder).is_dir():
            continue
        record = run_suite(suite, checkouts, seconds)
        for one in record["findings"]:
            reason = reasons.get((suite.repository, one["file"], one["row"], one["code"]))
            if reason is not None:
                one["reason"] = reason
        known[suite.repository] = record
        results.write_text("".join(json.dumps(one) + "\n" for one in known.values()))
        print(f"{suite.repository}: {record['tests']}", flush=True)


def modes(checkouts: Path, table: Path, only: str, seconds: int, outputs: Path | None) -> None:
    """Run the suites whose repository's name contains a word in each mode, and add their lines to the table."""
    for suite in SUITES:
        if only in suite.repository and (checkouts / suite.folder).is_dir():
            for mode in MODES:
                line = json.dumps(run_mode(suite, checkouts, seconds, mode, outputs))
                with table.open("a", encoding="utf-8") as lines:
                    lines.write(f"{line}\n")
                print(line, flush=True)


def report(results: Path) -> Iterator[str]:
    """Yield a line for each suite, one for all, and one for each finding that a run refutes or only a run shows."""
    suites = [json.loads(line) for line in results.read_text().splitlines()]
    total: Counter[str] = Counter()
    for suite in suites:
        counts = Counter(one["verdict"] for one in suite["findings"])
        total += counts
        yield f"{suite['repository']}: {suite['tests']}; {suite['operators']} operators; {_counted(counts)}"
    yield f"{len(suites)} suites: {_counted(total)}"
    for suite in suites:
        for one in suite["findings"]:
            if one["verdict"] in ("refuted", "observed"):
                where = f"{suite['repository']} {one['file']}:{one['row']}"
                yield f"{one['verdict']}: {where} {one['code']} {one['message']}: {one.get('reason', 'not read yet')}"


def _counted(counts: Mapping[str, int]) -> str:
    """Return numbers of findings by verdict as text."""
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())) or "no finding"


def main() -> None:
    """Run the suites or print the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("checkouts", type=Path)
    running.add_argument("results", type=Path)
    running.add_argument("--only", default="")
    running.add_argument("--seconds", type=int, default=900)
    in_modes = commands.add_parser("modes")
    in_modes.add_argument("checkouts", type=Path)
    in_modes.add_argument("table", type=Path)
    in_modes.add_argument("--only", default="")
    in_modes.add_argument("--seconds", type=int, default=900)
    in_modes.add_argument("--outputs", type=Path, metavar="DIR")
    commands.add_parser("report").add_argument("results", type=Path)
    given = parser.parse_args()
    if given.command == "run":
        run(given.checkouts, given.results, given.only, given.seconds)
    elif given.command == "modes":
        modes(given.checkouts, given.table, given.only, given.seconds, given.outputs)
    else:
        print("\n".join(report(given.results)))


if __name__ == "__main__":
    main()
