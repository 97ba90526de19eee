"""Attributes that mean the same in every library that has them, whatever the class of the object."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import UNKNOWN, Array, Rank, Ref, Unknown, Value
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.frame import Frame

_SPACES: Final = frozenset(
    {"action_space", "observation_space", "single_action_space", "single_observation_space", "state_space"}
)
"""The spaces of an environment of gym, Gymnasium and the libraries that follow them."""
_BOUNDS: Final = frozenset({"high", "low"})
"""The bounds of such a space: NumPy vectors."""
_SAVED: Final = "saved_tensors"
"""The attribute of the context of a custom operation in which autograd keeps inputs and outputs of the operation."""


def conventional_attribute(frame: Frame, owner: Unknown, name: str) -> Value | None:
    """Return what an attribute of an unknown object is by convention; None if there is no convention for it.

    What `backward` of a custom operation reads from its context is what `forward` has stored there, not the caller's.
    """
    match owner.origin:
        case ("param", FunctionInfo() as info, str(parameter)):
            if name != _SAVED and is_operation_context(frame, info, parameter) and _method(info) == "backward":
                return UNKNOWN
        case ("attr", _, str(space)) if space in _SPACES and name in _BOUNDS:
            return Array(rank=Rank.SOME)
    return None


def is_operation_context(frame: Frame, info: FunctionInfo, parameter: str) -> bool:
    """Return whether a parameter is the context of a custom operation: the first one of its `forward` or `backward`."""
    if info.owner is None or not info.parameters or info.parameters[0].name != parameter:
        return False
    return _method(info) in ("forward", "backward") and is_autograd_function_class(frame, info.owner)


def _method(info: FunctionInfo) -> str:
    """Return the name of a function without that of its class."""
    return info.name.rpartition(".")[2]


def unset_module_attribute(owner: Ref, name: str) -> Value | None:
    """Return what an attribute of a module is by convention that none of its known classes sets; None without one.

    `device`, which an unknown base class, a subclass or a library adds, says where the module is.
    """
    return Unknown(("attr", ("own", owner.address), name), f"self.{name}") if name == "device" else None
