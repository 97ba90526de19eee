"""Fixes in rounds: apply some, look again, and keep only what made findings go away and none come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from devlint.diagnostic import Applicability, Diagnostic
from devlint.repair.compatible_fixes import CompatibleFixes
from devlint.repair.document import Document

MAX_ROUNDS: Final = 200
"""Analyses that one repair may take: each is told to make findings fewer, so that real code needs a handful."""

MAX_FOLLOWED: Final = 4
"""How often a fix may lead to another one before the two are judged together."""

MAX_AT_ONCE: Final = 1000
"""Fixes of one file that are tried together: what is wrong among them takes so many fewer rounds to find."""

Documents: TypeAlias = Mapping[str, Document]


class AnalysisResult(Protocol):
    """What an analysis has shown."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The findings, sorted."""


S = TypeVar("S", bound=AnalysisResult)


@dataclass(frozen=True, slots=True)
class RepairResult(Generic[S]):
    """What has become of the files: their texts, what is to be seen in them, and the findings mended.

    `withdrawn` are findings whose fix did not help, or brought another finding; `finished` is false where the rounds
    ran out.
    """

    documents: Documents
    seen: S
    fixed: tuple[Diagnostic, ...] = ()
    withdrawn: tuple[Diagnostic, ...] = ()
    finished: bool = True


_Key: TypeAlias = tuple[str, str, str, str]


@dataclass(slots=True)
class _Caution:
    """What earlier rounds have taught: fixes that do harm, and how many of a file's can be tried at once."""

    harmful: dict[_Key, Diagnostic] = field(default_factory=dict)
    at_once: dict[str, int] = field(default_factory=dict)
    files_at_once: int | None = None

    def allows(self, diagnostic: Diagnostic, taken: Counter[str]) -> bool:
        """Whether a fix may be tried besides so many of each file."""
        filename = diagnostic.region.filename
        if _key(diagnostic) in self.harmful or taken[filename] >= self.at_once.get(filename, MAX_AT_ONCE):
            return False
        return filename in taken or self.files_at_once is None or len(taken) < self.files_at_once

    def learn(self, tried: Sequence[Diagnostic], worse: set[str]) -> None:
        """A round has gone wrong: try fewer of the fixes in the files that got worse, and none again that was alone.

        What got worse where nothing was changed, any of the changes may have caused.
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
        """A round has gone well."""
        for filename in {one.region.filename for one in tried} & self.at_once.keys():
            self.at_once[filename] *= 2
        if self.files_at_once is not None:
            self.files_at_once *= 2


def repair(
    documents: Documents, seen: S, look: Callable[[Documents], S], wanted: Callable[[Diagnostic], bool]
) -> RepairResult[S]:
    """Apply the wanted fixes of what was seen until none is left that helps.

    `look` analyses the program with some texts in place of its files. Nothing is written.
    """
    caution = _Caution()
    fixed: list[Diagnostic] = []
    for _ in range(MAX_ROUNDS):
        tried = _chosen(seen.diagnostics, documents, caution, wanted)
        if not tried:
            return RepairResult(documents, seen, tuple(fixed), tuple(caution.harmful.values()))
        attempt, after, worse = _attempt(documents, seen, tried, look, wanted)
        if worse:
            caution.learn(tried, worse)
            continue
        caution.relax(tried)
        fixed += tried
        documents, seen = attempt, after
    return RepairResult(documents, seen, tuple(fixed), tuple(caution.harmful.values()), finished=False)


def _attempt(
    documents: Documents,
    seen: S,
    tried: Sequence[Diagnostic],
    look: Callable[[Documents], S],
    wanted: Callable[[Diagnostic], bool],
) -> tuple[Documents, S, set[str]]:
    """What some fixes make of the documents, what is seen then, and in which files there is more than there should be.

    A fix may uncover a finding (of two tensors in the wrong place, one is told first, of one bug maybe) or lead to one
    that has a fix of its own: those are applied too, before it is judged.
    """
    known = {_key(one) for one in seen.diagnostics if one.fix is not None} - {_key(one) for one in tried}
    attempt = _applied(documents, tried)
    after = look(attempt)
    for _ in range(MAX_FOLLOWED):
        worse = _worse(seen.diagnostics, tried, after.diagnostics)
        led_to = [one for one in after.diagnostics if one.region.filename in worse]
        led_to = [one for one in led_to if one.fix is not None and _key(one) not in known]
        more = _chosen(led_to, attempt, _Caution(), wanted) if worse else []
        if not more:
            break
        attempt = _applied(attempt, more)
        after = look(attempt)
    return attempt, after, _worse(seen.diagnostics, tried, after.diagnostics)


def applicable_fix_filter(unsafe: bool) -> Callable[[Diagnostic], bool]:
    """Whether a finding has a fix that may be applied without asking."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return lambda diagnostic: diagnostic.fix is not None and diagnostic.fix.applicability in allowed


def _chosen(
    found: Iterable[Diagnostic], documents: Documents, caution: _Caution, wanted: Callable[[Diagnostic], bool]
) -> list[Diagnostic]:
    choice = CompatibleFixes()
    taken: Counter[str] = Counter()
    for one in found:
        document = documents.get(one.region.filename)
        if document is None or one.fix is None or not wanted(one) or not document.takes(one.fix.edits):
            continue
        if caution.allows(one, taken) and choice.take(one):
            taken[one.region.filename] += 1
    return choice.chosen


def _applied(documents: Documents, tried: Iterable[Diagnostic]) -> Documents:
    changed = dict(documents)
    for filename in {one.region.filename for one in tried}:
        fixes = [one.fix for one in tried if one.region.filename == filename and one.fix is not None]
        changed[filename] = documents[filename].edited(edit for fix in fixes for edit in fix.edits)
    return changed


def _worse(before: Iterable[Diagnostic], tried: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> set[str]:
    """The files in which there are more findings of some kind than should be left."""
    expected = _count(before)
    expected.subtract(_count(tried))
    return {filename for (filename, code), number in _count(after).items() if number > expected[filename, code]}


def _count(diagnostics: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((one.region.filename, one.code) for one in diagnostics)


def _key(diagnostic: Diagnostic) -> _Key:
    assert diagnostic.fix is not None
    return (diagnostic.region.filename, diagnostic.code, diagnostic.fingerprint, diagnostic.fix.message)
