"""The exception for operations that devlint's emulated devices cannot do; its import does not need torch."""

from __future__ import annotations


class NotEmulated(NotImplementedError):
    """Exception raised where devlint cannot tell what a real accelerator would do in place of the emulated one."""

    def __init__(self, what: str) -> None:
        super().__init__(f"devlint does not emulate {what}; run this part on a real device (devlint run --device cuda)")
