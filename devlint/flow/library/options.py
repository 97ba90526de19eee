"""argparse: the options a program is given."""

from __future__ import annotations

from devlint.flow.library.registry import Invocation, model
from devlint.flow.path.run import Run
from devlint.values.condition import Atom, Test
from devlint.values.heap import Instance
from devlint.values.value import UNKNOWN, Const, Either, Ref, Tuple, Unknown, Value


@model("argparse.ArgumentParser")
def parser(run: Run, call: Invocation) -> Value:
    """A parser: what it will hand out is known by the defaults."""
    return run.allocate(call.node, Instance("argparse.ArgumentParser", {}))


@model("argparse.ArgumentParser.add_argument")
def add_argument(run: Run, call: Invocation) -> Value:
    """An option: its default when the user says nothing, anything otherwise."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    names = [one.value.value for one in call.arguments.positional if isinstance(one.value, Const)]
    dest = call.arguments.constant("dest")
    long = next((str(name) for name in names if str(name).startswith("--")), str(names[0]) if names else "")
    name = dest if isinstance(dest, str) else long.lstrip("-").replace("-", "_")
    if thing is not None and isinstance(call.receiver, Ref) and name:
        origin = ("option", call.receiver.address, name)
        given = Unknown(origin, f"args.{name}")
        default = call.arguments.value("default")
        value: Value = given
        if isinstance(default, Const) and isinstance(default.value, str):
            value = Either(
                Test(Atom(("default", origin), f"--{name.replace('_', '-')} is left at its default")), default, given
            )
        run.put(call.receiver.address, thing.with_attribute(name, value))
    return UNKNOWN


@model("argparse.ArgumentParser.parse_args", "argparse.ArgumentParser.parse_known_args")
def parse_args(run: Run, call: Invocation) -> Value:
    """The options as attributes."""
    thing = run.instance(call.receiver) if call.receiver is not None else None
    attributes = thing.attributes if thing is not None else {}
    namespace = run.allocate(call.node, Instance("argparse.Namespace", attributes))
    return Tuple((namespace, UNKNOWN)) if call.name == "parse_known_args" else namespace


@model("argparse.ArgumentParser.add_argument_group", "argparse.ArgumentParser.add_mutually_exclusive_group")
def group(run: Run, call: Invocation) -> Value:
    """A group of options belongs to its parser."""
    return call.receiver or UNKNOWN
