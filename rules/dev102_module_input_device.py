"""Rule DEV102, which reports a module that is called with an input on another device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.causes import conflict_cause
from devlint.explain.conflict_texts import conflict_steps, conflict_subject, device_expression, device_source
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import argument_places, callee_text, place_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.fixes.fix_context import FixContext
from devlint.fixes.module_inputs import move_input, move_module
from devlint.fixes.tensor_device_text import find_device_expression
from devlint.interpreter.state.events import ModuleInputConflict, Operand
from devlint.rule import Finding, Rule


class ModuleInputDevice(Rule):
    """A module on one device is called with an input on another.

    ## What it does
    Reports a call of a module (a model, a layer, a loss that holds weights, a recurrent network with its hidden
    state) whose parameters lie on one device and whose input lies on another.

    ## Why is this bad?
    `model.to(device)` moves the parameters and nothing else. An input that stays on the host meets them inside, and
    the call raises `RuntimeError: Expected all tensors to be on the same device`, far from the line that forgot the
    transfer.

    ## Example
    ```python
    import torch
    from torch import nn

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(8, 2).to(device)
    batch = torch.rand(16, 8)
    out = model(batch)
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(8, 2).to(device)
    batch = torch.rand(16, 8).to(device)
    out = model(batch)
    ```

    ## Fix safety
    The input is made on the module's device, where something at hand says which one that is, or moved before the
    call; a module that stays on the host while its inputs are elsewhere is moved itself. Making the input there is
    safe where it is used once and holds no random numbers; all else is unsafe.

    ## How it is confirmed at run time
    The call raises PyTorch's device error, at the reported line or below it. Without an accelerator, `devlint run`
    lets an emulated one raise it.

    ## Known limits
    Modules that a framework places (Lightning, accelerate, `device_map`) are left alone, and so are inputs whose
    device is not known.
    """

    code = "DEV102"
    fixable = True
    name = "module-input-device"
    severity = Severity.ERROR

    def check(self, event: ModuleInputConflict) -> Iterator[Finding]:
        """Yield a finding for a module call whose input is on another device than the module's parameters."""
        weights, given = _module_and_input(event)
        module = callee_text(event.context.place)
        argument = _argument(event, given)
        noun = f"its input `{place_text(argument)}`" if argument is not None else "one of its inputs"
        where, whither = device_text(weights.case), device_text(given.case)
        yield Finding(
            event.reported,
            f"`{module}` is on {where} but {noun} is on {whither}{condition_text(event.when)}",
            trace=conflict_steps(event, event.reported),
            help=_help(event, weights, given, argument),
            assumptions=conflict_assumptions(event),
            subject=conflict_subject(event),
            cause=conflict_cause(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: ModuleInputConflict, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV102: move the module or its input, whichever is misplaced."""
    weights, given = _module_and_input(event)
    if weights is event.misplaced:
        return move_module(context, event, given)
    return move_input(context, event, weights, given, _argument(event, given))


def _module_and_input(event: ModuleInputConflict) -> tuple[Operand, Operand]:
    """Return the two operands of a conflict between a module and its input: first the weights, then the input.

    The input is the operand that a module call on the stack has received.
    """
    if event.module_call is not None:
        received = [one.case.placing_step in event.module_call.causes for one in (event.misplaced, event.reference)]
        if received == [True, False]:
            return event.reference, event.misplaced
    if event.reference.of_module is not None or (
        event.reference.tensor.cell is not None and event.misplaced.of_module is None
    ):
        return event.reference, event.misplaced
    return event.misplaced, event.reference


def _argument(event: ModuleInputConflict, given: Operand) -> Place | None:
    """Return the source location of the argument that holds a module's input in the module call.

    Returns None when it is not clear which argument holds the input.
    """
    arguments = argument_places(event.context.place)
    if event.module_call is None:
        return given.place
    written = place_text(given.place)
    same = next((one for one in arguments if place_text(one) == written), None)
    return arguments[0] if same is None and len(arguments) == 1 else same


def _help(event: ModuleInputConflict, weights: Operand, given: Operand, argument: Place | None) -> str:
    """Return the advice for a finding of DEV102: the transfer of the module or input that the author should write."""
    if weights is event.misplaced:
        device = device_expression(event, given)
        return f"move the module to where its inputs are: `{callee_text(event.context.place)}.to({device})`"
    transfer = f".to({_device_of_module(event, weights)})"
    if argument is None:
        return f"move the input before the call, with `{transfer}`"
    return f"move the input before the call: `{text_with_suffix(argument, transfer, MAX_SUGGESTION_LENGTH)}`"


def _device_of_module(event: ModuleInputConflict, weights: Operand) -> str:
    """Return the source text of an expression for the device of the called module, valid at its call.

    The tensors that meet may be inside, under names that the caller does not have.
    """
    if event.module_call is None:
        return device_expression(event, weights)
    written = device_source(event, weights)
    if written is not None and written[-1] in "'\"":
        return written
    told = find_device_expression(event.device_expressions, weights.tensor.placement)
    return told or f"next({callee_text(event.context.place)}.parameters()).device"
