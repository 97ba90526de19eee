"""Autocast regions: on which types of device `torch.autocast` is on at a point of the program, and with which dtype."""

from __future__ import annotations

from typing import Final, TypeAlias

from devlint.domain.path_conditions import NO_CONDITION, PathCondition, conjoin, entails
from devlint.domain.record import record


@record(frozen=True, slots=True)
class AutocastRegion:
    """What entering one autocast context has set, under the condition `when`.

    `device_type` and `dtype` are None where they are unknown. `enabled` is False for a context that turns autocast off,
    None where that is unknown.
    """

    device_type: str | None
    dtype: str | None
    enabled: bool | None = True
    when: PathCondition = NO_CONDITION


Autocast: TypeAlias = tuple[AutocastRegion, ...]
"""The autocast contexts around a point of the program, the innermost first."""

NO_AUTOCAST: Final[Autocast] = ()
"""The setting outside every autocast context."""
UNKNOWN_AUTOCAST: Final[Autocast] = (AutocastRegion(None, None, None),)
"""The setting of which nothing is known: operations may choose dtypes of their own."""

OFF: Final = "off"
"""The answer of `low_dtype` where autocast is off."""


def low_dtype(autocast: Autocast, device_type: str, path_condition: PathCondition) -> str | None:
    """Return the low dtype that autocast has on a type of device under a path condition; OFF where it is off there.

    None if it is unknown whether it is on, or with which dtype.
    """
    found: str | None = None
    for region in autocast:
        if region.device_type not in (None, device_type) or conjoin(path_condition, region.when) is None:
            continue
        if region.enabled is None or (region.device_type is None and region.enabled):
            return None
        one = region.dtype if region.enabled else OFF
        if one is None or (found is not None and one != found):
            return None
        found = one
        if region.device_type is not None and all(entails(path_condition, test) for test in region.when):
            return found
    return OFF if found in (None, OFF) else None
