"""The options `--fix`, `--unsafe-fixes`, `--diff` and `--add-ignore`, which repair files or silence findings.

Repaired files are checked again before they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from devlint.cache.store import ProjectCache
from devlint.cli import terminal
from devlint.cli.fix_options import FixOptions
from devlint.cli.output_streams import write_stdout, write_stdout_bytes
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.linter.check import CheckResult, check_files
from devlint.linter.discovery import DiscoveredFile
from devlint.linter.neighbouring_files import neighbouring_files
from devlint.linter.progress import Progress
from devlint.repair.document import Document
from devlint.repair.file_replacement import FileNotWritten, replace_file
from devlint.repair.fix_rounds import Documents, RepairResult, applicable_fix_filter, repair
from devlint.repair.ignore_comments import add_ignore_comments
from devlint.repair.unified_diff import unified_diff

_FILES_NAMED: Final = 3
"""Of more files, the summary says only how many are written."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """The contents of the files before fixes were applied, and the result of fixing or silencing findings in them.

    `found` are the findings before.
    """

    before: Documents
    repair: RepairResult[CheckResult]
    found: Sequence[Diagnostic] = ()

    @property
    def changed(self) -> list[str]:
        """The names of the files whose contents the fixes change."""
        documents = self.repair.documents
        return [name for name, document in self.before.items() if documents[name].data != document.data]

    @property
    def gone_with_fixed(self) -> int:
        """The number of findings that are gone because of the fixes of other findings, such as what followed of one."""
        left = _count_rules(self.found)
        left.subtract(_count_rules(self.repair.fixed))
        left.subtract(_count_rules(self.repair.seen.diagnostics))
        return sum(number for number in left.values() if number > 0)


def fix_files(
    files: Sequence[DiscoveredFile],
    stdin: bytes | None,
    options: FixOptions,
    keep: Callable[[CheckResult], Sequence[Diagnostic]],
    progress: Progress,
    cache: ProjectCache | None,
    settings_for: Callable[[Path], Settings],
    jobs: int = 1,
) -> FixResult:
    """Check files, and fix or silence those findings that `keep` returns, in memory only: no file is written.

    `keep` takes the outcome of a check and returns the findings that the user asked for. Only the files as they are on
    the disk are looked up in the `cache`. `settings_for` returns the settings of a folder of the project, whose other
    files must not get new findings either.
    """
    documents = _read(files, stdin)
    first = check_files(files, stdin, progress, _texts(documents), cache, jobs)

    def check_again(attempt: Documents) -> CheckResult:
        text = attempt[files[0].name].data if stdin is not None else None
        return check_files(files, text, texts=_texts(attempt), jobs=jobs)

    if options.reason is not None:
        return FixResult(documents, add_ignore_comments(documents, first, check_again, keep, options.reason or None))
    kept = keep(first)
    kept_fingerprints = {one.fingerprint for one in kept} if len(kept) < len(first.diagnostics) else None
    has_fix = applicable_fix_filter(options.unsafe)

    def is_wanted(diagnostic: Diagnostic) -> bool:
        return has_fix(diagnostic) and (kept_fingerprints is None or diagnostic.fingerprint in kept_fingerprints)

    others: Sequence[DiscoveredFile] = ()
    if stdin is None and any(map(is_wanted, first.diagnostics)):
        others = neighbouring_files(files, settings_for)

    def with_others(result: CheckResult, attempt: Documents, known: ProjectCache | None = None) -> CheckResult:
        if not others:
            return result
        around = check_files([*files, *others], texts=_texts(attempt), cache=known, jobs=jobs)
        return replace(result, diagnostics=(*result.diagnostics, *_of_files(around.diagnostics, others)))

    done = repair(
        documents,
        with_others(first, documents, cache),
        lambda attempt: with_others(check_again(attempt), attempt),
        is_wanted,
    )
    own = replace(done.seen, diagnostics=tuple(_of_files(done.seen.diagnostics, files)))
    return FixResult(documents, replace(done, seen=own), first.diagnostics)


def _of_files(findings: Iterable[Diagnostic], files: Sequence[DiscoveredFile]) -> Iterator[Diagnostic]:
    """Yield the findings that are in some files."""
    names = {file.name for file in files}
    return (one for one in findings if one.region.filename in names)


def _count_rules(findings: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """Return the number of findings of each rule in each file."""
    return Counter((one.region.filename, one.code) for one in findings)


def _read(files: Sequence[DiscoveredFile], stdin: bytes | None) -> Documents:
    """Return the contents of the files to fix, or of the standard input, by file name; leave out unreadable files."""
    if stdin is not None:
        return {files[0].name: Document(files[0].name, stdin)}
    documents = {}
    for file in files:
        try:
            documents[file.name] = Document(file.name, file.path.read_bytes())
        except OSError:
            # The analysis reports files that cannot be read.
            continue
    return documents


def _texts(documents: Documents) -> Mapping[str, bytes]:
    """Return the contents of documents (files under repair) as bytes, by file name."""
    return {name: document.data for name, document in documents.items()}


def write_fixes(
    fixed: FixResult, files: Sequence[DiscoveredFile], options: FixOptions, report_error: Callable[[str], None]
) -> None:
    """Write the fixed files to the disk, or with `--diff` show the changes; then write a summary.

    Files that cannot be written are reported.
    """
    if options.diff:
        _write_difference(fixed)
    elif options.stdin:
        write_stdout_bytes(fixed.repair.documents[files[0].name].data)
    else:
        _write_files(fixed, files, report_error)
    _summarise(fixed, options)


def _write_files(fixed: FixResult, files: Sequence[DiscoveredFile], report_error: Callable[[str], None]) -> None:
    """Write the changed contents to the files on the disk, and report the files that cannot be written."""
    paths = {file.name: file.path for file in files}
    for name in fixed.changed:
        try:
            replace_file(paths[name], fixed.before[name].data, fixed.repair.documents[name].data)
        except FileNotWritten as problem:
            report_error(f"{name}: {problem}")


def _write_difference(fixed: FixResult) -> None:
    """Write the changes that fixes make to all files to the standard output, as a unified diff."""
    for name in fixed.changed:
        before, after = fixed.before[name], fixed.repair.documents[name]
        write_stdout(unified_diff(name, before.text, after.text), color=False)


def _summarise(fixed: FixResult, options: FixOptions) -> None:
    """Write notes on the number of findings that were fixed or silenced, and on fixes that were not kept."""
    done = fixed.repair
    fixed_findings = (*done.fixed, *done.followed)
    if fixed_findings or options.show_fixes:
        verb = "fixed" if options.reason is None else "silenced"
        verb = f"would be {verb}" if options.diff else verb
        them = "it" if len(fixed_findings) == 1 else "them"
        more = f", and with {them} {fixed.gone_with_fixed} more" if fixed_findings and fixed.gone_with_fixed else ""
        where = "" if options.stdin else _files_text(fixed.changed)
        terminal.note(f"{_count_findings(len(fixed_findings))} {verb}{where}{more}")
    if options.unasked:
        rest = "to make these changes" if fixed.changed else "to change any, and there is nothing that it would change"
        terminal.note(f"no file was changed: --unsafe-fixes needs --fix {rest}")
    if options.show_fixes:
        for line in _fixed_lines(fixed_findings):
            click.echo(line, err=True)
    for one in done.withdrawn:
        terminal.note(f"not fixed, for it would not help: {one.region.filename}:{one.region.start.row}: {one.code}")
    if not done.finished:
        terminal.warn("gave up before every fix was applied; run devlint again")


def _fixed_lines(fixed: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the lines that `--show-fixes` prints: each file, and the number of fixed findings of each rule in it."""
    for filename in dict.fromkeys(one.region.filename for one in fixed):
        yield f"  {filename}:"
        kinds = Counter((one.code, one.name) for one in fixed if one.region.filename == filename)
        yield from (f"    {number} x {code} ({name})" for (code, name), number in sorted(kinds.items()))


def _files_text(names: Sequence[str]) -> str:
    """Return the end of a sentence that says which files are written: " in a.py, b.py", or their number."""
    if not names:
        return ""
    return f" in {', '.join(names) if len(names) <= _FILES_NAMED else f'{len(names)} files'}"


def _count_findings(number: int) -> str:
    """Return a number of findings as text, such as "1 finding" or "3 findings"."""
    return "1 finding" if number == 1 else f"{number} findings"
