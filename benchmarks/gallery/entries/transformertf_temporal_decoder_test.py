"""A test of transformertf compares the device "cuda:0" with "cuda"."""

from contextlib import suppress

import pytest
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="antolu/transformertf",
    commit="8842cb80b5509bbc944d79a04dc8da92b2dcbb6f",
    file="tests/nn/test_temporal_decoder.py",
    row=329,
    code="DEV205",
    what="The test of the decoder's device fails on every machine with a GPU, although the decoder is right.",
    expected="AssertionError",
)


def show(device: str) -> object:
    """Run the test."""
    stand_in("pytorch_optimizer", "numba", "transformertf._version", "lightning", "torchmetrics", "pandas")
    with suppress(pytest.skip.Exception):  # on the host the test skips itself
        return module("tests.nn.test_temporal_decoder", alone=True).TestTemporalDecoder().test_device_consistency()
