"""Rule DEV306, which reports a cast on the side of a transfer where it makes the transfer larger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from devlint.diagnostic import Fix, Severity
from devlint.domain.dtype import Dtype, is_floating, item_size
from devlint.domain.placement import Place, Step, StepKind, steps_elsewhere
from devlint.domain.value import OriginKind
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import device_written, placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import call_text, method_text, receiver_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.cast_order import swap_cast_and_transfer
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import Transfer
from devlint.rule import Finding, Rule

MULTIPLES: Final = {2: "twice", 4: "four times", 8: "eight times", 16: "sixteen times"}
"""How much larger a transfer is, by the ratio of two sizes of elements."""


class CastAfterTransfer(Rule):
    """A tensor is moved in the wider of two dtypes.

    ## What it does
    Finds a cast to a narrower dtype right after a transfer from the host (`x.to(device).half()`), and a cast to a wider
    one right before it (`image.float().to(device)` of uint8). It is an information: what is cast is mostly small.

    ## Why is this bad?
    Twice or four times the bytes are moved, and both devices hold them. The accelerator casts quickly what it has.

    ## Example
    ```python
    import torch

    weights = torch.rand(4096, 4096).softmax(-1)
    weights = weights.to("cuda").half()

    frame = torch.frombuffer(open("frame.rgb", "rb").read(), dtype=torch.uint8)
    frame = frame.float().to("cuda")
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.rand(4096, 4096).softmax(-1)
    weights = weights.to("cuda", torch.float16)

    frame = torch.frombuffer(open("frame.rgb", "rb").read(), dtype=torch.uint8)
    frame = frame.to("cuda").float()
    ```

    ## Fix safety
    A cast that follows becomes part of the transfer, `.to(device, dtype)`, for which torch casts on the host. Beside
    `non_blocking=True` it would cast on the accelerator: there, and for other methods, the cast is put first. A cast
    that comes first is put behind the transfer. Safe: both devices cast to the same values.

    ## How it is confirmed at run time
    The recorder notes the bytes of every transfer, and where its source was cast.

    ## Known limits
    Only a cast and a transfer of which nothing else uses the tensor in between are judged, and only transfers from the
    host. What a factory makes from nothing is left to DEV406. A cast that follows is reported among floats and among
    integers: integers that become floats are mostly labels, which are few. float64 is left to DEV303 where the cast is
    a statement of its own.
    """

    code = "DEV306"
    name = "cast-after-transfer"
    fixable = True
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._uploads: dict[Place, tuple[Transfer, TransferPath]] = {}

    def check(self, event: Transfer) -> Iterator[Finding]:
        """Yield a finding for a widening cast before a transfer from the host, or a narrowing one after it."""
        if event.is_module:
            return
        if event.moves:
            path = next((path for path in transfer_paths(event) if path.leaves_host), None)
            if path is None or _is_made_here(event):
                self._uploads.pop(event.context.place, None)
                return
            self._uploads[event.context.place] = event, path
            copy = event.host_copy
            if copy is not None and not copy.pins and not event.casts:
                yield from _widened(event, path, copy.step, copy.dtype)
        elif event.previous_transfer is not None and event.only_use:
            found = self._uploads.get(event.previous_transfer.place)
            if found is not None and _is_just_before(event.previous_transfer, event):
                yield from _narrowed(event, *found)


def _is_made_here(event: Transfer) -> bool:
    """Return whether the same run of the code makes a tensor from nothing, which need not be moved at all (DEV406)."""
    fresh = event.fresh
    return fresh is not None and fresh.kind is not OriginKind.TENSOR and fresh.step.scope is event.context.scope


def _is_just_before(moved: Step, event: Transfer) -> bool:
    """Return whether a transfer belongs to the same run of the code, and the same iteration, as a cast after it."""
    return moved.scope is event.context.scope and moved.loop == event.context.loop


def _widened(event: Transfer, path: TransferPath, cast: Step, narrow: Dtype) -> Iterator[Finding]:
    """Yield the finding for a transfer of a tensor that has just been cast to a wider dtype."""
    wide = event.dtype_before
    times = _ratio(narrow, wide)
    if times not in MULTIPLES:
        return
    place, subject = event.context.place, f"`{receiver_text(cast.place)}`"
    yield Finding(
        place,
        f"{subject} is cast from {narrow} to {wide} before it goes to {device_text(path.after)}"
        f"{condition_text(path.when)}: {MULTIPLES[times]} the bytes are moved",
        steps_elsewhere(
            (*placement_steps((subject, path.before)), replace(cast, message=f"{subject} {cast.message}")), place
        ),
        f"move it first, then cast it: `{receiver_text(cast.place)}{call_text(place)}{call_text(cast.place)}`",
        assumptions(event, path.after, narrow),
        Severity.INFO,
        make_fix=partial(_fix, cast.place, place, wide),
    )


def _narrowed(event: Transfer, upload: Transfer, path: TransferPath) -> Iterator[Finding]:
    """Yield the finding for a cast to a narrower dtype of a tensor that has just come to an accelerator."""
    wide, narrow = event.dtype_before, event.dtype_after
    times = _ratio(narrow, wide)
    place = upload.context.place
    chained = event.receiver == place
    if times not in MULTIPLES or upload.casts or (wide.name == "float64" and not chained):
        return
    if is_floating(wide.name) is not is_floating(narrow.name):
        return
    if not event.context.path_condition <= upload.context.path_condition:
        return  # Only one of the paths casts.
    cast = Step(
        StepKind.PASSED,
        f"`{receiver_text(place)}` cast to {narrow} by `{method_text(event.context.place)}`",
        event.context.place,
    )
    yield Finding(
        place,
        f"`{receiver_text(place)}` goes to {device_text(path.after)} as {wide}{condition_text(path.when)} and is cast"
        f" to {narrow} there: {MULTIPLES[times]} the bytes are moved",
        (*steps_elsewhere(placement_steps((f"`{receiver_text(place)}`", path.before)), place), cast),
        f"cast it with the transfer: `{receiver_text(place)}.to({_device(place)}, torch.{narrow})`",
        assumptions(upload, path.after, wide),
        Severity.INFO,
        make_fix=partial(_fix, place, event.context.place, narrow),
    )


def _device(transfer: Place) -> str:
    """Return the source text of the device that a transfer asks for."""
    return device_written(transfer) or f'"{method_text(transfer).strip(".()")}"'


def _ratio(narrow: Dtype, wide: Dtype) -> int:
    """Return how many times larger the elements of one dtype are than those of another; 0 if that is unknown."""
    return 0 if narrow.name is None or wide.name is None else item_size(wide.name) // item_size(narrow.name)


def _fix(first: Place, second: Place, dtype: Dtype, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV306: exchange the two calls, of which the second is chained on the first."""
    region = context.region_at(first)
    return swap_cast_and_transfer(region, node_at(first), node_at(second), str(dtype))
