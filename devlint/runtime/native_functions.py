"""Reader of torch's `native_functions.yaml`.

It tells for each operator whether its generated C++ wrapper checks devices, and the wrapper's name in error messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torchgen  # type: ignore[import-untyped]

_ENTRY = re.compile(r"^- func: (?P<name>[\w.]+)\(", re.MULTILINE)
_CUDA = re.compile(r"^ +[\w, ]*\bCUDA\b[\w, ]*: *\w", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NativeEntry:
    """One operator's entry of torch's `native_functions.yaml`.

    `checked` tells whether the generated C++ wrapper checks that all operands share a device, `cuda` whether there is a
    CUDA kernel, and `structured` whether the entry is or delegates to a structured kernel.
    """

    name: str
    checked: bool
    cuda: bool
    structured: bool

    def wrapper_name(self, *, out: bool) -> str:
        """Return the name of the operator's generated C++ wrapper after `wrapper_CUDA_`, as error messages give it.

        `out` asks for the wrapper of the variant that writes to an `out` argument.
        """
        base, _, overload = self.name.partition(".")
        if out:
            base += "_out"
        if self.structured:
            return f"{base}{'_' + overload if overload else ''}"
        return f"{overload}_{base}"


@lru_cache(1)
def native_entries() -> dict[str, NativeEntry]:
    """Return all entries of the installed torch's `native_functions.yaml`, in a dict with keys such as `add.Tensor`."""
    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    text = path.read_text(encoding="utf-8")
    starts = list(_ENTRY.finditer(text))
    table: dict[str, NativeEntry] = {}
    for entry, after in zip(starts, [*starts[1:], None], strict=True):
        body = text[entry.end() : after.start() if after else len(text)]
        delegate = re.search(r"structured_delegate: ([\w.]+)", body)
        name = entry["name"]
        table[name] = NativeEntry(
            name=name,
            checked="  device_check: NoCheck" not in body,
            cuda=bool(_CUDA.search(body)) or delegate is not None,
            structured=delegate is not None or "structured: True" in body,
        )
    return table
