"""Handlers of attribute access: the value of `owner.name` for every kind of owner."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype, DtypeSource, canonical_dtype_name, is_floating
from devlint.domain.join import join, join_tensors, opaque_part, without_none
from devlint.domain.objects import Dict, Instance
from devlint.domain.path_conditions import entails
from devlint.domain.torch_names import SELF_RETURNING_MODULE_METHODS
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    DeviceValue,
    DtypeValue,
    LibraryName,
    Number,
    OpaqueData,
    Partial,
    ProgramDefinition,
    Ref,
    Size,
    StringPrefix,
    Tensor,
    Tuple,
    TypeName,
    Unknown,
    Value,
    computed_tensor,
)
from devlint.interpreter.conditions.device_equality import device_type_condition
from devlint.interpreter.language.layer_outputs import as_layer_outputs
from devlint.interpreter.modules.library_methods import call_library_method
from devlint.interpreter.numpy.array_calls import array_attribute
from devlint.interpreter.objects.absent_attributes import presence_condition, surely_lacks
from devlint.interpreter.objects.class_hierarchy import (
    find_class_attribute,
    find_method,
    find_special_method,
    is_module_class,
    library_base,
)
from devlint.interpreter.objects.conventions import conventional_attribute, unset_module_attribute
from devlint.interpreter.objects.enums import enum_member
from devlint.interpreter.objects.library_objects import find_member_row
from devlint.interpreter.objects.module_state import module_attribute
from devlint.interpreter.objects.optimizer_state import forget_state
from devlint.interpreter.objects.tensor_containers import is_tensor_container, tensor_container_item
from devlint.interpreter.objects.unseen_parts import as_unseen_part
from devlint.interpreter.operations.accelerator_names import (
    report_accelerator_name,
    report_accelerator_that_may_be_none,
)
from devlint.interpreter.operations.aliasing import storage_of, storage_of_view
from devlint.interpreter.operations.result_dtypes import real_part
from devlint.interpreter.operations.tensor_transfers import transfer_that_unleafed
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import MovedLeaf
from devlint.interpreter.state.frame import Frame, evaluates
from devlint.interpreter.state.library_models import find_call_model
from devlint.interpreter.state.unknown_records import unknown_object_site
from devlint.semantics.removed_names import REMOVED_NAMES

PROPERTIES: Final = frozenset({"property", "cached_property", "lazy_property", "abstractproperty"})
"""Decorators that turn a method into an attribute."""

FLOAT_CONSTANTS: Final = frozenset(
    f"{library}.{name}" for library in ("math", "numpy", "torch") for name in ("pi", "e", "inf", "nan", "tau")
)
"""The floats that libraries name."""

LEAF_ATTRIBUTES: Final = frozenset({"requires_grad", "is_leaf", "grad", "data"})
"""Attributes of a parameter, such as `requires_grad`, that a tensor computed from the parameter does not share."""

MAPPING_METHODS: Final = frozenset("copy get items pop setdefault update values".split())
"""Methods of the dicts that data loaders usually return."""

OPAQUE_DATA_METHODS: Final = MAPPING_METHODS | SELF_RETURNING_MODULE_METHODS
"""Methods of opaque data, which may be a dict of tensors or a module."""


@evaluates(cst.Attribute)
def attribute(frame: Frame, node: cst.Attribute) -> Value:
    """Evaluate the attribute access `owner.name` (a libcst `Attribute` node)."""
    owner = frame.evaluate(node.value)
    if type(owner) is LibraryName:
        report_accelerator_name(frame, f"{owner.name}.{node.attr.value}", node)
    elif type(owner) is ConditionalValue and node.attr.value in ("type", "index"):
        use = f"None has no attribute `{node.attr.value}`"
        report_accelerator_that_may_be_none(frame, owner, use, node)
    if _is_refused(frame, owner, node):
        frame.fail()
        return UNKNOWN
    needed = presence_condition(frame, owner, node.attr.value) if type(owner) is Ref else None
    if needed is not None and entails(frame.state.path_condition, needed) is None:
        frame.state.require(frozenset((needed,)))
    value = frame.under_path(frame.get_attribute(owner, node.attr.value, node))
    return as_layer_outputs(frame, node, node.value, node.attr.value, value)


def _is_refused(frame: Frame, owner: Value, node: cst.Attribute) -> bool:
    """Return whether an object or a library surely has no attribute of the name that is read, which ends the path."""
    name = node.attr.value
    match owner:
        case Const(value=None):
            return _is_argument(frame, node.value) and not hasattr(None, name)
        case Const(value=constant):
            return not hasattr(constant, name)
        case Tuple(names=(), cls=None):
            return not hasattr((), name)
        case Ref():
            return surely_lacks(frame, owner, name)
        case LibraryName(name=library):
            return f"{library}.{name}" in REMOVED_NAMES
    return False


def _is_argument(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether an expression is a parameter of the running function that still holds what the call passed.

    What other names hold may have been replaced by code that the analysis does not see.
    """
    function = frame.function
    return (
        function is not None
        and isinstance(node, cst.Name)
        and any(one.name == node.value for one in function.parameters)
        and node.value not in function.bound_names
    )


def get_attribute(frame: Frame, owner: Value, name: str, node: cst.CSTNode) -> Value:
    """Return the value of an attribute of any kind of value; the value UNKNOWN if nothing is known about it."""
    match owner:
        case Tensor():
            return tensor_attribute(frame, owner, name, node)
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Instance):
                return instance_attribute(frame, owner, thing, name, node)
            return BoundLibraryMethod(owner, name)
        case LibraryName(name=library):
            return library_attribute(frame, f"{library}.{name}")
        case Unknown(origin=origin) if origin is not None:
            return opaque_attribute(frame, owner, name)
        case Unknown(of_host_tensors=True):
            return owner
        case ProgramDefinition(definition=ModuleInfo() as module):
            value = frame.analysis.module_member(module, name)
            return value if value is not None else Unknown(("name", module.name, name), name)
        case ProgramDefinition(definition=ClassInfo() as info):
            return class_member(frame, info, name)
        case ProgramDefinition(definition=FunctionInfo(name=qualified)) if name == "__name__":
            return Const(qualified.rpartition(".")[2])
        case DeviceValue(placement=placement):
            return (
                DeviceType(placement)
                if name == "type"
                else Number("int")
                if name == "index"
                else BoundLibraryMethod(owner, name)
            )
        case Array():
            return array_attribute(frame, owner, name, node)
        case Tuple(items=items, names=names) if name in names:
            return items[names.index(name)]
        case Tuple(cls=ProgramDefinition()) if (method := find_special_method(frame, owner, name)) is not None:
            return bound_method(frame, owner, method, node)
        case OpaqueData():
            if name in ("shape", "device", "dtype", "is_cuda", "ndim", "T"):
                return tensor_attribute(frame, Tensor(owner.placement, owner.dtype), name, node)
            # `x.data` is no method, though the table has a row for the attribute of a tensor.
            known = name != "data" and (
                name in MAPPING_METHODS | SELF_RETURNING_MODULE_METHODS or frame.analysis.table.method(name) is not None
            )
            return (
                BoundLibraryMethod(owner, name) if known and name not in dict(owner.parts) else opaque_part(owner, name)
            )
        case ConditionalValue():
            inner = without_none(owner)
            if not isinstance(inner, ConditionalValue):
                return frame.get_attribute(inner, name, node)
            seen = inner if name in LEAF_ATTRIBUTES else frame.as_single_tensor(inner)
            if seen is not inner:
                return frame.get_attribute(seen, name, node)
            yes, no = frame.get_attribute(inner.yes, name, node), frame.get_attribute(inner.no, name, node)
            return (
                ConditionalValue(inner.test, yes, no)
                if name in LEAF_ATTRIBUTES and yes != no
                else join(yes, no, inner.test)
            )
        case Partial(
            target=LibraryName(name="builtins.super"),
            args=(ProgramDefinition(definition=ClassInfo() as after), receiver),
        ):
            return super_attribute(frame, owner, receiver, after, name, node)
        case Const(value=None) if not hasattr(None, name):
            return UNKNOWN  # Code that the analysis does not see has replaced the placeholder.
        case BoundLibraryMethod():
            part = as_unseen_part(frame, owner)
            return BoundLibraryMethod(owner, name) if part is owner else frame.get_attribute(part, name, node)
        case DtypeValue(dtype=dtype) if dtype.name is not None and name in ("is_floating_point", "is_complex"):
            return Const(is_floating(dtype.name) if name == "is_floating_point" else dtype.name.startswith("complex"))
        case (
            Const()
            | Number()
            | StringPrefix()
            | Tuple()
            | Size()
            | Partial()
            | DtypeValue()
            | DeviceType()
            | DeviceString()
            | TypeName()
        ):
            return BoundLibraryMethod(owner, name)
    return UNKNOWN


def tensor_attribute(frame: Frame, tensor: Tensor, name: str, node: cst.CSTNode) -> Value:
    """Return an attribute of a tensor: a property (`device`, `dtype`, `shape`, `grad`, ...) or a bound method."""
    settled = frame.resolve(tensor)
    match name:
        case "device":
            return DeviceValue(settled.placement, of_tensor=True)
        case "dtype":
            return DtypeValue(settled.dtype)
        case "shape":
            return Size(tensor.rank, tensor.empty_sizes)
        case "ndim" if tensor.empty_sizes is not None:
            return Const(len(tensor.empty_sizes))
        case "is_cuda" | "is_cpu" | "is_mps" | "is_xpu" | "is_meta":
            return device_type_condition(frame, settled.placement, name.removeprefix("is_"), node)
        case "data":
            return replace(
                computed_tensor(settled),
                grad=False,
                memory=storage_of(tensor),
                fresh=tensor.fresh,
                cell=tensor.cell,
                empty_sizes=tensor.empty_sizes,
            )
        case "grad":
            _check_leaf(frame, tensor, node, "its `.grad` is read")
            return replace(computed_tensor(settled), grad=False)
        case "T" | "mT" | "H" | "mH" | "real" | "imag":
            dtype = real_part(settled.dtype) if name in ("real", "imag") else settled.dtype
            seen = storage_of_view(frame, name, storage_of(tensor), node)
            return replace(computed_tensor(settled), dtype=dtype, memory=seen, pending=tensor.pending)
        case "ndim" | "nbytes" | "itemsize":
            return Number("int")
        case "requires_grad" | "is_leaf":
            known = tensor.grad if name == "requires_grad" else tensor.leaf
            return Const(known) if known is not None and tensor.cell is None else Number("bool")
        case "grad_fn" | "layout" | "names" | "_version":
            return UNKNOWN
    return BoundLibraryMethod(tensor, name)


def _check_leaf(frame: Frame, tensor: Tensor, node: cst.CSTNode, use: str) -> None:
    """Report that the moved copy of a leaf tensor is used as if it were the leaf, as by reading its `.grad`.

    Autograd accumulates the gradient in the original leaf, not in the copy.
    """
    moved = transfer_that_unleafed(tensor)
    if moved is not None:
        frame.emit(MovedLeaf(frame.event_context(node), moved, False, use))


def library_attribute(frame: Frame, name: str) -> Value:
    """Return the abstract value of a dotted library name such as `torch.float32` or `math.pi`.

    The value is a dtype, a number or None for the few names known to be one, otherwise the library name itself, in its
    canonical form.
    """
    root, _, last = name.rpartition(".")
    if root in ("torch", "numpy"):
        dtype = canonical_dtype_name(last)
        if dtype is not None and not (root == "numpy" and last == "long"):
            if root == "numpy" and last in ("float", "float_", "double"):
                dtype = "float64"
            return DtypeValue(Dtype(dtype, DtypeSource.EXPLICIT))
    if root == "torch.version":
        return Unknown(("name", root, last), name)
    if name in FLOAT_CONSTANTS:
        return Number("float")
    if name in ("numpy.newaxis",):
        return NONE
    return LibraryName(frame.analysis.table.canonical(name))


def opaque_attribute(frame: Frame, owner: Unknown, name: str) -> Value:
    """Return an attribute of an unknown object: the value the program has stored in it, if any.

    Otherwise the result is what the attribute is by convention, or an unknown value with its name, `owner.name`.
    """
    stored = frame.get(unknown_object_site(owner))
    text = f"{owner.text}.{name}" if owner.text else name
    named = Unknown(("attr", owner.origin, name), text, owner.provenance, cast=owner.cast)
    unset = conventional_attribute(frame, owner, name) or named
    if not isinstance(stored, Instance) or name not in stored.attributes:
        return unset
    value = stored.attributes[name]
    return join(value, unset, stored.optional[name]) if name in stored.optional else value


def class_member(frame: Frame, info: ClassInfo, name: str) -> Value:
    """Return the member of a class that `cls.name` reads: a method, an enum member or a class attribute."""
    method = find_method(frame, info, name)
    if method is not None:
        return (
            ProgramDefinition(method, ProgramDefinition(info))
            if "classmethod" in method.decorator_names
            else ProgramDefinition(method)
        )
    value = enum_member(frame, info, Const(name)) or find_class_attribute(frame, info, name)
    if value is not None:
        return value
    if name in ("__name__", "__qualname__"):
        return Const(info.name)
    return BoundLibraryMethod(ProgramDefinition(info), name)


def instance_attribute(frame: Frame, owner: Ref, thing: Instance, name: str, node: cst.CSTNode) -> Value:
    """Return an attribute of an object, looked up on the object, then its class, then its library base class."""
    if name in thing.attributes:
        value = _join_conditional_tensors(frame, frame.under_path(thing.attributes[name]))
        if name in thing.optional:
            # On the paths that have not set the attribute, the class may define the name.
            inherited = _class_attribute(frame, owner, thing, name, node)
            value = value if inherited is None else join(value, inherited, thing.optional[name])
        return value
    if name == "__dict__":
        return instance_dict(frame, owner, thing, node)
    found = _class_attribute(frame, owner, thing, name, node)
    if found is not None:
        return found
    cls = thing.cls
    if isinstance(cls, ProgramDefinition) and isinstance(cls.definition, ClassInfo):
        info = cls.definition
        base = library_base(frame, info)
        if name == "__class__":
            return cls
        described = _described_attribute(frame, owner, name, node)
        if described is not None:
            return described
        if is_module_class(frame, info):
            unset = unset_module_attribute(owner, name)
            found = unset or module_attribute(frame, owner, thing, base or "torch.nn.Module", name)
        else:
            found = _unset_attribute(frame, owner, thing, name)
        fallback = find_method(frame, info, "__getattr__") if isinstance(found, Unknown) else None
        return found if fallback is None else _call_getattr(frame, owner, fallback, name, node)
    if cls == "argparse.Namespace":
        return Unknown(("attr", owner.address, name), f"args.{name}")
    if isinstance(cls, str):
        if name == "state":
            # Programs read the state of an optimizer in order to move it.
            forget_state(frame, owner)
        found = _described_attribute(frame, owner, name, node)
        return found if found is not None else module_attribute(frame, owner, thing, cls, name)
    return UNKNOWN


def instance_dict(frame: Frame, owner: Ref, thing: Instance, node: cst.CSTNode) -> Value:
    """Return an object's `__dict__` as a dict on the heap; a store into the dict sets an attribute of the object."""
    entries: dict[Hashable, Value] = {}
    entries.update(thing.attributes)
    return frame.allocate(node, Dict(entries, optional=thing.optional, object=owner), "__dict__")


def _class_attribute(frame: Frame, owner: Ref, thing: Instance, name: str, node: cst.CSTNode) -> Value | None:
    """Return the attribute that an object's class defines: a bound method, a class attribute or a descriptor's value.

    The result is None where the class is not one of the program or does not define the name.
    """
    cls = thing.cls
    if not isinstance(cls, ProgramDefinition) or not isinstance(cls.definition, ClassInfo):
        return None
    method = find_method(frame, cls.definition, name)
    if method is not None:
        return bound_method(frame, owner, method, node)
    value = find_class_attribute(frame, cls.definition, name)
    if isinstance(value, (ProgramDefinition, ConditionalValue)):
        return _bind_if_function(frame, owner, value, node)
    descriptor = find_special_method(frame, value, "__get__") if isinstance(value, Ref) else None
    return (
        value if value is None or descriptor is None else call_method_with(frame, value, descriptor, [owner, cls], node)
    )


def _bind_if_function(frame: Frame, owner: Ref, value: Value, node: cst.CSTNode) -> Value:
    """Return a value found as a class attribute, bound to the object as a method if it is a function.

    Any other value is returned unchanged. Such a function was assigned in the class body or to the class.
    """
    match value:
        case ProgramDefinition(definition=FunctionInfo() as method, receiver=None):
            return bound_method(frame, owner, method, node)
        case ConditionalValue(test=test, yes=yes, no=no):
            return join(_bind_if_function(frame, owner, yes, node), _bind_if_function(frame, owner, no, node), test)
    return value


def _call_getattr(frame: Frame, owner: Ref, fallback: FunctionInfo, name: str, node: cst.CSTNode) -> Value:
    """Return the result of an object's own `__getattr__` for an attribute that the object lacks.

    The value is unknown while the same `__getattr__` is running already, since the call would recurse.
    """
    if fallback in frame.analysis.active_functions:
        return UNKNOWN
    return call_method_with(frame, owner, fallback, [Const(name)], node)


def call_method_with(frame: Frame, owner: Value, method: FunctionInfo, given: list[Value], node: cst.CSTNode) -> Value:
    """Call a method that the program defines with the given values as positional arguments, and return the result."""
    place = node if isinstance(node, cst.BaseExpression) else cst.Name(method.name)
    return frame.call_function(method, owner, Arguments(node, [Argument(value, place) for value in given]))


def _join_conditional_tensors(frame: Frame, value: Value) -> Value:
    """Return a conditional value of two tensors joined into one tensor; any other value is unchanged.

    A parameter is not joined, because its placement is read from its heap cell when the parameter is used.
    """
    match value:
        case ConditionalValue(test=test, yes=yes, no=no):
            yes, no = _join_conditional_tensors(frame, yes), _join_conditional_tensors(frame, no)
            if isinstance(yes, Tensor) and isinstance(no, Tensor) and yes.cell is None and no.cell is None:
                return join_tensors(frame.resolve(yes), frame.resolve(no), test)
    return value


def _described_attribute(frame: Frame, owner: Ref, name: str, node: cst.CSTNode) -> Value | None:
    """Return an attribute of a library object that devlint's model files (descriptions of libraries) describe.

    A tensor that a library's batch object holds under the name is returned too. The result is None for any other
    attribute.
    """
    row = find_member_row(frame, owner, name)
    if row is not None:
        return (
            call_library_method(frame, owner, row, Arguments(node)) if row.property else BoundLibraryMethod(owner, name)
        )
    thing = frame.instance(owner)
    if thing is not None and is_tensor_container(frame, owner) and find_call_model(f"TensorContainer.{name}") is None:
        return tensor_container_item(thing, name)
    return None


def _unset_attribute(frame: Frame, owner: Ref, thing: Instance, name: str) -> Value:
    """Return the value of an object's attribute that the analysed program has not been seen to set.

    The value is an inherited library method where there is one, otherwise unknown.
    """
    if thing.contents is not None and (hasattr(dict, name) or hasattr(list, name)):
        return BoundLibraryMethod(thing.contents, name)
    if name.startswith("__"):
        return BoundLibraryMethod(owner, name)
    return Unknown(("attr", owner.address, name), f"self.{name}")


def super_attribute(
    frame: Frame, owner: Value, receiver: Value, after: ClassInfo, name: str, node: cst.CSTNode
) -> Value:
    """Return `super().name`: the definition of the name in the classes that follow `after` in the receiver's MRO.

    A method is returned bound to the receiver. Where the program's classes do not define the name, it is a library's.
    """
    thing = frame.instance(receiver)
    cls = thing.cls if thing is not None else receiver
    info = cls.definition if isinstance(cls, ProgramDefinition) and isinstance(cls.definition, ClassInfo) else after
    method = find_method(frame, info, name, after)
    if method is None:
        return BoundLibraryMethod(owner if thing is None or thing.contents is None else thing.contents, name)
    return (
        bound_method(frame, receiver, method, node)
        if isinstance(receiver, Ref)
        else ProgramDefinition(method, receiver)
    )


def bound_method(frame: Frame, owner: Ref | Tuple, method: FunctionInfo, node: cst.CSTNode) -> Value:
    """Return what reading a method's name on an object gives: the method bound to the object.

    A property is computed at once, and its value is returned.
    """
    names = method.decorator_names
    if names & PROPERTIES:
        value = frame.call_function(method, owner, Arguments(node))
        if isinstance(owner, Ref) and "cached_property" in names and (thing := frame.instance(owner)) is not None:
            frame.put(owner.address, thing.with_attribute(method.name.rpartition(".")[2], value))
        return value
    if "staticmethod" in names:
        return ProgramDefinition(method)
    if "classmethod" in names:
        thing = frame.instance(owner)
        cls = owner.cls if isinstance(owner, Tuple) else thing.cls if thing is not None else None
        return ProgramDefinition(method, cls if isinstance(cls, ProgramDefinition) else UNKNOWN)
    return ProgramDefinition(method, owner)
