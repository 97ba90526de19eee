"""Rule DEV608, which reports a name that torch's modules about accelerators do not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.fixes.accelerator_api import correct_member, replace_unknown_name
from devlint.fixes.fix_context import FixContext, NoFix, node_at
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

    ## Fix safety
    What replaces the function of `torch.cuda` of that name is written, where it takes the same arguments. Unsafe: the
    program may mean another device than the current one. A name that is only spelled alike is shown, never applied.

    ## How it is confirmed at run time
    The program stops at the line with `AttributeError: module 'torch.accelerator' has no attribute`.

    ## Known limits
    The names are those of torch 2.0 to 2.15; a later one may have more. Names that begin with an underscore are not
    looked up, and nothing is reported in a file that imports a package which adds names, or where the program handles
    that a name is missing.
    """

    code = "DEV608"
    name = "unknown-accelerator-api"
    fixable = True
    severity = Severity.ERROR

    def check(self, event: AcceleratorNameUsed) -> Iterator[Finding]:
        """Yield a finding for a name that a module of torch has in no release."""
        module, _, name = event.name.rpartition(".")
        if event.expected or name.startswith("_") or not accelerators.lacks(module, name):
            return
        known = accelerators.names_in(module)
        yield Finding(
            event.context.place,
            f"`{module}` has no `{name}` in any release of torch up to"
            f" {accelerators.version_text(accelerators.newest_release())}",
            help=_help(module, name, known),
            make_fix=partial(_fix, event, known),
        )


def _help(module: str, name: str, known: frozenset[str]) -> str | None:
    """Return the advice for a name that a module lacks: what other modules call it, or a name like it."""
    described = accelerators.replacements_of(f"torch.cuda.{name}")
    if module != "torch.cuda" and described:
        return f"write `{described[0].by}`, which needs torch {accelerators.version_text(described[0].since)} or newer"
    close = _close_to(name, known)
    if close is not None:
        return f"did you mean `{module}.{close}`?"
    reason = accelerators.reason_without_equivalent(f"torch.cuda.{name}")
    if reason is None or not accelerators.may_have("torch.cuda", name):
        return None
    return f"only CUDA has it ({reason}): call `torch.cuda.{name}` where CUDA is available, or leave it out"


def _close_to(name: str, known: frozenset[str]) -> str | None:
    """Return the known name that is most like another name; None if none is."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.75)), None)


def _fix(event: AcceleratorNameUsed, known: frozenset[str], context: FixContext) -> Fix:
    """Return the fix for a finding of DEV608: write what other modules call it, or a name like it."""
    region, node = context.region_at(event.context.place), node_at(event.context.place)
    module, _, name = event.name.rpartition(".")
    described = accelerators.replacements_of(f"torch.cuda.{name}")
    if module != "torch.cuda" and described:
        return replace_unknown_name(region, node, described[0])
    close = _close_to(name, known)
    if close is None:
        raise NoFix
    return correct_member(region, node, close)
