"""The binding of a call's arguments to the parameters of a function of the program."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import Step, StepKind, extend_provenance
from devlint.domain.value import UNKNOWN, Ref, Tensor, Tuple, Unknown, Value
from devlint.interpreter.objects.class_hierarchy import definition_frame
from devlint.interpreter.program.definitions import FunctionInfo, Parameter
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame


def bind_parameters(frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> dict[str, Value]:
    """Return the values of a function's parameters for a call, bound as Python binds them.

    After an unpacked argument of unknown content (`f(*args)`), parameters without an argument are unknown.
    """
    positional = [argument.value for argument in arguments.positional]
    if receiver is not None:
        positional.insert(0, receiver)
    keywords = dict(arguments.keywords)
    names: dict[str, Value] = {}
    position = 0
    for parameter in info.parameters:
        if parameter.kind == "positional" and position < len(positional):
            names[parameter.name] = positional[position]
            position += 1
        elif parameter.kind == "star":
            items = tuple(positional[position:])
            names[parameter.name] = (
                Tuple(items) if arguments.complete else frame.allocate(parameter.node, Sequence(None, UNKNOWN, "tuple"))
            )
            position = len(positional)
        elif parameter.kind == "star-star":
            entries: dict[Hashable, Value] = {key: argument.value for key, argument in keywords.items()}
            names[parameter.name] = frame.allocate(
                parameter.node, Dict(entries, None if arguments.complete else UNKNOWN)
            )
        elif parameter.name in keywords:
            names[parameter.name] = keywords.pop(parameter.name).value
        else:
            names[parameter.name] = _missing_argument(frame, info, parameter, arguments)
    return names


def is_refused(info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> bool:
    """Return whether Python refuses a call with a TypeError, because its arguments do not fit the parameters."""
    if not arguments.complete:
        return False
    kinds = {one.kind for one in info.parameters}
    given = len(arguments.positional) + (receiver is not None)
    positional = [one for one in info.parameters if one.kind == "positional"]
    if given > len(positional) and "star" not in kinds:
        return True
    named = [*positional[given:], *(one for one in info.parameters if one.kind == "keyword")]
    if any(one.default is None and one.name not in arguments.keywords for one in named):
        return True
    return "star-star" not in kinds and not {one.name for one in named}.issuperset(arguments.keywords)


def _missing_argument(frame: Frame, info: FunctionInfo, parameter: Parameter, arguments: Arguments) -> Value:
    """Return the value of a parameter for which a call has no argument of its own: the parameter's default.

    If the call has an unpacked argument of unknown content (`f(*args)`), the value comes from there. That of a
    parameter with a default may be either, and is unknown.
    """
    if arguments.complete:
        return parameter_default(frame, info, parameter)
    passed_on = _passed_on_keyword(frame, parameter.name, arguments.rest)
    if passed_on is not None:
        return passed_on
    return arguments.rest.value if arguments.rest is not None and parameter.default is None else UNKNOWN


def _passed_on_keyword(frame: Frame, name: str, rest: Argument | None) -> Value | None:
    """Return a keyword argument of an unknown caller that the running function passes on with `**kwargs`.

    It is as if the caller had called the inner function; None for any other unpacked argument.
    """
    function = frame.function
    if function is None or rest is None or any(one.function is not None for one in frame.callers()):
        return None
    match rest.node:
        case cst.Name(value=keywords) if any(
            one.kind == "star-star" and one.name == keywords for one in function.parameters
        ):
            thing = frame.object_of(frame.lookup(keywords))
            if isinstance(thing, Dict) and thing.element == UNKNOWN and not thing.is_filled:
                return Unknown(("item", ("param", function, keywords), name), name)
    return None


def parameter_default(frame: Frame, info: FunctionInfo, parameter: Parameter) -> Value:
    """Return a parameter's default value, which is made once, when the function is defined, and shared by all calls."""
    if parameter.default is None:
        return UNKNOWN
    known = frame.analysis.parameter_defaults.get((info, parameter.name))
    if known is not None and (not isinstance(known, Ref) or frame.get(known.address) is not None):
        return known
    home = definition_frame(frame, info)
    value = home.evaluate(parameter.default)
    if isinstance(value, Ref):
        frame.analysis.parameter_defaults[info, parameter.name] = value
    if not isinstance(value, Tensor):
        return value

    def mark(previous: Step | None) -> Step:
        return home.step(
            StepKind.CACHED, "made once as a default argument, and shared by every call", parameter.node, previous
        )

    return replace(value, placement=extend_provenance(value.placement, mark))
