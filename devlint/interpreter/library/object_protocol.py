"""Models of the methods of `object` and `type` that are reached through `super()` or by name."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Instance
from devlint.domain.value import NONE, UNKNOWN, Const, Partial, ProgramDefinition, Ref, Value
from devlint.interpreter.calls.construction import instantiate
from devlint.interpreter.objects.module_state import register_attribute
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


def _super_receiver(call: LibraryCall) -> Value | None:
    """Return the object or class to which a `super()` is bound; None for a call that does not go through `super()`."""
    return call.receiver.args[1] if isinstance(call.receiver, Partial) and len(call.receiver.args) == 2 else None


@models_call("builtins.object.__new__", "builtins.super.__new__")
def object_new(frame: Frame, call: LibraryCall) -> Value:
    """Model `object.__new__(cls)`: an object without attributes."""
    cls = call.first.value if call.first is not None else None
    if not isinstance(cls, ProgramDefinition) or not isinstance(cls.definition, ClassInfo):
        return UNKNOWN
    frame.analysis.newly_instantiated[cls.definition] = None
    return frame.allocate(call.node, Instance(cls, {}))


@models_call("builtins.super.__call__")
def super_call(frame: Frame, call: LibraryCall) -> Value:
    """Model `super().__call__(...)`: in a metaclass, instantiate the class that is called.

    In any other class, call `__call__` of the library base class.
    """
    cls = _super_receiver(call)
    if isinstance(cls, ProgramDefinition) and isinstance(cls.definition, ClassInfo):
        return instantiate(frame, cls.definition, call.arguments, call.node)
    return UNKNOWN if cls is None else frame.invoke(replace(call, receiver=cls))


@models_call("builtins.object.__setattr__", "builtins.super.__setattr__")
def object_setattr(frame: Frame, call: LibraryCall) -> Value:
    """Model `super().__setattr__(name, value)`: assign the attribute, past any `__setattr__` of the program."""
    given = [one.value for one in call.arguments.positional]
    owner = _super_receiver(call)
    if owner is None and given:
        owner = given.pop(0)
    thing = frame.instance(owner)
    if thing is not None and isinstance(owner, Ref) and len(given) == 2 and isinstance(given[0], Const):
        register_attribute(frame, owner, thing, str(given[0].value), given[1], call.node)
    return NONE
