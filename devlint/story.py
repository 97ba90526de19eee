"""Findings in words: places, devices and conditions as the reader knows them, and the steps that led there."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Hashable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.diagnostic import Confidence
from devlint.flow.events import Clash, Event, Operand
from devlint.syntax.tree_walk import descend, dotted_name
from devlint.values.condition import NO_FACTS, Facts
from devlint.values.device import Symbol, is_host
from devlint.values.placement import How, Leaf
from devlint.values.trace import Kind, Place, Step, history

LONGEST: Final = 40
"""Characters of source that a message quotes; what is longer loses its middle."""

WORDS: Final = frozenset({"indexing", "index assignment"})
"""Operations that are named by a word and not by code."""

LOOSE: Final = (
    cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp, cst.Lambda, cst.Await,
    cst.NamedExpr,
)  # fmt: skip
"""Expressions that bind less tightly than an attribute."""

OPPOSITES: Final = {"is": "is not", "is not": "is", "==": "!=", "!=": "=="}
NEGATED: Final = re.compile(r"\bnot (\S+) (is not|is|==|!=) (\S+)")


# Places


def place_text(place: Place, longest: int = LONGEST) -> str:
    """The source of a place on one line, shortened in the middle where it is long."""
    code = cst.Module([]).code_for_node(place.node) if isinstance(place.node, cst.CSTNode) else ""
    text = " ".join(_without_comments(code).split())
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half].rstrip()}...{text[-half:].lstrip()}"


def with_suffix(place: Place, suffix: str) -> str:
    """The source of a place with `.cpu()` or the like behind it, in parentheses where Python needs them."""
    text = place_text(place)
    loose = isinstance(place.node, LOOSE) and not place.node.lpar
    return f"({text}){suffix}" if loose else f"{text}{suffix}"


def _without_comments(code: str) -> str:
    if "#" not in code:
        return code
    lines = f"({code})".splitlines()  # within parentheses line breaks and indentation mean nothing
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(lines)[1:-1]


def name_of(place: Place) -> str | None:
    """The dotted name that stands at a place (`x`, `self.pe`); None for any other expression."""
    return dotted_name(place.node) if isinstance(place.node, cst.BaseExpression) else None


def receiver_of(place: Place, longest: int = LONGEST) -> str:
    """What is called at a place (`self.fc` of `self.fc(x)`); the place's own text where nothing is called."""
    node = place.node
    return place_text(replace(place, node=node.func) if isinstance(node, cst.Call) else place, longest)


def measured_in(place: Place) -> str | None:
    """The name whose size the expression at a place asks for: `labels` in `torch.eye(labels.size(0))`."""
    for node in descend(place.node) if isinstance(place.node, cst.CSTNode) else ():
        if isinstance(node, cst.Attribute) and node.attr.value in ("size", "shape", "numel"):
            measured = name_of(replace(place, node=node.value))
            if measured is not None:
                return measured
    return None


def method_of(place: Place) -> str:
    """The method called at a place, `.to()`; the place's own text where none is."""
    node = place.node
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return f".{node.func.attr.value}()"
    return place_text(place)


def arguments_of(place: Place) -> tuple[Place, ...]:
    """The arguments of the call at a place; none where nothing is called."""
    node = place.node
    return tuple(replace(place, node=one.value) for one in node.args) if isinstance(node, cst.Call) else ()


def operand_text(operand: Operand) -> str:
    """An operand as a noun: its expression, or the module whose parameters it is."""
    if operand.of_module is not None:
        return f"the weights of `{receiver_of(operand.place)}`"
    return f"`{place_text(operand.place)}`"


def operation_text(operation: str) -> str:
    """An operation as a noun: `*` in code marks, indexing in words."""
    return operation if operation in WORDS else f"`{operation}`"


# Devices


def is_of_module(leaf: Leaf) -> bool:
    """Whether it lies where a module is, which its user decides."""
    return isinstance(leaf.device, Symbol) and leaf.device.text == "the module"


def device_text(leaf: Leaf) -> str:
    """Where a leaf lies: `cpu`, `cuda:1`, `the caller's device`, `the module's device`."""
    device = leaf.device
    if not isinstance(device, Symbol):
        return str(device)
    if is_of_module(leaf):
        return "the module's device"
    return "the caller's device" if leaf.how is How.CALLER else str(device)


def when_text(facts: Facts) -> str:
    """The conditions a finding depends on, to be put behind a sentence: ` when torch.cuda.is_available()`."""
    if not facts:
        return ""
    return " when " + " and ".join(sorted(_condition(str(test)) for test in facts))


def _condition(text: str) -> str:
    text = NEGATED.sub(lambda match: f"{match[1]} {OPPOSITES[match[2]]} {match[3]}", text)
    return text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST - 3].rstrip()}..."


# Clashes


def meeting(event: Clash) -> str:
    """Where and when two operands meet, to be put behind a sentence: "in `*` when torch.cuda.is_available()"."""
    return f"in {operation_text(event.operation)}{when_text(event.when)}"


def clash_steps(event: Clash, reported: Place) -> tuple[Step, ...]:
    """Both operands' stories; and last the operation where they meet, unless it is itself what is `reported`."""
    place = event.context.place
    told = steps(event.strange.leaf, event.other.leaf)
    if place == reported:
        return told
    message = f"meets {operand_text(event.other)} on {device_text(event.other.leaf)} {meeting(event)}"
    return (*(step for step in told if step.place != place), Step(Kind.PASSED, message, place))


def target_device(event: Clash, operand: Operand) -> str | None:
    """How the program can write the device of an operand: `x.device`, or what its transfer or factory was given."""
    name = name_of(operand.place) if operand.of_module is None else None
    if name is not None:
        return f"{name}.device"
    cause = operand.leaf.cause
    written = _device_written(cause.place.node) if cause is not None else None
    if cause is None or written is None:
        return None
    # A name means the same only where it was written; a string means the same everywhere.
    return written if cause.scope is event.context.scope or written[-1] in "'\"" else None


def _device_written(node: object) -> str | None:
    """The device in the source of a transfer or a factory call."""
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "cuda" and not node.args:
        return '"cuda"'
    moves = isinstance(node.func, cst.Attribute) and node.func.attr.value == "to"
    for position, argument in enumerate(node.args):
        keyword = argument.keyword.value if argument.keyword is not None else None
        if keyword == "device" or (moves and position == 0 and keyword is None):
            return cst.Module([]).code_for_node(argument.value)
    return None


# Stories


def steps(*leaves: Leaf) -> tuple[Step, ...]:
    """The stories of some leaves one after another, each from its oldest step, no place told twice."""
    told: dict[Place, Step] = {}
    for leaf in leaves:
        for step in reversed(list(history(leaf.trace))):
            told.setdefault(step.place, _with_device(step, leaf))
    return tuple(told.values())


def _with_device(step: Step, leaf: Leaf) -> Step:
    """The step that placed the leaf also says where, unless its message does."""
    if step is not leaf.cause or leaf.how is not How.EXPLICIT or (is_host(leaf.device) and "host" in step.message):
        return step
    if step.kind is Kind.MOVED:
        return replace(step, message=f"{step.message} to {device_text(leaf)}")
    if step.kind is Kind.CREATED:
        return replace(step, message=f"{step.message}: it is on {device_text(leaf)}")
    return step


# Confidence


def confidence(event: Event, *leaves: Leaf, when: Facts = NO_FACTS) -> Confidence:
    """Certain of what is known on every path; less sure of what a condition, a custom or a caller decides.

    The conditions are the event's own and `when`.
    """
    doubts = (
        bool(when or getattr(event, "when", NO_FACTS)),
        any(leaf.how is How.ASSUMED for leaf in leaves),
        any(isinstance(leaf.device, Symbol) for leaf in leaves),
    )
    if not any(doubts):
        return Confidence.CERTAIN
    return Confidence.POSSIBLE if all(doubts) else Confidence.LIKELY


def clash_confidence(event: Clash) -> Confidence:
    """How sure it is that two operands clash."""
    return confidence(event, event.strange.leaf, event.other.leaf)


def clash_subject(event: Clash) -> Hashable:
    """The bug behind a clash: what placed one operand, and what placed the other.

    Places and not steps: each caller and each round of a loop makes steps of its own for the same line.
    """
    return tuple(_placed_by(one) for one in (event.strange, event.other))


def _placed_by(operand: Operand) -> Place:
    cause = operand.leaf.cause
    return cause.place if cause is not None else operand.place
