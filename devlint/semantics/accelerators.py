"""What ties code to CUDA and what replaces it on any accelerator, with the torch releases that have each name.

Two data files hold it. `accelerator_names.json` is read from the releases of torch, by
`devlint/runtime/derive/accelerator_names.py`. `accelerator_replacements.json` is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

Version: TypeAlias = tuple[int, ...]

VERSION_PATTERN: Final = r"\d+(\.\d+)+"
"""A regular expression that matches a version, such as "2.9"."""
DEFAULT_MIN_TORCH: Final[Version] = (2, 9)
"""The oldest torch that replacements are for, where neither the settings nor the project's dependencies tell."""

_DTYPE: Final = re.compile(r"dtype=(torch\.\w+)")
"""The dtype of a tensor type, as its replacement names it."""

BACKENDS: Final = ("xpu", "mps", "mtia", "cpu")
"""The backends besides CUDA whose modules are part of torch."""


class Kind(Enum):
    """How a replacement is written: what changes besides the name."""

    FUNCTION = "function"
    """Another function or class; the arguments stay."""
    DEVICE_MODULE = "device module"
    """The function of the same name in the module of the device, `torch.get_device_module(device)`."""
    DEVICE_TYPE = "device type"
    """Another function or class, which is passed the type of the device as well."""
    ARGUMENT = "argument"
    """The call's own argument takes the place of the call."""
    VALUE = "value"
    """Another expression that is no call of the same arguments."""
    TENSOR_TYPE = "tensor type"
    """A factory that is passed the dtype and the device which the old tensor type stood for."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One way to write what a name of CUDA does for any accelerator.

    `name` is the name to replace and `by` the expression that replaces it. In `by`, `device` stands for the program's
    device. `since` is the first torch that has it. `lacking` are the backends of torch that have no such function.
    `result_without` is what the old name returns on a machine without an accelerator, as source text, where the new one
    raises there or returns something else; None where both raise or agree. `keyword` is the name of the argument that
    takes the device type, where it may only be passed by name. `also` is what the new one does and the old one does
    not.
    """

    name: str
    by: str
    kind: Kind
    since: Version
    lacking: tuple[str, ...] = ()
    result_without: str | None = None
    keyword: str | None = None
    note: str | None = None
    also: str | None = None

    @property
    def dtype(self) -> str | None:
        """The dtype that replaces a tensor type, such as `torch.float16`; None for what is no tensor type."""
        found = _DTYPE.search(self.by)
        return found[1] if found is not None else None


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases of torch that have a name: from `first` to `last`, or up to the newest one if `last` is None."""

    first: Version
    last: Version | None = None


def parse_version(text: str) -> Version:
    """Return a version of torch such as "2.9" or "2.9.1" as numbers. Raises ValueError for another text."""
    if not re.fullmatch(VERSION_PATTERN, text):
        raise ValueError(f'expected a version of torch such as "2.9", got "{text}"')
    return tuple(int(part) for part in text.split("."))


def version_text(version: Version) -> str:
    """Return a version as text, such as "2.9"."""
    return ".".join(map(str, version))


def newest_release() -> Version:
    """Return the newest release of torch whose names are known."""
    return max(map(parse_version, _names()["releases"]))


def releases_of(name: str) -> Releases | None:
    """Return the releases of torch that have a qualified name, such as `torch.accelerator.empty_cache`."""
    text = _names()["names"].get(name)
    if text is None:
        return None
    first, _, last = text.partition("-")
    return Releases(parse_version(first), parse_version(last) if last else None)


@cache
def names_in(module: str) -> frozenset[str]:
    """Return the names that a module has in some release of torch; empty for a module that is not described."""
    start = module + "."
    return frozenset(
        name[len(start) :] for name in _names()["names"] if name.startswith(start) and "." not in name[len(start) :]
    )


def may_have(module: str, name: str) -> bool:
    """Return whether a described module may have a name: in some release of torch, or by C++, as old tensor types."""
    return name in names_in(module) or name.endswith(("Tensor", "Storage"))


def lacks(module: str, name: str) -> bool:
    """Return whether a module is described and has a name in no release of torch."""
    return bool(names_in(module)) and not may_have(module, name)


def needs_cuda(name: str) -> bool:
    """Return whether a function of `torch.cuda` raises on a machine without CUDA; others do nothing there."""
    return canonical_name(name) in _written()["raises_without_cuda"]


def is_idle_without_cuda(name: str) -> bool:
    """Return whether a function of `torch.cuda` does nothing without CUDA, and no code depends on what it does."""
    return canonical_name(name) in _written()["idle_without_cuda"]


def is_figure_without_cuda(name: str) -> bool:
    """Return whether a function of `torch.cuda` returns a figure, and an empty one such as 0 without CUDA."""
    return canonical_name(name) in _written()["figures_without_cuda"]


def is_cuda_package(name: str) -> bool:
    """Return whether a dotted name is inside a package of others for CUDA and no other accelerator, such as `cupy`."""
    return name.partition(".")[0] in _written()["cuda_packages"]


def replacements_of(name: str, min_torch: Version = (9999,)) -> Sequence[Replacement]:
    """Return what replaces a name of CUDA in every torch from `min_torch` on, the best one first."""
    found = _replacements().get(canonical_name(name), ())
    return [one for one in found if one.since <= min_torch]


def reason_without_equivalent(name: str) -> str | None:
    """Return why nothing replaces a name of CUDA, or a name in one of its modules; None where that is not known."""
    reasons: Mapping[str, str] = _written()["no_equivalent"]
    canonical = canonical_name(name)
    parts = canonical.split(".")
    starts = (".".join(parts[:end]) for end in range(len(parts), 1, -1))
    return next((reasons[start] for start in starts if start in reasons), None)


def canonical_name(name: str) -> str:
    """Return the shortest name of what a qualified name stands for: `torch.cuda.memory.empty_cache` has two."""
    found = re.fullmatch(r"torch\.cuda\.(?:memory|random|streams|amp\.autocast_mode|amp\.grad_scaler)\.(\w+)", name)
    if found is None:
        return name
    shorter = f"torch.cuda.{found[1]}"
    if ".amp." in name:
        shorter = f"torch.cuda.amp.{found[1]}"
    return shorter if releases_of(shorter) is not None else name


def all_replacements() -> Iterator[Replacement]:
    """Yield every replacement, in the order of the data file."""
    for found in _replacements().values():
        yield from found


def all_without_equivalent() -> Mapping[str, str]:
    """Return the names of CUDA that nothing replaces, with the reasons."""
    reasons: Mapping[str, str] = _written()["no_equivalent"]
    return reasons


@cache
def _replacements() -> Mapping[str, Sequence[Replacement]]:
    """Return the replacements by the name that they replace."""
    found: dict[str, list[Replacement]] = {}
    for row in _written()["replacements"]:
        found.setdefault(row["name"], []).append(_parse(row))
    return found


def _parse(row: Mapping[str, Any]) -> Replacement:
    """Return the replacement that a row of the data file describes."""
    kind = Kind(row["kind"])
    by: str = row["by"]
    lacking: tuple[str, ...] = ()
    if kind is Kind.DEVICE_MODULE:
        function = by.rpartition(".")[2]
        lacking = tuple(one for one in BACKENDS if function not in names_in(f"torch.{one}"))
    return Replacement(
        row["name"],
        by,
        kind,
        parse_version(row["since"]) if "since" in row else _first_release(by),
        lacking,
        row.get("without"),
        row.get("device"),
        row.get("note"),
        row.get("also"),
    )


def _first_release(expression: str) -> Version:
    """Return the first torch that has every described name in an expression."""
    found = (releases_of(name) for name in re.findall(r"torch(?:\.\w+)+", expression))
    return max((one.first for one in found if one is not None), default=(2, 0))


@cache
def _names() -> Mapping[str, Any]:
    """Return the content of `accelerator_names.json`."""
    return _read("accelerator_names.json")


@cache
def _written() -> Mapping[str, Any]:
    """Return the content of `accelerator_replacements.json`."""
    return _read("accelerator_replacements.json")


def _read(name: str) -> Mapping[str, Any]:
    """Return the parsed JSON of a data file of this package."""
    data: Mapping[str, Any] = json.loads(Path(__file__).with_name(name).read_bytes())
    return data
