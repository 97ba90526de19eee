"""What transformers' models return of each layer: `model(x, output_hidden_states=True).hidden_states` is a tuple."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.objects import Sequence
from devlint.domain.value import OpaqueData, Tensor, Unknown, Value
from devlint.interpreter.state.frame import Frame

_ASKED_BY: Final = {"hidden_states": "output_hidden_states", "attentions": "output_attentions"}
"""The parts of a model's output that are tuples with an element for each layer, and the keywords that ask for them."""


def as_layer_outputs(
    frame: Frame, node: cst.BaseExpression, owner: cst.BaseExpression, part: str, value: Value
) -> Value:
    """Return a part of what the call of a model returns, as a tuple if the call has asked for the part of each layer.

    `node` is the expression that reads the part, `owner` the one of which it reads it. Other values are unchanged.
    """
    keyword = _ASKED_BY.get(part)
    if keyword is None or not isinstance(owner, cst.Call) or not isinstance(value, OpaqueData | Tensor | Unknown):
        return value
    if not any(_is_true(one, keyword) for one in owner.args):
        return value
    return frame.allocate(node, Sequence(None, value, "tuple", prefix=(value,)), part)


def _is_true(argument: cst.Arg, keyword: str) -> bool:
    """Return whether an argument is `keyword=True`."""
    is_named = argument.keyword is not None and argument.keyword.value == keyword
    return is_named and isinstance(argument.value, cst.Name) and argument.value.value == "True"
