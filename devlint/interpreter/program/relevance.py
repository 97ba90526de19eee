"""The relevance filter: names of which code must contain one to affect the placement of tensors.

Code that contains none of these names is analysed only when other code calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

from devlint.interpreter.program.contained_modules import (
    may_keep_modules_in_containers,
    may_return_modules_in_containers,
)
from devlint.interpreter.program.given_tensors import gives_back_arguments, giving_methods
from devlint.interpreter.program.method_texts import method_texts
from devlint.syntax.index import Statement

TENSOR_RELATED_NAMES: Final = frozenset(
    "to cuda cpu half float double bfloat16 type type_as device numpy from_numpy tensor as_tensor zeros ones"
    " full empty eye"
    " arange linspace rand randn randint randperm normal tril_indices triu_indices Tensor FloatTensor"
    " LongTensor BoolTensor"
    " pin_memory time perf_counter is_cuda lru_cache cache meshgrid hann_window float64 detach one_hot reveal_placement"
    " pack_padded_sequence DataLoader register_buffer Parameter xpu logspace bartlett_window hamming_window"
    " scalar_tensor autocast Generator load set_default_device accelerator mps mtia"
    " init_process_group new_group GradScaler load_state_dict_from_url load_url"
    " Bernoulli Beta Cauchy Exponential Gamma Gumbel HalfNormal Laplace LogNormal Normal Poisson StudentT"
    " Uniform".split()
)
"""Names of which code must contain one to create, move, cast or read a tensor.

Code without any of them is only analysed when other code calls it.
"""

_ATTRIBUTE: Final = {
    "Parameter": r"(?=\()",
    "Tensor": r"(?=\()",
    "device": r"(?!\s*[,)}])(?:(?=\()|(?<!torch\.device))",
}
"""What follows some names where they are used as attributes, and not as annotations or handed on."""

_ASKED: Final = frozenset("accelerator cuda device mps mtia xpu".split())
"""The names of backends and devices that are asked something."""

_ANNOTATIONS: Final = frozenset({"float", "type"})
"""The names of builtins that say nothing of tensors where they are called."""

_PROSE: Final = re.compile(r"""(?P<quotes>\"{3}|'{3}).*?(?P=quotes)|(?:^|[ \t])\#[^\n]*""", re.DOTALL | re.MULTILINE)
"""Documentation and comments, and other texts of several rows."""

_HAS_PROSE: Final = re.compile(r"""\"{3}|'{3}|\#""")

_DTYPES: Final = frozenset("half double bfloat16 float64".split())
"""The names that may stand for a dtype when they are handed on."""

_NUMBERS: Final = frozenset({"float", "type"})
"""The names that mostly belong to numbers and classes."""

_TENSOR_MAKERS: Final = frozenset(
    "tensor from_numpy as_tensor zeros ones full empty eye arange linspace logspace rand randn randint randperm normal"
    " scalar_tensor one_hot meshgrid tril_indices triu_indices hann_window bartlett_window hamming_window"
    " Tensor FloatTensor LongTensor BoolTensor".split()
)
"""The functions that make tensors of their own, on the host unless they are told where."""

_MAKERS: Final = "zeros ones empty full rand randn".split()
_REGISTERED: Final = re.compile(rf"\bself\.\w+\s*(?::[^=\n]+)?=[^\n]*?\bParameter\(\s*torch\.(?:{'|'.join(_MAKERS)})\(")
"""Code that makes a tensor only to register it as a parameter, so that it follows the module."""

_BUFFER: Final = re.compile(r"\bregister_buffer\(\s*[^,\n]+,\s*torch\.\w+\(")
"""Code that makes a tensor only to register it as a buffer."""

_PARAMETERS: Final = frozenset({"Parameter", *_MAKERS})
"""The names that such code mentions."""

_NUMPY: Final = re.compile(r"\bnp\.|numpy|scipy")
"""Code that may hand an annotated tensor to NumPy."""

_RESULT: Final = re.compile(r"\)\s*->([^:\n]+):\s*(?:#.*)?\n")
"""The annotation of a function's result, when it stands on one row."""

_SCALARS: Final = frozenset({"bool", "int", "float"})
"""The types of results that are no tensors, hold none and name no device."""

_CONTAINERS: Final = frozenset("List Dict Tuple Set Sequence Iterable list dict tuple set".split())
"""The types of results that hold what their annotations say between brackets."""

_BARE: Final = re.compile(rf"\b(?:{'|'.join(sorted(_CONTAINERS))})\b(?!\s*\[)")
"""A container of which an annotation does not say what it holds."""

_NO_TENSOR: Final = _SCALARS | _CONTAINERS | {"Union", "Optional", "typing", "None"}
"""The words of annotations that promise a result without a tensor."""


_READING: Final = frozenset(
    "item tolist nonzero long int bool short backward no_grad set_grad_enabled inference_mode synchronize get_device"
    " requires_grad requires_grad_".split()
)
"""Names of what else a method may do with a tensor about which there is a rule."""


_PROTOCOLS: Final = frozenset({"__call__", "__getitem__", "__iter__", "__next__"})
"""The methods without a public name that users of an object call."""


class MethodWords(NamedTuple):
    """The words of a method's text, and whether it makes, moves, casts or reads tensors itself."""

    words: frozenset[str]
    works_on_tensors: bool


class Relevance:
    """The answers to the question which top-level statements work on tensors, each computed when it is first asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[Callable[[Statement], bool], Statement], bool] = {}
        self._methods: dict[Statement, Mapping[str, MethodWords]] = {}

    def works_on_tensors(self, unit: Statement) -> bool:
        """Return whether a statement mentions a tensor-related name for more than handing it on.

        A parameter `device` that goes to the parts of a module, an annotation, and a tensor that is a parameter of the
        module from the start make no difference between the places of two tensors. In a function most mentions count.
        """
        return self._answer(_works_on_tensors, unit)

    def gives_tensors(self, unit: Statement) -> bool:
        """Return whether a function may hand a tensor to its caller, or move or cast what it is given.

        That it asks for the device of what it is given makes no difference.
        """
        return self._answer(_gives_tensors, unit)

    def touches_tensors(self, unit: Statement) -> bool:
        """Return whether a function does more with tensors than to rearrange what it is given and return it."""
        return self._answer(_touches_tensors, unit)

    def gives_made_tensors(self, unit: Statement) -> bool:
        """Return whether a class may give tensors to its users that it makes, and that are no parameters or buffers."""
        return self._answer(_gives_made_tensors, unit)

    def keeps_modules_in_containers(self, unit: Statement) -> bool:
        """Return whether a class may keep modules in a container that is an attribute of its objects."""
        return self._answer(may_keep_modules_in_containers, unit)

    def returns_modules_in_containers(self, unit: Statement) -> bool:
        """Return whether a function may return modules in a container that it makes."""
        return self._answer(may_return_modules_in_containers, unit)

    def methods(self, unit: Statement) -> Mapping[str, MethodWords]:
        """Return what each method of a class mentions, and whether it works on tensors, by its name."""
        known = self._methods.get(unit)
        if known is None:
            known = self._methods[unit] = _methods_of(unit)
        return known

    def _answer(self, question: Callable[[Statement], bool], unit: Statement) -> bool:
        """Return the answer to a question about a statement, computed once."""
        known = self._known.get((question, unit))
        if known is None:
            known = self._known[question, unit] = question(unit)
        return known


def _methods_of(unit: Statement) -> Mapping[str, MethodWords]:
    """Return what each method of a class mentions, and whether it works on tensors, by the method's name."""
    found = {}
    for name, text in method_texts(unit).items():
        code = _PROSE.sub("", text)
        words = frozenset(re.findall(r"\w+", code))
        found[name] = MethodWords(words, bool(_used(words & (TENSOR_RELATED_NAMES | _READING), code)))
    return found


def _works_on_tensors(unit: Statement) -> bool:
    """Return whether a statement mentions a tensor-related name for more than handing it on."""
    related = unit.mentions & TENSOR_RELATED_NAMES
    if not related:
        return False
    if unit.kind == "function" and not related <= _NUMBERS:
        # What a function hands on may be a text that a helper compares with a device.
        return True
    text = unit.text
    if "Tensor" in related and _NUMPY.search(text):
        return True
    return bool(_used(related, _without_parameters(text) if related & _PARAMETERS else text))


def _gives_made_tensors(unit: Statement) -> bool:
    """Return whether a class may give tensors to its users that it makes, and that are no parameters or buffers."""
    related = unit.mentions & _TENSOR_MAKERS
    makers = related and _used(related, _without_buffers(_without_parameters(unit.text)))
    giving = giving_methods(unit, makers) if makers else frozenset[str]()
    return giving is None or any(not name.startswith("_") or name in _PROTOCOLS for name in giving)


def _without_parameters(text: str) -> str:
    """Return a text without the code that makes a tensor only to register it as a parameter."""
    return _REGISTERED.sub("", text) if "Parameter(" in text else text


def _without_buffers(text: str) -> str:
    """Return a text without the code that makes a tensor only to register it as a buffer."""
    return _BUFFER.sub("", text) if "register_buffer" in text else text


def _touches_tensors(unit: Statement) -> bool:
    """Return whether a function does more with tensors than to rearrange what it is given and return it."""
    related = unit.mentions & TENSOR_RELATED_NAMES
    return bool(related) and (not _used(related, unit.text) <= {"device"} or not gives_back_arguments(unit))


def _gives_tensors(unit: Statement) -> bool:
    """Return whether a function may hand a tensor to its caller, or move or cast what it is given."""
    related = unit.mentions & TENSOR_RELATED_NAMES
    if not related:
        return False
    promised = _RESULT.search(unit.text)
    words = set(re.findall(r"\w+", promised[1])) if promised else set()
    is_used = not _used(related, unit.text) <= {"device"}
    if "Tensor" in words:
        return is_used or not gives_back_arguments(unit)
    if not is_used:
        return False
    return not words & _SCALARS or not words <= _NO_TENSOR or bool(promised and _BARE.search(promised[1]))


def _used(names: frozenset[str], text: str) -> set[str]:
    """Return those of some names that a text calls, reads as attributes or asks something; dtypes, if written at all.

    An annotation with `float` is no use of a dtype.
    """
    used = {name for name in names - _DTYPES if _use_of(name).search(text)}
    if used and _HAS_PROSE.search(text):
        text = _PROSE.sub("", text)
        used = {name for name in used if _use_of(name).search(text)}
    return used | (names & _DTYPES)


@cache
def _use_of(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is an attribute, a decorator or called, or a backend that is asked."""
    uses = [rf"\b(?<=[.@]{name}){_ATTRIBUTE.get(name, '')}"]
    if name not in _ANNOTATIONS:
        uses.append(rf"(?<![.\w]{name})\(")
    if name in _ASKED:
        uses.append(rf"(?<!\w{name})\s*(?:[.\[]|[!=]=|is\b(?!\s+(?:not\s+)?None\b)|in\b)")
    return re.compile(f"{name}(?:{'|'.join(uses)})")
