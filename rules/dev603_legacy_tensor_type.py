"""Rule DEV603, which reports what torch had before it had devices and dtypes."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.explain.assumptions import assumptions
from devlint.interpreter.state.events import AcceleratorNameUsed, LegacyTypeUsed
from devlint.rule import Finding, Rule
from devlint.semantics.accelerators import Kind, replacements_of


class LegacyTensorType(Rule):
    """A tensor type such as `torch.cuda.FloatTensor` is used, where torch has devices and dtypes since 0.4.

    ## What it does
    Finds `torch.cuda.FloatTensor`, `x.type("torch.cuda.FloatTensor")`, `x.type(y.type())`,
    `torch.set_default_tensor_type()` and `Variable(x)`.

    ## Why is this bad?
    Such a type names CUDA and a dtype at once, and there is none for most other accelerators.
    `set_default_tensor_type` is deprecated since torch 2.1, and `Variable(x)` returns `x`.

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

    ## How it is confirmed at run time
    The line runs.

    ## Known limits
    The types of the host, such as `torch.FloatTensor`, are not reported.
    """

    code = "DEV603"
    name = "legacy-tensor-type"
    severity = Severity.INFO
    default = False

    def check(self, event: LegacyTypeUsed | AcceleratorNameUsed) -> Iterator[Finding]:
        """Yield a finding for a tensor type that names an accelerator, and for functions of that time."""
        help_ = _FUNCTIONS.get(event.name)
        if help_ is None:
            found = replacements_of(event.name)
            if not found or found[0].kind is not Kind.TENSOR_TYPE:
                return
            help_ = f"pass the device and the dtype: `{found[0].by}`, or `x.to(device, dtype)`"
        yield Finding(
            event.context.place,
            f"`{event.name}` is of the time before torch had devices and dtypes",
            help=help_,
            assumptions=assumptions(event),
        )


_FUNCTIONS = {
    "torch.autograd.Variable": "leave it out: a tensor needs no `Variable` around it",
    "torch.autograd.variable.Variable": "leave it out: a tensor needs no `Variable` around it",
    "torch.Tensor.type": "pass the tensor: `x.type_as(other)` or `x.to(other)`; few accelerators have type names",
    "torch.set_default_tensor_type": "`torch.set_default_dtype(...)` and `torch.set_default_device(...)`",
}
"""Functions of that time, with what to write instead."""
