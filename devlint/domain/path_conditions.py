"""Conditions under which a value is what it is: `torch.cuda.is_available()`, `args.cuda`, and their combinations.

A `Literal` is a formula with a polarity. Two literals of the same formula are the same condition, however they are
written, so that `device = "cuda" if use_cuda else "cpu"` and `if use_cuda: model.cuda()` are known to agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Atom:
    """One indivisible condition; `key` identifies it, `text` (or its `str`) is how the reader knows it."""

    key: Hashable
    text: object = field(compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Keys are deep, and every path asks for the same few conditions again and again.
        object.__setattr__(self, "_hash", hash(self.key))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return str(self.text)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The conjunction of several tests."""

    tests: frozenset[Literal]

    def __str__(self) -> str:
        return " and ".join(sorted(map(str, self.tests)))


Formula: TypeAlias = "Atom | Conjunction"


@dataclass(frozen=True, slots=True)
class Literal:
    """A formula, or its negation when `holds` is false."""

    __test__ = False  # not a test case, whatever a test collector may think of the name

    formula: Formula
    holds: bool = True
    _opposite: Literal | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.formula) if self.holds else ~hash(self.formula)

    def __invert__(self) -> Literal:
        opposite = self._opposite
        if opposite is None:
            # Asked for at every branch that is met. It does not keep this one in turn: no cycle for the collector.
            opposite = Literal(self.formula, not self.holds)
            object.__setattr__(self, "_opposite", opposite)
        return opposite

    def __str__(self) -> str:
        if self.holds:
            return str(self.formula)
        return f"not {self.formula}" if isinstance(self.formula, Atom) else f"not ({self.formula})"


PathCondition: TypeAlias = frozenset[Literal]
"""What is taken to be true on the path being followed."""

NO_CONDITION: PathCondition = frozenset()


def conjunction(left: Literal, right: Literal) -> Literal:
    """The test that holds when both do."""
    parts: set[Literal] = set()
    for test in (left, right):
        parts.update(test.formula.tests if isinstance(test.formula, Conjunction) and test.holds else {test})
    return next(iter(parts)) if len(parts) == 1 else Literal(Conjunction(frozenset(parts)))


def disjunction(left: Literal, right: Literal) -> Literal:
    """The test that holds when at least one does."""
    return ~conjunction(~left, ~right)


def conditional(test: Literal, yes: Literal | bool, no: Literal | bool) -> Literal | bool:
    """The condition that is `yes` where the test holds and `no` where it does not."""
    if isinstance(yes, bool):
        if isinstance(no, bool):
            return yes if yes is no else (test if yes else ~test)
        return disjunction(test, no) if yes else conjunction(~test, no)
    if isinstance(no, bool):
        return disjunction(~test, yes) if no else conjunction(test, yes)
    return disjunction(conjunction(test, yes), conjunction(~test, no))


def entails(path_condition: PathCondition, test: Literal) -> bool | None:
    """Whether `test` holds given `path_condition`; None when they do not say."""
    if not path_condition:
        return None
    if test in path_condition:
        return True
    if ~test in path_condition:
        return False
    if isinstance(test.formula, Conjunction):
        answers = [entails(path_condition, part) for part in test.formula.tests]
        if False in answers:
            return not test.holds
        if None not in answers:
            return test.holds
    return None


def assume(path_condition: PathCondition, test: Literal) -> PathCondition | None:
    """`path_condition` and `test` together; None when they contradict each other."""
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
    """Return the path condition with the literals that follow from it.

    Those are the parts of a conjunction that holds, and the opposite of the last part of a conjunction that fails while
    its other parts hold.
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
    """All of both; None when they contradict each other."""
    result: PathCondition | None = frozenset(path_condition)
    for test in more:
        if result is None:
            return None
        result = assume(result, test)
    return result


def branch_literal(left: PathCondition, right: PathCondition) -> Literal | None:
    """A test that holds in `left` and fails in `right`: what the two paths branched on. Single conditions come
    first."""
    candidates = [test for test in left - right if ~test in right]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda test: (isinstance(test.formula, Conjunction), str(test)), default=None)
