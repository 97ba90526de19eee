"""Rule DEV606, which reports a check that one backend is available, before another one is used."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.availability import check_of_another, is_available
from devlint.domain.path_conditions import Atom
from devlint.explain.device_texts import BACKEND_NAMES
from devlint.explain.place_texts import place_text
from devlint.fixes.accelerator_api import take_current_accelerator
from devlint.fixes.accelerator_choice import AVAILABILITY_CHECKS
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state import events
from devlint.rule import Finding, Rule
from devlint.semantics.accelerators import needs_cuda


class InconsistentAvailability(Rule):
    """The program asks whether one backend is available, and uses another.

    ## What it does
    Finds `"cuda" if torch.accelerator.is_available() else "cpu"`, `.to("mps")` under `torch.cuda.is_available()`, and
    `torch.cuda.synchronize()` under a check of any other backend.

    ## Why is this bad?
    The check passes on a machine that has only the other backend, and the line raises there: on a machine with an
    Intel GPU, `torch.accelerator.is_available()` is true, and "cuda" is "Torch not compiled with CUDA enabled".

    ## Example
    ```python
    import torch

    device = "cuda:0" if torch.accelerator.is_available() else "cpu"
    x = torch.ones(3, device=device)
    ```

    ## Use instead
    ```python
    import torch

    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    x = torch.ones(3, device=device)
    ```

    ## Fix safety
    A device that is written out after a check of any accelerator becomes
    `torch.accelerator.current_accelerator().type`. Unsafe: where the code is meant for CUDA only, the check is to be
    changed instead.

    ## How it is confirmed at run time
    The program is run on an emulated accelerator of another backend, and stops at the line.

    ## Known limits
    Only the backends CUDA, MPS and XPU are told apart. ROCm is CUDA to torch. A branch that any other condition ties to
    the backend it uses is not reported, whatever that condition asks.
    """

    code = "DEV606"
    name = "inconsistent-availability"
    fixable = True
    severity = Severity.ERROR

    def check(
        self, event: events.ChosenAccelerator | events.HardCodedAccelerator | events.AcceleratorNameUsed
    ) -> Iterator[Finding]:
        """Yield a finding for the use of a backend on a path that has checked another backend only."""
        if isinstance(event, events.AcceleratorNameUsed):
            if event.expected or not (event.called and needs_cuda(event.name)):
                return
            type_ = "cuda"
        else:
            type_ = event.type
        asked = check_of_another(event.context.path_condition, type_)
        if asked is None:
            return
        name = BACKEND_NAMES.get(type_, type_)
        yield Finding(
            event.context.place,
            f"`{place_text(event.context.place)}` needs {name}, but `{asked}` asks for {_asked_for(asked)}: this fails"
            f" where there is no {name}",
            help=_help(event, type_, asked),
            make_fix=partial(_fix, event) if _asks_for_any(asked) else None,
        )


def _asked_for(asked: Atom) -> str:
    """Return the words for what a check asks for: `MPS`, or `any accelerator`."""
    return BACKEND_NAMES.get(_type_asked_for(asked), "any accelerator")


def _type_asked_for(asked: Atom) -> str:
    """Return the type of device whose availability a check asks for."""
    match asked.key:
        case ("available", str(type_)):
            return type_
    raise AssertionError(asked)


def _asks_for_any(asked: Atom) -> bool:
    """Return whether a check asks for an accelerator of any backend."""
    return asked == is_available().formula


def _fix(event: events.Event, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV606: take the accelerator that was asked for."""
    return take_current_accelerator(context.region_at(event.context.place), node_at(event.context.place))


def _help(event: events.Event, type_: str, asked: Atom) -> str | None:
    """Return the advice for a use of a device type after the check `asked`."""
    check = AVAILABILITY_CHECKS.get(type_)
    if check is None:
        return None
    if _asks_for_any(asked):
        return f"take `torch.accelerator.current_accelerator()`, or check `{check}()`"
    if isinstance(event, events.AcceleratorNameUsed):
        return f"check `{check}()`"
    return f'take `"{_type_asked_for(asked)}"`, or check `{check}()` if {BACKEND_NAMES.get(type_, type_)} is meant'
