"""Rule DEV605, which reports functions of `torch.cuda` that torch has for every accelerator too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.explain.surrounding_calls import call_of
from devlint.fixes.accelerator_api import replace_library_name
from devlint.fixes.call_edits import find_argument
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import AcceleratorNameUsed
from devlint.rule import Finding, Rule
from devlint.semantics.accelerators import (
    Kind,
    Replacement,
    canonical_name,
    is_idle_without_cuda,
    needs_cuda,
    replacements_of,
    version_text,
)


class CudaOnlyApi(Rule):
    """A function of `torch.cuda` is used, though torch has one for every accelerator.

    ## What it does
    Finds members of `torch.cuda` that can be replaced: `torch.cuda.synchronize()`, `torch.cuda.Event`,
    `torch.cuda.max_memory_allocated()`, `torch.cuda.amp.autocast()`, `torch.cuda.manual_seed_all()`.

    ## Why is this bad?
    On a machine with another accelerator, such functions raise "Torch not compiled with CUDA enabled", or the program
    silently falls back: it goes on without mixed precision, without a device, or with figures of 0. Both are
    warnings. What neither stops a program nor makes it fall back is an information, and shown only where `DEV605`
    itself is selected: `torch.cuda.empty_cache()`, seeds and states of generators, figures that are only printed or
    logged, kept in an attribute or variable that nothing reads, or never used, benchmarks of random data on a CUDA
    device that is written out, and the current device or stream where a function always calls a compiled module of its
    package.

    So is what nobody has to port: a function or class that nothing in its project uses, though its file is imported
    for others, or itself for nothing; a file of a package that no script beside the package gets to; a private method
    that nothing names; a trial with files of its author; a copy of another project (`third_party`, `vendor`,
    `external`); a file that cannot be imported, such as a copied one that still imports the folders of its own project,
    or files beside it that were not copied. What a package offers to those who install it is no such code.
    `devlint port` replaces it all the same.

    ## Example
    ```python
    import time

    import torch

    def timed(step):
        step()
        torch.cuda.synchronize()
        return time.perf_counter()
    ```

    ## Use instead
    ```python
    import time

    import torch

    def timed(step):
        step()
        torch.accelerator.synchronize()
        return time.perf_counter()
    ```

    ## Fix safety
    The name is replaced where the arguments may stay as they are. Without an accelerator, some functions of
    `torch.cuda` do nothing or return 0 where those of `torch.accelerator` raise: such a call is put under a check.
    Unsafe: code around the call may still be for CUDA. Seeds have no fix: `torch.manual_seed` seeds the host too, which
    changes what a loader draws there.

    ## How it is confirmed at run time
    The program is run on an emulated accelerator other than CUDA, and stops at the line or skips its effect.

    ## Known limits
    What the oldest supported torch lacks is not suggested: see the setting `min-torch`. `torch.cuda.is_available()` is
    no finding, since it is how code asks for CUDA, and neither is what runs only after such a question. What nothing
    replaces, as CUDA graphs, is left alone. So are a seed of CUDA beside `torch.manual_seed`, which seeds every device,
    also where each caller sets it, and, where the device is chosen at run time, what the modules of some backends lack.
    Files that build or import CUDA kernels, or packages for CUDA only, wrappers of such kernels, modules that always
    call one, what only such files import, functions that capture CUDA graphs or hand a CUDA stream itself to TensorRT
    or other code for CUDA, files, classes and tests that refuse to run without CUDA, classes whose objects need a
    package for CUDA only, and functions and classes whose users all ask for CUDA or need it, are for CUDA by design.
    Mixed precision that a constant switches off, that is on only with CUDA, or for which a value is asked that is None
    without CUDA, a scaler or full precision where nothing computes in half precision, a number of devices that decides
    whether CUDA is taken, or is handed to what names CUDA devices, what runs once for each CUDA device, and a stream
    that may be None are no findings. A name that one statement uses several times is reported once.
    """

    code = "DEV605"
    name = "cuda-only-api"
    fixable = True
    severity = Severity.INFO
    default = False
    info_by_name = True

    def check(self, event: AcceleratorNameUsed) -> Iterator[Finding]:
        """Yield a finding for a name of `torch.cuda` that has a replacement for every accelerator."""
        if event.guarded or event.imported or event.expected or canonical_name(event.name) in _QUESTIONS:
            return
        if event.seeded or (event.chosen and ".amp." in event.name):  # the latter is a finding of DEV611
            return
        found = replacements_of(event.name)
        if not found or found[0].kind is Kind.TENSOR_TYPE:
            return
        best = found[0]
        if event.chosen and best.lacking:  # the module of a device that the program may choose lacks it too
            return
        where = "where the backend has it," if best.lacking else "for any accelerator"
        by = best.by if "`" in best.by else f"`{best.by}`"
        also = f", which {best.also}" if best.also else ""
        yield Finding(
            event.context.place,
            f"`{event.name}` works with CUDA only; {where} there is {by}{also}",
            help=_help(best, _passed_by_keyword(event)),
            severity=None if event.told or is_idle_without_cuda(event.name) else Severity.WARNING,
            assumptions=assumptions(event),
            make_fix=partial(_fix, event, best),
            since_torch=best.since,
            subject=(event.name, event.statement),
        )


_BY_POSITION = "the device is passed by position"
"""What is said of replacements only where the program passes the device by keyword."""
_QUESTIONS = frozenset({"torch.cuda.is_available"})
"""Names that ask whether there is CUDA."""


def _passed_by_keyword(event: AcceleratorNameUsed) -> bool:
    """Return whether the call of a name passes it a device by keyword."""
    call = call_of(event.context.place)
    return call is not None and isinstance(call.node, cst.Call) and find_argument(call.node, "device") is not None


def _help(best: Replacement, by_keyword: bool) -> str:
    """Return the advice about a replacement: since when there is one, and what differs.

    `by_keyword` tells that a device is passed by keyword, which some replacements take by position only.
    """
    parts = [f"it needs torch {version_text(best.since)} or newer"]
    if best.lacking:
        parts.append(f"the modules of {', '.join(best.lacking)} have none")
    if best.kind is Kind.DEVICE_TYPE:
        keyword = f"{best.keyword}=" if best.keyword else ""
        parts.append(f"pass the device's type: `{best.by}({keyword}device.type, ...)`")
    if best.result_without is not None:
        does = "does nothing" if best.result_without == "None" else f"gives {best.result_without}"
        if best.kind is Kind.FUNCTION:
            asked = "ask `torch.accelerator.is_available()` first"
            parts.append(f"{asked}: where there is no accelerator, `{best.name}` {does} and the new one raises")
        else:
            parts.append(f"ask for the device first: without CUDA, `{best.name}` {does}")
    elif best.by.startswith("torch.accelerator.") and needs_cuda(best.name):
        guard = "check `torch.accelerator.is_available()` first if the program may run there"
        parts.append(f"without an accelerator it raises, as `{best.name}` does: {guard}")
    if best.note:
        parts += [one for one in best.note.split("; ") if by_keyword or one != _BY_POSITION]
    return "; ".join(parts)


def _fix(event: AcceleratorNameUsed, best: Replacement, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV605: write the name that is for any accelerator.

    Raises NoFix for a seed, whose replacement seeds the host too.
    """
    if best.by == "torch.manual_seed":
        raise NoFix
    return replace_library_name(context.region_at(event.context.place), node_at(event.context.place), best)
