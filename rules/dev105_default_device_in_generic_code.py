"""Rule DEV105, which reports a tensor factory called without `device=` in code that is meant for any device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import conflict_location_text, conflict_steps, device_expression
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import callee_text, dotted_name_at, operand_text, size_source_name
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.fixes.operand_placement import FACTORIES_WITHOUT_DEVICE, create_on_device
from devlint.fixes.tensor_device_text import device_at_conflict, find_device_expression
from devlint.interpreter.state.events import FactoryConflict
from devlint.rule import Finding, Rule


class DefaultDeviceInGenericCode(Rule):
    """A tensor made on the default device meets the caller's, in code meant for any device.

    ## What it does
    Reports a factory (`torch.zeros`, `torch.arange`, ...) without `device=` whose tensor meets the function's
    arguments or the module's parameters, in the methods of an `nn.Module` and in functions that are meant for any
    device.

    ## Why is this bad?
    Without `device=` the tensor is made on the host. The code passes every test there and raises `RuntimeError:
    Expected all tensors to be on the same device` as soon as somebody moves the model or the data.

    ## Example
    ```python
    import torch
    from torch import nn


    class Noise(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            noise = torch.randn(x.size(0), 1)
            return x + noise
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn


    class Noise(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            noise = torch.randn(x.size(0), 1, device=x.device)
            return x + noise
    ```

    ## Fix safety
    `device=` is taken from what is at hand where the factory stands: an argument, or a tensor that lies on the right
    device. The fix is safe where the tensor itself is used once, in the operation that fails without it. It is unsafe
    where the tensor is used in other ways as well, as by an index (`x + p[None]`), and for random numbers, which
    differ from device to device.

    ## How it is confirmed at run time
    The operation that ends the reported story raises PyTorch's device error when the code is called with
    accelerator tensors.

    ## Known limits
    Outside modules devlint asks for evidence that a function is meant for any device: that it names one, is reached
    from a `forward`, is called with accelerator tensors, or has a parameter annotated as a tensor in a file whose
    functions ask for `x.device`. Code for the host alone (datasets, transforms, metrics) is left alone.
    """

    code = "DEV105"
    fixable = True
    name = "default-device-in-generic-code"
    severity = Severity.ERROR
    at_cause = True

    def check(self, event: FactoryConflict) -> Iterator[Finding]:
        """Yield a finding for a factory call without a device whose tensor is used together with a caller's tensor.

        The finding is at the factory call, so that there is one finding for each factory call.
        """
        place, other = event.created.place, event.reference
        factory = callee_text(place)
        takes_device = factory.rpartition(".")[2] not in FACTORIES_WITHOUT_DEVICE
        problem = (
            "is given no device and makes its tensor on the host" if takes_device else "makes its tensor on the host"
        )
        device = _device(event)
        yield Finding(
            place,
            f"`{factory}` {problem}: it cannot be combined with {operand_text(other)} on {device_text(other.case)}"
            f" {conflict_location_text(event)}",
            trace=steps_elsewhere(conflict_steps(event, place), place),
            help=f"pass `device={device}` to `{factory}`" if takes_device else f"move it: `.to({device})`",
            assumptions=conflict_assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: FactoryConflict, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV105: pass the device of the other operand to the factory."""
    device = find_device_expression(event.created.device_expressions, event.reference.tensor.placement)
    if device is None and event.created.place == event.misplaced.place:
        device = device_at_conflict(event, event.reference)
    if device is None:
        raise NoFix
    return create_on_device(context, event.created, device, event.misplaced.place)


def _device(event: FactoryConflict) -> str:
    """Return the source text of a device expression that is valid at a factory call, the first that is known.

    It is the device of the tensor from which the factory takes its size, or of the tensor that is used together with
    the factory's result.
    """
    told = find_device_expression(event.created.device_expressions, event.reference.tensor.placement)
    if told is not None:
        return told
    name = size_source_name(event.created.place)
    if name is None and event.created.scope is event.context.scope:
        if event.reference.of_module is not None:
            return f"next({callee_text(event.reference.place)}.parameters()).device"
        name = dotted_name_at(event.reference.place)
    return f"{name}.device" if name is not None else device_expression(event, event.reference)
