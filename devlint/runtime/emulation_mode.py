"""The torch dispatch mode that emulates accelerators on the host.

It computes on the host, raises the errors that a real device raises for operands on different devices, and records
operators.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from types import FrameType
from typing import Any, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime import rng, torch_errors
from devlint.runtime.call_sites import called_by_user, known_libraries, user_frame, user_site
from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.direct_calls import PLAIN_TENSORS
from devlint.runtime.discarded_results import CAST_OPERATORS, check_discarded_cast
from devlint.runtime.error_reports import code_for, continues_after, report_operator_error
from devlint.runtime.floating_kernels import FLOATING_KERNELS, INTEGER_CHECKS, refuse_integers
from devlint.runtime.narrow_dtypes import DTYPE_CHECKS, computed_in_float32
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.numpy_sharing import NumpyExport, report_change_through_numpy
from devlint.runtime.operator_plans import DeviceCheck, OperatorPlan, has_float64, plan_for
from devlint.runtime.patches.backward_passes import ENGINE_CODE
from devlint.runtime.runtime_session import RuntimeSession
from devlint.runtime.special_operators import SPECIAL_HANDLERS
from devlint.runtime.storage_labels import (
    HOST,
    LABEL_ATTRIBUTE,
    UNDECIDED,
    DeviceStorageLabel,
    Placement,
    StorageLabel,
    label_of,
    label_tensor,
    storage_of_dense,
)
from devlint.runtime.stream_clocks import PendingCopy
from devlint.runtime.tensor_arguments import tensors_in
from devlint.runtime.tensor_iterator import decided_placement
from devlint.runtime.wrapped_numbers import tensors_for_refused_numbers

Tensor = torch.Tensor
_Base: Any = TorchDispatchMode
_FLOAT64 = torch.float64
_plans: dict[Any, OperatorPlan] = {}
"""The plans made so far, by what an operator overload calls: its hash is quicker than that of the overload."""


def _plan(func: Any) -> OperatorPlan:
    """Return the plan for an operator overload, made on first use: what the emulation must know of the overload."""
    plan = _plans.get(func._op)
    if plan is None:
        plan = plan_for(func)
        plan.handler = SPECIAL_HANDLERS.get(plan.name)
        plan.dtype_check = DTYPE_CHECKS.get(plan.name) or INTEGER_CHECKS.get(plan.name)
        plan.casts = plan.name in CAST_OPERATORS
        if plan.handler is not None:
            plan.device_check = DeviceCheck.NONE
            plan.composite_key = None
        plan.simple = not (plan.handler or plan.dtype_check or plan.random or plan.implicit_composite)
        if plan.name in FLOATING_KERNELS:
            plan.floats_only, plan.dtype_check = True, partial(refuse_integers, plan.name)
        _plans[func._op] = plan
    return plan


class EmulationMode(_Base):  # type: ignore[misc]
    """Torch dispatch mode that emulates accelerators on the host.

    Every operator computes on the host. The device of each tensor is read from a label that is kept on its storage.
    """

    def __init__(self, session: RuntimeSession) -> None:
        super().__init__()
        self.session = session
        self.limits = session.dtype_limits or None
        self.always_checks = self.limits is not None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that torch does not wrap this mode's dispatch in a guard against TorchDynamo.

        The guard costs more time than the mode itself, and is not needed because no graph is compiled under this mode.
        """
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator on emulated devices, and return its result.

        Checks that the operands' devices are allowed, computes on the host, labels the results with their device, and
        records that the operator ran.
        """
        plan = _plans.get(func._op) or _plan(func)
        # What runs most has operands on one device that nothing watches: then only labels are read and written.
        fits = plan.simple and not kwargs and not self.always_checks
        if plan.floats_only and not args[0].is_floating_point():
            fits = False
        place: Placement | None = None
        key = -1
        if fits:
            try:
                for value in args if not plan.takes_lists else _flattened(args):
                    if type(value) in PLAIN_TENSORS:
                        label = storage_of_dense(value)._devlint_label
                        if label is None:
                            found = 0
                        else:
                            here = label.place
                            found = here.key
                            if place is None:
                                place = here
                            if label.watch is not None or here is UNDECIDED:
                                fits = False
                        if found != key:
                            if key >= 0:
                                fits = False
                            key = found
                    elif isinstance(value, Tensor):
                        fits = False
            except (NotImplementedError, RuntimeError):
                fits = False
        session = self.session
        if not fits or session.forked_after_init:
            return self._run_checked(func, types, plan, args, kwargs or {})
        try:
            out = plan.call(*args)
        except Exception as error:
            return self._after_error(func, types, plan, args, {}, place, False, error)
        if place is None and plan.factory:
            place = UNDECIDED
        if place is not None:
            if type(out) is Tensor:
                try:
                    storage = storage_of_dense(out)
                    if storage._devlint_label is None:
                        storage._devlint_label = (
                            DeviceStorageLabel(place, storage.nbytes()) if key > 0 else StorageLabel(place)
                        )
                except (NotImplementedError, RuntimeError):
                    _label_outputs(out, place)
            elif out is not None:
                _label_outputs(out, place)
            if key > 0:
                session.streams.launched_operators += 1
                if plan.waits is not None:
                    session.host_waited(plan.waits)
        if session.recorders:
            if plan.casts:
                check_discarded_cast(session, 2)
            state = session.thread_state
            if not state.suspended:
                frame: FrameType | None = sys._getframe(1)
                code = frame.f_code  # type: ignore[union-attr]
                if code is ENGINE_CODE:
                    frame = state.backward_frame or user_frame(2)
                elif known_libraries.get(code.co_filename) is not False:
                    frame = user_frame(2)
                if key > 0 and isinstance(out, Tensor) and out.dtype is _FLOAT64:
                    self._record(plan, out, args, frame, on_device=True)
                else:
                    for recorder in session.recorders:
                        recorder.record_operator(plan.name, frame, key > 0)
        return out

    def _run_checked(
        self, func: Any, types: Any, plan: OperatorPlan, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run one operator with every check, and return its result."""
        place, mixed = self._operand_placement(plan, args, kwargs)
        session = self.session
        if kwargs:
            device = kwargs.get("device")
            if device is not None and device.type == session.kind:
                return self._create_on_device(func, args, kwargs, device)
        on_device = place is not None and place.key != 0
        if on_device and kwargs and self.limits is not None:
            kwargs = self.limits.replace_cast(plan.name, kwargs)
        if plan.composite_key is not None and (
            (mixed and place is not None) or (on_device and plan.implicit_composite)
        ):
            return self._run_composite(plan.composite_key, func, args, kwargs, place)
        if on_device:
            session.streams.launched_operators += 1
            if session.forked_after_init:
                session.initialize()
        if mixed:
            place = self._check_mixed_operands(plan, args, kwargs, place)
        if plan.handler is not None:
            done = self._run_handler(plan, func, args, kwargs)
            if done is not NotImplemented:
                return done
        if plan.dtype_check is not None and on_device and session.kind == "cuda":
            self._check_dtypes(plan, args, kwargs)
        try:
            if plan.random and place is not None:
                out = rng.run_random_operator(session, place, func, args, kwargs)
            else:
                out = func(*args, **kwargs)
        except Exception as error:
            return self._after_error(func, types, plan, args, kwargs, place, mixed, error)
        self._label_and_record(plan, out, args, kwargs, place, mixed)
        return out

    def _after_error(
        self,
        func: Any,
        types: Any,
        plan: OperatorPlan,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        place: Placement | None,
        mixed: bool,
        error: Exception,
    ) -> Any:
        """Return the result of an operator that the host's kernel refused, where an accelerator's would not.

        Raises and records the error, which is the exception that is being handled, if an accelerator has it too.
        """
        tensors = tensors_for_refused_numbers(func, args, error)
        if tensors is not None:
            return self.__torch_dispatch__(func, types, tensors, kwargs)
        if place is not None and place.key and self.session.kind == "cuda":
            torch_errors.name_type_of_device(error, place.device)
        if place is None or not place.key or not torch_errors.host_lacks_kernel(error):
            report_operator_error(self.session, error, args, kwargs)
            raise error
        out = computed_in_float32(plan.name, func, args, kwargs)
        if out is NotImplemented:
            raise NotEmulated(f"{plan.name} in a dtype that the host has no kernel for") from error
        self._label_and_record(plan, out, args, kwargs, place, mixed)
        return out

    def _operand_placement(
        self, plan: OperatorPlan, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Placement | None, bool]:
        """Return the placement (device and history) of an operator's operands, and whether their devices differ.

        If they differ, the placement on an accelerator is preferred to the host's. The placement is None if no operand
        has a label. An operand whose device is undecided counts as differing.
        """
        place: Placement | None = None
        common: Placement | None = None
        mixed = False
        slot = LABEL_ATTRIBUTE
        for value in args if not kwargs else (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                group: Any = (value,)
            elif type(value) is list or type(value) is tuple:
                group = value
            else:
                continue
            for tensor in group:
                if not isinstance(tensor, Tensor):
                    continue
                try:
                    label = getattr(storage_of_dense(tensor), slot)
                except (NotImplementedError, RuntimeError):
                    label = label_of(tensor)
                if label is None:
                    key = 0
                    here = None
                else:
                    here = label.place
                    if here is UNDECIDED:
                        mixed = True
                        continue
                    key = here.key
                    if label.watch is not None:
                        self._check_watched_operand(plan, label, tensor, args)
                if common is None:
                    common = here or _UNLABELLED_HOST
                elif key != common.key:
                    mixed = True
                if place is None or (key and not place.key):
                    place = here
        return place, mixed

    def _run_composite(self, key: Any, func: Any, args: Any, kwargs: Any, place: Placement | None) -> Any:
        """Run an operator that has no CUDA kernel as the simpler operators that it is composed of.

        Returns the operator's result. Each of the simpler operators checks the devices of its own operands.
        """
        session = self.session
        before, session.inside_composite = session.inside_composite, True
        try:
            with self:
                out = func._op_dk(key, *args, **kwargs)
        finally:
            session.inside_composite = before
        if place is not None:
            _label_composite_outputs(out, place)
        return out

    def _label_and_record(
        self,
        plan: OperatorPlan,
        out: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        place: Placement | None,
        mixed: bool,
    ) -> None:
        """Label the results of an operator with their device, and tell the recorders that the operator ran.

        If the operator makes the host wait for the accelerator, the wait is recorded too.
        """
        session = self.session
        if plan.casts:
            check_discarded_cast(session, 4)
        if mixed and plan.device_check is DeviceCheck.NONE:
            place = _first_operand_placement(args) or place
        if place is not None:
            if mixed and plan.name.startswith("_foreach_"):
                _label_foreach_outputs(out, args)
            else:
                _label_outputs(out, place)
            if place.key:
                if self.limits is not None:
                    self.limits.check_operator(plan.name, plan.view, args, out)
                if plan.waits is not None and kwargs.get("output_size") is None:
                    session.host_waited(plan.waits)
        elif plan.factory or mixed:
            _label_outputs(out, UNDECIDED)
        if session.recorders and not session.thread_state.suspended:
            self._record(plan, out, args, user_frame(4), on_device=place is not None and place.key > 0)

    def _record(
        self, plan: OperatorPlan, out: Any, args: tuple[Any, ...], frame: FrameType | None, *, on_device: bool
    ) -> None:
        """Tell the recorders that an operator ran, on the emulated device or on the host, for a frame of user code.

        They are also told if an operator on the device returned float64 although none of its operands was float64, and
        the user's code called it: what a library computes in float64 for itself is not the user's to change.
        """
        promoted = (
            on_device
            and isinstance(out, Tensor)
            and out.dtype is _FLOAT64
            and not has_float64(args)
            and called_by_user()
        )
        for recorder in self.session.recorders:
            recorder.record_operator(plan.name, frame, on_device)
            if promoted:
                recorder.record_promotion(frame)

    def _check_mixed_operands(
        self, plan: OperatorPlan, args: Any, kwargs: Any, place: Placement | None
    ) -> Placement | None:
        """Check whether PyTorch allows an operator's operands on different devices; record and raise its error if not.

        With `keep_going` set, the error is only recorded. Operands whose device is still undecided get the device of
        the others. Returns the placement of the operands, which tells of an error that was only recorded.
        """
        session = self.session
        after = place
        try:
            plan.check(args, kwargs, session.backend)
        except RuntimeError as error:
            report_operator_error(session, error, args, kwargs)
            if not continues_after(session, error):
                raise
            allowed = False
            if place is not None:
                after = place.after_going_on(code_for(str(error)) or "DEV101", user_site(3))
        else:
            allowed = True
        placed = [(tensor, decided_placement(tensor)) for tensor in tensors_in((*args, *kwargs.values()))]
        if allowed and len({known.key for _, known in placed if known is not None}) > 1:
            session.notify_recorders(lambda recorder, frame: recorder.record_mixed_operands(frame))
        home = place or next((known for _, known in placed if known is not None), None)
        across = plan.device_check is DeviceCheck.NONE and session.inside_composite
        for tensor, known in placed:
            if known is None and home is not None and not across:
                label_tensor(tensor, home)
            elif known is not None and place is not None and place.key and not known.key and tensor.requires_grad:
                _return_gradient_to_host(session, tensor, known, counted=allowed)
        return after

    def _check_dtypes(self, plan: OperatorPlan, args: Any, kwargs: Any) -> None:
        """Raise and record the error of a CUDA kernel that refuses dtypes which the host's kernel takes."""
        try:
            plan.dtype_check(args)
        except RuntimeError as error:
            report_operator_error(self.session, error, args, kwargs)
            if not continues_after(self.session, error):
                raise

    def _create_on_device(self, func: Any, args: Any, kwargs: dict[str, Any], device: torch.device) -> Any:
        """Run a factory operator whose `device` argument is an emulated device, and return the new tensor.

        The tensor is created on the host, and its storage is labelled with the emulated device.
        """
        target = self.session.resolve(device)
        out = func(*args, **{**kwargs, "device": HOST})
        self.session.dtype_limits.check_made(out.dtype)
        label_tensor(out, Placement(target, f"created on {target}", user_site(3)))
        return out

    def _run_handler(self, plan: OperatorPlan, func: Any, args: Any, kwargs: Any) -> Any:
        """Run devlint's own handler for an operator with an unusual device check, and return the handler's result.

        Returns NotImplemented if the operator itself must still run.
        """
        try:
            return plan.handler(self.session, plan, func, args, kwargs)
        except Exception as error:
            report_operator_error(self.session, error, args, kwargs)
            if continues_after(self.session, error):
                return NotImplemented
            raise

    def _check_watched_operand(
        self, plan: OperatorPlan, label: StorageLabel, tensor: Tensor, args: tuple[Any, ...]
    ) -> None:
        """Report an operand whose values are not safe to use.

        That is an operand with a pending non-blocking copy, or one that was changed through a NumPy array on the same
        memory.
        """
        watch = label.watch
        if plan.view:
            return
        writes = any(index < len(args) and args[index] is tensor for index in plan.writes)
        if isinstance(watch, NumpyExport):
            if report_change_through_numpy(self.session, watch, tensor):
                label.watch = None
        elif not isinstance(watch, PendingCopy) or plan.name in ("_to_copy", "copy_"):
            return
        elif watch.to_host:
            self.session.report_early_read(watch, plan.name)
        elif writes:
            self.session.report_overwritten_buffer(watch)


def _flattened(args: tuple[Any, ...]) -> list[Any]:
    """Return the arguments of an operator, with the elements of lists in the place of the lists."""
    found: list[Any] = []
    for value in args:
        if type(value) is list or type(value) is tuple:
            found += value
        else:
            found.append(value)
    return found


_UNLABELLED_HOST = Placement(torch.device("cpu"), "on the host", None)
"""The placement of tensors that have no label."""


def _first_operand_placement(args: tuple[Any, ...]) -> Placement | None:
    """Return the placement (device and history) of an operator's first operand.

    It is the result's for an operator whose operands may be on different devices. Returns None if the first operand is
    no tensor or its device is undecided.
    """
    return decided_placement(args[0]) if args and isinstance(args[0], Tensor) else None


def _label_outputs(out: Any, place: Placement) -> None:
    """Label the tensors in an operator's result with a device and its history, unless they already have a label."""
    if isinstance(out, Tensor):
        try:
            storage = storage_of_dense(out)
        except (NotImplementedError, RuntimeError):
            if label_of(out) is None:
                label_tensor(out, place)
            return
        if storage._devlint_label is None:
            storage._devlint_label = DeviceStorageLabel(place, storage.nbytes()) if place.key else StorageLabel(place)
    elif isinstance(out, list | tuple):
        for part in out:
            _label_outputs(part, place)


def _label_composite_outputs(out: Any, place: Placement) -> None:
    """Label the results of a composite operator with a device and its history, if their device is not yet decided.

    The device is not decided for a tensor that torch's C++ code created and that has met no other operand.
    """
    for tensor in tensors_in((out,)):
        if label_of(tensor) is None or decided_placement(tensor) is None:
            label_tensor(tensor, place)


def _label_foreach_outputs(out: Any, args: tuple[Any, ...]) -> None:
    """Label each result of a `_foreach_` operator with the device and history of the operands at the same index.

    If the operands at one index are on the host and on an accelerator, the result is on the accelerator.
    """
    lists = [a for a in args if isinstance(a, list | tuple)]
    for index, result in enumerate(out or ()):
        row = [a[index] for a in lists if index < len(a) and isinstance(a[index], Tensor)]
        places = [p for t in row if (p := decided_placement(t)) is not None]
        place = next((p for p in places if p.key), places[0] if places else None)
        if place is not None:
            _label_outputs(result, place)


def _return_gradient_to_host(session: RuntimeSession, tensor: Tensor, home: Placement, *, counted: bool) -> None:
    """Register a hook on a host operand that moves its gradient back to the host, as autograd does on CUDA.

    Such an operand is one that an operator used together with tensors on an accelerator. The move is `counted` if it
    has no dimensions. Where the operator had failed and devlint went on, no program would come to move the gradient.
    """
    if getattr(tensor, "_devlint_homing", False):
        return

    def bring_home(gradient: Tensor) -> Tensor | None:
        if decided_placement(gradient) is home:
            return None
        with nullcontext() if counted else session.unrecorded():
            return copy_to_device(gradient, home.device)

    tensor._devlint_homing = True  # type: ignore[attr-defined]
    cast(Any, tensor).register_hook(bring_home)
