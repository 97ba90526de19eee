"""Models of `math`: its functions return Python numbers, also where they are given tensors."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import Number, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

FLOATS: Final = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs fmod fsum"
    " gamma hypot ldexp lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh sqrt tan tanh ulp".split()
)
"""The functions that return a float."""
INTEGERS: Final = frozenset("ceil comb factorial floor gcd isqrt lcm perm trunc".split())
"""The functions that return an int."""


@models_call(*(f"math.{name}" for name in FLOATS | INTEGERS))
def function_of_numbers(frame: Frame, call: LibraryCall) -> Value:
    """Model `math.log(x)` and the like: a number of which only the type is known."""
    return Number("float" if call.name.removeprefix("math.") in FLOATS else "int")
