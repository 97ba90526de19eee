"""The peak memory of a process, where the system tells it."""

from __future__ import annotations

import sys

if sys.platform == "win32":

    def peak_memory(*, of_children: bool = False) -> int:
        """Return 0: this system does not tell."""
        return 0

else:
    import resource

    _UNIT = 1 if sys.platform == "darwin" else 1024

    def peak_memory(*, of_children: bool = False) -> int:
        """Return the most bytes of memory that this process had, or the largest of those that it has started."""
        who = resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF
        return resource.getrusage(who).ru_maxrss * _UNIT
