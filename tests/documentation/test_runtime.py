"""The outputs on the companion's page are those that its programs have."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from .examples import AGAIN, ROOT, WITH_TORCH, refreshed


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells no columns before 3.11")
def test_outputs_are_real() -> None:
    page = (ROOT / WITH_TORCH).read_text(encoding="utf-8")
    assert page == refreshed(page), AGAIN
