"""Rule DEV901, which reports a suppression comment that silences no finding."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.interpreter.state.events import IdleSuppression
from devlint.rule import Finding, Rule


class UnusedSuppression(Rule):
    """A comment silences findings that there are not.

    ## What it does
    Finds `# devlint:` comments (`ignore`, `ignore-next-line`, `file-ignore`, `disable`) of which a word, or the whole,
    silences nothing, because what it was written for is mended. Of `# noqa` comments, which are shared with other
    linters, only codes that begin like devlint's are judged. DEV903 reports devlint comments that name no rule.

    ## Why is this bad?
    The next bug on that line is silenced unseen, and readers look for a problem that is no longer there.

    ## Example
    ```python
    import torch

    x = torch.zeros(3)
    x.cuda()  # noqa: DEV210
    ```

    ## Use instead
    ```python
    import torch

    x = torch.zeros(3)
    x.cuda()  # noqa: DEV201
    ```

    ## Fix safety
    The words that silence nothing are taken out, and the comment with its reason where none is left. Safe: comments
    change nothing.

    ## How it is confirmed at run time
    It is not: comments do not run.

    ## Known limits
    Only what this run could have found is judged: the rules that a word stands for must be on, and a finding that
    shows only when other files are checked along is not seen without them. For the same reason the rule is off by
    default; select it where the whole project is checked. A bare `# noqa` may be meant for any linter.
    """

    code = "DEV901"
    name = "unused-suppression"
    severity = Severity.WARNING
    default = False
    fixable = True

    def check(self, event: IdleSuppression) -> Iterator[Finding]:
        """Yield no finding: the linter itself makes the diagnostics of this rule.

        A finding needs a syntax node, and a comment is not in the syntax tree.
        """
        yield from ()
