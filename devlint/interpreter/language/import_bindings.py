"""The abstract values that the names in import statements are bound to."""

from __future__ import annotations

from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.record import replace
from devlint.domain.value import LibraryName, ProgramDefinition, Unknown, Value
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.state.frame import Frame


def forget_default_device(frame: Frame, imported: Value) -> None:
    """Make torch's default device unknown after an import in a function of what may set it, as some packages do."""
    setters = frame.analysis.facts.default_setters
    match imported:
        case ProgramDefinition(definition=ModuleInfo() as module):
            sets = setters.may_import_setting_package(module)
        case ProgramDefinition(definition=(FunctionInfo() | ClassInfo()) as member):
            sets = setters.may_import_setting_package(member.module)
        case LibraryName(name=name):
            sets = setters.is_setting_package(name)
        case _:
            return
    if sets and frame.state.torch_state.default_device is None:
        frame.state.torch_state = replace(frame.state.torch_state, default_device=UNKNOWN_PLACEMENT)


def imported_value(frame: Frame, module: str, attribute: str | None, level: int, name: str) -> Value:
    """Return the value that an import binds: a definition or module of the program, or the dotted name of a library."""
    analysis = frame.analysis
    if attribute is None:
        # `import a.b` binds `a`; `import a.b as c` binds `a.b`.
        wanted = module if name != module.partition(".")[0] else name
        found = analysis.program.find(frame.module, wanted, level)
        return ProgramDefinition(found) if found is not None else LibraryName(wanted)
    found = analysis.program.find(frame.module, module, level)
    if found is not None:
        value = analysis.module_member(found, attribute)
        return value if value is not None else Unknown(("name", found.name, attribute), attribute)
    if level:
        sibling = analysis.program.find(frame.module, f"{module}.{attribute}" if module else attribute, level)
        return ProgramDefinition(sibling) if sibling is not None else Unknown(("name", module, attribute), attribute)
    below = analysis.program.find(frame.module, f"{module}.{attribute}", 0)
    return ProgramDefinition(below) if below is not None else LibraryName(f"{module}.{attribute}")
