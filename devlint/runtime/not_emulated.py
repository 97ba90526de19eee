"""The exception for operations that devlint's emulated devices cannot do; its import does not need torch."""

from __future__ import annotations


class NotEmulated(NotImplementedError):
    """Exception raised for an operation if devlint does not know what a real accelerator would do."""

    def __init__(self, what: str) -> None:
        super().__init__(f"devlint does not emulate {what}; run this part on a real device")
