"""The error for what the emulated device cannot do; programs can import it where torch is not installed."""

from __future__ import annotations


class NotEmulated(NotImplementedError):
    """Error raised where the emulated device does not know what a real one would do."""

    def __init__(self, what: str) -> None:
        super().__init__(f"devlint does not emulate {what}; run this part on a real device (devlint run --device cuda)")
