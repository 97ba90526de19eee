"""Recording of exceptions as observed problems: the devlint rule of each error, and its operands' history."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any

import torch

from devlint.runtime.call_sites import Site, is_library, site_at, site_of, user_frame, user_stack
from devlint.runtime.operand_names import operand_names
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol
from devlint.runtime.storage_labels import HistoryStep, Placement, label_of
from devlint.runtime.tensor_arguments import tensors_in

OBSERVATION_ATTRIBUTE = "_devlint_seen"
"""The attribute of an exception that holds the observation recorded for it."""

_ON_DEVICE = r"(torch\.(?:cuda|xpu|mps|npu)\.|MPS)"
"""Matches how the native type of a tensor on an accelerator begins in an error message."""
_DEVICE_TYPE = rf"\({_ON_DEVICE}\w+\)"
"""Matches the native type of a tensor on an accelerator in an error message."""
CODE_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"indices should be either on cpu", "DEV107"),
    (r"Tensors of the same index must be on the same device", "DEV114"),
    (r"same device|CPU scalars to non-CPU|different devices|attempting to assign a gradient with device", "DEV101"),
    (r"expected a CUDA device but found|CPU Scalar support for|must match device of values", "DEV101"),
    (rf"type \({_ON_DEVICE}\w+\) and (weight|bias) type \(\1\w+\)", "DEV302"),
    (rf"and (weight|bias) type {_DEVICE_TYPE}|type {_DEVICE_TYPE} and", "DEV101"),
    (r"Placeholder storage has not been allocated on MPS|but expected on mps", "DEV101"),
    (r"device type tensor to numpy", "DEV106"),
    (r"requires grad\. Use tensor\.detach\(\)\.numpy\(\)", "DEV117"),
    (r"Got unsupported ScalarType BFloat16", "DEV117"),
    (r"'lengths' argument should be a 1D CPU|to be on cpu, but it's on", "DEV108"),
    (r"device type for generator", "DEV109"),
    (r"cannot pin '|Only dense CPU tensors can be pinned", "DEV110"),
    (r"Torch not compiled with (CUDA|XPU)|not linked with support for mps", "DEV601"),
    (r"Tried to instantiate dummy base class (Event|Stream|_Cuda|CUDA)", "DEV601"),
    (r"module 'torch\.(accelerator|cuda|xpu|mps|mtia|cpu)[\w.]*' has no attribute", "DEV608"),
    (r"doesn't have NCCL built in|ProcessGroupNCCL is only supported with GPUs", "DEV610"),
    (r"re-initialize (CUDA|XPU|NPU) in forked", "DEV111"),
    (r"Invalid device string|invalid device ordinal|Expected one of cpu, cuda", "DEV112"),
    (r"The device index is out of range|valid device_index range is", "DEV112"),
    (r"can't optimize a non-leaf", "DEV113"),
    (r"MPS framework doesn't support float64|to the MPS backend but it does not have", "DEV303"),
    (r"tensors used as indices must be|expected scalar type \w*(Long|Int)|index.*int(32|64)", "DEV305"),
    (r"dtype int(32/int)?64 for index|long tensor for index|type LongTensor|have dtype of long", "DEV305"),
    (r"indices should be Long|'indices' to have one of|boolean mask|BoolTensor for mask|to be a boolean ", "DEV305"),
    (r"expected target dtype to be (Long|Byte)", "DEV304"),
    (r"Found dtype (Long|Int|Short|Byte|Bool)", "DEV304"),
    (r"\"(?!b?add|dot\"|\w+pool)\w+\" not implemented for '(Long|Int|Float|Double)'", "DEV304"),
    (r"same dtype|scalar type|should be the same|dtypes match|Found dtype", "DEV302"),
    (r"must share same datatype|self\.dtype to be equal to src\.dtype|RNN input dtype", "DEV302"),
)
"""Regular expressions for torch's error messages, each with the code of its rule; the first match decides."""
GOES_ON_AFTER = frozenset(f"DEV{number}" for number in (101, 106, 107, 108, 109, 110, 114, 117, 301, 302, 304, 305))
"""The rules after whose errors a program can go on, with `keep_going` set."""
_BROUGHT_TOGETHER = frozenset({"DEV101", "DEV106", "DEV107", "DEV114"})
"""The codes of errors that test code does not get where `pytest --devlint=move` has moved its tensors."""
_OF_TORCH = (AssertionError, RuntimeError, TypeError, ValueError)
"""The types of the exceptions that torch raises for wrong devices and dtypes."""
_RAISING = frozenset({"RAISE_VARARGS", "RERAISE"})
"""The bytecode instructions of a `raise` statement."""
_TRACEBACK_LINE = re.compile(r'File "(.+)", line (\d+), in (\S+)')
"""A traceback line inside the message of an error that another process raised."""
_COMPILED_PATTERNS = tuple((re.compile(pattern), code) for pattern, code in CODE_PATTERNS)


def code_for(message: str) -> str | None:
    """Return the code of the devlint rule that a torch error message belongs to, or None if no rule is about it."""
    return next((code for pattern, code in _COMPILED_PATTERNS if pattern.search(message)), None)


def report_operator_error(
    session: SessionProtocol, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Record an exception that an operator raised, with the history of how the operands came to their devices.

    Nothing is recorded for an exception that no devlint rule is about, or that is already recorded.
    """
    if hasattr(error, OBSERVATION_ATTRIBUTE) or not session.recorders:
        return
    message = str(error)
    code = code_for(message)
    if brings_together(session, error):
        return
    if code is None or (continues_after(session, error) and _in_backward()):
        return
    tensors = tensors_in((*args, *kwargs.values()))
    frame = user_frame(2)
    code = _refined_code(code, tensors)
    steps = _operand_history(tensors, sys._getframe(1))
    kind = type(error).__name__
    through = user_stack(frame)
    went_on = any(label.place.went_on for tensor in tensors if (label := label_of(tensor)) is not None)
    _attach_and_record(
        session, error, Observation(code, first_line(message), site_of(frame), steps, kind, through, went_on)
    )
    if not (session.keep_going and code in GOES_ON_AFTER):
        mark_interrupted(session, through)


def mark_interrupted(session: SessionProtocol, through: Iterable[Site]) -> None:
    """Mark source locations as places that an error passed through, in all recordings."""
    for recorder in session.recorders:
        recorder.mark_interrupted(through)


def _attach_and_record(session: SessionProtocol, error: BaseException, seen: Observation) -> None:
    """Record an observation about an exception, and store it as an attribute of the exception.

    The attribute prevents a second record of the exception.
    """
    setattr(error, OBSERVATION_ATTRIBUTE, seen)
    session.observe(seen)


def recorded_observation(error: BaseException | None) -> Observation | None:
    """Return devlint's record of the problem (an observation) that an exception, or one that led to it, stands for.

    Returns None if nothing was recorded for any of them.
    """
    while error is not None:
        seen: Observation | None = getattr(error, OBSERVATION_ATTRIBUTE, None)
        if seen is not None:
            return seen
        error = error.__cause__ or error.__context__
    return None


def continues_after(session: SessionProtocol, error: BaseException) -> bool:
    """Return whether the program continues after this error as if the operands had been on one device.

    That is so after an error about operands on different devices, if the session has `keep_going` set, and in test code
    whose tensors the session moves.
    """
    if brings_together(session, error):
        return True
    return session.keep_going and code_for(str(error)) in ("DEV101", "DEV107", "DEV114")


def brings_together(session: SessionProtocol, error: BaseException) -> bool:
    """Return whether an error about devices is no error, because it is raised in test code whose tensors are moved."""
    rules = session.test_rules
    return rules is not None and code_for(str(error)) in _BROUGHT_TOGETHER and rules.brings_together()


def _in_backward() -> bool:
    """Return whether autograd is running a backward pass.

    An error that `keep_going` passes over is not recorded there, because the forward pass has recorded it already.
    """
    return torch._C._current_graph_task_id() != -1


def report_uncaught_error(session: SessionProtocol, error: BaseException) -> None:
    """Record an exception that ended the program as an observed problem, and mark the lines that it passed through.

    An exception that no devlint rule is about, or that was already recorded when an operator raised it, is only marked.
    """
    passed = user_sites(error.__traceback__)
    mark_interrupted(session, passed)
    code = code_for(str(error))
    if code is None or hasattr(error, OBSERVATION_ATTRIBUTE):
        return
    through = (*_sites_in_message(str(error)), *passed)
    site = through[0] if through else None
    _attach_and_record(
        session, error, Observation(code, first_line(str(error)), site, (), type(error).__name__, through)
    )


def report_error_that_may_be_caught(session: SessionProtocol, error: BaseException, frame: FrameType) -> None:
    """Record an exception that comes to a frame of the user's code, where it may be caught.

    Nothing is recorded for an exception that no devlint rule is about, that is already recorded, or that the user's own
    `raise` statement raises: what it says is the program's opinion.
    """
    if hasattr(error, OBSERVATION_ATTRIBUTE) or not isinstance(error, _OF_TORCH) or not session.recorders:
        return
    code = code_for(str(error))
    if code is None or dis.opname[frame.f_code.co_code[frame.f_lasti]] in _RAISING:
        return
    through = user_stack(frame)
    seen = Observation(code, first_line(str(error)), site_of(frame), (), type(error).__name__, through)
    _attach_and_record(session, error, seen)
    for recorder in session.recorders:
        recorder.mark_interrupted(through)


def user_sites(traceback: TracebackType | None) -> list[Site]:
    """Return the source locations in the user's code that a traceback passes through, innermost first."""
    found: list[Site] = []
    while traceback is not None:
        frame = traceback.tb_frame
        if not is_library(frame.f_code.co_filename):
            found.insert(0, site_at(frame.f_code, traceback.tb_lasti, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def _sites_in_message(message: str) -> list[Site]:
    """Return the source locations in the user's code that a traceback inside an error message names, innermost first.

    Error messages contain a traceback when the error was raised in another process, such as a DataLoader worker.
    """
    places = [Site(name, int(line), function) for name, line, function in _TRACEBACK_LINE.findall(message)]
    return [site for site in reversed(places) if not is_library(site.filename)]


def first_line(message: str) -> str:
    """Return the line of an error message that says what is wrong, which is normally the first.

    For an error that a worker process passed on ("Caught ..."), it is the first line joined with the message of the
    worker's exception.
    """
    lines = message.strip().split("\n")
    if lines[0].startswith("Caught ") and len(lines) > 1:
        return f"{lines[0].rstrip('.')}: {lines[-1].partition(': ')[2]}"
    return lines[0]


def _refined_code(code: str, tensors: list[torch.Tensor]) -> str:
    """Return the rule code DEV301 (float64 input) in place of DEV302 if an operand is a float64 tensor made from NumPy.

    Otherwise the given code is returned as it is.
    """
    if code == "DEV302" and any(
        t.dtype is torch.float64 and "NumPy" in _history_text(label.place)
        for t in tensors
        if (label := label_of(t)) is not None
    ):
        return "DEV301"
    return code


def _history_text(place: Placement) -> str:
    """Return the descriptions of all steps of a placement's history, joined to one string.

    A placement is the device of a tensor with the history of how the tensor came there.
    """
    found: list[str] = []
    current: Placement | None = place
    while current is not None:
        found.append(current.how)
        current = current.parent
    return " ".join(found)


def _operand_history(tensors: list[torch.Tensor], frame: FrameType) -> tuple[HistoryStep, ...]:
    """Return the history of how the first eight operands came to their devices, each step once.

    The first step of an operand names it, if the code that leads to a frame has a name for it.
    """
    steps: list[HistoryStep] = []
    seen: set[tuple[str, object]] = set()
    for tensor, name in zip(tensors[:8], operand_names(tensors[:8], frame), strict=True):
        label = label_of(tensor)
        if label is None:
            continue
        new = [step for step in label.place.history() if (step.message, step.site) not in seen]
        seen.update((step.message, step.site) for step in new)
        steps += [replace(step, operand=name) if step is new[0] else step for step in new]
    return tuple(steps)
