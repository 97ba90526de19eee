"""Rule DEV109, which reports a random generator on another device than the numbers that are drawn from it."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.device import KnownDevice
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import conflict_steps, device_expression, device_source
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import operand_text, operation_text
from devlint.interpreter.state.events import GeneratorConflict
from devlint.rule import Finding, Rule


class GeneratorDevice(Rule):
    """A random generator is on another device than what is drawn from it.

    ## What it does
    Reports a `torch.Generator` of the host that a factory (`torch.randn(..., device="cuda", generator=g)`) or a method
    (`x.normal_(generator=g)`) on an accelerator draws from, the reverse, and a `DataLoader`, `random_split` or sampler
    with a generator on an accelerator.

    ## Why is this bad?
    The call raises `RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'`. A `torch.Generator()`
    without a device is on the host, whatever the default device is.

    ## Example
    ```python
    import torch

    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(4, 3, device="cuda", generator=generator)
    ```

    ## Use instead
    ```python
    import torch

    generator = torch.Generator(device="cuda").manual_seed(0)
    noise = torch.randn(4, 3, device="cuda", generator=generator)
    ```

    ## How it is confirmed at run time
    The reported line raises PyTorch's error about the generator; a loader raises it when a loop over it starts.

    ## Known limits
    Only generators that the analysed code makes with `torch.Generator` are judged. One that a method keeps in an
    attribute is known to the other methods if its device is written out. Two accelerators of one type are not told
    apart.
    """

    code = "DEV109"
    name = "generator-device"
    severity = Severity.ERROR

    def check(self, event: GeneratorConflict) -> Iterator[Finding]:
        """Yield a finding for a call that draws from a generator of another device."""
        place = event.context.place
        generator, drawn = event.generator.case, event.drawn.case
        yield Finding(
            place,
            f"{operand_text(event.generator)} is a generator on {device_text(generator)}, but"
            f" {operation_text(event.operation)} draws on {device_text(drawn)}{condition_text(event.when)}",
            trace=steps_elsewhere(conflict_steps(event, place), place),
            help=f"make the generator on the same device: `torch.Generator(device={_device(event)})`,"
            f" or draw on {device_text(generator)} and move the numbers",
            assumptions=conflict_assumptions(event),
        )


def _device(event: GeneratorConflict) -> str:
    """Return the source text of the device on which the numbers are drawn."""
    written = device_source(event, event.drawn)
    if written is not None:
        return written
    device = event.drawn.case.device
    known = isinstance(device, KnownDevice) and device.is_named
    return f'"{device}"' if known else device_expression(event, event.drawn)
