"""Changes of a tensor in place that other names and containers show: its data replaced, or autograd now following it.

A tensor is a plain value in the abstract state, held wherever the program holds it. The copies of one abstract tensor
that are the same Python object are one tensor of the program. Another abstract tensor with the same memory may be the
same tensor too, or a view of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from devlint.domain.dtype import promotion_category
from devlint.domain.held_values import may_hold_tensor, shared_elements, with_changed_tensors, with_changed_values
from devlint.domain.join import join
from devlint.domain.record import replace
from devlint.domain.value import Tensor, Value
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import rebind


def change_tensor(frame: Frame, node: cst.BaseExpression, before: Tensor, after: Tensor) -> None:
    """Replace the tensor `before`, which the expression `node` has evaluated to, by `after` wherever it is held.

    Where one value stands for several elements of a container, each of them may be the changed one. So may a tensor
    with the same memory, and what a caller holds, since its other paths have not changed it.
    """
    if after == before:
        return

    def is_meant(one: Tensor) -> bool:
        return one is before or _may_be_same(one, before)

    def perhaps(value: Value) -> Value:
        return with_changed_tensors(value, lambda one: join(one, after) if is_meant(one) else one)

    def surely(value: Value) -> Value:
        return with_changed_tensors(
            value, lambda one: after if one is before else join(one, after) if is_meant(one) else one
        )

    def is_concerned(value: Value) -> bool:
        return with_changed_tensors(value, lambda one: after if is_meant(one) else one) is not value

    holders = frame.state.heap.tensor_holders(before.memory)
    stands_for_several = any(is_concerned(value) for _, thing in holders for value in shared_elements(thing))
    change = perhaps if stands_for_several else surely
    for address, thing in holders:
        changed = with_changed_values(thing, change, perhaps)
        if changed is not thing:
            frame.put(address, changed)
    rebind(frame, node, before, after)
    for name, value in _perhaps_concerned(frame.state.names, before):
        changed_value = change(value)
        if changed_value is not value:
            frame.bind(name, changed_value)
    for caller in frame.callers():
        for name, value in _perhaps_concerned(caller.state.names, before):
            changed_value = perhaps(value)
            if changed_value is not value:
                caller.bind(name, changed_value)
                # A replayed summary would not rebind the caller's name, so the call must be run again.
                frame.analysis.call_summaries.invalidate()


def written_tensor(frame: Frame, tensor: Tensor, source: Tensor | None) -> Tensor:
    """Return a tensor after the program has written into it: autograd follows it once it follows what is written.

    `source` is the tensor written; None for a number. Autograd follows no writes of integers, and none while it is off.
    """
    changed = replace(tensor, fresh=None, host_copy=None)
    if source is None or tensor.grad or source.grad in (False, tensor.grad) or tensor.cell is not None:
        return changed
    if promotion_category(tensor.dtype.name or "float32") < 2 or not frame.state.torch_state.grad:
        return changed
    return replace(changed, grad=source.grad, leaf=False if source.grad else None)


def _perhaps_concerned(names: Mapping[str, Value], before: Tensor) -> list[tuple[str, Value]]:
    """Return the names whose values a change of the tensor `before` may concern, with these values.

    Each change looks at every name, so what surely is another tensor is passed over without a call: that takes an
    eighth of the time.
    """
    root = before.memory.root if before.memory is not None else None
    return [
        (name, value)
        for name, value in names.items()
        if (
            value is before or root is None or (value.memory is not None and value.memory.root == root)
            if type(value) is Tensor
            else may_hold_tensor(value)
        )
    ]


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
