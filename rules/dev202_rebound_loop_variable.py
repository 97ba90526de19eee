"""Rule DEV202, which reports a loop that moves only its loop variable, so that the container keeps the old tensors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.place_texts import place_text
from devlint.explain.suggestions import collecting_statement
from devlint.explain.transfer_paths import cases_if_unconditional
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.fixes.result_assignment import assign_to_container
from devlint.interpreter.state.events import UnusedRebinding
from devlint.rule import Finding, Rule


class ReboundLoopVariable(Rule):
    """A loop rebinds its variable to the moved tensor, and nothing uses it.

    ## What it does
    Finds `for t in tensors: t = t.to(device)`, also over `batch.items()` and `model.parameters()`, where the moved
    tensor is neither used in the loop nor collected.

    ## Why is this bad?
    `t` is a name of the loop. Binding it to another tensor changes neither the list, nor the dict, nor the module:
    they keep the tensors they had, on the device they were on.

    ## Example
    ```python
    import torch

    views = [torch.randn(4), torch.randn(4)]
    for view in views:
        view = view.to("cuda")
    ```

    ## Use instead
    ```python
    import torch

    views = [torch.randn(4), torch.randn(4)]
    views = [view.to("cuda") for view in views]
    ```

    ## Fix safety
    The result is put back where the loop took the tensor from (an entry of a dict, an index of a list), or the loop
    becomes a list of what it moves. Both are unsafe: others may hold what was looped over.

    ## How it is confirmed at run time
    The recorder sees each moved tensor die at the end of its iteration, unused.

    ## Known limits
    A name is taken to be used when it is read anywhere later in the function, even where another value must have
    reached it.
    """

    code = "DEV202"
    fixable = True
    name = "rebound-loop-variable"
    severity = Severity.ERROR

    def check(self, event: UnusedRebinding) -> Iterator[Finding]:
        """Yield a finding for a loop variable that is assigned its moved tensor and is not read again."""
        if event.loop is None:
            return
        call = event.context.place
        statement = collecting_statement(event.loop, event.name, call)
        yield Finding(
            call,
            f"`{event.name}` is only the loop variable: what the loop runs over keeps the unmoved tensor",
            steps_elsewhere(
                placement_steps(*((f"`{event.name}`", one) for one in cases_if_unconditional(event.tensor))), call
            ),
            f"write `{statement}`" if statement else f"collect what `{place_text(call)}` returns",
            assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: UnusedRebinding, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV202: assign the moved tensor to the container that the loop iterates over."""
    call = event.context.place.node
    if not isinstance(call, cst.Call):
        raise NoFix
    return assign_to_container(context.region_at(event.context.place), call, event.name)
