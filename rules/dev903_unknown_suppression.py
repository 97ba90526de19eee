"""Rule DEV903, which reports a suppression comment that names no rule or is misspelt."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.interpreter.state.events import UnreadSuppression
from devlint.rule import Finding, Rule


class UnknownSuppression(Rule):
    """A comment is meant to silence findings, and devlint does not understand it.

    ## What it does
    Finds `# devlint:` comments that name a rule which does not exist, and those with a misspelt word such as `ignroe`,
    with a word of another linter such as `disable-line`, with rules that stand in other brackets or in none, or with a
    reason that does not follow `--`. Comments without the colon, and with a name much like `devlint`, are found if they
    list rules, as in `# devlint ignore[DEV101]`. In `# noqa` comments, whose codes may be those of another linter, it
    finds only codes of devlint with a letter for a digit, such as `DEV1O3`.

    ## Why is this bad?
    The comment silences nothing, or less than its author thinks.

    ## Example
    ```python
    import torch

    x = torch.zeros(3)
    x.cuda()  # devlint: ignore[discarded-transfers]
    ```

    ## Use instead
    ```python
    import torch

    x = torch.zeros(3)
    x.cuda()  # devlint: ignore[discarded-transfer]
    ```

    ## How it is confirmed at run time
    It is not: comments do not run.

    ## Known limits
    A comment that names a rule of a plugin is reported where the plugin is not installed.
    """

    code = "DEV903"
    name = "unknown-suppression"
    severity = Severity.WARNING

    def check(self, event: UnreadSuppression) -> Iterator[Finding]:
        """Yield no finding: the linter itself makes the diagnostics of this rule.

        A finding needs a syntax node, and a comment is not in the syntax tree.
        """
        yield from ()
