"""Path conditions: the literals that hold on a path, such as `torch.cuda.is_available()` or `not args.cuda`.

A `Literal` is a condition of the program or its negation. Conditions have one identity however they are written, so
that `device = "cuda" if use_cuda else "cpu"` and `if use_cuda: model.cuda()` are known to agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final, TypeAlias

from devlint.domain.questions import Question, decide
from devlint.domain.record import record

_CHOICE: Final = "one of"
"""The kind of the conditions that stand for an unknown choice between two values."""
RAISED: Final = "raised"
"""The kind of the conditions that the body of a `try` statement raises an exception that the statement handles."""


class WrittenText(ABC):
    """The text of a condition as the program writes it. The text is generated only when it is printed."""

    __slots__ = ()

    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """Return the names and literals in the text, which are known without it; equal texts have equal words."""

    @abstractmethod
    def structure(self) -> Hashable:
        """Return what tells without the text whether two texts are of the same code, however it is laid out."""


@record(frozen=True, slots=True)
class Atom:
    """A condition of the analysed program that is not made of smaller ones.

    `key` identifies the condition; `str(text)` is how findings show it. `weaker` is a condition that holds wherever
    this one does; `stronger` are conditions each of which holds only where this one does. `question` is what the
    condition asks of a single value, if it does: its answers go together with those to other questions about it.
    """

    key: Hashable
    text: object = field(compare=False)
    weaker: Atom | None = field(default=None, repr=False, compare=False)
    stronger: tuple[Atom, ...] = field(default=(), repr=False, compare=False)
    question: Question | None = field(default=None, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Keys are deep tuples, and the same few atoms are looked up on every path: the hash is computed once.
        object.__setattr__(self, "_hash", hash(self.key))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return str(self.text)

    def mentions(self, part: str) -> bool:
        """Return whether a name or a literal in the text of the condition contains a string."""
        if isinstance(self.text, WrittenText):
            return any(part in word for word in self.text.words())
        return part in str(self.text)


@record(frozen=True, slots=True)
class Conjunction:
    """A formula that is true when several literals (conditions or negated conditions) all hold."""

    tests: frozenset[Literal]

    def __str__(self) -> str:
        return " and ".join(sorted(map(str, self.tests)))


Formula: TypeAlias = "Atom | Conjunction"


@record(frozen=True, slots=True)
class Literal:
    """A condition that a path assumes: a formula (an atom or a conjunction), or its negation when `holds` is false."""

    __test__ = False  # keeps test collectors away from the class

    formula: Formula
    holds: bool = True
    _opposite: Literal | None = field(default=None, init=False, repr=False, compare=False)
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash(self.formula) if self.holds else ~hash(self.formula)
            object.__setattr__(self, "_hash", known)
        return known

    def __invert__(self) -> Literal:
        opposite = self._opposite
        if opposite is None:
            # Every branch needs the negation, so it is cached; it keeps no reference back, which avoids a cycle.
            opposite = Literal(self.formula, not self.holds)
            object.__setattr__(self, "_opposite", opposite)
        return opposite

    def __str__(self) -> str:
        if self.holds:
            return str(self.formula)
        return f"not {self.formula}" if isinstance(self.formula, Atom) else f"not ({self.formula})"


PathCondition: TypeAlias = frozenset[Literal]
"""The literals that are assumed to hold on the path being analysed."""

NO_CONDITION: PathCondition = frozenset()
"""The path condition that assumes nothing."""


def atoms_of(test: Literal) -> Iterator[Atom]:
    """Yield the atoms of a literal, also those within conjunctions."""
    if isinstance(test.formula, Conjunction):
        for one in test.formula.tests:
            yield from atoms_of(one)
    else:
        yield test.formula


def choice_literal(values: Hashable) -> Literal:
    """Return the literal that a value is the first of two alternatives, where no condition is known that chooses."""
    return Literal(Atom((_CHOICE, values), "it is the first of several values"))


def is_choice(test: Literal) -> bool:
    """Return whether a literal says which of two alternatives a value is, where no condition is known that chooses."""
    match test.formula:
        case Atom(key=(kind, _)):
            return kind == _CHOICE
    return False


def is_raised(test: Literal) -> bool:
    """Return whether a literal says that the body of a `try` statement raises an exception, or that it does not."""
    match test.formula:
        case Atom(key=(kind, *_)):
            return kind == RAISED
    return False


def conjunction(left: Literal, right: Literal) -> Literal:
    """Return the literal that holds when both given literals hold."""
    parts: set[Literal] = set()
    for test in (left, right):
        parts.update(test.formula.tests if isinstance(test.formula, Conjunction) and test.holds else {test})
    return next(iter(parts)) if len(parts) == 1 else Literal(Conjunction(frozenset(parts)))


def disjunction(left: Literal, right: Literal) -> Literal:
    """Return the literal that holds when at least one of the given literals holds."""
    return ~conjunction(~left, ~right)


def conditional(test: Literal, yes: Literal | bool, no: Literal | bool) -> Literal | bool:
    """Return a single condition that equals `yes` where the literal `test` holds and `no` where it fails."""
    if isinstance(yes, bool):
        if isinstance(no, bool):
            return yes if yes is no else (test if yes else ~test)
        return disjunction(test, no) if yes else conjunction(~test, no)
    if isinstance(no, bool):
        return disjunction(~test, yes) if no else conjunction(test, yes)
    return disjunction(conjunction(test, yes), conjunction(~test, no))


def entails(path_condition: PathCondition, test: Literal) -> bool | None:
    """Return whether a literal holds under a path condition; None when the path condition does not decide it."""
    if not path_condition:
        return None
    if test in path_condition:
        return True
    if ~test in path_condition:
        return False
    if isinstance(test.formula, Conjunction):
        is_open = False
        for part in test.formula.tests:
            answer = entails(path_condition, part)
            if answer is False:
                return not test.holds
            is_open |= answer is None
        return None if is_open else test.holds
    if test.formula.weaker is not None and Literal(test.formula.weaker, False) in path_condition:
        return not test.holds
    if test.formula.stronger and any(Literal(one) in path_condition for one in test.formula.stronger):
        return test.holds
    return _follows_from_answers(path_condition, test, test.formula.question) if test.formula.question else None


def _follows_from_answers(path_condition: PathCondition, test: Literal, question: Question) -> bool | None:
    """Return whether a literal holds, given what the path condition says of the value that its question is about."""
    answers = _answers_by_subject(path_condition).get(question.subject)
    known = decide(question, answers) if answers else None
    return known if test.holds or known is None else not known


@lru_cache(maxsize=64)
def _answers_by_subject(path_condition: PathCondition) -> Mapping[Hashable, Sequence[tuple[Question, bool]]]:
    """Return the questions that a path has answered, with the answers, by the value that they are about.

    A path is asked many times before it learns something new.
    """
    found: defaultdict[Hashable, list[tuple[Question, bool]]] = defaultdict(list)
    for one in path_condition:
        if type(one.formula) is Atom and one.formula.question is not None:
            found[one.formula.question.subject].append((one.formula.question, one.holds))
    return found


def assume(path_condition: PathCondition, test: Literal) -> PathCondition | None:
    """Return the path condition extended by a literal; None when the two contradict each other."""
    known = entails(path_condition, test)
    if known is not None:
        return path_condition if known else None
    added = {test}
    if test.holds and isinstance(test.formula, Conjunction):
        added |= test.formula.tests
    result = path_condition | added
    for one in path_condition:
        if not one.holds and type(one.formula) is Conjunction and one.formula.tests <= result:
            return None
    return result


def closure(path_condition: PathCondition) -> PathCondition:
    """Return the path condition together with all literals that follow from it.

    From a conjunction that holds, its parts follow. From a conjunction that fails while all its parts but one hold, the
    negation of that one part follows.
    """
    known = set(path_condition)
    for test in path_condition:
        if not isinstance(test.formula, Conjunction):
            continue
        if test.holds:
            known |= test.formula.tests
        else:
            open_ = [part for part in test.formula.tests if entails(path_condition, part) is not True]
            if len(open_) == 1:
                known.add(~open_[0])
    found = frozenset(known)
    return found if found == path_condition else closure(found)


def conjoin(path_condition: Iterable[Literal], more: Iterable[Literal]) -> PathCondition | None:
    """Return the path condition of two sets of literals that all hold; None when they contradict each other."""
    result: PathCondition | None = frozenset(path_condition)
    for test in more:
        if result is None:
            return None
        result = assume(result, test)
    return result


def branch_literal(left: PathCondition, right: PathCondition) -> Literal | None:
    """Return a literal that holds in `left` and fails in `right`: the test on which the two paths branched.

    Of several such literals, an atom is preferred to a conjunction. The result is None when no literal tells the two
    path conditions apart.
    """
    candidates = [test for test in left - right if ~test in right]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda test: (isinstance(test.formula, Conjunction), str(test)), default=None)
