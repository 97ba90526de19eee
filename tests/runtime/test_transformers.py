"""Tests of tiny models of the transformers library: the same numbers as on the host, bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from runtime_models import Model, Training, difference, transformers_models


@pytest.mark.parametrize("model", transformers_models(), ids=lambda model: model.name)
def test_tiny_model(model: Model) -> None:
    assert difference(Training(model, "adamw")) == 0.0
