"""Measure devlint on the test suites of packages: what the emulated accelerator sees in them, and what the linter says.

    python benchmarks/suites.py run CHECKOUTS RESULTS [--only WORD] [--seconds 900]
    python benchmarks/suites.py modes CHECKOUTS [--only WORD] [--seconds 900] [--outputs DIR] [--results FILE]
    python benchmarks/suites.py report RESULTS
    python benchmarks/suites.py table [--results FILE]

CHECKOUTS holds one folder OWNER+NAME for each repository of `SUITES`, with the commit in a file OWNER+NAME.commit
beside it. What the suites import must be installed in the Python that runs this script. `run` runs each suite under
`devlint run --device emulated -m pytest`, which also lints the files that ran, and `devlint check` on the whole
package. RESULTS gets a line for each suite: `repository`, `commit`, `tests` (pytest's last line), `operators` and
`findings`, all those of DEV1 to DEV3 in the package: `file`, `row`, `code`, `message`, and `verdict`. A verdict is
"confirmed", "refuted" or "not-reached" for a finding of the linter, and "observed" for a problem that only the run
shows, which the linter has missed. A reader adds the `reason` of each that is refuted or observed. A new run keeps the
reasons.

`modes` runs each suite by itself twice, under `pytest --devlint` and `pytest --devlint=move`, and compares them test by
test; `table` prints what `suite_modes.jsonl` holds, and what readers said of the new failures (see `suite_modes.py`).
What pytest printed is kept in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from suite_list import SUITES, Suite
from suite_modes import ALONE, MODES, compare_modes, table
from suite_processes import interrupted_at, last_line

JUDGED: Final = ("DEV1", "DEV2", "DEV3")
PYTEST: Final = ("-m", "pytest", "-q", "--timeout=120", "-p", "no:cacheprovider")
ALL_MODES: Final = (ALONE, *MODES)
MODES_RESULTS: Final = Path(__file__).with_name("suite_modes.jsonl")
"""The results of `modes`, one suite a line."""

Record = dict[str, Any]
"""One line of the results: a suite with its findings."""


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
        command += [*PYTEST, "--tb=no", *suite.always, *suite.options]
        output = interrupted_at(seconds, [*command, *suite.tests], home, environment)
        seen: Record = json.loads(report.read_text()) if report.exists() else {"findings": [], "operators": 0}
    outcomes = {_key(one): one for one in seen["findings"] if _is_judged(one, suite)}
    for one in _linted(suite, home, environment):
        if _is_judged(one, suite):
            outcomes.setdefault(_key(one), {**one, "verdict": "not-reached"})
    note = home.with_name(f"{home.name}.commit")
    return {
        "repository": suite.repository,
        "commit": note.read_text().strip() if note.exists() else "",
        "tests": last_line(output),
        "operators": seen["operators"],
        "findings": [_finding(outcomes[key]) for key in sorted(outcomes)],
    }


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


def modes(checkouts: Path, results: Path, only: str, seconds: int, outputs: Path | None, wanted: Sequence[str]) -> None:
    """Run the suites whose repository's name contains a word in some modes, and write or replace their lines."""
    lines = results.read_text().splitlines() if results.exists() else []
    known = {record["repository"]: record for record in map(json.loads, lines)}
    for suite in SUITES:
        if suite.subject and only in suite.repository and (checkouts / suite.folder).is_dir():
            known[suite.repository] = compare_modes(
                suite, checkouts, seconds, outputs, wanted, known.get(suite.repository, {})
            )
            order = [one.repository for one in SUITES if one.repository in known]
            results.write_text("".join(json.dumps(known[name]) + "\n" for name in order))
            print(f"{suite.repository}: {json.dumps(known[suite.repository])}", flush=True)


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
    in_modes.add_argument("--only", default="")
    in_modes.add_argument("--seconds", type=int, default=900)
    in_modes.add_argument("--outputs", type=Path, metavar="DIR")
    in_modes.add_argument("--mode", action="append", choices=ALL_MODES)
    printing = commands.add_parser("table")
    for command in (in_modes, printing):
        command.add_argument("--results", type=Path, default=MODES_RESULTS, metavar="FILE")
    commands.add_parser("report").add_argument("results", type=Path)
    given = parser.parse_args()
    if given.command == "run":
        run(given.checkouts, given.results, given.only, given.seconds)
    elif given.command == "modes":
        modes(given.checkouts, given.results, given.only, given.seconds, given.outputs, given.mode or ALL_MODES)
    else:
        print("\n".join(table(given.results) if given.command == "table" else report(given.results)))


if __name__ == "__main__":
    main()
