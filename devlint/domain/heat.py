"""How often a function runs by its role in a program: again and again, once, or as often as its callers say."""

from __future__ import annotations

from enum import Enum


class Heat(Enum):
    """How often the code of a function runs by the role of the function, whatever its callers do.

    `HOT` code runs for every batch, step or request. `SET_UP` code runs once in its caller, loops and all. `ONCE` code
    runs once in the program, whoever calls it: a test, or what a cache remembers. `CELL` code, a notebook's, is run by
    hand: only its loops over batches repeat much. `OPEN` code runs as often as its callers and its own loops make it.
    """

    HOT = "hot"
    SET_UP = "set-up"
    ONCE = "once"
    CELL = "cell"
    OPEN = "open"
