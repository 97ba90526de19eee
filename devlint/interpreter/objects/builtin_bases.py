"""Instances of classes derived from `dict` or `list`, and the dict or list object that holds the items of each."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.objects import Dict, Sequence
from devlint.domain.value import UNKNOWN, LibraryName, Ref, Value
from devlint.interpreter.objects.class_hierarchy import ancestors
from devlint.interpreter.objects.collections import dict_from_arguments, list_from_arguments
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame

DICT_BASES: Final = frozenset(
    "builtins.dict collections.OrderedDict collections.UserDict typing.Dict typing.OrderedDict".split()
)
"""Library classes whose instances, those of subclasses included, hold the items of a dict."""
LIST_BASES: Final = frozenset("builtins.list collections.UserList typing.List".split())
"""Library classes whose instances, those of subclasses included, hold the items of a list."""


def allocate_contents(frame: Frame, info: ClassInfo, node: cst.CSTNode) -> Ref | None:
    """Allocate the empty dict or list that holds the items of a new instance of a class derived from one.

    Return None for a class with neither base.
    """
    for one in ancestors(frame, info):
        if isinstance(one, LibraryName) and one.name in DICT_BASES:
            return frame.allocate(node, Dict({}), "contents")
        if isinstance(one, LibraryName) and one.name in LIST_BASES:
            return frame.allocate(node, Sequence(()), "contents")
    return None


def fill_contents(frame: Frame, contents: Ref, arguments: Arguments) -> None:
    """Model `dict.__init__` and `list.__init__` on an instance of a derived class: replace the instance's items.

    The new items are those that the call's arguments give.
    """
    is_dict = isinstance(frame.get(contents.address), Dict)
    frame.put(
        contents.address, dict_from_arguments(frame, arguments) if is_dict else list_from_arguments(frame, arguments)
    )


def forget_contents(frame: Frame, value: Value) -> None:
    """Make the items of a dict- or list-derived instance unknown, because unknown code may have changed them.

    A plain dict or list is left as it is.
    """
    contents = frame.contents(value)
    if isinstance(contents, Ref) and contents != value:
        is_dict = isinstance(frame.get(contents.address), Dict)
        frame.put(contents.address, Dict({}, UNKNOWN) if is_dict else Sequence(None, UNKNOWN))
