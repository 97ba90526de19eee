"""Application of fixes in rounds: apply some fixes, analyse again, and keep fixes that remove findings and add none.

Causes are fixed before their consequences, which may be gone then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from devlint.diagnostic import Applicability, Diagnostic, Severity
from devlint.repair.compatible_fixes import CompatibleFixes
from devlint.repair.document import Document

MAX_ROUNDS: Final = 200
"""The most rounds of one repair. Each round removes findings, so real code needs only a few."""

MAX_FOLLOWED: Final = 4
"""The most times that a fix may lead to further fixes before all of them are judged together."""

MAX_AT_ONCE: Final = 1000
"""The most fixes of one file that are tried together, which limits the rounds needed to find a harmful one."""

Documents: TypeAlias = Mapping[str, Document]


class AnalysisResult(Protocol):
    """The interface that repairs need of an analysis result: its findings."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The findings of the analysis, sorted by their location."""


ResultT = TypeVar("ResultT", bound=AnalysisResult)


@dataclass(frozen=True, slots=True)
class RepairResult(Generic[ResultT]):
    """The outcome of a repair: the changed files, their last analysis (`seen`), and the findings that were fixed.

    `followed` are findings that came to light by the fixes of others, and were fixed along with them. `withdrawn` are
    findings whose fix did not help or caused another finding. `finished` is False if the maximum number of rounds was
    reached.
    """

    documents: Documents
    seen: ResultT
    fixed: tuple[Diagnostic, ...] = ()
    followed: tuple[Diagnostic, ...] = ()
    withdrawn: tuple[Diagnostic, ...] = ()
    finished: bool = True


_Key: TypeAlias = tuple[str, str, str, str]


@dataclass(slots=True)
class _TrialLimits:
    """Limits on which and how many fixes to try together in a round, learned from the failures of earlier rounds.

    `harmful` are findings whose fix added other findings; `at_once` is how many fixes of a file may be tried together.
    """

    harmful: dict[_Key, Diagnostic] = field(default_factory=dict)
    at_once: dict[str, int] = field(default_factory=dict)
    files_at_once: int | None = None

    def allows(self, diagnostic: Diagnostic, taken: Counter[str]) -> bool:
        """Return whether the limits allow trying a finding's fix too, given how many fixes are chosen in each file."""
        filename = diagnostic.region.filename
        if _key(diagnostic) in self.harmful or taken[filename] >= self.at_once.get(filename, MAX_AT_ONCE):
            return False
        return filename in taken or self.files_at_once is None or len(taken) < self.files_at_once

    def learn(self, tried: Sequence[Diagnostic], worse: set[str]) -> None:
        """Tighten the limits after a failed round, whose fixes have caused new findings in the files `worse`.

        In such files, fewer fixes are tried next time; a fix that was alone in its file is not tried again. If new
        findings appeared only in files without fixes, any of the fixes may be the cause.
        """
        files = list(dict.fromkeys(one.region.filename for one in tried))
        suspected = [filename for filename in files if filename in worse] or files
        if len(suspected) > 1 and not worse & set(files):
            self.files_at_once = len(files) // 2
            return
        for filename in suspected:
            of_file = [one for one in tried if one.region.filename == filename]
            if len(of_file) == 1:
                self.harmful[_key(of_file[0])] = of_file[0]
            else:
                self.at_once[filename] = len(of_file) // 2

    def relax(self, tried: Sequence[Diagnostic]) -> None:
        """Double the limits on the number of fixes for the files whose fixes were kept in a successful round."""
        for filename in {one.region.filename for one in tried} & self.at_once.keys():
            self.at_once[filename] *= 2
        if self.files_at_once is not None:
            self.files_at_once *= 2


def repair(
    documents: Documents, seen: ResultT, look: Callable[[Documents], ResultT], wanted: Callable[[Diagnostic], bool]
) -> RepairResult[ResultT]:
    """Apply the fixes of `wanted` findings in rounds, until no fix is left that helps. No file is written.

    `seen` is the first analysis of the documents (files under repair). `look` analyses the program with changed
    documents in place of its files. A fix that did not help is tried once more after others that did: it may need them.
    """
    limits = _TrialLimits()
    fixed: list[Diagnostic] = []
    followed: list[Diagnostic] = []
    has_helped_since = False
    for _ in range(MAX_ROUNDS):
        tried = _chosen(seen.diagnostics, documents, limits, wanted)
        if not tried and has_helped_since:
            limits.harmful.clear()
            has_helped_since = False
            continue
        if not tried:
            return RepairResult(documents, seen, tuple(fixed), tuple(followed), tuple(limits.harmful.values()))
        attempt, after, more, worse = _attempt(documents, seen, tried, look, wanted)
        if worse:
            limits.learn(tried, worse)
            continue
        limits.relax(tried)
        has_helped_since = bool(limits.harmful)
        fixed += tried
        followed += more
        documents, seen = attempt, after
    withdrawn = tuple(limits.harmful.values())
    return RepairResult(documents, seen, tuple(fixed), tuple(followed), withdrawn, finished=False)


def _attempt(
    documents: Documents,
    seen: ResultT,
    tried: Sequence[Diagnostic],
    look: Callable[[Documents], ResultT],
    wanted: Callable[[Diagnostic], bool],
) -> tuple[Documents, ResultT, list[Diagnostic], set[str]]:
    """Apply the fixes of some findings to the documents (files under repair) and analyse the documents again.

    Return the changed documents, their analysis, the findings that were fixed besides, and the files that have more
    findings than expected. A fix may uncover a finding that was hidden (of two misplaced tensors, only the first is
    reported), or lead to a finding that has a fix of its own. Such fixes are applied too before the attempt is judged,
    but none where the fixes have made an error of code that ran.
    """
    known = {_key(one) for one in seen.diagnostics if one.fix is not None} - {_key(one) for one in tried}
    attempt = _applied(documents, tried)
    after = look(attempt)
    followed: list[Diagnostic] = []
    for _ in range(MAX_FOLLOWED):
        broken = _broken_files(seen.diagnostics, tried, after.diagnostics)
        if broken:
            return attempt, after, followed, broken
        worse = _files_made_worse(seen.diagnostics, tried, after.diagnostics)
        led_to = [one for one in after.diagnostics if one.region.filename in worse]
        led_to = [one for one in led_to if one.fix is not None and _key(one) not in known]
        more = _chosen(led_to, attempt, _TrialLimits(), wanted) if worse else []
        if not more:
            break
        attempt = _applied(attempt, more)
        after = look(attempt)
        followed += more
    return attempt, after, followed, _files_made_worse(seen.diagnostics, tried, after.diagnostics)


def applicable_fix_filter(unsafe: bool) -> Callable[[Diagnostic], bool]:
    """Return a predicate that tells whether a finding has a safe fix, or with `unsafe` also an unsafe one."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return lambda diagnostic: diagnostic.fix is not None and diagnostic.fix.applicability in allowed


def _chosen(
    found: Iterable[Diagnostic], documents: Documents, limits: _TrialLimits, wanted: Callable[[Diagnostic], bool]
) -> list[Diagnostic]:
    """Return the wanted findings whose fixes can be applied together and are within the limits for one round.

    Errors come first, and alone: they raise, and what is said of the code after them may be true no longer.
    """
    possible = [one for one in found if _is_possible(one, documents, wanted)]
    for urgent in (True, False):
        choice = CompatibleFixes()
        taken: Counter[str] = Counter()
        for one in _causes_first([one for one in possible if (one.severity is Severity.ERROR) is urgent]):
            if limits.allows(one, taken) and choice.take(one):
                taken[one.region.filename] += 1
        if choice.chosen:
            return choice.chosen
    return []


def _is_possible(one: Diagnostic, documents: Documents, wanted: Callable[[Diagnostic], bool]) -> bool:
    """Return whether a finding is wanted, and its fix can be applied to the documents (files under repair)."""
    document = documents.get(one.region.filename)
    return document is not None and one.fix is not None and wanted(one) and document.takes(one.fix.edits)


def _causes_first(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return findings in the order in which their fixes are chosen: of two that exclude each other, the first is taken.

    A finding at a step of another one's trace may be its cause, and comes before it. So does one with a safe fix, which
    mends what is surely a slip.
    """
    places = {one.region for one in found}

    def rank(one: Diagnostic) -> tuple[bool, bool]:
        told = {note.region for note in one.trace} - {one.region}
        return not places.isdisjoint(told), one.fix is not None and one.fix.applicability is not Applicability.SAFE

    return sorted(found, key=rank)


def _applied(documents: Documents, tried: Iterable[Diagnostic]) -> Documents:
    """Return the documents (files under repair) with the fixes of some findings applied."""
    changed = dict(documents)
    for filename in {one.region.filename for one in tried}:
        fixes = [one.fix for one in tried if one.region.filename == filename and one.fix is not None]
        changed[filename] = documents[filename].edited(edit for fix in fixes for edit in fix.edits)
    return changed


def _files_made_worse(
    before: Iterable[Diagnostic], tried: Iterable[Diagnostic], after: Iterable[Diagnostic]
) -> set[str]:
    """Return the files that, after fixes were tried, have more findings of a rule than the fixes should leave."""
    expected = _count(before)
    expected.subtract(_count(tried))
    return {filename for (filename, code), number in _count(after).items() if number > expected[filename, code]}


def _broken_files(before: Iterable[Diagnostic], tried: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> set[str]:
    """Return the files in which fixes of mere warnings have made an error: there was no error to hide another one."""
    if any(one.severity is Severity.ERROR for one in tried):
        return set()
    was, now = ([one for one in some if one.severity is Severity.ERROR] for some in (before, after))
    return _files_made_worse(was, (), now)


def _count(diagnostics: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """Return the number of findings for each pair of a file name and a rule code."""
    return Counter((one.region.filename, one.code) for one in diagnostics)


def _key(diagnostic: Diagnostic) -> _Key:
    """Return a key that identifies a fix in different rounds: file, rule code, fingerprint and the fix's message."""
    assert diagnostic.fix is not None
    return (diagnostic.region.filename, diagnostic.code, diagnostic.fingerprint, diagnostic.fix.message)
