"""Devices that a program writes out only to compare another one with them."""

from __future__ import annotations

import libcst as cst

from devlint.explain.place_texts import callee_text
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.state.events import HardCodedAccelerator
from devlint.syntax.index import Statement


def is_compared_device(event: HardCodedAccelerator) -> bool:
    """Return whether the accelerator is only compared with another device: `x.device == torch.device("cuda")`."""
    device, unit = event.quoted, event.context.place.unit
    if device is None or not isinstance(device.node, cst.Call) or not isinstance(unit, Statement):
        return False
    around = path_to(unit.tree, device.node)[-2:-1]
    compared = any(isinstance(one, (cst.Comparison, cst.ComparisonTarget)) for one in around)
    return compared and callee_text(device).endswith("device")
