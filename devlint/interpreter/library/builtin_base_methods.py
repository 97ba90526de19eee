"""What `super().__setitem__(key, value)` and its like do in a class derived from `dict` or `list`."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Dict
from devlint.domain.value import NONE, UNKNOWN, Ref, Value
from devlint.interpreter.language.subscripts import get_item
from devlint.interpreter.objects.builtin_bases import fill_contents
from devlint.interpreter.objects.collections import dict_with_entry
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("dict.__init__", "list.__init__", "builtins.dict.__init__", "builtins.list.__init__")
def initialize(frame: Frame, call: LibraryCall) -> Value:
    """The object is filled anew."""
    contents, given = _given(frame, call)
    if isinstance(contents, Ref):
        fill_contents(frame, contents, replace(call.arguments, positional=given))
    return NONE


@models_call("dict.__getitem__", "list.__getitem__", "builtins.dict.__getitem__", "builtins.list.__getitem__")
def item(frame: Frame, call: LibraryCall) -> Value:
    """What is under a key."""
    contents, given = _given(frame, call)
    return get_item(frame, Argument(contents, call.receiver_node), list(given), call.node) if given else UNKNOWN


@models_call("dict.__setitem__", "builtins.dict.__setitem__")
def set_item(frame: Frame, call: LibraryCall) -> Value:
    """A key is given a value."""
    contents, given = _given(frame, call)
    thing = frame.object_of(contents)
    if isinstance(contents, Ref) and isinstance(thing, Dict) and len(given) > 1:
        frame.put(contents.address, dict_with_entry(thing, given[0].value, given[1].value))
    return NONE


@models_call("dict.__iter__", "list.__iter__")
def elements(frame: Frame, call: LibraryCall) -> Value:
    """The elements, one after another."""
    contents, _ = _given(frame, call)
    return frame.allocate(call.node, frame.iterate(contents, call.receiver_node))


def _given(frame: Frame, call: LibraryCall) -> tuple[Value, list[Argument]]:
    """The dict or list itself, and the arguments besides it."""
    if call.receiver is not None:
        return frame.contents(call.receiver), call.arguments.positional
    first, *rest = call.arguments.positional or [Argument(UNKNOWN, call.receiver_node)]
    return frame.contents(first.value), rest
