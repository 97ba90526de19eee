"""Models of `argparse`: parsers, their options, and the namespaces that `parse_args` returns."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    ConditionalValue,
    Const,
    DeviceValue,
    LibraryName,
    Ref,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("argparse.ArgumentParser")
def argument_parser(frame: Frame, call: LibraryCall) -> Value:
    """Model `ArgumentParser(...)`: a parser object without options."""
    return frame.allocate(call.node, Instance("argparse.ArgumentParser", {}))


@models_call("argparse.ArgumentParser.add_argument")
def add_argument(frame: Frame, call: LibraryCall) -> Value:
    """Model `parser.add_argument(...)`: record the option's value as an attribute of the parser.

    A default that may name a device makes a conditional value: the default if the user does not give the option, else
    an unknown value. Any other option is an unknown value, whose origin (its description for later conditions) has the
    default.
    """
    thing = frame.instance(call.receiver)
    names = [one.value.value for one in call.arguments.positional if isinstance(one.value, Const)]
    dest = call.arguments.constant("dest")
    long = next((str(name) for name in names if str(name).startswith("--")), str(names[0]) if names else "")
    name = dest if isinstance(dest, str) else long.lstrip("-").replace("-", "_")
    if thing is not None and isinstance(call.receiver, Ref) and name:
        default = _default(frame, call, is_option=name != names[0])
        value = _option_value(call.receiver, name, default, written=_is_read_as_written(call))
        frame.put(call.receiver.address, thing.with_attribute(name, value))
    return UNKNOWN


def _is_read_as_written(call: LibraryCall) -> bool:
    """Return whether an option that the user gives has a text or number for its value, and never None."""
    if call.arguments.value("nargs") is not None or call.arguments.value("action") not in (None, Const("store")):
        return False
    type_ = call.arguments.value("type")
    return call.arguments.complete and (
        type_ is None
        or type_ in (LibraryName("builtins.str"), LibraryName("builtins.int"), LibraryName("builtins.float"))
    )


def _option_value(parser: Ref, name: str, default: Value | None, *, written: bool = False) -> Value:
    """Return the value of a parser's option of some name, with a default; None if the user must give the option.

    `written` is whether it is never None where the user gives it.
    """
    origin = ("option", parser.address, name, default if isinstance(default, Const) else None, written)
    given = Unknown(origin, f"args.{name}")
    if default is None or not _may_name_device(default):
        return given
    text = f"--{name.replace('_', '-')} is left at its default"
    return ConditionalValue(Literal(Atom(("default", origin), text)), default, given)


def _default(frame: Frame, call: LibraryCall, *, is_option: bool) -> Value | None:
    """Return the value that a command-line option has when the user leaves it out; None if the option is mandatory."""
    default = call.arguments.value("default")
    if default is not None:
        return _converted(frame, call, default, call.arguments.value("type"))
    match call.arguments.constant("action"):
        case "store_true":
            return Const(False)
        case "store_false":
            return Const(True)
    return NONE if is_option and call.arguments.value("required") is None else None


def _converted(frame: Frame, call: LibraryCall, default: Value, type_: Value | None) -> Value:
    """Return the default of a command-line option as `parse_args` gives it: `type=` converts a string.

    The result is unknown for a conversion that devlint does not follow.
    """
    if type_ in (None, NONE, LibraryName("builtins.str")) or not isinstance(default, Const):
        return default
    if not isinstance(default.value, str):
        return default
    if type_ == LibraryName("torch.device"):
        return frame.call(type_, Arguments(call.node, [Argument(default, call.arguments.expression)]), call.node)
    convert = {"builtins.int": int, "builtins.float": float}.get(type_.name if isinstance(type_, LibraryName) else "")
    try:
        return Const(convert(default.value)) if convert is not None else UNKNOWN
    except ValueError:
        return UNKNOWN


def _may_name_device(value: Value) -> bool:
    """Return whether the default of a command-line option is a string or a device, so that it may name a device.

    For a conditional value, both alternatives must be one.
    """
    match value:
        case Const(value=str()) | DeviceValue():
            return True
        case ConditionalValue(yes=yes, no=no):
            return _may_name_device(yes) and _may_name_device(no)
    return False


@models_call("argparse.ArgumentParser.set_defaults")
def set_defaults(frame: Frame, call: LibraryCall) -> Value:
    """Model `parser.set_defaults(name=value)`: the default of an option of that name, which there may be."""
    for name, given in call.arguments.keywords.items():
        thing = frame.instance(call.receiver)
        if thing is not None and isinstance(call.receiver, Ref):
            frame.put(
                call.receiver.address, thing.with_attribute(name, _option_value(call.receiver, name, given.value))
            )
    return NONE


@models_call("argparse.ArgumentParser.parse_args", "argparse.ArgumentParser.parse_known_args")
def parse_args(frame: Frame, call: LibraryCall) -> Value:
    """Model `parser.parse_args()`: a namespace that has the parser's options as attributes.

    `parse_known_args` returns a tuple of this namespace and an unknown value.
    """
    thing = frame.instance(call.receiver)
    attributes = thing.attributes if thing is not None else {}
    namespace = frame.allocate(call.node, Instance("argparse.Namespace", attributes))
    return Tuple((namespace, UNKNOWN)) if call.name == "parse_known_args" else namespace


@models_call("argparse.ArgumentParser.add_argument_group", "argparse.ArgumentParser.add_mutually_exclusive_group")
def argument_group(frame: Frame, call: LibraryCall) -> Value:
    """Model `parser.add_argument_group()`: the parser itself, so that options added to the group are the parser's."""
    return call.receiver or UNKNOWN
