"""Rule DEV902, which reports what devlint knows about `expr` for each call `reveal_placement(expr)`."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.explain.revealed_texts import revealed_text
from devlint.interpreter.state.events import RevealedValue
from devlint.rule import Finding, Rule


class RevealPlacement(Rule):
    """What devlint knows of an expression.

    ## What it does
    Answers `reveal_placement(expr)` in analysed code with the placement and dtype of `expr`: of a module, where its
    parameters are; of a list, tuple or dict, what is known of its parts. The call needs no import and is meant to be
    removed again; it is always shown and never counts as a finding.

    ## Why is this bad?
    It is not: it is how a reader asks devlint what it sees.

    ## Example
    ```python
    import torch

    x = torch.zeros(3, device="cuda")
    reveal_placement(x)  # revealed: cuda float32
    ```
    """

    code = "DEV902"
    name = "reveal-placement"
    severity = Severity.INFO

    def check(self, event: RevealedValue) -> Iterator[Finding]:
        """Yield a finding with the abstract value of the argument for each call of `reveal_placement`."""
        yield Finding(event.context.place, f"{event.text}: {revealed_text(event.value, event.contents)}")
