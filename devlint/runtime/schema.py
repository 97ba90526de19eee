"""What torch's own `native_functions.yaml` says of each operator: is its device checked, by whom, under which name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_ENTRY = re.compile(r"^- func: (?P<name>[\w.]+)\(", re.MULTILINE)
_NO_CHECK = re.compile(r"^  device_check: NoCheck *(?:# *(?P<why>.*))?$", re.MULTILINE)
_CUDA = re.compile(r"^ +[\w, ]*\bCUDA\b[\w, ]*: *\w", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Native:
    """One entry: whether the generated wrapper checks devices, a CUDA kernel exists, and who checks otherwise."""

    name: str
    checked: bool
    reason: str
    cuda: bool
    structured: bool
    composite: bool

    @property
    def method(self) -> str:
        """The name of the generated wrapper, as it appears in messages."""
        base, _, overload = self.name.partition(".")
        if self.structured:
            return f"wrapper_CUDA_{base}{'_' + overload if overload else ''}"
        return f"wrapper_CUDA_{overload}_{base}"


@lru_cache(1)
def natives() -> dict[str, Native]:
    """Every entry of the installed torch's table, by `name.overload`."""
    import torchgen  # type: ignore[import-untyped]

    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    text = path.read_text(encoding="utf-8")
    starts = list(_ENTRY.finditer(text))
    table: dict[str, Native] = {}
    for entry, after in zip(starts, [*starts[1:], None], strict=True):
        body = text[entry.end() : after.start() if after else len(text)]
        no_check = _NO_CHECK.search(body)
        delegate = re.search(r"structured_delegate: ([\w.]+)", body)
        name = entry["name"]
        table[name] = Native(
            name=name,
            checked=no_check is None,
            reason=((no_check["why"] or "").strip() if no_check else ""),
            cuda=bool(_CUDA.search(body)) or delegate is not None,
            structured=delegate is not None or "structured: True" in body,
            composite=("dispatch:" not in body and delegate is None) or "CompositeImplicit" in body,
        )
    return table
