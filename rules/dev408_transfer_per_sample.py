"""Rule DEV408, which reports transfers that are made for each sample and not once for a batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.device import is_accelerator
from devlint.domain.placement import Placement, PlacementCase, Scope, placement_cases
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import frequency_text
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import method_text, place_text, receiver_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.joined_transfers import move_when_joined
from devlint.interpreter.state.events import EventContext, TensorRebuilt, Transfer
from devlint.rule import Finding, Rule


class TransferPerSample(Rule):
    """Each sample is moved by itself, where one transfer could move the whole batch.

    ## What it does
    Finds transfers to an accelerator in the `__getitem__` of a dataset, and tensors that are moved one by one in a
    comprehension to be put together by `torch.stack`, `torch.cat` or the like, as in a `collate_fn`. Both are an
    information: samples may be used one at a time, and elements that are put together on the host first are copied
    once more.

    ## Why is this bad?
    A transfer has a fixed price, for which the host waits, and a sample is small. A batch is moved for the same price.
    A dataset that touches the accelerator also cannot be read by worker processes.

    ## Example
    ```python
    import torch
    from torch.utils.data import Dataset

    class Rows(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __getitem__(self, index):
            return torch.tensor(self.rows[index]).to("cuda")
    ```

    ## Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __getitem__(self, index):
            return torch.tensor(self.rows[index])

    def run(model, rows):
        for batch in DataLoader(Rows(rows), batch_size=64):
            print(model(batch.to("cuda")))
    ```

    ## Fix safety
    The transfer of each element is moved behind the call that puts the elements together. Unsafe: the whole then lies
    on the host as well. There is no fix for a dataset, whose loader is elsewhere.

    ## How it is confirmed at run time
    The recorder counts the transfers of each line and the bytes they moved.

    ## Known limits
    One finding is made for each `__getitem__`. A sample that is created on the accelerator is not reported.
    """

    code = "DEV408"
    name = "transfer-per-sample"
    fixable = True
    severity = Severity.WARNING

    def check(self, event: Transfer | TensorRebuilt) -> Iterator[Finding]:
        """Yield a finding for a transfer that moves one sample, or one of several elements that are put together."""
        context = event.context
        sample = _sample_method(context)
        if isinstance(event, TensorRebuilt):
            case = _accelerator_case(event.placement, context) if sample is not None else None
            if case is not None and sample is not None:
                yield _of_sample(event, sample, case, ())
            return
        if not event.moves or event.is_module or event.in_place:
            return
        paths = list(transfer_paths(event))
        if sample is not None:
            path = next((one for one in paths if one.leaves_host), None)
            if path is not None:
                yield _of_sample(event, sample, path.after, (path,))
        elif paths and all(one.leaves_host or one.downloads for one in paths) and event.joined_by is not None:
            yield _of_element(event, paths[0], event.joined_by)


def _of_sample(
    event: Transfer | TensorRebuilt, sample: Scope, case: PlacementCase, paths: tuple[TransferPath, ...]
) -> Finding:
    """Return the finding for a transfer to `case` that the method `sample` of a dataset makes for each sample."""
    place = event.context.place
    return Finding(
        place,
        f"`{place_text(place)}` copies each sample to {device_text(case)} by itself; forked worker processes cannot do"
        " that",
        placement_steps(*((f"`{receiver_text(place)}`", path.before) for path in paths)),
        f"return host tensors from `{sample.name.rpartition('.')[2]}`, and move each batch in the loop over the loader",
        assumptions(event, case),
        Severity.INFO,
        subject=sample.body,
    )


def _of_element(event: Transfer, path: TransferPath, joining: str) -> Finding:
    """Return the finding for a transfer of one element of several that `joining` puts together to one tensor."""
    place = event.context.place
    return Finding(
        place,
        f"`{place_text(place)}` moves each element to {device_text(path.after)} by itself before `{joining}` puts them"
        f" together{frequency_text(event.context)}",
        placement_steps((f"`{receiver_text(place)}`", path.before)),
        f"put them together first, and use `{method_text(place)}` once",
        assumptions(event, path.before, path.after),
        Severity.INFO,
        make_fix=partial(_fix, event),
    )


def _fix(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for a transfer of each of several elements: move them when they are put together."""
    return move_when_joined(context.region_at(event.context.place), node_at(event.context.place))


def _sample_method(context: EventContext) -> Scope | None:
    """Return the run of a dataset's method for one sample in which an event happens; None outside of such methods."""
    run: Scope | None = context.scope
    while run is not None and not run.makes_sample:
        run = run.caller
    return run


def _accelerator_case(placement: Placement, context: EventContext) -> PlacementCase | None:
    """Return the case of a placement that is an accelerator, in so far as the path condition allows it."""
    cases = (case for _, case in placement_cases(placement, context.path_condition))
    return next((case for case in cases if is_accelerator(case.device)), None)
