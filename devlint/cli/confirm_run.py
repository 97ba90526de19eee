"""One run of `devlint confirm`: find the findings, run what they are about, and write the report and the drivers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import click

from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED, FOUND
from devlint.cli.output_streams import write_file, write_stdout
from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.confirm.confirm_report import json_report, text_report
from devlint.confirm.confirmation import CODES, ConfirmOptions, confirm_findings
from devlint.confirm.driver_process import Limits
from devlint.confirm.judgement import Judgement, Verdict
from devlint.diagnostic import Diagnostic
from devlint.installation import install_command
from devlint.linter.check import check_files
from devlint.linter.discovery import Discovery
from devlint.linter.rule_listing import all_rule_metadata


@dataclass(frozen=True, slots=True)
class ConfirmRequest:
    """The parsed command line of `devlint confirm`: what to confirm, where and within which limits, and the reports."""

    paths: Sequence[Path]
    device: str
    timeout: float
    memory: int
    drivers: Path | None = None
    as_json: bool = False
    config: Path | None = None
    isolated: bool = False
    rules: Options = field(default_factory=Options)
    verbose: bool = False


def run_confirm(request: ConfirmRequest) -> int:
    """Do one run of `devlint confirm`, and return the exit status."""
    if find_spec("torch") is None:
        terminal.error(f"devlint confirm needs torch: {install_command('runtime')}")
        return FAILED
    if request.device == "cuda" and not _has_cuda():
        raise click.UsageError("there is no CUDA device; use --device emulated")
    if find_spec("pytest") is None:
        terminal.note("pytest is not installed: what the project's own tests show is left out")
    problems: list[str] = []
    findings = _findings(request, problems)
    folders = tuple(one for one in request.paths or (Path(),) if one.is_dir())
    options = ConfirmOptions(request.device, Limits(request.timeout, request.memory), folders=folders)
    if request.verbose:
        options = replace(options, say=terminal.note)
    judgements = confirm_findings(findings, options)
    if request.drivers is not None:
        _write_drivers(judgements, request.drivers)
    if request.as_json:
        write_stdout([json_report(judgements)], color=False)
    else:
        color = terminal.has_color(sys.stdout)
        write_stdout(text_report(judgements, color=color), color=color)
    for text in problems:
        terminal.error(text)
    confirmed = any(one.verdict is Verdict.CONFIRMED for one in judgements)
    return FAILED if problems else FOUND if confirmed else CLEAN


def _has_cuda() -> bool:
    """Return whether torch finds a CUDA device, asked in a process of its own: this one does without torch."""
    asked = "import torch; raise SystemExit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


def _findings(request: ConfirmRequest, problems: list[str]) -> list[Diagnostic]:
    """Return the findings to confirm, as `devlint check` reports them; what could not be read goes to `problems`."""
    try:
        resolver = Resolver(
            list(all_rule_metadata()), request.rules, cwd=Path.cwd(), config=request.config, isolated=request.isolated
        )
        files = list(Discovery(resolver.settings_for, problems.append).find(request.paths or (Path(),)))
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from None
    with terminal.progress() as progress:
        outcome = check_files(files, progress=progress)
    return [one for one in outcome.diagnostics if one.code in CODES]


def _write_drivers(judgements: Sequence[Judgement], folder: Path) -> None:
    """Write the drivers to a folder, a file for each finding that has one: a program, or a command that runs tests."""
    for one in judgements:
        if one.driver:
            region = one.finding.region
            place = re.sub(r"\W+", "_", f"{Path(region.filename).stem}_{region.start.row}_{region.start.column}")
            head = f"# {one.finding.code}: {one.verdict.value}: {one.reason}\n".replace("\n", " ").strip() + "\n"
            suffix = "sh" if one.origin == "tests" else "py"
            write_file([head, one.driver], folder / f"{one.finding.code.lower()}_{place}.{suffix}")
