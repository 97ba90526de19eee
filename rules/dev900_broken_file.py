"""Rule DEV900, which reports a file that cannot be read or parsed."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.interpreter.state.events import BrokenFile
from devlint.rule import Finding, Rule


class BrokenSource(Rule):
    """A file could not be read or parsed.

    ## What it does
    Reports a file that cannot be opened, decoded or parsed as Python. The run goes on with the other files.

    ## Why is this bad?
    What devlint cannot read, it has not checked: silence about that file would look like approval.

    ## Example
    ```python
    import torch

    x = torch.zeros(3, device="cuda"
    ```

    ## Use instead
    ```python
    import torch

    x = torch.zeros(3, device="cuda")
    ```

    ## How it is confirmed at run time
    It is not: Python itself refuses the file.

    ## Known limits
    Files in a Python newer than the parser knows are reported although they may run.
    """

    code = "DEV900"
    name = "broken-file"
    severity = Severity.ERROR

    def check(self, event: BrokenFile) -> Iterator[Finding]:
        """Yield no finding: the linter itself makes the diagnostics of this rule.

        A finding needs a syntax node, and a file that cannot be parsed has no syntax tree.
        """
        yield from ()
