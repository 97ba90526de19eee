"""Rule DEV407, which reports a transfer of a tensor to the device on which the tensor already is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.device import DeviceRelation, DeviceSymbol, KnownDevice, is_accelerator, relate_devices
from devlint.domain.placement import Place, StepKind
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import cost_severity, frequency_text
from devlint.explain.device_texts import device_text
from devlint.explain.idle_transfers import does_nothing
from devlint.explain.place_texts import call_text, place_text
from devlint.explain.transfer_paths import TransferPath, is_placed_in_function, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_removal import remove_first_transfer, remove_transfer
from devlint.interpreter.state.events import OpaqueTransfer, Transfer
from devlint.rule import Finding, Rule


class RedundantTransfer(Rule):
    """A tensor is moved to where it already is, or moved twice in a row.

    ## What it does
    Finds chains such as `x.cuda().to("cuda:1")`, in code that runs again and again, where a tensor is copied twice. Any
    other transfer to the device on which the tensor is on every path, and any other chain whose second transfer undoes
    or repeats the first, is only an information.

    ## Why is this bad?
    In a chain the tensor is copied to a device that the second transfer leaves at once. A transfer to where the tensor
    is does nothing but tell the reader that it may be elsewhere.

    ## Example
    ```python
    import torch

    images = torch.rand(64, 3, 224, 224)
    for first in range(0, 64, 8):
        print(images[first : first + 8].cuda().to("cuda:1"))
    ```

    ## Use instead
    ```python
    import torch

    images = torch.rand(64, 3, 224, 224)
    for first in range(0, 64, 8):
        print(images[first : first + 8].to("cuda:1"))
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

    def __init__(self) -> None:
        self._paths: dict[Place, list[TransferPath]] = {}

    def check(self, event: Transfer | OpaqueTransfer) -> Iterator[Finding]:
        """Yield a finding for a transfer that certainly has no effect, or that directly follows another transfer."""
        if event.is_module or not event.moves or event.copies or event.casts:
            return
        paths = self._paths[event.context.place] = list(transfer_paths(event))
        if does_nothing(event, paths):
            yield self._redundant(event, paths)
        elif paths and all(_follows_transfer(event, path) for path in paths):
            yield self._repeated(event, paths[0])

    def _redundant(self, event: Transfer, paths: list[TransferPath]) -> Finding:
        """Return the finding for a transfer of a tensor to the device on which the tensor already is."""
        places = "|".join(dict.fromkeys(device_text(path.before) for path in paths))
        receiver = place_text(event.receiver)
        return Finding(
            event.context.place,
            f"`{receiver}` is already on {places}: `{call_text(event.context.place)}` does nothing",
            placement_steps(*((f"`{receiver}`", path.before) for path in paths)),
            f"use `{receiver}` as it is",
            assumptions(event),
            Severity.INFO,
            make_fix=partial(_drop, event),
        )

    def _repeated(self, event: Transfer, path: TransferPath) -> Finding:
        """Return the finding for a transfer of a tensor that another transfer has just moved to an accelerator."""
        first, then = device_text(path.before), device_text(path.after)
        twice = _leaves_device(path) and all(map(_leaves_device, self._paths.get(event.receiver, [path])))
        return Finding(
            event.context.place,
            f"`{place_text(event.receiver)}` is on {first} only to be moved to {then} at once"
            f"{frequency_text(event.context) if twice else ''}",
            placement_steps((f"`{place_text(event.receiver)}`", path.before)),
            "leave the first transfer out",
            assumptions(event, path.after),
            cost_severity(event.context, little=not twice),
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


def _leaves_device(path: TransferPath) -> bool:
    """Return whether a transfer certainly copies: its source and its destination are two devices."""
    return relate_devices(path.before.device, path.after.device) is DeviceRelation.DIFFERENT


def _follows_transfer(event: Transfer, path: TransferPath) -> bool:
    """Return whether the receiver of a transfer is itself a transfer to an accelerator, as in `x.cuda().to(device)`."""
    cause = path.before.placing_step
    moved = cause is not None and cause.kind is StepKind.MOVED and cause.place == event.receiver
    return moved and is_accelerator(path.before.device) and isinstance(path.after.device, (KnownDevice, DeviceSymbol))
