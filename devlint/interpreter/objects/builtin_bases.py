"""What an object of a class derived from `dict` or `list` holds besides its attributes: a dict or list of its own."""

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

DICTS: Final = frozenset(
    "builtins.dict collections.OrderedDict collections.UserDict typing.Dict typing.OrderedDict".split()
)
LISTS: Final = frozenset("builtins.list collections.UserList typing.List".split())


def allocate_contents(frame: Frame, info: ClassInfo, node: cst.CSTNode) -> Ref | None:
    """The empty dict or list of a new object of this class, if it has one."""
    for one in ancestors(frame, info):
        if isinstance(one, LibraryName) and one.name in DICTS:
            return frame.allocate(node, Dict({}), "contents")
        if isinstance(one, LibraryName) and one.name in LISTS:
            return frame.allocate(node, Sequence(()), "contents")
    return None


def fill_contents(frame: Frame, contents: Ref, arguments: Arguments) -> None:
    """`dict.__init__` and `list.__init__`: what is there is made anew of the arguments."""
    is_dict = isinstance(frame.get(contents.address), Dict)
    frame.put(
        contents.address, dict_from_arguments(frame, arguments) if is_dict else list_from_arguments(frame, arguments)
    )


def forget_contents(frame: Frame, value: Value) -> None:
    """Give up what an object holds: others may have put there what they like."""
    contents = frame.contents(value)
    if isinstance(contents, Ref) and contents != value:
        empty = isinstance(frame.get(contents.address), Dict)
        frame.put(contents.address, Dict({}, UNKNOWN) if empty else Sequence(None, UNKNOWN))
