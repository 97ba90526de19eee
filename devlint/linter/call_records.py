"""What the calls of a program's functions pass from the host, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from devlint.interpreter.state.passed_arguments import ParameterOf, PassedArguments
from devlint.linter.file_findings import HandedParameter, HostCalls


def handed_parameter(parameter: ParameterOf) -> HandedParameter:
    """Return a parameter of a function as plain data."""
    return HandedParameter(parameter.filename, parameter.function, parameter.name)


def host_calls(given: Collection[str], passed: PassedArguments) -> Iterator[HostCalls]:
    """Yield the calls in which the given files, by their names, pass parameters of their functions from the host."""
    for parameter, filename, count, sources in passed.from_host():
        if parameter.filename in given and filename in given:
            passed_on = sorted(map(handed_parameter, sources))
            yield HostCalls(handed_parameter(parameter), filename, count, tuple(passed_on))
