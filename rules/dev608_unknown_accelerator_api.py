"""Rule DEV608, which reports a name that torch's modules about accelerators do not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.interpreter.state.events import AcceleratorNameUsed
from devlint.rule import Finding, Rule
from devlint.semantics import accelerators


class UnknownAcceleratorApi(Rule):
    """A name is taken from `torch.accelerator`, or from a backend's module, that no torch has there.

    ## What it does
    Finds `torch.accelerator.get_device_name()`, `torch.mps.memory_allocated()` and the like: members that a module
    about accelerators has in no release of torch from 2.0 on.

    ## Why is this bad?
    The line raises AttributeError. Such names come from replacing `torch.cuda` by `torch.accelerator` in the text:
    both have `synchronize`, and only one has `get_device_name`.

    ## Example
    ```python
    import torch

    print(torch.accelerator.get_device_name(0))
    ```

    ## Use instead
    ```python
    import torch

    print(torch.get_device_module().get_device_name(0))
    ```

    ## How it is confirmed at run time
    The program stops at the line with `AttributeError: module 'torch.accelerator' has no attribute`.

    ## Known limits
    The names are those of torch 2.0 to 2.15; a later one may have more. Names that begin with an underscore are not
    looked up, and nothing is reported in a file that imports a package which adds names, or where the program handles
    that a name is missing.
    """

    code = "DEV608"
    name = "unknown-accelerator-api"
    severity = Severity.ERROR

    def check(self, event: AcceleratorNameUsed) -> Iterator[Finding]:
        """Yield a finding for a name that a module of torch has in no release."""
        module, _, name = event.name.rpartition(".")
        known = accelerators.names_in(module)
        if event.expected or not known or name.startswith("_") or accelerators.may_have(module, name):
            return
        yield Finding(
            event.context.place,
            f"`{module}` has no `{name}` in any release of torch up to"
            f" {accelerators.version_text(accelerators.newest_release())}",
            help=_help(module, name, known),
        )


def _help(module: str, name: str, known: frozenset[str]) -> str | None:
    """Return the advice for a name that a module lacks: what other modules call it, or a name like it."""
    described = accelerators.replacements_of(f"torch.cuda.{name}")
    if module != "torch.cuda" and described:
        return f"on any accelerator: `{described[0].by}`"
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    if close:
        return f"`{module}.{close[0]}`?"
    return accelerators.reason_without_equivalent(f"torch.cuda.{name}")
