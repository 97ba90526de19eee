"""Transfers that do nothing: the tensor is already on the device to which they move it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.device import DeviceSymbol, KnownDevice
from devlint.domain.placement import Basis
from devlint.domain.value import is_single_object
from devlint.explain.device_texts import is_module_placement
from devlint.explain.transfer_paths import TransferPath
from devlint.interpreter.state.events import OpaqueTransfer, Transfer


def does_nothing(event: Transfer | OpaqueTransfer, paths: Sequence[TransferPath]) -> bool:
    """Return whether a transfer certainly does nothing, given its pairs of source and destination device."""
    return bool(paths) and all(_has_no_effect(event, path) for path in paths)


def _has_no_effect(event: Transfer | OpaqueTransfer, path: TransferPath) -> bool:
    """Return whether the target device of a transfer is certainly the device on which the tensor already is.

    `path` is the pair of source and destination device to judge.
    """
    before, after = path.before, path.after
    if before.device != after.device or before.basis is Basis.ASSUMED:
        return False
    if isinstance(before.device, DeviceSymbol):
        if not is_single_object(before.device.origin):
            # The elements of a caller's container may be on different devices.
            return False
        return not is_module_placement(before) or not _is_between_parts(event)
    # A caller of the function may have set another default device.
    settled = not event.context.symbolic or (before.basis is Basis.DEFAULT) is (after.basis is Basis.DEFAULT)
    return isinstance(before.device, KnownDevice) and settled


def _is_between_parts(event: Transfer | OpaqueTransfer) -> bool:
    """Return whether a transfer moves an intermediate result of a module, which may be a model split over devices.

    Such a transfer is not redundant when the parts of the model are on different devices.
    """
    call = event.context.place.node
    if isinstance(event.receiver.node, (cst.Attribute, cst.Subscript)) or not isinstance(call, cst.Call):
        return False
    return not any(_is_of_self(one.value) for one in call.args)


def _is_of_self(node: cst.BaseExpression) -> bool:
    """Return whether an expression is an attribute of `self`, such as `self.device`."""
    while isinstance(node, cst.Attribute):
        node = node.value
        if isinstance(node, cst.Name):
            return node.value == "self"
    return False
