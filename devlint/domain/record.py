"""Frozen dataclasses that are cheap to make and to copy: the interpreter makes them by the million.

Type checkers see `dataclasses.dataclass` and `dataclasses.replace`, so mypy lets nobody assign to a field. At run time
nothing refuses it, because a frozen dataclass takes several times as long to make: making and copying such objects took
15 % of the time that a training script took.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
else:
    from operator import attrgetter

    _FIELDS_OF = {}
    """Functions that return all fields of a record as a tuple, by class; only of classes with plain constructors."""

    def record(*, frozen, slots, eq=True):
        """Return a decorator that makes a class a dataclass whose objects nobody changes."""
        assert frozen, "a record does not change"

        def decorate(cls):
            unsafe_hash = eq and "__hash__" not in cls.__dict__
            made = dataclasses.dataclass(slots=slots, eq=eq, unsafe_hash=unsafe_hash)(cls)
            names = [field.name for field in dataclasses.fields(made)]
            is_plain = all(field.init for field in dataclasses.fields(made)) and not hasattr(made, "__post_init__")
            if is_plain and len(names) > 1:
                _FIELDS_OF[made] = attrgetter(*names)
            return made

        return decorate

    def replace(thing, /, **changes):
        """Return a copy of a record with some fields changed."""
        fields_of = _FIELDS_OF.get(thing.__class__)
        if fields_of is None:
            return dataclasses.replace(thing, **changes)
        copy = thing.__class__(*fields_of(thing))
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy


__all__ = ["record", "replace"]
