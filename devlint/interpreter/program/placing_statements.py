"""The top-level statements that can place a tensor, or for which the time at which they run matters, by their names."""

from __future__ import annotations

import re
from typing import Final

from devlint.syntax.index import Statement

EAGER_NAMES: Final = frozenset(
    "torch cuda to device zeros ones tensor rand randn arange full empty from_numpy set_default_device"
    " set_default_tensor_type"
    " set_device manual_seed set_default_dtype float64 reveal_placement register_buffer DataLoader Module numpy nn"
    " time perf_counter monotonic default_timer time_ns perf_counter_ns process_time synchronize".split()
)
"""Names whose presence makes a top-level statement run at once."""

_RECORD: Final = re.compile(r"@(?:\w+\.)*dataclass\b|class\s+\w+\(\s*(?:\w+\.)*(?:NamedTuple|TypedDict)\b")
"""The beginning of a class that declares fields."""

_METHOD: Final = re.compile(r"^\s+(?:async\s+)?def\b", re.MULTILINE)

_UNUSED: Final = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""|#[^\n]*|(?m:^\s+\w+\s*:[^=\n]*)', re.DOTALL)
"""Documentation, comments and the annotations of fields."""


def may_place_tensors(definition: Statement) -> bool:
    """Return whether a function or class mentions a name by which it may make, hold or move tensors.

    The annotations of a class that only declares fields do not count: its objects hold what they are given.
    """
    names = definition.mentions & EAGER_NAMES
    if not names or definition.kind != "class" or not _RECORD.match(definition.text):
        return bool(names)
    if _METHOD.search(definition.text):
        return True
    return not names.isdisjoint(re.findall(r"\w+", _UNUSED.sub("", definition.text)))
