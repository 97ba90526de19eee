"""Who wants to see what expressions evaluate to, and not only what happens to tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import libcst as cst

from devlint.values.value import Value

if TYPE_CHECKING:
    from devlint.flow.path.run import Run


class Observer(Protocol):
    """Is shown every value as it comes about. It must keep no `Run`, and change nothing."""

    def see(self, run: Run, node: cst.CSTNode, value: Value) -> None:
        """The expression at `node` was evaluated."""

    def bind(self, run: Run, node: cst.CSTNode, value: Value) -> None:
        """A name, an attribute or a parameter that stands at `node` was given a value."""
