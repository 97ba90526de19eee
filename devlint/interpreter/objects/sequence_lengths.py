"""Conditions on the lengths of sequences: whether a sequence has an element, as a path assumes it.

The first test of a sequence names the condition, which then belongs to the sequence until its length changes: the tests
`if xs`, `len(xs) > 0` and a loop over `xs` are about one fact.
"""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Sequence
from devlint.domain.path_conditions import Atom, Literal, assume
from devlint.domain.questions import Question
from devlint.domain.value import Ref, Unknown, Value, is_single_object
from devlint.interpreter.state.frame import Frame


def filled_condition(frame: Frame, value: Value, atom: Atom) -> Literal | bool | None:
    """Return the condition that a sequence has an element, as a bool or a literal; None for other values.

    If no condition names that yet, `atom` does from now on.
    """
    thing = frame.object_of(value)
    if isinstance(value, Ref) and isinstance(thing, Sequence):
        known = thing.has_elements
        if known is None:
            known = Literal(atom)
            frame.put(value.address, replace(thing, filled=known))
        return known
    if isinstance(value, Unknown) and value.origin is not None and is_single_object(value.origin):
        # A sequence is true where it has an element.
        asked = Question(value.origin, "true")
        return frame.analysis.length_conditions.setdefault(
            value.origin, Literal(Atom(("filled", value.origin), atom.text, question=asked))
        )
    return None


def filled_if_named(frame: Frame, value: Value) -> Literal | bool | None:
    """Return the condition that a value that is iterated over has an element; None if no test has named it."""
    thing = frame.object_of(value)
    if isinstance(thing, Sequence):
        return thing.has_elements
    return frame.analysis.length_conditions.get(value.origin) if isinstance(value, Unknown) else None


def assume_filled(frame: Frame, value: Value) -> None:
    """Assume on the current path that a sequence has an element, because the program has used one.

    Where the path says otherwise, it is left as it is.
    """
    filled = filled_if_named(frame, value)
    if isinstance(filled, Literal):
        path_condition = assume(frame.state.path_condition, filled)
        frame.state.path_condition = path_condition or frame.state.path_condition


def forget_length(frame: Frame, value: Value) -> None:
    """Forget whether a sequence of unknown elements has any, because an unknown number of them is taken out of it."""
    thing = frame.object_of(value)
    if isinstance(value, Ref) and isinstance(thing, Sequence) and thing.filled is not None:
        frame.put(value.address, replace(thing, filled=None))
