"""Who wants to see what expressions evaluate to, and not only what happens to tensors."""

from __future__ import annotations

from typing import Protocol, TypeVar

import libcst as cst

from devlint.domain.value import Value

Frame = TypeVar("Frame", contravariant=True)
"""The code that is being run, as the interpreter sees it."""


class Observer(Protocol[Frame]):
    """Is shown every value as it comes about. It must keep no frame, and change nothing."""

    def see(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """The expression at `node` was evaluated."""

    def bind(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """A name, an attribute or a parameter that stands at `node` was given a value."""
