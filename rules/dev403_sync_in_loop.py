"""Rule DEV403, which reports an operation of a training step for which the host waits for the accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from devlint.diagnostic import Severity
from devlint.domain.device import is_accelerator
from devlint.domain.placement import PlacementCase, placement_cases
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.place_texts import dotted_name_at, place_text
from devlint.explain.transfer_paths import transfer_paths
from devlint.interpreter.state.events import HostRead, Transfer
from devlint.rule import Finding, Rule

_PRINTED: Final = frozenset({"print()", "str()", "repr()", "format()"})
"""The readers that make text of a tensor."""
_NUMBERS: Final = frozenset({".item()", ".tolist()", "float()", "int()", "complex()", ".__float__()", ".__int__()"})
"""The readers that make Python numbers of a tensor."""
_COPY: Final = "the host needs the copy"
"""The reason for which a transfer to the host waits."""


class SyncInLoop(Rule):
    """Each step of a training loop makes the host wait for the accelerator.

    ## What it does
    Finds operations on accelerator tensors that need their values on the host, in the step of a training loop:
    `.item()`, `float()`, `print`, a test such as `if loss > 1`, `.cpu()`, and operations whose result has a size that
    depends on values, such as `nonzero`. A step is an iteration of the loop that calls `backward()`, or a function that
    calls it.

    ## Why is this bad?
    The host queues work ahead of the accelerator. Where it waits for a value, the queue runs empty, and the accelerator
    is idle until the host has queued the next work.

    ## Example
    ```python
    import torch
    from torch import nn

    def train(batches):
        model = nn.Linear(3, 1).cuda()
        total = 0.0
        for batch in batches:
            loss = model(batch.cuda()).mean()
            loss.backward()
            total += loss.item()
        return total
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    def train(batches):
        model = nn.Linear(3, 1).cuda()
        total = torch.zeros((), device="cuda")
        for batch in batches:
            loss = model(batch.cuda()).mean()
            loss.backward()
            total += loss.detach()
        return total.item()
    ```

    ## How it is confirmed at run time
    The recorder counts for each line how often the host waited, for what, and in how many training steps.

    ## Known limits
    A read directly after another one does not wait, and is not reported. Nor is what runs only now and then
    (`if step % 100 == 0`), a validation loop, or a wait of a library. Whether the host has anything to do meanwhile is
    not judged; where the values decide what the host does next, the wait is needed.
    """

    code = "DEV403"
    name = "sync-in-loop"
    severity = Severity.WARNING
    default = False

    def check(self, event: HostRead | Transfer) -> Iterator[Finding]:
        """Yield a finding for a read of an accelerator's values, or a copy to the host, in each training step."""
        found = _download(event) if isinstance(event, Transfer) else _read(event)
        if found is None or event.context.idle or not event.context.in_training_step:
            return
        case, reason = found
        place = event.context.place
        read = event.receiver if isinstance(event, Transfer) else event.operand
        subject, name = f"`{place_text(read)}`", dotted_name_at(read)
        kept = f"`{name}.detach()`" if name is not None else "its detached value"
        yield Finding(
            place,
            f"the host waits for {subject} in every training step: {reason}",
            placement_steps((subject, case)),
            f"read it only every N steps, or collect {kept} and read all of them after the loop",
            assumptions(event, case),
        )


def _read(event: HostRead) -> tuple[PlacementCase, str] | None:
    """Return where a tensor that the host reads is, and why the host waits.

    None for a tensor that is not on an accelerator.
    """
    for _, case in placement_cases(event.tensor.placement, event.context.path_condition):
        if is_accelerator(case.device):
            return case, _reason(event.reader)
    return None


def _download(event: Transfer) -> tuple[PlacementCase, str] | None:
    """Return where a tensor that is copied to the host is, and why the host waits; None for any other transfer."""
    if not event.moves or event.is_module or event.non_blocking is not False:
        return None
    path = next((path for path in transfer_paths(event) if path.downloads), None)
    return (path.before, _COPY) if path is not None else None


def _reason(reader: str) -> str:
    """Return why an operation on an accelerator tensor makes the host wait."""
    if reader in _NUMBERS:
        return f"`{reader}` makes a Python number of its value"
    if reader == "format()":
        return "the f-string shows its values"
    if reader in _PRINTED:
        return f"`{reader}` shows its values"
    if reader in ("bool()", ".__bool__()"):
        return "a test asks for its value"
    if reader == "indexing by a mask":
        return f"{reader} needs its values for the size of the result"
    return f"`{reader}` needs its values for the size of the result"
