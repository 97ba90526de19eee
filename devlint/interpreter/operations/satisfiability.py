"""Joint satisfiability of path conditions: whether two tensors can be on given devices in one run of the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Set
from itertools import combinations, product
from typing import Final

from devlint.domain.path_conditions import Atom, Conjunction, Literal, PathCondition, WrittenText, atoms_of
from devlint.domain.questions import Question, possible_values
from devlint.domain.value import Const
from devlint.interpreter.state.device_facts import are_exclusive

NO_CHOICE_OF_DEVICE = frozenset({"filled", "given"})
"""Kinds of conditions on whether there is data to compute with; they never decide on which device it is."""


MAX_ATOMS: Final = 12
"""The largest number of atoms whose outcomes are tried; path conditions of real findings have fewer."""


def jointly_satisfiable(path: PathCondition, left: PathCondition, right: PathCondition) -> bool:
    """Return whether a path exists on which the conditions of two tensors' devices hold together.

    When each side depends on a condition of its own, the answer is usually False: real programs set both from one fact.
    The sides do hold together if the conditions of one include those of the other, or if all hold in a run of the
    program without command-line options on a machine with an accelerator.
    """
    # Whether the conditions are consistent takes longer to find out: texts of conditions may be compared for that.
    return _may_belong_together(path, _device_conditions(left), _device_conditions(right)) and _is_consistent(
        path | left | right, left | right
    )


def is_satisfiable(path: PathCondition) -> bool:
    """Return whether some run of the program may follow a path."""
    return _is_consistent(path, frozenset())


def _may_belong_together(path: PathCondition, left: PathCondition, right: PathCondition) -> bool:
    """Return whether one of two sets of conditions includes the other, or all hold in a run without options."""
    if not left or not right or left <= right or right <= left:
        return True
    return all(_holds_by_default(test) for test in left | right) and not any(
        _holds_by_default(test) is False for test in path
    )


def _is_consistent(tests: PathCondition, compared: PathCondition) -> bool:
    """Return whether some outcome of the atoms satisfies all literals of a path condition.

    Atoms at different source locations that have the text of an atom in `compared` are taken to be the same condition:
    a helper that is called twice asks the same question twice. The answer is True where there are too many atoms to
    try.
    """
    atoms = {atom for test in tests for atom in atoms_of(test)}
    deciding = {atom for test in compared for atom in atoms_of(test)}
    texts = _texts_of_lookalikes(atoms, deciding) if deciding else {}
    asked = {texts[atom] for atom in deciding if atom in texts}
    names: dict[Atom, Hashable] = {atom: texts[atom] if texts.get(atom) in asked else atom for atom in atoms}
    if len(set(names.values())) > MAX_ATOMS:
        return True
    never = frozenset(Literal(Conjunction(frozenset(pair)), False) for pair in _incompatible(names))
    return _has_solution(tests | never, names, {})


def _texts_of_lookalikes(atoms: Collection[Atom], deciding: Set[Atom]) -> Mapping[Atom, Hashable]:
    """Return what tells the texts apart of those atoms that may have the text of a deciding one.

    A text that the program writes is generated only where it may be that of a condition of devlint's own: libcst would
    have to parse the whole statement for it.
    """
    found: dict[Atom, Hashable] = {}
    own: list[str] = []
    by_words: dict[tuple[str, ...], dict[Atom, WrittenText]] = defaultdict(dict)
    for atom in atoms:
        if isinstance(atom.text, WrittenText):
            by_words[atom.text.words()][atom] = atom.text
        else:
            found[atom] = text = str(atom)
            own.append(text)
    for words, texts in by_words.items():
        if any(all(word in text for word in words) for text in own):
            found.update((atom, str(atom)) for atom in texts)
        elif len(texts) > 1 and not deciding.isdisjoint(texts):
            found.update((atom, text.structure()) for atom, text in texts.items())
    return found


def _incompatible(atoms: Collection[Atom]) -> Iterator[tuple[Literal, Literal]]:
    """Yield the pairs of literals that never hold together, whatever the program does.

    An atom does not hold where its weaker condition fails, no device has two types, and the answers to questions about
    one value go together.
    """
    for atom in atoms:
        if atom.weaker is not None and atom.weaker in atoms:
            yield Literal(atom), Literal(atom.weaker, False)
    types = [(atom, atom.key) for atom in atoms if isinstance(atom.key, tuple) and atom.key[0] == "device"]
    for (one, key), (other, asked) in combinations(types, 2):
        if key[1] == asked[1] and are_exclusive(key[2], asked[2]):
            yield Literal(one), Literal(other)
    yield from _incompatible_answers([(atom, atom.question) for atom in atoms if atom.question is not None])


def _incompatible_answers(questions: Sequence[tuple[Atom, Question]]) -> Iterator[tuple[Literal, Literal]]:
    """Yield the pairs of literals that no value satisfies about which both of them ask."""
    for (one, first), (other, second) in combinations(questions, 2):
        if first.subject == second.subject:
            values = possible_values(question for _, question in questions if question.subject == first.subject)
            answers = {(first.answer(value), second.answer(value)) for value in values}
            for left, right in product((True, False), repeat=2):
                if (left, right) not in answers:
                    yield Literal(one, left), Literal(other, right)


def _has_solution(tests: PathCondition, names: Mapping[Atom, Hashable], outcomes: dict[Hashable, bool]) -> bool:
    """Return whether the decided outcomes of atoms can be extended so that all literals hold.

    `names` gives the identity of each atom; `outcomes` are the outcomes decided so far, by identity.
    """
    answers = {_outcome(test, names, outcomes) for test in tests}
    if False in answers:
        return False
    if None not in answers:
        return True
    open_name = next(name for name in names.values() if name not in outcomes)
    return any(_has_solution(tests, names, {**outcomes, open_name: outcome}) for outcome in (True, False))


def _outcome(test: Literal, names: Mapping[Atom, Hashable], outcomes: Mapping[Hashable, bool]) -> bool | None:
    """Return whether a literal holds under the decided outcomes of atoms; None if they do not decide it."""
    if isinstance(test.formula, Conjunction):
        answers = {_outcome(one, names, outcomes) for one in test.formula.tests}
        known = False if False in answers else None if None in answers else True
    else:
        known = outcomes.get(names[test.formula])
    return known if test.holds or known is None else not known


def _device_conditions(path_condition: PathCondition) -> PathCondition:
    """Return the conditions that may decide on a device.

    These are all but the conditions that only test whether there is data to compute with.
    """
    return frozenset(test for test in path_condition if not _is_about_presence(test))


def _is_about_presence(test: Literal) -> bool:
    """Return whether a condition only tests whether there is data, as `x is not None` does.

    Such a condition does not decide on a device.
    """
    match test.formula:
        case Atom(key=(kind, *_)):
            return kind in NO_CHOICE_OF_DEVICE
    return False


def _holds_by_default(test: Literal) -> bool | None:
    """Return whether a condition holds when the program runs without command-line options and with an accelerator.

    None when these two facts do not decide it.
    """
    match test.formula:
        case Conjunction(tests=tests):
            answers = {_holds_by_default(one) for one in tests}
            known = False if False in answers else None if None in answers else True
        case Atom(key=("available" | "default", _)):
            known = True
        case Atom(key=("true", ("option", _, _, Const(value=default), _))):
            known = bool(default)
        case Atom(key=("none", ("option", _, _, Const(value=default), _))):
            known = default is None
        case Atom(key=("compare", "Equal", ("option", _, _, Const() as default, _), Const() as asked)):
            known = default == asked
        case _:
            known = None
    return known if test.holds or known is None else not known
