"""The relevance filter: names of which code must contain one to affect the placement of tensors.

Code that contains none of these names is analysed only when other code calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from devlint.syntax.index import Statement

TENSOR_RELATED_NAMES: Final = frozenset(
    "to cuda cpu half float double bfloat16 type type_as device numpy from_numpy tensor as_tensor zeros ones"
    " full empty eye"
    " arange linspace rand randn randint randperm normal tril_indices triu_indices Tensor FloatTensor"
    " LongTensor BoolTensor"
    " pin_memory time perf_counter is_cuda lru_cache cache meshgrid hann_window float64 detach one_hot reveal_placement"
    " pack_padded_sequence DataLoader register_buffer Parameter xpu logspace bartlett_window hamming_window"
    " scalar_tensor autocast Generator load set_default_device accelerator mps mtia"
    " init_process_group new_group GradScaler load_state_dict_from_url".split()
)
"""Names of which code must contain one to create, move, cast or read a tensor.

Code without any of them is only analysed when other code calls it.
"""

_USED: Final = re.compile(
    r"[.@]\s*(?!(?:Parameter|Tensor)\b(?!\s*\())(\w+)|(?<![.\w])(?!(?:float|type)\b)(\w+)\s*\(|\b(accelerator|cuda|device|mps|mtia|xpu)\s*(?:[.\[]|[!=]=|is\b|in\b)"
)
"""The words of a text that are attributes, decorators or called, and backends and devices that are asked something.

The other words are parameters and annotations.
"""

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


class Relevance:
    """The answers to the question which top-level statements work on tensors, each computed when it is first asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[Callable[[Statement], bool], Statement], bool] = {}

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

    def makes_tensors(self, unit: Statement) -> bool:
        """Return whether a class makes tensors that are no parameters or buffers, which may not move with it."""
        return self._answer(_makes_tensors, unit)

    def _answer(self, question: Callable[[Statement], bool], unit: Statement) -> bool:
        """Return the answer to a question about a statement, computed once."""
        known = self._known.get((question, unit))
        if known is None:
            known = self._known[question, unit] = question(unit)
        return known


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
    return bool(_used(related, _REGISTERED.sub("", text) if related & _PARAMETERS else text))


def _makes_tensors(unit: Statement) -> bool:
    """Return whether a class makes tensors that are no parameters or buffers."""
    related = unit.mentions & _TENSOR_MAKERS
    return bool(related) and bool(_used(related, _BUFFER.sub("", _REGISTERED.sub("", unit.text))))


def _gives_tensors(unit: Statement) -> bool:
    """Return whether a function may hand a tensor to its caller, or move or cast what it is given."""
    related = unit.mentions & TENSOR_RELATED_NAMES
    if not related:
        return False
    promised = _RESULT.search(unit.text)
    words = set(re.findall(r"\w+", promised[1])) if promised else set()
    if "Tensor" in words:
        return True
    if _used(related, unit.text) <= {"device"}:
        return False
    return not words & _SCALARS or not words <= _NO_TENSOR or bool(promised and _BARE.search(promised[1]))


def _used(names: frozenset[str], text: str) -> set[str]:
    """Return those of some names that a text calls, reads as attributes or asks something; dtypes, if written at all.

    An annotation with `float` is no use of a dtype.
    """
    used = {word for found in _USED.findall(text) for word in found}
    used |= _DTYPES
    return used & names
