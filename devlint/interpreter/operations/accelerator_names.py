"""What the program says of accelerators: members of torch's modules about them, and their names in strings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import libcst as cst

from devlint.domain.availability import THERE_IS_ONE, is_available
from devlint.domain.device import ACCELERATOR, KnownDevice
from devlint.domain.path_conditions import Atom, assume, atoms_of, entails
from devlint.domain.placement import PlacementCase, Step
from devlint.domain.value import (
    NONE,
    ConditionalValue,
    Const,
    DeviceType,
    DeviceValue,
    DtypeValue,
    LibraryName,
    ProgramDefinition,
    StringPrefix,
    Value,
)
from devlint.interpreter.operations.devices_at_hand import named_choice
from devlint.interpreter.program import device_counts, written_guards
from devlint.interpreter.program.checked_functions import is_checked, leaves_before_work, refuses_at_top
from devlint.interpreter.program.cuda_benchmarks import is_benchmark_of_cuda
from devlint.interpreter.program.cuda_kernels import is_with_cuda_kernels
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.program.told_figures import is_only_told
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.events import (
    AcceleratorMayBeNone,
    AcceleratorNameUsed,
    BackendWrittenOut,
    ChosenAccelerator,
)
from devlint.interpreter.state.frame import Frame
from devlint.semantics.accelerators import is_figure_without_cuda, replacements_of
from devlint.syntax.index import Statement
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend, dotted_name

DESCRIBED_MODULES: Final = frozenset(
    "torch.accelerator torch.accelerator.memory torch.cuda torch.cuda.memory torch.cuda.random torch.cuda.amp"
    " torch.xpu torch.mps torch.mtia torch.cpu".split()
)
"""The modules of torch about accelerators, of whose members the rules are told."""
_SHIMS: Final = frozenset({"intel_extension_for_pytorch", "ipex", "torch_npu", "torch_musa", "torch_mlu"})
"""Packages that add members to the modules of torch about accelerators."""
CUDA_BY_NAME: Final = ("", 0)
"""Stands for a function whose name says that the backend is CUDA, so that no argument does."""
_SWITCHES: Final[Mapping[str, int]] = {
    "torch.autocast": 2,
    "torch.amp.autocast": 2,
    "torch.amp.GradScaler": 5,
    "torch.cuda.amp.autocast": 0,
    "torch.cuda.amp.GradScaler": 4,
}
"""The functions for mixed precision that an argument `enabled` switches off, with the position of that argument."""
_DTYPE_POSITION: Final = 1
"""The position of the argument `dtype` of the functions for mixed precision that take one."""
_ABOUT_STREAMS: Final = frozenset(
    f"torch.cuda.{name}" for name in ("Event", "Stream", "current_stream", "set_stream", "stream")
)
"""The names about streams: who makes a stream, and later asks whether there is one, knows the device."""
_PLACING_KERNELS: Final = frozenset(
    f"torch.cuda.{name}" for name in ("current_device", "set_device", "device", "device_of", "current_stream")
)
"""The names by which code says where the kernels run that it launches next."""
_CUDA_COUNTS: Final[Mapping[str, frozenset[str]]] = {
    "gpus": frozenset({"pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer"}),
}
"""The keywords by which functions of libraries are told a number of CUDA devices, and of no other ones."""
BACKEND_ARGUMENTS: Final[Mapping[str, tuple[str, int]]] = {
    "torch.autocast": ("device_type", 0),
    "torch.amp.autocast": ("device_type", 0),
    "torch.amp.GradScaler": ("device", 0),
    "torch.cuda.amp.autocast": CUDA_BY_NAME,
    "torch.cuda.amp.GradScaler": CUDA_BY_NAME,
    "torch.distributed.init_process_group": ("backend", 0),
    "torch.distributed.new_group": ("backend", 2),
}
"""The functions that are told a backend by name, with the keyword and the position of that argument."""
_CHOICES: Final = frozenset({"is_available", "current_accelerator"})
"""Names by which code asks which accelerators there are."""
CHECKED: Final = ("available", "cuda", "nccl", "gpu", "nvidia", "accelerator", "count")
"""Parts of the words of a condition that asks for a backend, or how many devices it has."""
_MISSING: Final = frozenset({"AttributeError", "ImportError", "Exception", ""})
"""The exceptions that a missing name raises; the empty text stands for any exception."""
_WITHOUT_CUDA: Final = frozenset({"AssertionError"})
"""The exception by which torch says that it is built without CUDA."""
_HOST_WRITTEN: Final = re.compile(r"""["']cpu["']""")
"""The name of the host's device in code."""
_NO_CHOICE: Final = re.compile(r"([\"']cpu[\"'])\s+if\b[^\n]*\belse\s+\1")
"""A condition that takes the host's device both ways."""
_CUDA_SEEDS: Final = ("manual_seed", "manual_seed_all")
"""The functions of `torch.cuda` that set its seed, as `torch.manual_seed` does too."""
_TEXTS: Final = frozenset({cst.SimpleString, cst.FormattedString})
"""The expressions that write out a text."""
_BACKENDS: Final = ("cuda", "mps", "xpu")
"""The backends whose names the program may choose."""


def report_accelerator_name(frame: Frame, name: str, node: cst.CSTNode, *, arguments: Arguments | None = None) -> None:
    """Report the use of a library's member, if its qualified `name` is in a module about accelerators.

    `arguments` are those of the call, if the member is called.
    """
    module = name.rpartition(".")[0]
    if module not in DESCRIBED_MODULES or not _is_entry(frame):
        return
    around = path_to(frame.unit.tree, node)
    if written_guards.is_annotation(around):
        return
    expected = (
        frame.expects(*_MISSING)
        or written_guards.is_fallback(around)
        or written_guards.is_asked_for(around, ("hasattr", "getattr", "version"))
        or any(atom.mentions(one) for atom in _atoms(frame) for one in ("hasattr", "getattr", "version"))
        or _has_shim(frame)
        or (module.startswith("torch.cuda") and frame.analysis.facts.shimmed_files.has(frame.module))
    )
    guarded = (
        _is_behind_check(frame)
        or frame.expects(*_WITHOUT_CUDA)
        or written_guards.is_asked_for(around, CHECKED)
        or written_guards.is_named_for_cuda(around)
        or written_guards.is_told_as_cuda(around)
        or written_guards.is_context_never_entered(around)
        or written_guards.is_replaced_by_test(around, name)
        or (arguments is None and written_guards.is_type_asked_for(around))
        or written_guards.is_chosen_beside(around, _names_instead(name))
        or (name in _ABOUT_STREAMS and written_guards.is_asked_for(around, ("stream",)))
        or (arguments is not None and _is_without_effect(frame, name, arguments))
        or (name == "torch.cuda.device_count" and _is_about_count(frame, around))
        or device_counts.is_for_each_cuda_device(around, frame.module.index.statements)
        or (name == "torch.cuda.current_device" and written_guards.is_index_beside_cuda(around))
        or (module.startswith("torch.cuda") and _is_for_cuda_by_design(frame, around))
        or (module.startswith("torch.cuda") and _is_checked_before(frame, around))
    )
    imported, chosen = isinstance(node, cst.ImportAlias), module.startswith("torch.cuda") and _chooses_device(frame)
    seeded = name.rpartition(".")[2] in _CUDA_SEEDS and _is_seeded_beside(frame, node, around)
    told = (is_figure_without_cuda(name) and is_only_told(around, frame.module.index.statements)) or (
        is_benchmark_of_cuda(name, around, frame.module.index.statements)
        or (name in _PLACING_KERNELS and frame.analysis.facts.kernel_wrappers.may_launch(frame.module, around))
    )
    statement = frame.place(written_guards.statement_of(around or [node]))
    context = frame.event_context(node)
    called = arguments is not None
    frame.emit(AcceleratorNameUsed(context, name, statement, called, expected, guarded, imported, chosen, seeded, told))


def _names_instead(name: str) -> frozenset[str]:
    """Return the names by which newer releases of torch have what a name of `torch.cuda` does, for any accelerator."""
    return frozenset(one.by for one in replacements_of(name) if one.by.startswith(("torch.accelerator.", "torch.amp.")))


def report_backend_in_call(frame: Frame, name: str, arguments: Arguments) -> None:
    """Report a call of torch that names a backend, given the qualified name of what is called."""
    parameter = BACKEND_ARGUMENTS.get(name)
    if parameter is None or not _is_entry(frame):
        return
    keyword, position = parameter
    given = Const("cuda") if parameter == CUDA_BY_NAME else arguments.value(keyword, position)
    if not isinstance(given, Const) or given.value not in ("cuda", "xpu", "mps", "nccl"):
        return
    enabled = arguments.value("enabled", _SWITCHES.get(name))
    if (enabled is not None and enabled != Const(True)) or _is_idle_precision(frame, name, arguments):
        return
    asked = (*CHECKED, "device", "backend", "distributed", "scaler")  # who makes a scaler knows the device
    around = path_to(frame.unit.tree, arguments.node)
    guarded = (
        _is_behind_check(frame, *asked)
        or written_guards.is_asked_for(around, asked)
        or written_guards.is_context_never_entered(around)
        or (given.value == "nccl" and written_guards.names_device_in_branch(around, "cuda"))
        or (given.value in ("cuda", "nccl") and _is_for_cuda_around(frame, around))
    )
    context, backend, chosen = frame.event_context(arguments.node), str(given.value), _chooses_device(frame)
    written = arguments.get(keyword, position) if keyword else None
    place = frame.place(written.node) if written is not None else None
    device = named_choice(frame) if chosen and not guarded else None
    frame.emit(BackendWrittenOut(context, name, backend, chosen, guarded, keyword, position, place, device))


def _is_without_effect(frame: Frame, name: str, arguments: Arguments) -> bool:
    """Return whether a call is made so that it may run on any device: mixed precision that is off, a stream or None."""
    if name == "torch.cuda.stream":
        given = arguments.get("stream", 0)
        return given is not None and (_may_be_none(given.value) or "None" in _assigned_to(frame, given.node))
    if _is_idle_precision(frame, name, arguments):
        return True
    enabled = arguments.get("enabled", _SWITCHES[name]) if name in _SWITCHES else None
    if enabled is None:
        return False
    if any(part in word.lower() for word in words_in(enabled.node) for part in CHECKED):  # it asks for CUDA itself
        return True
    if isinstance(enabled.value, Const):
        return not enabled.value.value
    return _assigned_to(frame, enabled.node) == {"False"}


def _is_idle_precision(frame: Frame, name: str, arguments: Arguments) -> bool:
    """Return whether a call is about mixed precision, and nothing in the program computes in half precision.

    It makes a scaler of losses, or asks for full precision, which changes what was asked for around it.
    """
    if not name.endswith(".amp.GradScaler"):
        given = arguments.value("dtype", _DTYPE_POSITION) if name in _SWITCHES else None
        if not isinstance(given, DtypeValue) or given.dtype.name != "float32":
            return False
    return not frame.analysis.facts.is_mixed_precision(frame.module)


def _may_be_none(value: Value) -> bool:
    """Return whether a value is None on some path."""
    return value == NONE or (
        isinstance(value, ConditionalValue) and (_may_be_none(value.yes) or _may_be_none(value.no))
    )


def _assigned_to(frame: Frame, node: cst.BaseExpression) -> set[str]:
    """Return the texts that the file assigns to an attribute of an object, or to the attribute of that name of others.

    What is chosen by `a if b else c` is two texts. An expression that is no attribute has none.
    """
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return set()
    assigned = rf"\.{node.attr.value}\b(?:[ \t]*:[^=\n]*)?[ \t]*=(?!=)[ \t]*([^\n#]*)"
    found = re.findall(assigned, frame.module.source.text)
    return {part.strip() for one in found for part in re.split(r"\bif\b.*\belse\b", one)}


def _is_about_count(frame: Frame, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether the number of CUDA devices, a call, decides about CUDA, here or in what is passed the number."""
    if device_counts.is_about_count(around, frame.module.index.statements):
        return True
    match around:
        case [*_, cst.Call(func=cst.Name() as called, args=arguments), cst.Arg(keyword=None) as argument, _, _]:
            match frame.evaluate(called):
                case ProgramDefinition(definition=FunctionInfo() as function, receiver=None):
                    names = [one.name for one in function.parameters[arguments.index(argument) :][:1]]
                    return device_counts.takes_cuda_for([function.node], names)
        case [*_, cst.Call(func=called), cst.Arg(keyword=cst.Name(value=keyword)), _, _] if keyword in _CUDA_COUNTS:
            callee = frame.evaluate(called)
            return isinstance(callee, LibraryName) and callee.name in _CUDA_COUNTS[keyword]
    return False


def _is_for_cuda_by_design(frame: Frame, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether the file, or the code around a node, is for CUDA only: by its kernels, graphs or name."""
    if written_guards.is_name_for_cuda(frame.module.name) or is_with_cuda_kernels(around):
        return True
    return _is_with_kernels(frame, around)


def _is_for_cuda_around(frame: Frame, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether the code around a node needs CUDA, or has a device of its own which it writes out as CUDA."""
    return (
        _is_with_kernels(frame, around)
        or _is_checked_before(frame, around)
        or written_guards.sets_device_itself(around, "cuda")
    )


def _is_with_kernels(frame: Frame, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether the file needs compiled kernels, or the class or function around a node always calls one."""
    facts = frame.analysis.facts
    return facts.cuda_kernels.needed_around(frame.module) or facts.kernel_wrappers.is_wrapped(frame.module, around)


def _is_checked_before(frame: Frame, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether the code around a node refuses to run without CUDA, or all that name it ask for CUDA before.

    That is its file, its class, or its function.
    """
    facts = frame.analysis.facts
    if refuses_at_top(frame.module.index.statements) or is_checked(facts.program, frame.module, around):
        return True
    outer = next((one.name.value for one in around if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
    return outer in facts.checked_functions.names_in(frame.module) | facts.refusing_classes.names_in(frame.module)


def _is_seeded_beside(frame: Frame, node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> bool:
    """Return whether code that seeds CUDA stands beside a call of `torch.manual_seed`, which seeds CUDA too."""
    torch = (dotted_name(node) or "").partition(".cuda.")[0] if isinstance(node, cst.Attribute) else "torch"
    host_seeds = (f"{torch}.manual_seed", f"{torch}.random.manual_seed")
    if written_guards.is_called_beside(around, host_seeds):
        return True
    outer = next((one for one in around if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
    if outer is not None:
        return outer.name.value in frame.analysis.facts.seeded_functions.names_in(frame.module)
    return written_guards.is_any_called(host_seeds, frame.module.index.statements)


def _is_entry(frame: Frame) -> bool:
    """Return whether code is in the file that is being analysed.

    What is asked of a file as a whole is asked only there: the results for other files do not depend on it.
    """
    return frame.module is frame.analysis.torch_defaults.entry_module


def _chooses_device(frame: Frame) -> bool:
    """Return whether the file chooses between an accelerator and the host, by asking which accelerators there are."""
    return any(
        not unit.mentions.isdisjoint(_CHOICES) and _has_choice(_NO_CHOICE.sub("", unit.text))
        for unit in frame.module.index.statements
    )


def _has_choice(text: str) -> bool:
    """Return whether code asks which accelerators there are, and names the host's device."""
    return any(one in text for one in _CHOICES) and _HOST_WRITTEN.search(text) is not None


def report_imported_accelerator_names(frame: Frame, unit: Statement) -> None:
    """Report the members of modules about accelerators that a top-level import statement imports."""
    if not any(binding.attribute and binding.module in DESCRIBED_MODULES for binding in unit.imports):
        return
    for node in descend(unit.tree):
        if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar) and node.module is not None:
            for alias in node.names:
                report_accelerator_name(frame, f"{dotted_name(node.module)}.{dotted_name(alias.name)}", alias)


def is_imported_as(frame: Frame, node: cst.BaseExpression, name: str) -> bool:
    """Return whether an expression is the name under which code imports the library's member of a qualified name."""
    if type(node) is not cst.Name or not name.startswith("torch."):
        return False
    return node.value == name.rpartition(".")[2] or any(
        binding.name == node.value for unit in frame.module.index.statements for binding in unit.imports
    )


def _has_shim(frame: Frame) -> bool:
    """Return whether the file imports a package that adds members to torch's modules."""
    return any(
        binding.module.partition(".")[0] in _SHIMS for unit in frame.module.index.statements for binding in unit.imports
    )


def report_chosen_accelerator(frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """Report that an expression writes out the name of an accelerator, such as "cuda:0", on a path with conditions."""
    # This runs for every argument. Comparing types is several times as fast as `isinstance` on libcst classes.
    if type(node) not in _TEXTS or not frame.state.path_condition:
        return
    match value:
        case Const(value=str(text)) | StringPrefix(prefix=text):
            type_, colon, _ = text.partition(":")
            if type_ in _BACKENDS and (colon or isinstance(value, Const)):
                frame.emit(ChosenAccelerator(frame.event_context(node), type_))


def text_of_accelerator(value: Value) -> Value | None:
    """Return the text of the current accelerator, or "None" where there may be none; None for any other value."""
    if _step_of_accelerator(value) is None or not isinstance(value, ConditionalValue):
        return None
    match value.yes:
        case DeviceValue(placement=placement):
            return ConditionalValue(value.test, DeviceType(placement, whole=True), Const("None"))
    return None


def is_text_of_no_accelerator(frame: Frame, text: str) -> bool:
    """Return whether a string is the text of the accelerator that is missing on the current path."""
    return text.startswith("None") and entails(frame.state.path_condition, is_available()) is False


def report_accelerator_that_may_be_none(frame: Frame, value: Value, use: str, node: cst.CSTNode) -> None:
    """Report a use that fails on None, if a value is the current accelerator where there may be none."""
    found = next(_accelerators_that_may_be_none(frame, value), None)
    if found is not None:
        report_no_accelerator(frame, found, use, node)


def report_no_accelerator(frame: Frame, asked: Step | None, use: str, node: cst.CSTNode) -> None:
    """Report a use that fails where there is no accelerator; `asked` is the step that asked torch for it."""
    guarded = _is_behind_check(frame) or leaves_before_work(frame.module.index.statements, CHECKED)
    frame.emit(AcceleratorMayBeNone(frame.event_context(node), use, asked, guarded))


def _accelerators_that_may_be_none(frame: Frame, value: Value) -> Iterator[Step]:
    """Yield the steps that asked for the current accelerator, where a value is that, or None, on the current path."""
    value = frame.under_path(value)
    step = _step_of_accelerator(value)
    if step is not None:
        yield step
    elif isinstance(value, ConditionalValue) and value.test is not None:
        before = frame.state.path_condition
        for test, inner in ((value.test, value.yes), (~value.test, value.no)):
            known = assume(before, test)
            if known is not None and isinstance(inner, ConditionalValue):
                frame.state.path_condition = known
                yield from list(_accelerators_that_may_be_none(frame, inner))
                frame.state.path_condition = before


def _step_of_accelerator(value: Value) -> Step | None:
    """Return the step that asked torch for the current accelerator, if a value is that accelerator or None."""
    match value:
        case ConditionalValue(
            test=test, yes=DeviceValue(placement=PlacementCase(device=KnownDevice(type=type_), provenance=step)), no=no
        ) if no == NONE and type_ == ACCELERATOR and test == is_available():
            return step
    return None


def _is_behind_check(frame: Frame, *words: str) -> bool:
    """Return whether a condition of the current path mentions an accelerator, how many there are, or one of `words`."""
    return any(atom.mentions(one) for atom in _atoms(frame) for one in (*CHECKED, *words))


def _atoms(frame: Frame) -> Iterator[Atom]:
    """Yield the conditions of the current path that the program asks for."""
    for test in frame.state.path_condition:
        yield from (atom for atom in atoms_of(test) if atom.text != THERE_IS_ONE)
