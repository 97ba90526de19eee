"""The values that heap objects hold directly, and the tensors in these values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final

from devlint.domain.objects import Dict, HeapObject, Instance, Sequence
from devlint.domain.record import replace
from devlint.domain.value import ConditionalValue, Tensor, Tuple, Value

_WITH_TENSORS: Final = frozenset({Tensor, Tuple, ConditionalValue})
"""The kinds of values in which tensors are found.

Most values are none of them, and one look into a set tells so three times as fast as the patterns of a match.
"""


def may_hold_tensor(value: Value) -> bool:
    """Return whether a value is of a kind in which tensors are found."""
    return value.__class__ in _WITH_TENSORS


def memory_roots(thing: HeapObject) -> frozenset[Hashable]:
    """Return what identifies the memory of each tensor that a heap object holds itself; None is unknown memory.

    Tensors in other heap objects that it refers to do not count: an object without a tensor has no roots.
    """
    return frozenset(root for value in held_values(thing) if may_hold_tensor(value) for root in _memory_roots(value))


def held_values(thing: HeapObject) -> Iterator[Value]:
    """Yield the values that a heap object holds: a container's elements, an object's attributes."""
    match thing:
        case Sequence(items=items, element=element, prefix=prefix):
            yield from prefix if items is None else items
            yield element
        case Dict(entries=entries):
            yield from entries.values()
        case Instance(attributes=attributes):
            yield from attributes.values()
    yield from shared_elements(thing)


def shared_elements(thing: HeapObject) -> Iterator[Value]:
    """Yield the values of a container each of which stands for several of its elements."""
    match thing:
        case Sequence(items=None, element=element):
            yield element
        case Dict(element=element) if element is not None:
            yield element


def with_changed_values(
    thing: HeapObject, change: Callable[[Value], Value], change_shared: Callable[[Value], Value]
) -> HeapObject:
    """Return a heap object after a change of the values that it holds; the same object where nothing changes.

    `change_shared` is the change of a value that stands for several elements. The changes return the same value where
    they change nothing.
    """
    match thing:
        case Sequence(items=tuple() as items):
            changed = tuple(map(change, items))
            return thing if are_same(changed, items) else replace(thing, items=changed)
        case Sequence(element=element, prefix=prefix):
            shared, start = change_shared(element), tuple(map(change, prefix))
            same = shared is element and are_same(start, prefix)
            return thing if same else replace(thing, element=shared, prefix=start)
        case Dict(entries=entries, element=element):
            kept = {key: change(value) for key, value in entries.items()}
            rest = change_shared(element) if element is not None else None
            same = rest is element and are_same(kept.values(), entries.values())
            return thing if same else replace(thing, entries=kept, element=rest)
        case Instance(attributes=attributes):
            held = {name: change(value) for name, value in attributes.items()}
            return thing if are_same(held.values(), attributes.values()) else replace(thing, attributes=held)
    return thing


def with_changed_tensors(value: Value, change: Callable[[Tensor], Value]) -> Value:
    """Return a value with each tensor in it replaced by `change` of it; the same object where nothing changes."""
    if value.__class__ not in _WITH_TENSORS:
        return value
    match value:
        case Tensor():
            return change(value)
        case Tuple(items=items):
            changed = tuple(with_changed_tensors(one, change) for one in items)
            return value if are_same(changed, items) else replace(value, items=changed)
        case ConditionalValue(yes=yes, no=no):
            one, other = with_changed_tensors(yes, change), with_changed_tensors(no, change)
            return value if one is yes and other is no else replace(value, yes=one, no=other)
    return value


def without_sizes(value: Value) -> Value:
    """Return a value whose tensors may have elements; the same object where none of them surely has none."""
    return with_changed_tensors(value, _tensor_without_sizes)


def are_same(values: Iterable[Value], others: Iterable[Value]) -> bool:
    """Return whether two equally long series of values consist of the same Python objects."""
    return all(one is other for one, other in zip(values, others, strict=True))


def _tensor_without_sizes(tensor: Tensor) -> Tensor:
    """Return a tensor that may have elements."""
    return tensor if tensor.empty_sizes is None else replace(tensor, empty_sizes=None)


def _memory_roots(value: Value) -> Iterator[Hashable]:
    """Yield what identifies the memory of each tensor in a value; None is unknown memory."""
    match value:
        case Tensor(memory=memory):
            yield memory.root if memory is not None else None
        case Tuple(items=items):
            for one in items:
                yield from _memory_roots(one)
        case ConditionalValue(yes=yes, no=no):
            yield from _memory_roots(yes)
            yield from _memory_roots(no)
