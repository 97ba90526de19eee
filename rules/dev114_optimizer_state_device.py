"""Rule DEV114, which reports the state of an optimizer that is made before the parameters are moved."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.placement import Step, StepKind, steps_elsewhere
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import callee_text
from devlint.interpreter.state.events import OptimizerStateConflict
from devlint.rule import Finding, Rule


class OptimizerStateDevice(Rule):
    """The state of an optimizer is made before the parameters are moved to another device.

    ## What it does
    Reports an optimizer whose state is made where the parameters are, by `load_state_dict`, by a first `step` or, for
    Adagrad, when the optimizer is made, where the parameters are then moved and the optimizer makes a step.

    ## Why is this bad?
    `.to()` of a module moves its parameters, not the moments that an optimizer keeps of them. The next step raises
    `RuntimeError: Tensors of the same index must be on the same device`, or a plainer device error. An optimizer that
    is only built before the move is right: the parameters keep their identity, and Adam makes its state in the first
    step.

    ## Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(torch.load("optimizer.pt"))
    model.to("cuda")
    model(torch.rand(3, 4, device="cuda")).sum().backward()
    optimizer.step()
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    model.to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(torch.load("optimizer.pt"))
    model(torch.rand(3, 4, device="cuda")).sum().backward()
    optimizer.step()
    ```

    ## How it is confirmed at run time
    The step that ends the reported story raises PyTorch's device error.

    ## Known limits
    Only optimizers of `torch.optim` are judged, in code that is seen to move the parameters and to make a step. Code
    that reads `optimizer.state`, or that devlint does not know, is taken to move the state.
    """

    code = "DEV114"
    name = "optimizer-state-device"
    severity = Severity.WARNING

    def check(self, event: OptimizerStateConflict) -> Iterator[Finding]:
        """Yield a finding for a call that makes the state of an optimizer before the parameters are moved."""
        state, parameters = event.misplaced.case, event.reference.case
        if event.misplaced.name != "state":
            state, parameters = parameters, state
        place = event.made.place
        end = Step(StepKind.PASSED, f"the step finds parameters on {device_text(parameters)}", event.context.place)
        yield Finding(
            place,
            f"the state of the optimizer is made on {device_text(state)} by `{callee_text(place)}`, but the parameters"
            f" are moved to {device_text(parameters)} afterwards{condition_text(event.when)}: its step cannot combine"
            " them",
            steps_elsewhere((*placement_steps(("the parameters", state), ("the parameters", parameters)), end), place),
            "move the module before the optimizer makes or loads its state",
            conflict_assumptions(event),
            subject=place,
        )
