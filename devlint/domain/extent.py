"""The extent of a tensor: its sizes, as the code that makes it gives them, and whether they are few elements."""

from __future__ import annotations

from math import prod
from typing import Final

from devlint.domain.placement import Place
from devlint.domain.record import record

FEW: Final = 16_384
"""The number of elements from which on a tensor is large enough for its copies to matter."""

MANY: Final = 262_144
"""The number of elements from which on a single copy shows beside the rest of a step: a megabyte of float32."""

SMALL: Final = 16
"""The number from which on a size says that there are many of something: channels of a colour or axes are fewer."""


@record(frozen=True, slots=True)
class Extent:
    """The sizes of a tensor's dimensions, in order: numbers, or the expressions of the program that give them.

    None stands for a size of which the program holds no expression of its own. `is_open` is true when there may be
    further dimensions, as in a tensor of the shape of another one.
    """

    sizes: tuple[int | Place | None, ...]
    is_open: bool = False

    @property
    def is_tiny(self) -> bool:
        """Whether the tensor has so few elements that a copy costs no more than the call that makes it.

        At most one of its sizes is then no number, and the numbers multiply to few elements: a vector of unknown length
        is small, a matrix of unknown sizes is not.
        """
        numbers = [one for one in self.sizes if isinstance(one, int)]
        return not self.is_open and len(self.sizes) - len(numbers) < 2 and prod(numbers) < FEW

    @property
    def is_huge(self) -> bool:
        """Whether the sizes that are numbers alone make so many elements that even a single copy shows in a step."""
        return prod(one for one in self.sizes if isinstance(one, int)) >= MANY

    @property
    def is_large(self) -> bool:
        """Whether the tensor has many elements: three sizes that are no small numbers, or large numbers.

        A matrix of unknown sizes may be a batch of labels as well as a map of distances, and the shape of another
        tensor may be that of a vector. A size such as 4 is one of a small matrix for each sample.
        """
        numbers = [one for one in self.sizes if isinstance(one, int)]
        small = sum(one < SMALL for one in numbers)
        return prod(numbers) >= FEW or len(self.sizes) - small >= 3
