"""The objects that hold tensors, as the heap of a path finds them among all its objects."""

from __future__ import annotations

from random import Random

import pytest

from devlint.domain.held_values import memory_roots
from devlint.domain.objects import Dict, HeapObject, Instance, Sequence
from devlint.domain.storage import Storage
from devlint.domain.value import UNKNOWN, AllocationSite, ConditionalValue, Const, Tensor, Tuple
from devlint.interpreter.state.heap import BaseHeap, Heap

MEMORIES = (None, Storage("one"), Storage("other"))


def _some_object(random: Random) -> HeapObject:
    """Return a heap object that holds a tensor, on the memory drawn, or none."""
    tensor = Tensor(memory=random.choice(MEMORIES))
    return random.choice(
        [
            Dict({"a": Const(1)}),
            Dict({}, element=tensor),
            Sequence((UNKNOWN, tensor)),
            Sequence(None, prefix=(Tuple((Const(2), tensor)),)),
            Instance("Layer", {"x": ConditionalValue(None, tensor, Const(None))}),
            Instance("Layer", {"name": Const("x")}),
        ]
    )


def _check(heap: Heap) -> None:
    """Compare the objects that a heap finds with a walk over all its objects."""
    for memory in MEMORIES:
        expected = {
            address: thing
            for address, thing in heap.objects()
            if (memory_roots(thing) if memory is None else memory.root in memory_roots(thing))
        }
        found = heap.tensor_holders(memory)
        assert len(found) == len(expected)
        assert dict(found) == expected


@pytest.mark.parametrize("seed", range(30))
def test_holders_agree_with_a_walk_over_the_heap(seed: int) -> None:
    """Write, fork and join paths at random, ask now and then, and compare."""
    random = Random(seed)
    base = BaseHeap()
    paths = [Heap(base)]
    for _ in range(60):
        path = random.choice(paths)
        site = AllocationSite(random.randrange(8))
        match random.choice(["write", "write", "write", "base", "fork", "join", "ask"]):
            case "write":
                path.put(site, _some_object(random))
            case "base":
                base.put(site, _some_object(random))
            case "fork":
                paths.append(path.fork())
            case "join":
                paths.append(path.merge(random.choice(paths), lambda one, other: other))
            case "ask":
                _check(path)
    for path in paths:
        _check(path)
