"""One run of `devlint port`: port the files, write the changes, and report what became of each use of CUDA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED, FOUND
from devlint.cli.output_streams import write_stdout
from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.linter.discovery import Discovery
from devlint.linter.rule_listing import all_rule_metadata
from devlint.port.cuda_uses import CudaUse, Outcome
from devlint.port.port_context import PortOptions
from devlint.port.program_port import PortedProgram, port_program
from devlint.repair.file_replacement import FileNotWritten, replace_file
from devlint.repair.unified_diff import unified_diff
from devlint.semantics.accelerators import DEFAULT_MIN_TORCH, Version


def run_port(
    paths: Sequence[Path],
    *,
    diff: bool,
    min_torch: Version | None,
    device_name: str,
    show_ported: bool,
    checked: bool,
    jobs: int,
) -> int:
    """Port the files below some paths, write or show the changes and the report, and return the exit status.

    `checked` has the ported files analysed for new findings.
    """
    problems: list[str] = []
    try:
        resolver = Resolver(list(all_rule_metadata()), Options(min_torch=min_torch), cwd=Path.cwd())
        files = list(Discovery(resolver.settings_for, problems.append).find(paths or (Path(),)))
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from None
    with terminal.progress() as progress:
        oldest = min((file.settings.min_torch_for(file.path) for file in files), default=DEFAULT_MIN_TORCH)
        options = PortOptions(oldest, device_name)
        done = port_program(files, options, checked=checked, progress=progress, jobs=jobs)
    problems += [f"{name}: {message}" for name, message in done.unreadable.items()]
    if diff:
        for name in done.changed:
            write_stdout(unified_diff(name, done.before[name].text, done.after[name].text), color=False)
    else:
        places = {file.name: file.path for file in files}
        for name in done.changed:
            try:
                replace_file(places[name], done.before[name].data, done.after[name].data)
            except FileNotWritten as problem:
                problems.append(f"{name}: {problem}")
    write_stdout(_report(done, show_ported=show_ported), color=False, to_stderr=diff)
    for text in problems:
        terminal.error(text)
    return FAILED if problems else FOUND if done.count(Outcome.FOR_HUMAN) else CLEAN


def _report(done: PortedProgram, *, show_ported: bool) -> Iterator[str]:
    """Yield the lines of the report: what is left and why, and how many uses were ported and left."""
    for use in done.uses:
        if show_ported or use.outcome is not Outcome.PORTED:
            yield f"{_line(use)}\n"
    counts = ", ".join(f"{done.count(one)} {one.value}" for one in Outcome)
    noun = "use" if len(done.uses) == 1 else "uses"
    yield f"{len(done.uses)} {noun} of CUDA: {counts}\n"


def _line(use: CudaUse) -> str:
    """Return the line of the report on one use."""
    start, cell = use.region.start, use.region.cell
    place = f"{use.region.filename}:{f'cell {cell}:' if cell is not None else ''}{start.row}:{start.column}"
    arrow = " becomes " if use.outcome is Outcome.PORTED else ": "
    return f"{place}: {use.outcome.value}: `{use.text}`{arrow}{use.note}"
