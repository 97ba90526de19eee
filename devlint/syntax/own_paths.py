"""Absolute paths in code that lead to the files of whoever wrote it: other machines have none there."""

from __future__ import annotations

import re
from typing import Final

_SYSTEM: Final = "bin|boot|dev|etc|lib|lib64|opt|proc|run|sbin|srv|sys|tmp|usr|var"
"""The folders of a file system that every machine has; people's homes and mounted disks are not among them."""
_OWN_PATH: Final = re.compile(
    r"""["'](?:"""
    r"/(?:home|Users|mnt|media)/[\w.-]|/root/[\w.-]|[A-Za-z]:(?:\\\\?|/)[\w.-]"
    rf"""|/(?!(?:{_SYSTEM})/)[\w.-]+/[^"'\n]*\.[\w-]+["'])"""
)
"""A text that begins in a home, on a mounted disk or on a drive, or names a file in a folder of another name."""


def has_own_path(text: str) -> bool:
    """Return whether code writes out the path of a file on the machine of whoever wrote it."""
    return _OWN_PATH.search(text) is not None
