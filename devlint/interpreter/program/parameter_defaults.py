"""Default values of parameters, where they are written as constants, and the conditions that hold with them."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.path_conditions import Atom, Conjunction, Literal
from devlint.interpreter.program.definitions import FunctionInfo, Parameter

_CONSTANTS: Final = {"None": None, "True": True, "False": False}
"""The constants that are written as names."""


def constant_default(info: FunctionInfo, name: str) -> tuple[object] | None:
    """Return the default value of a parameter if it is written as a constant, as the only element of a tuple."""
    found: Parameter | None = next((one for one in info.parameters if one.name == name), None)
    match found.default if found is not None else None:
        case cst.Name(value=("None" | "True" | "False") as constant):
            return (_CONSTANTS[constant],)
        case cst.Integer() | cst.Float() as number:
            return (number.evaluated_value,)
        case cst.SimpleString() as text:
            return (text.evaluated_value,)
    return None


def holds_with_defaults(test: Literal) -> bool | None:
    """Return whether a condition holds where a call leaves out the arguments that it asks about; None if unknown."""
    match test.formula:
        case Conjunction(tests=tests):
            answers = {holds_with_defaults(one) for one in tests}
            known = False if False in answers else None if None in answers else True
            return known if test.holds or known is None else not known
        case Atom(question=question) if question is not None:
            match question.subject:
                case ("param", FunctionInfo() as info, str(name)) if default := constant_default(info, name):
                    return question.answer(default[0]) is test.holds
    return None
