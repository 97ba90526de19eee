"""Models of the methods of `dict` and `list` that a derived class calls, such as `super().__setitem__(key, value)`.

Below, the contents of an instance are the dict or list object in which devlint keeps the items of the instance.
"""

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
def base_init(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.__init__(self, ...)` and `list.__init__` on a derived instance: set its items from the arguments."""
    contents, given = _contents_and_arguments(frame, call)
    if isinstance(contents, Ref):
        fill_contents(frame, contents, replace(call.arguments, positional=given))
    return NONE


@models_call("dict.__getitem__", "list.__getitem__", "builtins.dict.__getitem__", "builtins.list.__getitem__")
def base_getitem(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.__getitem__(self, key)` and `list.__getitem__` on an instance of a derived class: return the item."""
    contents, given = _contents_and_arguments(frame, call)
    return get_item(frame, Argument(contents, call.receiver_node), list(given), call.node) if given else UNKNOWN


@models_call("dict.__setitem__", "builtins.dict.__setitem__")
def base_setitem(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.__setitem__(self, key, value)` on an instance of a derived class: set an item of the instance."""
    contents, given = _contents_and_arguments(frame, call)
    thing = frame.object_of(contents)
    if isinstance(contents, Ref) and isinstance(thing, Dict) and len(given) > 1:
        frame.put(contents.address, dict_with_entry(thing, given[0].value, given[1].value))
    return NONE


@models_call("dict.__iter__", "list.__iter__")
def base_iter(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict.__iter__(self)` and `list.__iter__` on a derived instance: an iterator over the instance's items."""
    contents, _ = _contents_and_arguments(frame, call)
    return frame.allocate(call.node, frame.iterate(contents, call.receiver_node))


def _contents_and_arguments(frame: Frame, call: LibraryCall) -> tuple[Value, list[Argument]]:
    """Return the dict or list with the items of the instance that a method is called on, and the method's arguments.

    For a call through the class, such as `dict.__iter__(self)`, the instance is the first argument, which is left out.
    """
    if call.receiver is not None:
        return frame.contents(call.receiver), call.arguments.positional
    first, *rest = call.arguments.positional or [Argument(UNKNOWN, call.receiver_node)]
    return frame.contents(first.value), rest
