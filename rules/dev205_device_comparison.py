"""Rule DEV205, which reports a comparison of devices whose result is always the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import DEVICE_TYPES, KnownDevice, is_accelerator
from devlint.domain.placement import Assumption, PlacementCase, placement_cases
from devlint.domain.value import Const, DeviceValue, Value
from devlint.explain.checkpoint_loads import decides_only_where_to_load
from devlint.explain.cuda_decisions import decides_only_for_cuda
from devlint.explain.device_texts import condition_text
from devlint.explain.place_texts import place_text
from devlint.explain.suggestions import comparison_side
from devlint.explain.transfer_guards import guards_transfer
from devlint.fixes.device_comparison import compare_types, compare_values, compare_with_string
from devlint.fixes.device_spelling import probable_device
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import DevicesCompared
from devlint.rule import Finding, Rule


class DeviceComparison(Rule):
    """A device is compared with something it can never be equal to.

    ## What it does
    Finds `x.device == "cuda"` (a `torch.device` equals no string, not even `"cpu"`), `x.device ==
    torch.device("cuda")` (a tensor's accelerator device always has an index: `cuda:0`), and devices compared by `is`.

    ## Why is this bad?
    The answer does not depend on the device. The branch for the accelerator is never taken, or the one for the host
    always, and nothing says so.

    ## Example
    ```python
    import torch

    x = torch.zeros(3)
    if x.device == "cuda":
        x = x.half()
    ```

    ## Use instead
    ```python
    import torch

    x = torch.zeros(3)
    if x.device.type == "cuda":
        x = x.half()
    ```

    ## Fix safety
    Identity becomes equality, a string is compared with the device's type or becomes a device, and a device without an
    index is compared by type. All of this is unsafe, for the answer changes: that is what the fix is for.

    ## How it is confirmed at run time
    The recorder sees comparisons of devices with strings, and of devices of one type of which only one has an index.

    ## Known limits
    A comparison that only decides about a transfer (`if x.device != device: x = x.to(device)`) is not reported: it
    always tells that the devices differ, and a transfer to where the tensor is does nothing. Nor is one that only
    decides about the `map_location` of a checkpoint that `load_state_dict` then copies to where the module is, unless
    a machine without an accelerator could not load it. Nor is a comparison with the host, `device != "cpu"`, that only
    decides on switches of CUDA's libraries (`cudnn.benchmark = True`), or stands beside a question for CUDA where the
    device is the host only without CUDA. Comparisons by `in` are not seen.
    """

    code = "DEV205"
    fixable = True
    name = "device-comparison"
    severity = Severity.ERROR
    everywhere = True

    def check(self, event: DevicesCompared) -> Iterator[Finding]:
        """Yield a finding for a comparison of devices whose result is the same for every device."""
        for finding in self._findings(event):
            # The text around a comparison is read only for a finding: most comparisons give none.
            place, operator = event.context.place, event.operator
            if not (
                guards_transfer(place, operator)
                or decides_only_where_to_load(place, operator)
                or _decides_only_for_cuda(event)
            ):
                yield finding

    def _findings(self, event: DevicesCompared) -> Iterator[Finding]:
        """Yield the finding for a comparison of devices, whatever its result decides."""
        if event.operator in ("is", "is not"):
            yield from self._identity(event)
        elif isinstance(event.left, DeviceValue) and isinstance(event.right, DeviceValue):
            yield from self._missing_index(event)
        elif isinstance(event.left, DeviceValue) or isinstance(event.right, DeviceValue):
            yield from self._string_comparison(event)

    def _identity(self, event: DevicesCompared) -> Iterator[Finding]:
        """Yield a finding for a comparison of devices by `is` or `is not`.

        Its result is always the same, because each read of `.device` makes a new object.
        """
        equal = "==" if event.operator == "is" else "!="
        yield Finding(
            event.context.place,
            f"`{place_text(event.context.place)}` compares Python objects, and each `.device` is a new one",
            help=f"compare them with `{equal}`",
            assumptions=(
                Assumption(AssumptionKind.INTENT, "the devices are meant, not the objects", event.context.place),
            ),
            make_fix=partial(_fix, event, None),
        )

    def _string_comparison(self, event: DevicesCompared) -> Iterator[Finding]:
        """Yield a finding for a comparison between a `torch.device` and a string, which are never equal."""
        written = _constant_string(event.left) or _constant_string(event.right)
        if written is None:
            return
        device = event.left if isinstance(event.left, DeviceValue) else event.right
        is_device_name = written.partition(":")[0] in DEVICE_TYPES
        if not is_device_name and not (isinstance(device, DeviceValue) and device.of_tensor):
            return  # a variable that is compared with "auto" or "pinned" is a string at other times
        always = "False" if event.operator == "==" else "True"
        yield Finding(
            event.context.place,
            f"`{place_text(event.context.place)}` is always {always}: a torch.device equals no string",
            help=_advice(event, written),
            make_fix=partial(_fix, event, written),
        )

    def _missing_index(self, event: DevicesCompared) -> Iterator[Finding]:
        """Yield a finding for a comparison of a tensor's device with an accelerator device that has no index.

        The result is always the same, because the device of a tensor on an accelerator always has an index.
        """
        left, right = event.left, event.right
        assert isinstance(left, DeviceValue) and isinstance(right, DeviceValue)
        if left.of_tensor is right.of_tensor:
            return
        bare = right if left.of_tensor else left
        for when, leaf in placement_cases(bare.placement, event.context.path_condition):
            device = leaf.device
            if isinstance(device, KnownDevice) and is_accelerator(device) and device.index is None:
                always = "False" if event.operator == "==" else "True"
                yield Finding(
                    event.context.place,
                    f"`{place_text(event.context.place)}` is always {always}{condition_text(when)}:"
                    f" a tensor's device has an index{f' ({device}:0)' if device.is_named else ''},"
                    f" {_spelling(device)} has none",
                    help=_advice(event, device.type) if device.is_named else "compare their types: `.type`",
                    make_fix=partial(_fix, event, None),
                )
                return


def _decides_only_for_cuda(event: DevicesCompared) -> bool:
    """Return whether what a comparison with the host decides matters only where there is CUDA."""
    device = event.left if isinstance(event.left, DeviceValue) else event.right
    place, known = event.context.place, event.context.path_condition
    return isinstance(device, DeviceValue) and decides_only_for_cuda(place, event.operator, device.placement, known)


def _fix(event: DevicesCompared, written: str | None, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV205: compare by value, by device type, or with a `torch.device`.

    `written` is the string with which a device is compared, if any.
    """
    region, node = context.region_at(event.context.place), node_at(event.context.place)
    if event.operator in ("is", "is not"):
        return compare_values(region, node)
    if written is not None and written.partition(":")[0] not in DEVICE_TYPES and probable_device(written) is None:
        raise NoFix
    return compare_with_string(region, node, written) if written is not None else compare_types(region, node)


def _constant_string(value: Value) -> str | None:
    """Return the string if an abstract value is a constant string; None for any other value."""
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def _spelling(device: KnownDevice) -> str:
    """Return a device without an index as a message names it: `torch.device('cuda')`, or `the accelerator`."""
    return f"torch.device({str(device)!r})" if device.is_named else str(device)


def _advice(event: DevicesCompared, written: str) -> str:
    """Return the advice for a finding of DEV205: the comparison that the author should write instead."""
    left_is_device = isinstance(event.left, DeviceValue)
    device = comparison_side(event.context.place, "left" if left_is_device else "right")
    other = comparison_side(event.context.place, "right" if left_is_device else "left")
    if not (isinstance(event.left, DeviceValue) and isinstance(event.right, DeviceValue)) and other[:1] not in "\"'":
        return _advice_about_variable(event, device, other, written)
    if ":" in written:
        return f'compare with a device: `{device} {event.operator} torch.device("{written}")`'
    known = written if written in DEVICE_TYPES else probable_device(written)
    if known is None:
        return f"compare the type with one that torch knows: `{device}.type`"
    return f'compare the type: `{device}.type {event.operator} "{known}"`'


def _advice_about_variable(event: DevicesCompared, device: str, name: str, written: str) -> str:
    """Return the advice for the comparison of a device with a variable, which holds a string and may hold others."""
    match event.left, event.right:
        case (DeviceValue(placement=PlacementCase(device=KnownDevice(index=None) as known), of_tensor=False), _) | (
            _,
            DeviceValue(placement=PlacementCase(device=KnownDevice(index=None) as known), of_tensor=False),
        ) if known.is_named:
            return f'compare the type: `torch.device({name}).type {event.operator} "{known.type}"`'
    if ":" in written:
        return f"compare with a device: `{device} {event.operator} torch.device({name})`"
    return f"compare the types: `{device}.type {event.operator} torch.device({name}).type`"
