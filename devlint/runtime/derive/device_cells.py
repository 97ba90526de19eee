"""The device cells of a semantics-table row: which operands must share a device, and where the result lies.

They are found by calls with one operand moved between an accelerator and the host.
"""

from __future__ import annotations

from itertools import combinations

import torch

from devlint.runtime.derive.call_probe import PARAMETERS, parameter_of, variation_groups
from devlint.runtime.derive.device_flips import ACCELERATOR, HOST, place_as_scalars, place_operands, placeable_calls
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable


def cells(subject: ProbedCallable) -> Cells:
    """Return a callable's semantics-table cells ``index``, ``free``, ``scalars`` and ``device``.

    They are found by calls on an accelerator, which must be there, real or emulated.
    """
    tied: set[str] = set()
    loose: dict[str, set[str]] = {}
    sources: set[str] = set()
    alone: set[str] = set()
    for probed, given in placeable_calls(subject):
        whole = place_operands(probed, given, ACCELERATOR, set()).result()
        if whole.error:
            continue
        sources |= set(whole.devices)
        together = variation_groups(given)
        for name, members in together.items() if len(together) > 1 else ():
            away = place_operands(probed, given, ACCELERATOR, set(members)).result()
            if away.error:
                tied.add(parameter_of(name))
                continue
            back = place_operands(probed, given, HOST, set(members)).result()
            loose.setdefault(parameter_of(name), set()).add("index" if back.error else "free")
            alone |= {parameter_of(name)} if HOST in away.devices else set()
    kinds = {n: k for n, k in loose.items() if n not in tied}
    if not tied:
        kinds = {n: k for n, k in kinds.items() if n not in subject.tensor_names[:1]}
    index = [n for n in subject.tensor_names if "index" in kinds.get(n, ())]
    free = [n for n in subject.tensor_names if kinds.get(n) == {"free"}]
    row: Cells = {"index": index, "free": free, "scalars": _scalars(subject, tied)}
    row["device"] = _result_device(subject, sources, alone, kinds, tied)
    return row


def _result_device(
    subject: ProbedCallable, sources: set[str], alone: set[str], loose: dict[str, set[str]], tied: set[str]
) -> str:
    """Return the semantics-table cell ``device``: the rule for the device of a callable's results.

    The rule is "host", "group" (the common device of the operands), "arg:NAME" (the device of that operand) or
    "unknown".
    """
    if sources == {HOST}:
        return "host"
    if len(sources) > 1:
        return "unknown"
    if tied or not loose:
        return "group"
    return f"arg:{subject.tensor_names[0]}" if not alone & set(loose) else "unknown"


def _scalars(subject: ProbedCallable, tied: set[str]) -> int | str:
    """Return the semantics-table cell ``scalars``: how many 0-dim host operands a callable accepts.

    They are accepted beside operands on the accelerator. The value is 0, 1, "many", or "alone" if they are accepted
    only where all operands are 0-dim.
    """
    most, alone = 0, False
    for probed, given in placeable_calls(subject):
        names = [n for n in given if parameter_of(n) in tied and parameter_of(n) != PARAMETERS]
        singles = [n for n in names if _accepts_as_scalars(subject, probed, given, {n})]
        alone = alone or any(_accepts_as_scalars(subject, probed, given, {n}, among_scalars=True) for n in names)
        if len(names) > 2 and any(
            _accepts_as_scalars(subject, probed, given, set(pair)) for pair in combinations(singles, 2)
        ):
            return "many"
        most = max(most, min(len(singles), 1))
    return most or ("alone" if alone else 0)


def _accepts_as_scalars(
    subject: ProbedCallable,
    probed: ProbedCall,
    given: dict[str, torch.Tensor],
    names: set[str],
    among_scalars: bool = False,
) -> bool:
    """Return whether a call runs on the accelerator with the named operands replaced by 0-dim host tensors.

    At least one other operand must have dimensions. With ``among_scalars``, all other operands must be 0-dim instead.
    """
    flip = place_as_scalars(subject, probed, given, names)
    others = [rank for name, rank in flip.ranks.items() if name not in names] if flip is not None else []
    if flip is None or not others or any(others) is among_scalars:
        return False
    return not flip.result().error
