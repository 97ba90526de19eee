"""Handwritten constructor and call arguments for ``torch.nn`` classes that torch's own sample database leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from devlint.runtime.derive.handwritten_samples import floats, ints

Arguments = tuple[Any, ...]
Pairs = list[tuple[Arguments, Arguments]]


def _images() -> Pairs:
    return [((), (floats(2, 3, 4, 4),))]


def _codes() -> Pairs:
    return [((), (floats(2, 3, 4),))]


SAMPLES: dict[str, Callable[[], Pairs]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: [((8, 6, [2, 4]), (floats(3, 8), ints(3)))],
    "AlphaDropout": _codes,
    "ChannelShuffle": lambda: [((2,), (floats(1, 4, 2, 2),))],
    "CosineSimilarity": lambda: [((), (floats(2, 3), floats(2, 3)))],
    "CrossMapLRN2d": lambda: [((2,), (floats(2, 3, 4, 4),))],
    "Dropout": _codes,
    "Dropout1d": _codes,
    "Dropout2d": _images,
    "Dropout3d": lambda: [((), (floats(2, 3, 4, 4, 4),))],
    "EmbeddingBag": lambda: [((4, 5), (ints(2, 3),))],
    "FeatureAlphaDropout": _codes,
    "Flatten": _images,
    "Fold": lambda: [(((4, 4), 2), (floats(1, 4, 9),))],
    "Hardsigmoid": _codes,
    "Identity": _codes,
    "MaxUnpool1d": lambda: [((2,), (floats(1, 1, 2), ints(1, 1, 2)))],
    "MaxUnpool2d": lambda: [((2,), (floats(1, 1, 2, 2), ints(1, 1, 2, 2)))],
    "MaxUnpool3d": lambda: [((2,), (floats(1, 1, 2, 2, 2), ints(1, 1, 2, 2, 2)))],
    "NLLLoss2d": lambda: [((), (floats(1, 2, 3, 3), ints(1, 3, 3)))],
    "PairwiseDistance": lambda: [((), (floats(2, 3), floats(2, 3)))],
    "PixelShuffle": lambda: [((2,), (floats(1, 4, 2, 2),))],
    "PixelUnshuffle": lambda: [((2,), (floats(1, 1, 4, 4),))],
    "RReLU": _codes,
    "TransformerDecoder": lambda: [
        ((nn.TransformerDecoderLayer(8, 2, 16), 1), (floats(2, 1, 8), floats(3, 1, 8))),
    ],
    "TripletMarginLoss": lambda: [((), (floats(2, 3), floats(2, 3), floats(2, 3)))],
    "TripletMarginWithDistanceLoss": lambda: [((), (floats(2, 3), floats(2, 3), floats(2, 3)))],
    "Unflatten": lambda: [((1, (2, 2)), (floats(3, 4),))],
    "Unfold": lambda: [((2,), (floats(1, 2, 4, 4),))],
    "Upsample": lambda: [((8,), (floats(1, 2, 4, 4),))],
    "UpsamplingBilinear2d": lambda: [((8,), (floats(1, 2, 4, 4),))],
    "UpsamplingNearest2d": lambda: [((8,), (floats(1, 2, 4, 4),))],
}
"""Functions that make the samples, by class name."""


def calls(name: str) -> Pairs:
    """Return the handwritten samples of a ``torch.nn`` module class: pairs of constructor arguments and call arguments.

    ``name`` is the qualified name of the class. The list is empty if there is no sample.
    """
    made = SAMPLES.get(name.rsplit(".", 1)[1])
    return made() if made is not None else []
