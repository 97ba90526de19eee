"""The observer interface: receives every value that the interpreter computes, for hovers and inlay hints in editors."""

from __future__ import annotations

from typing import Protocol, TypeVar

import libcst as cst

from devlint.domain.value import Value

Frame = TypeVar("Frame", contravariant=True)
"""The type of the frame that an observer is given."""


class Observer(Protocol[Frame]):
    """A receiver of every value that the interpreter computes or binds.

    An observer must neither keep the frame that it is given nor change anything.
    """

    def see(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Receive the value of the expression at a syntax node."""

    def bind(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Receive the value that was bound to the name, attribute or parameter at a syntax node."""
