"""Rule DEV111, which reports the use of an accelerator in forked worker processes of a data loader."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.placement import Step, StepKind, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import place_text
from devlint.interpreter.state.events import AcceleratorInWorker
from devlint.rule import Finding, Rule


class AcceleratorInWorkerProcess(Rule):
    """The worker processes of a data loader use the accelerator.

    ## What it does
    Reports tensors on an accelerator that a dataset holds, or that it or a `collate_fn` makes or moves, where a
    `DataLoader` with `num_workers` above 0 takes the samples.

    ## Why is this bad?
    On Linux the workers are forked from a process that has used the accelerator, and torch raises `RuntimeError: Cannot
    re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method`.
    Started otherwise, each worker needs an accelerator context of its own.

    ## Example
    ```python
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index].to("cuda")


    for batch in DataLoader(Rows(torch.rand(64, 3)), batch_size=8, num_workers=2):
        print(batch.sum())
    ```

    ## Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index]


    for batch in DataLoader(Rows(torch.rand(64, 3)), batch_size=8, num_workers=2, pin_memory=True):
        batch = batch.to("cuda", non_blocking=True)
        print(batch.sum())
    ```

    ## How it is confirmed at run time
    A worker stops with torch's error, which the loop over the loader raises.

    ## Known limits
    A loader is judged where the analysed code loops over it, and its `num_workers` is written out or the default of a
    command-line option. With a `multiprocessing_context` other than fork, and where the program mentions
    `set_start_method` or imports a package that calls it (TorchRL), nothing is reported.
    """

    code = "DEV111"
    name = "accelerator-in-worker"
    severity = Severity.ERROR

    def check(self, event: AcceleratorInWorker) -> Iterator[Finding]:
        """Yield a finding for a tensor on an accelerator that a loader's workers make or use."""
        place, device = event.touched, device_text(event.case)
        loop = Step(StepKind.PASSED, "the loop starts the workers", event.context.place)
        assumed = event.workers.assumption
        yield Finding(
            place,
            f"`{place_text(place)}` puts a tensor on {device}{condition_text(event.when)} in a worker process of the"
            " loader: an accelerator cannot be used in a forked process",
            steps_elsewhere(
                (
                    *placement_steps((f"`{place_text(place)}`", event.case)),
                    *steps_elsewhere((event.workers,), loop.place),
                    loop,
                ),
                place,
            ),
            "keep the dataset on the host, and move each batch in the loop",
            (*assumptions(event, event.case), *((assumed,) if assumed is not None else ())),
            subject=place,
        )
