"""The command `devlint merge`, which makes one report of those of the shards of a run."""

from __future__ import annotations

from pathlib import Path

import click

from devlint.cli import shell_completion, terminal
from devlint.cli.exit_status import CLEAN, FOUND
from devlint.cli.option_values import ReportTarget, output_file_option, parse_report_targets, place_targets
from devlint.cli.output_streams import write_file, write_stdout
from devlint.config.rule_selection import REVEALED
from devlint.output import MERGEABLE


@click.command(short_help="Make one report of those of all shards.", context_settings={"auto_envvar_prefix": "DEVLINT"})
@click.argument("reports", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="REPORT...")
@click.option(
    "--output-format",
    metavar="FORMAT[:FILE],...",
    callback=parse_report_targets,
    shell_complete=shell_completion.complete_merged_formats,
    help=f"Format of the report, and where to write it: {', '.join(MERGEABLE)}.  [default: that of the reports]",
)
@output_file_option
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if something was found.")
@click.option("-q", "--quiet", is_flag=True, help="Write errors only: no note on what was merged.")
def merge(
    reports: tuple[Path, ...],
    output_format: tuple[ReportTarget, ...] | None,
    output_file: Path | None,
    exit_zero: bool,
    quiet: bool,
) -> int:
    """Make one report of those that `devlint check --shard K/N` has written for all K, in the formats json, sarif and
    junit. It is the report of the whole run, in the same format, and so is the exit status.
    """
    # Imported here to keep `devlint merge --help` fast.
    from devlint.merge.forms import FORMS, merged_findings, read_report, reports_by_form
    from devlint.merge.reported_finding import ReportError

    try:
        by_form = reports_by_form([read_report(path) for path in dict.fromkeys(reports)])
    except ReportError as problem:
        raise click.ClickException(str(problem)) from None
    if output_format is None:
        if len(by_form) > 1:
            raise click.UsageError(f"the reports are in the forms {', '.join(by_form)}: choose by --output-format")
        output_format = tuple(map(ReportTarget, by_form))
    is_found = False
    for target in place_targets(output_format, output_file):
        if target.format not in by_form:
            raise click.UsageError(f"--output-format: none of the reports has the form {target.format}")
        findings = merged_findings(by_form[target.format])
        is_found |= any(one.code != REVEALED for one in findings)
        pieces = FORMS[target.format].write(findings)
        if target.path is not None:
            write_file(pieces, target.path)
        else:
            write_stdout(pieces, color=False)
        with terminal.settings(quiet=quiet, color=None):
            merged, found = len(by_form[target.format]), len(findings)
            terminal.note(
                f"{found} {'finding' if found == 1 else 'findings'} in {merged} {target.format}"
                f" {'report' if merged == 1 else 'reports'}"
            )
    return FOUND if is_found and not exit_zero else CLEAN
