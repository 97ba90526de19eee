"""Constructor and call arguments spelled out by hand, for module classes that torch's own database leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from devlint.runtime.derive.handwritten_samples import f, i

Arguments = tuple[Any, ...]
Pairs = list[tuple[Arguments, Arguments]]


def _images() -> Pairs:
    return [((), (f(2, 3, 4, 4),))]


def _codes() -> Pairs:
    return [((), (f(2, 3, 4),))]


SPELLED: dict[str, Callable[[], Pairs]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: [((8, 6, [2, 4]), (f(3, 8), i(3)))],
    "AlphaDropout": _codes,
    "ChannelShuffle": lambda: [((2,), (f(1, 4, 2, 2),))],
    "CosineSimilarity": lambda: [((), (f(2, 3), f(2, 3)))],
    "CrossMapLRN2d": lambda: [((2,), (f(2, 3, 4, 4),))],
    "Dropout": _codes,
    "Dropout1d": _codes,
    "Dropout2d": _images,
    "Dropout3d": lambda: [((), (f(2, 3, 4, 4, 4),))],
    "EmbeddingBag": lambda: [((4, 5), (i(2, 3),))],
    "FeatureAlphaDropout": _codes,
    "Flatten": _images,
    "Fold": lambda: [(((4, 4), 2), (f(1, 4, 9),))],
    "Hardsigmoid": _codes,
    "Identity": _codes,
    "MaxUnpool1d": lambda: [((2,), (f(1, 1, 2), i(1, 1, 2)))],
    "MaxUnpool2d": lambda: [((2,), (f(1, 1, 2, 2), i(1, 1, 2, 2)))],
    "MaxUnpool3d": lambda: [((2,), (f(1, 1, 2, 2, 2), i(1, 1, 2, 2, 2)))],
    "NLLLoss2d": lambda: [((), (f(1, 2, 3, 3), i(1, 3, 3)))],
    "PairwiseDistance": lambda: [((), (f(2, 3), f(2, 3)))],
    "PixelShuffle": lambda: [((2,), (f(1, 4, 2, 2),))],
    "PixelUnshuffle": lambda: [((2,), (f(1, 1, 4, 4),))],
    "RReLU": _codes,
    "TransformerDecoder": lambda: [
        ((nn.TransformerDecoderLayer(8, 2, 16), 1), (f(2, 1, 8), f(3, 1, 8))),
    ],
    "TripletMarginLoss": lambda: [((), (f(2, 3), f(2, 3), f(2, 3)))],
    "TripletMarginWithDistanceLoss": lambda: [((), (f(2, 3), f(2, 3), f(2, 3)))],
    "Unflatten": lambda: [((1, (2, 2)), (f(3, 4),))],
    "Unfold": lambda: [((2,), (f(1, 2, 4, 4),))],
    "Upsample": lambda: [((8,), (f(1, 2, 4, 4),))],
    "UpsamplingBilinear2d": lambda: [((8,), (f(1, 2, 4, 4),))],
    "UpsamplingNearest2d": lambda: [((8,), (f(1, 2, 4, 4),))],
}


def calls(name: str) -> Pairs:
    """Pairs of constructor and call arguments for ``name``."""
    made = SPELLED.get(name.rsplit(".", 1)[1])
    return made() if made is not None else []
