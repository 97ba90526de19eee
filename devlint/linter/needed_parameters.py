"""The parameters that must have another value than their default for a path to be taken."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.domain.path_conditions import Atom, PathCondition
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.parameter_defaults import holds_with_defaults
from devlint.linter.file_findings import NeededParameter


def needed_parameters(path_condition: PathCondition) -> Iterator[NeededParameter]:
    """Yield the parameters of functions whose defaults exclude a path.

    A function that frameworks call, or that is decorated or defined in another one, may be called in unknown ways: its
    parameters are left out.
    """
    for test in path_condition:
        match test.formula:
            case Atom(question=question) if question is not None:
                match question.subject:
                    case ("param", FunctionInfo() as info, str(name)):
                        called = _called_name(info)
                        if holds_with_defaults(test) is False and called is not None:
                            is_method = info.owner is not None and info.owner.name != called
                            yield NeededParameter(info.module.filename, called, name, _position(info, name), is_method)


def _called_name(info: FunctionInfo) -> str | None:
    """Return the only name by which code calls a function, that of its class for a constructor; None without one."""
    function = info.name.rpartition(".")[2]
    if function == "forward" or info.decorators or info.closure is not None:
        return None
    if function == "__init__" and info.owner is not None:
        return info.owner.name
    return None if function.startswith("__") else function


def _position(info: FunctionInfo, name: str) -> int:
    """Return the number of positional arguments before a parameter, `self` left out, in calls that pass it so."""
    names = [one.name for one in info.parameters if one.kind == "positional"]
    return (names.index(name) if name in names else len(names)) - (info.owner is not None)
