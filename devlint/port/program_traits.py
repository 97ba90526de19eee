"""What the port of a file has to know of the whole program: when it may ask for a device, whose `cuda` it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from devlint.fixes.device_names import MENTIONS_DEVICE, DeviceName, DeviceNames
from devlint.fixes.fix_context import FixContext
from devlint.fixes.torch_names import TorchNames
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.port.port_context import ProgramTraits
from devlint.syntax.statement import Statement

_SETS_DEVICES: Final = re.compile(
    r"CUDA_VISIBLE_DEVICES['\"]\s*\]\s*=[^=]|(setdefault|putenv|setenv|update|pop)\([^()]*CUDA_VISIBLE_DEVICES"
)
"""Text of a program that chooses the visible devices itself."""
_FORKS: Final = re.compile(
    rf"{_SETS_DEVICES.pattern}|\bos\.fork\("
    r"|\b(Process|Pool|ProcessPoolExecutor|get_context|set_start_method)\("
)
"""Text of a program that does so, or makes processes that may be forks."""
_CALLED: Final = re.compile(r"(?<!def )\b(\w+)\(")
"""The name of a function that is called."""
_SPAWNS: Final = re.compile(r"\bset_start_method\(\s*['\"]spawn['\"]")
"""Text of a program whose processes are no forks. Those of a fork server are: it has run the main file's top before."""
_SCRIPTS: Final = re.compile(r"\bjit\.(script|script_method|script_if_tracing)\b|\bScriptModule\b")
"""Text of a file that compiles functions or modules by TorchScript, which reads no devices of a file."""
_MANY_DEVICES: Final = re.compile(
    r"set_device\b|cuda:[1-9{%'\"]|DataParallel|device_count|\.cuda\(\s*[^)\s]|cuda\.device\(|local_rank"
)
"""Text of a program that may have tensors on another device than the current one."""
_RAW_STREAMS: Final = re.compile(r"\b(cuda_stream|ExternalStream|priority_range|get_stream_from_external|CUDAGraph)\b")
"""Text of a program that hands streams to CUDA itself, or captures what runs on them."""
_OWN_TRANSFER: Final = re.compile(r"^[ \t]+def (cuda|to)\(", re.MULTILINE)
"""A method by which a class of the program moves its objects."""


def program_traits(modules: Mapping[Path, ModuleInfo], program: Program) -> dict[Path, ProgramTraits]:
    """Return the traits of a program for each of its files."""
    imported = {path: _imported(one, program) & modules.keys() for path, one in modules.items()}
    spawns = any(_SPAWNS.search(one.source.text) for one in modules.values())
    sets = _SETS_DEVICES if spawns else _FORKS
    setting = {path for path, one in modules.items() if _asks_late(one, program, sets)}
    # What imports the file runs its top before that file's functions, and so does all that is imported there.
    late = _with_imports(_with_imports(setting, _importers(imported)), imported)
    early = frozenset(name for path in setting for name in _called_before(modules[path], sets))
    scripted = _with_imports({path for path, one in modules.items() if _SCRIPTS.search(one.source.text)}, imported)
    has_many = any(_MANY_DEVICES.search(one.source.text) for one in modules.values())
    has_raw_streams = any(_RAW_STREAMS.search(one.source.text) for one in modules.values())
    own = {path for path, one in modules.items() if _OWN_TRANSFER.search(one.source.text)}
    exported = {path: _devices_of(one) for path, one in modules.items() if path not in late}
    return {
        path: ProgramTraits(
            asks_late=path in late,
            called_early=early,
            sets=sets,
            has_own_transfers=path in own or bool(own & imported[path]),
            is_scripted=path in scripted,
            has_many_devices=has_many,
            has_raw_streams=has_raw_streams,
            imported_devices=_imported_devices(one, program, exported),
        )
        for path, one in modules.items()
    }


def _importers(imported: Mapping[Path, set[Path]]) -> dict[Path, set[Path]]:
    """Return for each file of a program the files that import it."""
    found: dict[Path, set[Path]] = {path: set() for path in imported}
    for path, below in imported.items():
        for one in below:
            found[one].add(path)
    return found


def _called_before(module: ModuleInfo, sets: re.Pattern[str]) -> Iterator[str]:
    """Yield the names of what a file calls, in the same function or block, before it sets the visible devices."""
    text = module.source.text
    for place in sets.finditer(text):
        for one in module.index.statements:
            if one.start <= place.start() < one.end:
                yield from _CALLED.findall(text[one.start : place.start()])


def _with_imports(files: set[Path], imported: Mapping[Path, set[Path]]) -> set[Path]:
    """Return some files of a program, and all files that they import, directly or not."""
    found, pending = {*files}, [*files]
    while pending:
        new = imported[pending.pop()] - found
        found |= new
        pending += new
    return found


def _devices_of(module: ModuleInfo) -> Mapping[str, DeviceName]:
    """Return the names that hold the program's device at the top level of a file."""
    if not MENTIONS_DEVICE.search(module.source.text):
        return {}
    context = FixContext(module.index)
    return DeviceNames(context, TorchNames(context), constants_are_ported=True).exported


def _imported_devices(
    module: ModuleInfo, program: Program, exported: Mapping[Path, Mapping[str, DeviceName]]
) -> Mapping[str, DeviceName]:
    """Return the names that a file imports and that hold the program's device in the file that binds them."""
    found = {}
    for statement in module.index.statements:
        for one in statement.imports:
            path = program.resolve(module, one.module, one.level) if one.attribute is not None else None
            device = exported.get(path, {}).get(one.attribute or "") if path is not None else None
            if device is not None:
                found[one.name] = replace(device, text=one.name)
    return found


def _asks_late(module: ModuleInfo, program: Program, sets: re.Pattern[str]) -> bool:
    """Return whether a file sets the visible devices or makes processes, after it or what it imports may ask for them.

    `sets` is the text of such code. A script that sets them at its top, before it imports torch and files of the
    program, decides in time.
    """
    places = [one.start() for one in sets.finditer(module.source.text)]
    if not places:
        return False
    for statement in module.index.statements:
        if statement.start > places[-1]:
            return False
        imports = [one.module.partition(".")[0] for one in statement.imports]
        is_in_scope = statement.kind in ("function", "class") and places[0] < statement.end
        if "torch" in imports or is_in_scope or _imported_by(statement, module, program):
            return True
    return False


def _imported(module: ModuleInfo, program: Program) -> set[Path]:
    """Return the files of the program that a file imports at its top level."""
    return {path for statement in module.index.statements for path in _imported_by(statement, module, program)}


def _imported_by(statement: Statement, module: ModuleInfo, program: Program) -> set[Path]:
    """Return the files of the program that a statement imports."""
    found = set()
    for one in statement.imports:
        names = [one.module, f"{one.module}.{one.attribute}" if one.module else one.attribute or ""]
        paths = [program.resolve(module, name, one.level) for name in names if name]
        found |= {path for path in paths if path is not None}
    return found
