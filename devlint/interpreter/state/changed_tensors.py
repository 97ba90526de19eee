"""Changes of a tensor in place that other names and containers show: its data replaced, or autograd now following it.

A tensor is a plain value in the abstract state, held wherever the program holds it. The copies of one abstract tensor
that are the same Python object are one tensor of the program. Another abstract tensor with the same memory may be the
same tensor too, or a view of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from devlint.domain.dtype import promotion_category
from devlint.domain.join import join
from devlint.domain.objects import Dict, HeapObject, Instance, Sequence
from devlint.domain.value import ConditionalValue, Tensor, Tuple, Value
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import rebind

Change = Callable[[Value], Value]
"""A function from a value to the value after a change of a tensor in it; the same object where nothing changes."""


def change_tensor(frame: Frame, node: cst.BaseExpression, before: Tensor, after: Tensor) -> None:
    """Replace the tensor `before`, which the expression `node` has evaluated to, by `after` wherever it is held.

    Where one value stands for several elements of a container, each of them may be the changed one. So may a tensor
    with the same memory, and what a caller holds, since its other paths have not changed it.
    """
    if after == before:
        return

    def perhaps(value: Value) -> Value:
        return _mapped(value, before, lambda one: join(one, after))

    def surely(value: Value) -> Value:
        return _mapped(value, before, lambda one: after if one is before else join(one, after))

    stands_for_several = any(
        _mapped(value, before, lambda _: after) is not value
        for _, thing in frame.state.heap.objects()
        for value in _shared_elements(thing)
    )
    change = perhaps if stands_for_several else surely
    for address, thing in list(frame.state.heap.objects()):
        changed = _with_change(thing, change, perhaps)
        if changed is not thing:
            frame.put(address, changed)
    rebind(frame, node, before, after)
    for name, value in list(frame.state.names.items()):
        changed_value = change(value)
        if changed_value is not value:
            frame.bind(name, changed_value)
    for caller in frame.callers():
        for name, value in list(caller.state.names.items()):
            changed_value = perhaps(value)
            if changed_value is not value:
                caller.bind(name, changed_value)
                # A replayed summary would not rebind the caller's name, so the call must be run again.
                frame.analysis.call_summaries.invalidate()


def written_tensor(frame: Frame, tensor: Tensor, source: Tensor | None) -> Tensor:
    """Return a tensor after the program has written into it: autograd follows it once it follows what is written.

    `source` is the tensor written; None for a number. Autograd follows no writes of integers, and none while it is off.
    """
    changed = replace(tensor, fresh=None)
    if source is None or tensor.grad or source.grad in (False, tensor.grad) or tensor.cell is not None:
        return changed
    if promotion_category(tensor.dtype.name or "float32") < 2 or not frame.state.torch_state.grad:
        return changed
    return replace(changed, grad=source.grad, leaf=False if source.grad else None)


def _mapped(value: Value, before: Tensor, change: Change) -> Value:
    """Return a value with each tensor in it that is, or may be, the tensor `before` replaced by `change` of it."""
    match value:
        case Tensor():
            return change(value) if value is before or _may_be_same(value, before) else value
        case Tuple(items=items):
            changed = tuple(_mapped(one, before, change) for one in items)
            return value if all(map(_is, changed, items)) else replace(value, items=changed)
        case ConditionalValue(yes=yes, no=no):
            one, other = _mapped(yes, before, change), _mapped(no, before, change)
            return value if one is yes and other is no else replace(value, yes=one, no=other)
    return value


def _may_be_same(value: Tensor, before: Tensor) -> bool:
    """Return whether two abstract tensors may be one tensor of the program: they have the same memory, and all of it.

    An abstract tensor of unknown memory may stand for any one that is like it, as the variable of a loop does.
    """
    if value.cell is not None or before.cell is not None:
        return False
    if before.memory is None:
        return value == before
    if value.memory is None:
        return False
    return value.memory.root == before.memory.root and value.memory.is_contiguous and before.memory.is_contiguous


def _is(one: Value, other: Value) -> bool:
    """Return whether two values are the same Python object."""
    return one is other


def _shared_elements(thing: HeapObject) -> Iterator[Value]:
    """Yield the values of a container each of which stands for several of its elements."""
    match thing:
        case Sequence(items=None, element=element):
            yield element
        case Dict(element=element) if element is not None:
            yield element


def _with_change(thing: HeapObject, change: Change, perhaps: Change) -> HeapObject:
    """Return a heap object after a change of the tensors that it holds; `perhaps` is for what stands for several."""
    match thing:
        case Sequence(items=tuple() as items):
            changed = tuple(map(change, items))
            return thing if all(map(_is, changed, items)) else replace(thing, items=changed)
        case Sequence(element=element, prefix=prefix):
            shared, start = perhaps(element), tuple(map(change, prefix))
            same = shared is element and all(map(_is, start, prefix))
            return thing if same else replace(thing, element=shared, prefix=start)
        case Dict(entries=entries, element=element):
            kept = {key: change(value) for key, value in entries.items()}
            rest = perhaps(element) if element is not None else None
            same = rest is element and all(map(_is, kept.values(), entries.values()))
            return thing if same else replace(thing, entries=kept, element=rest)
        case Instance(attributes=attributes):
            held = {name: change(value) for name, value in attributes.items()}
            same = all(map(_is, held.values(), attributes.values()))
            return thing if same else replace(thing, attributes=held)
    return thing
