"""Attributes that an object surely lacks, or has under a condition alone.

The analysis has followed everything that could have set them.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import Literal
from devlint.domain.value import LibraryName, Ref, Value
from devlint.interpreter.objects.class_hierarchy import (
    ancestors,
    class_attributes,
    defined_class,
    find_method,
    has_unknown_base,
    later_methods,
    program_classes,
)
from devlint.interpreter.objects.module_state import ANY_PART
from devlint.interpreter.program.self_attributes import ANY_ATTRIBUTE
from devlint.interpreter.state.frame import Frame

OPTIONS_CLASSES: Final = frozenset({"argparse.ArgumentParser", "argparse.Namespace"})
"""The library classes whose objects have the options of a command line, and what the program stores, as attributes."""

_DYNAMIC: Final = frozenset({"setattr", "__dict__", "vars", "__getattr__", "__getattribute__", "__slots__"})
"""The names by which a class may get attributes that its code does not name."""

_WITHOUT_ATTRIBUTES: Final = frozenset(
    "builtins.object abc.ABC typing.Generic typing.Protocol torch.utils.data.Dataset"
    " torch.utils.data.IterableDataset".split()
)
"""The library classes that have only attributes with two underscores."""

_OF_MODULES: Final = frozenset(
    "T_destination _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks"
    " _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs"
    " _get_backward_hooks _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict"
    " _load_state_dict_post_hooks _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules"
    " _named_members _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook"
    " _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict _slow_forward _state_dict_hooks"
    " _state_dict_pre_hooks _version _wrapped_call_impl add_module apply bfloat16 buffers call_super_init children"
    " compile cpu cuda double dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter"
    " get_submodule half ipu load_state_dict modules mtia named_buffers named_children named_modules named_parameters"
    " parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook"
    " register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook"
    " register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook"
    " register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty"
    " train training type xpu zero_grad".split()
)
"""The attributes of `torch.nn.Module`."""


def surely_lacks(frame: Frame, value: Value, name: str) -> bool:
    """Return whether a builtin container, or an object of one of the program's classes, has no attribute of a name.

    Only an object that the program itself has made is fully known: methods of one that an unknown caller hands over may
    have run before, and methods of its parts too.
    """
    thing = frame.object_of(value)
    if isinstance(thing, Sequence | Dict):
        types = _types_of(thing)
        return bool(types) and not any(hasattr(one, name) for one in types)
    if not isinstance(thing, Instance) or not isinstance(value, Ref):
        return False
    if value.address in frame.analysis.symbolic_instances:
        return False
    if name in thing.attributes or name in thing.optional:
        return False
    cls = defined_class(thing.cls) if value.address in frame.analysis.symbolic_parts else None
    if cls is not None and any(name in one.bound_attributes for one in later_methods(frame, cls)):
        return False
    return _has_only_what_is_seen(frame, thing, name)


def _types_of(thing: Sequence | Dict) -> tuple[type, ...]:
    """Return the types that a list, a tuple, a set or a dict may have; none where they are not known.

    What only an annotation describes may be of another type: the attribute that is read says more.
    """
    match thing:
        case Sequence(items=None, prefix=()):
            return ()
        case Sequence(kind="list"):
            return (list,)
        case Sequence(kind="tuple"):
            return (tuple,)
        case Sequence(kind="set"):
            return (set, frozenset)
        case Dict(entries=entries, object=None) if entries:
            return (dict, OrderedDict, defaultdict, Counter)
    return ()


def presence_condition(frame: Frame, value: Value, name: str) -> Literal | None:
    """Return the condition under which alone an object has an attribute, so that whoever reads it supposes the same.

    The constructor sets it under that condition, and no other method sets it. None where no such condition is known.
    """
    thing = frame.instance(value)
    test = thing.optional.get(name) if thing is not None else None
    if thing is not None and thing.cls in OPTIONS_CLASSES:
        return None if _has_unseen_attributes(thing) else test
    if thing is None or test is None or not _has_only_what_is_seen(frame, thing, name):
        return None
    cls = defined_class(thing.cls)
    assert cls is not None
    is_set = any(
        not one.bound_attributes.isdisjoint((name, ANY_ATTRIBUTE))
        for one in later_methods(frame, cls)
        if one.name.rpartition(".")[2] not in one.module.construction_functions
    )
    return None if is_set or frame.analysis.facts.outside_moves.may_replace(name, cls.module, inside=False) else test


def _has_only_what_is_seen(frame: Frame, thing: Instance, name: str) -> bool:
    """Return whether an object can have an attribute of a name only if the program's code sets it by that name."""
    cls = defined_class(thing.cls)
    if cls is None or name.startswith("__") or not thing.placement_tracked or has_unknown_base(frame, cls):
        return False
    if _has_unseen_attributes(thing):
        return False
    if any(_may_define(one, name) for one in ancestors(frame, cls)):
        return False
    if any(_DYNAMIC & one.unit.mentions for one in program_classes(frame, cls)):
        return False
    return name not in class_attributes(frame, cls) and find_method(frame, cls, name) is None


def _has_unseen_attributes(thing: Instance) -> bool:
    """Return whether an object may have attributes whose names are not known."""
    return any(one.startswith(ANY_PART) for one in thing.attributes)


def _may_define(cls: Value, name: str) -> bool:
    """Return whether a class outside of the program may define an attribute of a name without two underscores."""
    if not isinstance(cls, LibraryName):
        return False
    return name in _OF_MODULES if cls.name == "torch.nn.Module" else cls.name not in _WITHOUT_ATTRIBUTES
