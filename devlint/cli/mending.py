"""`--fix` and its relatives: repair the files or silence what is found, write or show that, and say what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from devlint.cli import terminal
from devlint.cli.writing import write_bytes, write_out
from devlint.diagnostic import Diagnostic
from devlint.linter.check import Outcome, Progress, check
from devlint.linter.discovery import Found
from devlint.repair.document import Document
from devlint.repair.file_replacement import FileNotWritten, replace_file
from devlint.repair.fix_rounds import Documents, RepairResult, applicable_fix_filter, repair
from devlint.repair.ignore_comments import add_ignore_comments
from devlint.repair.unified_diff import unified_diff


@dataclass(frozen=True, slots=True)
class Mending:
    """What is to become of the fixes.

    Whether unsafe ones count, whether they are shown as a `diff` or written, to the standard output where the text came
    from `stdin`; `only` is for no report of what is left, and `listed` for one of what was mended. With a `reason`,
    which may be empty, findings are not mended but silenced by comments.
    """

    unsafe: bool = False
    diff: bool = False
    only: bool = False
    listed: bool = False
    stdin: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """The documents as they were, and what was made of them."""

    before: Documents
    repair: RepairResult[Outcome]

    @property
    def changed(self) -> list[str]:
        """The names of the files that are no longer what they were."""
        documents = self.repair.documents
        return [name for name, document in self.before.items() if documents[name].data != document.data]


def mend(
    files: Sequence[Found],
    stdin: bytes | None,
    mending: Mending,
    sift: Callable[[Outcome], Sequence[Diagnostic]],
    progress: Progress | None,
) -> Mended:
    """Check the files and repair, or silence, what `sift` leaves of the findings. Nothing is written yet."""
    documents = _read(files, stdin)
    first = check(files, stdin, progress, _texts(documents))

    def look(attempt: Documents) -> Outcome:
        return check(files, attempt[files[0].name].data if stdin is not None else None, texts=_texts(attempt))

    if mending.reason is not None:
        return Mended(documents, add_ignore_comments(documents, first, look, sift, mending.reason or None))
    sifted = sift(first)
    meant = {one.fingerprint for one in sifted} if len(sifted) < len(first.diagnostics) else None
    has_fix = applicable_fix_filter(mending.unsafe)

    def wanted(diagnostic: Diagnostic) -> bool:
        return has_fix(diagnostic) and (meant is None or diagnostic.fingerprint in meant)

    return Mended(documents, repair(documents, first, look, wanted))


def _read(files: Sequence[Found], stdin: bytes | None) -> Documents:
    if stdin is not None:
        return {files[0].name: Document(files[0].name, stdin)}
    documents = {}
    for file in files:
        try:
            documents[file.name] = Document(file.name, file.path.read_bytes())
        except OSError:
            # The analysis will report it.
            continue
    return documents


def _texts(documents: Documents) -> Mapping[str, bytes]:
    return {name: document.data for name, document in documents.items()}


def deliver(mended: Mended, files: Sequence[Found], mending: Mending, complain: Callable[[str], None]) -> None:
    """Write what was repaired, or show it, and say what was done; complain of what cannot be written."""
    if mending.diff:
        _write_difference(mended)
    elif mending.stdin:
        write_bytes(mended.repair.documents[files[0].name].data)
    else:
        _write(mended, files, complain)
    _tell(mended, mending)


def _write(mended: Mended, files: Sequence[Found], complain: Callable[[str], None]) -> None:
    paths = {file.name: file.path for file in files}
    for name in mended.changed:
        try:
            replace_file(paths[name], mended.before[name].data, mended.repair.documents[name].data)
        except FileNotWritten as problem:
            complain(f"{name}: {problem}")


def _write_difference(mended: Mended) -> None:
    for name in mended.changed:
        before, after = mended.before[name], mended.repair.documents[name]
        write_out(unified_diff(name, before.text, after.text), color=False)


def _tell(mended: Mended, mending: Mending) -> None:
    done = mended.repair
    if done.fixed or mending.listed:
        verb = "fixed" if mending.reason is None else "silenced"
        verb = f"would be {verb}" if mending.diff else verb
        terminal.note(f"{_findings(len(done.fixed))} {verb}")
    if mending.listed:
        for line in _listed(done.fixed):
            click.echo(line, err=True)
    for one in done.withdrawn:
        terminal.note(f"not fixed, for it would not help: {one.region.filename}:{one.region.start.row}: {one.code}")
    if not done.finished:
        terminal.warn("gave up before every fix was applied; run devlint again")


def _listed(fixed: Sequence[Diagnostic]) -> Iterator[str]:
    for filename in dict.fromkeys(one.region.filename for one in fixed):
        yield f"  {filename}:"
        kinds = Counter((one.code, one.name) for one in fixed if one.region.filename == filename)
        yield from (f"    {number} x {code} ({name})" for (code, name), number in sorted(kinds.items()))


def _findings(number: int) -> str:
    return "1 finding" if number == 1 else f"{number} findings"
