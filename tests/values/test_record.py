"""Records: what is cheap about them changes nothing that a reader of the code expects."""

from __future__ import annotations

import dataclasses

import pytest

from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.record import replace
from devlint.domain.value import Const, LibraryName, Ref, Tensor, Unknown


@pytest.mark.parametrize(
    ("thing", "changes"),
    [
        (Tensor(grad=True), {"grad": None, "trained": True}),
        (Unknown("x", "x"), {"origin": "y"}),
        (LibraryName("torch.ones"), {"name": "torch.zeros"}),
        (Literal(Atom("cuda", "cuda")), {"holds": False}),
    ],
)
def test_a_copy_is_what_dataclasses_make_of_it(thing, changes):
    before = repr(thing)
    copy = replace(thing, **changes)
    assert copy == dataclasses.replace(thing, **changes)
    assert hash(copy) == hash(dataclasses.replace(thing, **changes))
    assert repr(thing) == before


def test_equal_records_are_one_key():
    assert len({Ref(1), Ref(1), Const(1), Const(True), Tensor(), Tensor()}) == 4


def test_an_unknown_field_is_refused():
    with pytest.raises((AttributeError, TypeError)):
        replace(Tensor(), place="cuda")
