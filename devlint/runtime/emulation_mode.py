"""The dispatch mode under which programs run: checks devices as CUDA would, carries labels on, tells the recorders."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime import rng, torch_errors
from devlint.runtime.call_sites import user_frame, user_site
from devlint.runtime.device_transfers import moved
from devlint.runtime.discarded_results import OPERATORS, look_for_dropped_value
from devlint.runtime.error_reports import mishap, repaired
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.numpy_sharing import Export, used_again
from devlint.runtime.operator_plans import Plan, Regime, has_float64, plan_for
from devlint.runtime.runtime_session import Session
from devlint.runtime.special_operators import SPECIALS
from devlint.runtime.storage_labels import (
    FLOATING,
    HOST,
    SLOT,
    Cell,
    DeviceCell,
    Place,
    cell_of,
    put,
    storage_of_plain,
)
from devlint.runtime.tensor_arguments import tensors_in
from devlint.runtime.tensor_iterator import settled

Tensor = torch.Tensor
_Base: Any = TorchDispatchMode
_plans: dict[Any, Plan] = {}


def _plan(func: Any) -> Plan:
    plan = _plans.get(func)
    if plan is None:
        plan = plan_for(func)
        plan.special = SPECIALS.get(plan.name)
        if plan.special is not None:
            plan.regime = Regime.FREE
            plan.inside = None
        _plans[func] = plan
    return plan


class PlacementMode(_Base):  # type: ignore[misc]
    """Real arithmetic on host memory, with the devices that the labels say."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No graph is ever compiled under this mode, and torch's guard against that costs more than the mode itself."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One operator, below autograd."""
        kwargs = kwargs or {}
        plan = _plans.get(func) or _plan(func)
        place, mixed = self._meeting(plan, args, kwargs)
        session = self.session
        if kwargs:
            device = kwargs.get("device")
            if device is not None and device.type == session.kind:
                return self._reroute(func, args, kwargs, device)
        near = place is not None and place.key != 0
        if plan.inside is not None and ((mixed and place is not None) or (near and plan.implicit)):
            return self._inside(plan.inside, func, args, kwargs, place)
        if near:
            session.streams.launched += 1
            if session.forked:
                session.initialise()
        if mixed:
            self._settle(plan, args, kwargs, place)
        if plan.special is not None:
            done = self._special(plan, func, args, kwargs)
            if done is not NotImplemented:
                return done
        try:
            if plan.random and place is not None:
                out = rng.run(session, place, func, args, kwargs)
            else:
                out = func(*args, **kwargs)
        except Exception as error:
            if near and torch_errors.host_lacks_kernel(error):
                raise NotEmulated(f"{plan.name} in a dtype that the host has no kernel for") from error
            mishap(session, error, args, kwargs)
            raise
        self._follow(plan, out, args, kwargs, place, mixed)
        return out

    def _meeting(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Place | None, bool]:
        """Where the operands are, the accelerator before the host, and whether they differ or float."""
        place: Place | None = None
        common: Place | None = None
        mixed = False
        slot = SLOT
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
                    cell = getattr(storage_of_plain(tensor), slot)
                except (NotImplementedError, RuntimeError):
                    cell = cell_of(tensor)
                if cell is None:
                    key = 0
                    here = None
                else:
                    here = cell.place
                    if here is FLOATING:
                        mixed = True
                        continue
                    key = here.key
                    if cell.watch is not None:
                        self._watched(plan, cell, tensor, args)
                if common is None:
                    common = here or _HOST
                elif key != common.key:
                    mixed = True
                if place is None or (key and not place.key):
                    place = here
        return place, mixed

    def _inside(self, key: Any, func: Any, args: Any, kwargs: Any, place: Place | None) -> Any:
        """CUDA has no kernel for this operator: make those inside it that have one, and let them check."""
        session = self.session
        before, session.inside = session.inside, True
        try:
            with self:
                out = func._op_dk(key, *args, **kwargs)
        finally:
            session.inside = before
        if place is not None:
            _land(out, place)
        return out

    def _follow(
        self, plan: Plan, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None, mixed: bool
    ) -> None:
        """Label what came out, and tell the recorders."""
        session = self.session
        if plan.name in OPERATORS:
            look_for_dropped_value(session, 3)
        if mixed and plan.regime is Regime.FREE:
            place = _first(args) or place
        if place is not None:
            if mixed and plan.name.startswith("_foreach_"):
                _label_rows(out, args)
            else:
                _label(out, place)
            if place.key:
                if plan.waits is not None and kwargs.get("output_size") is None:
                    session.waited(plan.waits)
                if session.recorders:
                    self._record(plan, out, args)
                return
        elif plan.factory or mixed:
            _label(out, FLOATING)
        if session.recorders and not session.quiet:
            frame = user_frame(3)
            for recorder in session.recorders:
                recorder.operator(plan.name, frame, near=False)

    def _record(self, plan: Plan, out: Any, args: tuple[Any, ...]) -> None:
        session = self.session
        if session.quiet:
            return
        frame = user_frame(4)
        promoted = isinstance(out, Tensor) and out.dtype is torch.float64 and not has_float64(args)
        for recorder in session.recorders:
            recorder.operator(plan.name, frame, near=True)
            if promoted:
                recorder.promotion(frame)

    def _settle(self, plan: Plan, args: Any, kwargs: Any, place: Place | None) -> None:
        """Check operands that differ, and let those that float join the others."""
        session = self.session
        try:
            plan.check(args, kwargs)
        except RuntimeError as error:
            mishap(session, error, args, kwargs)
            if not repaired(session, error):
                raise
        placed = [(tensor, settled(tensor)) for tensor in tensors_in((*args, *kwargs.values()))]
        home = place or next((known for _, known in placed if known is not None), None)
        across = plan.regime is Regime.FREE and session.inside
        for tensor, known in placed:
            if known is None and home is not None and not across:
                put(tensor, home)
            elif known is not None and place is not None and place.key and not known.key and tensor.requires_grad:
                _send_gradient_home(tensor, known)

    def _reroute(self, func: Any, args: Any, kwargs: dict[str, Any], device: torch.device) -> Any:
        """Compiled code asked for the accelerator by name: make it on the host and label it."""
        target = self.session.resolve(device)
        out = func(*args, **{**kwargs, "device": HOST})
        put(out, Place(target, f"created on {target}", user_site(3)))
        return out

    def _special(self, plan: Plan, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            return plan.special(self.session, plan, func, args, kwargs)
        except Exception as error:
            mishap(self.session, error, args, kwargs)
            if repaired(self.session, error):
                return NotImplemented
            raise

    def _watched(self, plan: Plan, cell: Cell, tensor: Tensor, args: tuple[Any, ...]) -> None:
        """An operand's memory is on its way, or shared with NumPy."""
        watch = cell.watch
        if plan.view:
            return
        writes = any(index < len(args) and args[index] is tensor for index in plan.writes)
        if isinstance(watch, Export):
            if used_again(self.session, watch, tensor):
                cell.watch = None
        elif watch is None or plan.name in ("_to_copy", "copy_"):
            return
        elif watch.inbound:
            self.session.read_early(watch, plan.name)
        elif writes:
            self.session.overwritten(watch)


_HOST = Place(torch.device("cpu"), "on the host", None)


def _first(args: tuple[Any, ...]) -> Place | None:
    """The place of the operand that decides where nobody checks: the first."""
    return settled(args[0]) if args and isinstance(args[0], Tensor) else None


def _label(out: Any, place: Place) -> None:
    if isinstance(out, Tensor):
        try:
            storage = storage_of_plain(out)
        except (NotImplementedError, RuntimeError):
            if cell_of(out) is None:
                put(out, place)
            return
        if storage._devlint_cell is None:  # type: ignore[attr-defined]
            storage._devlint_cell = DeviceCell(place, storage.nbytes()) if place.key else Cell(place)  # type: ignore[attr-defined]
    elif isinstance(out, list | tuple):
        for part in out:
            _label(part, place)


def _land(out: Any, place: Place) -> None:
    """Label what came out of a composite, and what is still floating."""
    for tensor in tensors_in((out,)):
        if cell_of(tensor) is None or settled(tensor) is None:
            put(tensor, place)


def _label_rows(out: Any, args: tuple[Any, ...]) -> None:
    """The results of a foreach operator live where their row's operands live."""
    lists = [a for a in args if isinstance(a, list | tuple)]
    for index, result in enumerate(out or ()):
        row = [a[index] for a in lists if index < len(a) and isinstance(a[index], Tensor)]
        places = [p for t in row if (p := settled(t)) is not None]
        place = next((p for p in places if p.key), places[0] if places else None)
        if place is not None:
            _label(result, place)


def _send_gradient_home(tensor: Tensor, home: Place) -> None:
    """Autograd moves the gradient of a 0-dim host operand back to the host."""
    if not getattr(tensor, "_devlint_homing", False):
        tensor._devlint_homing = True  # type: ignore[attr-defined]
        cast(Any, tensor).register_hook(
            lambda gradient: moved(gradient, home.device) if settled(gradient) is not home else None
        )
