"""Rule DEV603, which reports what torch had before it had devices and dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place
from devlint.explain.assumptions import assumptions
from devlint.explain.place_texts import argument_places, method_text, place_text, receiver_text
from devlint.explain.surrounding_calls import call_of, call_passing
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.fixes.legacy_types import convert_to_chosen_device, leave_variable_out
from devlint.interpreter.state.events import AcceleratorNameUsed, LegacyTypeUsed
from devlint.rule import Finding, Rule
from devlint.semantics.accelerators import Kind, Replacement, replacements_of


class LegacyTensorType(Rule):
    """A tensor type such as `torch.cuda.FloatTensor` is used, where torch has devices and dtypes since 0.4.

    ## What it does
    Finds `torch.cuda.FloatTensor`, `x.type("torch.cuda.FloatTensor")`, `x.type(y.type())`,
    `torch.set_default_tensor_type()` and `Variable(x)`.

    ## Why is this bad?
    Such a type names CUDA and a dtype at once, and there is none for most other accelerators.
    `set_default_tensor_type` is deprecated since torch 2.1. `Variable(x)` is `x.detach()`, on every device: it is an
    information, shown where this rule itself is selected, not with the group `PORTABILITY`.

    ## Example
    ```python
    import torch

    def targets(labels: torch.Tensor):
        return labels.type("torch.cuda.FloatTensor")
    ```

    ## Use instead
    ```python
    import torch

    def targets(labels: torch.Tensor, device: torch.device):
        return labels.to(device, torch.float32)
    ```

    ## Fix safety
    `Variable(x)` becomes `x`, and a conversion to a type of CUDA becomes a transfer to the program's device, where a
    name for it is in sight. Unsafe: `Variable(x)` stops the gradient of a computed `x`, and the program may have chosen
    the host.

    ## How it is confirmed at run time
    The line runs.

    ## Known limits
    The types of the host, such as `torch.FloatTensor`, are not reported.
    """

    code = "DEV603"
    name = "legacy-tensor-type"
    fixable = True
    severity = Severity.INFO
    default = False
    info_by_name = True

    def check(self, event: LegacyTypeUsed | AcceleratorNameUsed) -> Iterator[Finding]:
        """Yield a finding for a tensor type that names an accelerator, and for functions of that time."""
        place, help_ = event.context.place, _FUNCTIONS.get(event.name)
        message = f"`{event.name}` dates from before torch had devices and dtypes"
        if event.name == _SETTER:
            message, help_ = f"`{event.name}` is deprecated since torch 2.1", _instead_of_setter(place)
        elif help_ is None:
            found = replacements_of(event.name)
            if not found or found[0].kind is not Kind.TENSOR_TYPE:
                return
            message = f"`{event.name}` fixes the device and the dtype: {found[0].dtype} on CUDA only"
            help_ = f"pass the device and the dtype: {_instead_of_type(place, found[0])}"
        yield Finding(
            place,
            message,
            help=help_,
            assumptions=assumptions(event),
            severity=None if event.name in _VARIABLES else Severity.WARNING,
            make_fix=partial(_fix, event),
        )


_VARIABLES = ("torch.autograd.Variable", "torch.autograd.variable.Variable")
_FUNCTIONS = dict.fromkeys(_VARIABLES, "leave it out: a tensor needs no `Variable` around it") | {
    "torch.Tensor.type": "pass the tensor: `x.type_as(other)` or `x.to(other)`; few accelerators have type names",
}
"""Functions of that time, with what to write instead."""
_SETTER = "torch.set_default_tensor_type"
"""The function that sets a type for the tensors that are made without one."""


def _instead_of_setter(place: Place) -> str:
    """Return the advice for a call that sets a default tensor type: what sets a dtype and a device instead."""
    arguments = argument_places(place)
    given = place_text(arguments[0]).strip("\"'") if arguments else ""
    by = next(iter(replacements_of(given)), None)
    dtype, device = (by.dtype, f'"{given.split(".")[1]}"') if by is not None and by.dtype else ("...", "...")
    return f"call `torch.set_default_dtype({dtype})` and `torch.set_default_device({device})`"


def _instead_of_type(place: Place, by: Replacement) -> str:
    """Return what to write in place of a tensor type, in back quotes: a transfer for the argument of `x.type(...)`."""
    converted = place if method_text(place) == ".type()" else call_passing(place)
    if converted is not None and method_text(converted) == ".type()":
        return f"`{receiver_text(converted)}.to(device, {by.dtype})`"
    return f"`{by.by}`" if call_of(place) is not None else f"`{by.by}`, or `x.to(device, dtype)`"


def _fix(event: LegacyTypeUsed | AcceleratorNameUsed, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV603: leave `Variable` out, or name the program's device and the dtype."""
    region, node = context.region_at(event.context.place), node_at(event.context.place)
    if event.name in _VARIABLES:
        return leave_variable_out(region, node)
    found = replacements_of(event.name)
    if not found:
        raise NoFix
    return convert_to_chosen_device(region, node, found[0])
