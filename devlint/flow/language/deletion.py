"""`del`: names, attributes and items that are gone."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.flow.path.run import Run
from devlint.values.heap import Dict, Instance, Sequence
from devlint.values.join import without_none
from devlint.values.value import Address, Const, Ref


def unbind(run: Run, target: cst.BaseExpression) -> None:
    """`del target`."""
    match target:
        case cst.Name(value=name):
            run.state.names.pop(name, None)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                unbind(run, element.value)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            _delete_attribute(run, owner, name)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            _delete_item(run, owner, index)
        case cst.Subscript(value=owner):
            _delete_item(run, owner, None)


def _delete_attribute(run: Run, owner: cst.BaseExpression, name: str) -> None:
    reference = without_none(run.evaluate(owner))
    thing = run.instance(reference)
    if thing is not None and isinstance(reference, Ref):
        attributes = {key: value for key, value in thing.attributes.items() if key != name}
        registered = {key: kind for key, kind in thing.registered.items() if key != name}
        run.put(reference.address, replace(thing, attributes=attributes, registered=registered))


def _delete_item(run: Run, owner: cst.BaseExpression, index: cst.BaseExpression | None) -> None:
    reference = without_none(run.evaluate(owner))
    key = run.evaluate(index) if index is not None else None
    thing = run.get(reference.address) if isinstance(reference, Ref) else None
    if isinstance(reference, Ref) and isinstance(thing, (Sequence, Dict, Instance)):
        _without(run, reference.address, thing, key.value if isinstance(key, Const) else None)


def _without(run: Run, address: Address, thing: Sequence | Dict | Instance, key: object) -> None:
    """Take out what stands under a key; None for a key, or a slice, that is not known."""
    match thing:
        case Dict(entries=entries) if key is not None:
            run.put(address, replace(thing, entries={name: one for name, one in entries.items() if name != key}))
        case Sequence(items=tuple() as items) if isinstance(key, int) and -len(items) <= key < len(items):
            kept = list(items)
            del kept[key]
            run.put(address, replace(thing, items=tuple(kept)))
        case Sequence(items=tuple()):
            run.put(address, replace(thing, items=None, element=thing.any))
