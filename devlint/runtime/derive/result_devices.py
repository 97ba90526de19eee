"""Prediction of the device of a call's results from a row of devlint's semantics table and the operands' devices."""

from __future__ import annotations

from collections.abc import Mapping, Set

from devlint.runtime.derive.agreement import condition_holds
from devlint.runtime.derive.call_probe import parameter_of
from devlint.runtime.derive.device_flips import ACCELERATOR, HOST, Places
from devlint.semantics.table import Row


def predicted_device(row: Row, places: Places, given: Set[str]) -> str | None:
    """Return the device type that a row of the semantics table predicts for a call's results, None if it predicts none.

    ``places`` holds the device types of the operands, ``given`` the names of the arguments.
    """
    stated = (rule for condition, rule in row.device_if.items() if condition_holds(condition, given))
    kind, _, named = next(stated, row.device).partition(":")
    where = {parameter_of(operand): place for operand, place in reversed(places.items())}
    if kind == "kwarg" or (kind == "kwarg-or" and "device" in given):
        return ACCELERATOR if "device" in given else HOST
    if kind == "group":
        return _common_device({place for operand, place in places.items() if parameter_of(operand) in row.same})
    if kind in ("arg", "kwarg-or"):
        return _first_device(where, named)
    return HOST if kind == "host" else None


def _common_device(where: Set[str]) -> str | None:
    """Return the device of a result whose operands must share a device: the accelerator if an operand is there.

    Otherwise it is the host, or None if there are no operands.
    """
    return ACCELERATOR if ACCELERATOR in where else HOST if where else None


def _first_device(where: Mapping[str, str], named: str) -> str | None:
    """Return the device of the first of several operands, given as "a,b", that has a device; None if none has."""
    return next((where[name] for name in named.split(",") if name in where), None)
