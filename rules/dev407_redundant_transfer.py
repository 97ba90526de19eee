"""Rule DEV407, which reports a transfer of a tensor to the device on which the tensor already is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.device import DeviceSymbol, KnownDevice, is_accelerator
from devlint.domain.placement import Basis, StepKind
from devlint.domain.value import is_single_object
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import device_text, is_module_placement
from devlint.explain.place_texts import place_text
from devlint.explain.transfer_paths import TransferPath, is_placed_in_function, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_removal import remove_first_transfer, remove_transfer
from devlint.interpreter.state.events import OpaqueTransfer, Transfer
from devlint.rule import Finding, Rule


class RedundantTransfer(Rule):
    """A tensor is moved to where it already is, or moved twice in a row.

    ## What it does
    Finds transfers to the device on which the tensor is on every path, and chains such as `x.cuda().to(device)` where
    the second transfer undoes or repeats the first.

    ## Why is this bad?
    The transfer does nothing but tell the reader that the tensor may be elsewhere. In a chain the tensor may be
    copied twice, or to a device that the second one then leaves.

    ## Example
    ```python
    import torch

    mask = torch.ones(3, device="cuda")
    print(mask.to("cuda"))
    ```

    ## Use instead
    ```python
    import torch

    mask = torch.ones(3, device="cuda")
    print(mask)
    ```

    ## Fix safety
    The transfer that does nothing is left out, which is safe where the function itself has put the tensor there, and
    unsafe where its callers have: others may call it differently. Leaving out the first of
    two transfers in a row is unsafe: the second may return the very tensor it was given, where there was a copy.

    ## How it is confirmed at run time
    The recorder sees that the transfer returned the tensor it was given.

    ## Known limits
    A transfer that does nothing on some paths only, or for some callers only, is not reported, nor is one of a
    module. A model may be split over several devices, so what its parts compute is not taken to lie on one.
    """

    code = "DEV407"
    name = "redundant-transfer"
    fixable = True
    severity = Severity.WARNING
    everywhere = True

    def check(self, event: Transfer | OpaqueTransfer) -> Iterator[Finding]:
        """Yield a finding for a transfer that certainly has no effect, or that directly follows another transfer."""
        if event.is_module or not event.moves or event.copies or event.casts:
            return
        paths = list(transfer_paths(event))
        if paths and all(_has_no_effect(event, path) for path in paths):
            yield self._redundant(event, paths)
        elif paths and all(_follows_transfer(event, path) for path in paths):
            yield self._repeated(event, paths[0])

    def _redundant(self, event: Transfer, paths: list[TransferPath]) -> Finding:
        """Return the finding for a transfer of a tensor to the device on which the tensor already is."""
        places = " or ".join(dict.fromkeys(device_text(path.before) for path in paths))
        receiver = place_text(event.receiver)
        return Finding(
            event.context.place,
            f"`{receiver}` is already on {places}: `.{event.method}()` does nothing",
            placement_steps(*(path.before for path in paths)),
            f"use `{receiver}` as it is",
            assumptions(event),
            make_fix=partial(_drop, event),
        )

    def _repeated(self, event: Transfer, path: TransferPath) -> Finding:
        """Return the finding for a transfer of a tensor that another transfer has just moved to an accelerator."""
        first, then = device_text(path.before), device_text(path.after)
        return Finding(
            event.context.place,
            f"`{place_text(event.receiver)}` is on {first} only to be moved to {then} at once",
            placement_steps(path.before),
            "leave the first transfer out",
            assumptions(event, path.after),
            make_fix=partial(_drop_first, event),
        )


def _drop(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for a transfer without effect: remove it.

    The fix is safe when the function around the transfer itself put the tensor on its device.
    """
    certain = not assumptions(event)
    certain = certain and all(is_placed_in_function(event.context, path.before) for path in transfer_paths(event))
    sure = Applicability.SAFE if certain else Applicability.UNSAFE
    return remove_transfer(context.region_at(event.context.place), node_at(event.context.place), sure)


def _drop_first(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for two transfers in a row: remove the first one."""
    return remove_first_transfer(context.region_at(event.context.place), node_at(event.context.place))


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


def _follows_transfer(event: Transfer, path: TransferPath) -> bool:
    """Return whether the receiver of a transfer is itself a transfer to an accelerator, as in `x.cuda().to(device)`."""
    cause = path.before.placing_step
    moved = cause is not None and cause.kind is StepKind.MOVED and cause.place == event.receiver
    return moved and is_accelerator(path.before.device) and isinstance(path.after.device, (KnownDevice, DeviceSymbol))
