"""The keywords that functions of other libraries take, checked against those that are installed."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from devlint.semantics import keywords

FUNCTIONS = json.loads(Path(keywords.__file__).with_name("keywords.json").read_text())


@pytest.mark.parametrize("library", ["numpy", "sklearn.metrics"])
def test_no_keyword_of_the_installed_library_is_missing(library: str) -> None:
    pytest.importorskip(library)
    for name in FUNCTIONS:
        module, _, attribute = name.rpartition(".")
        if name.startswith(f"{library}."):
            signature = inspect.signature(getattr(importlib.import_module(module), attribute))
            named = {one.name for one in signature.parameters.values() if one.kind is not one.VAR_POSITIONAL}
            assert named <= (keywords.taken_keywords(name) or set()), name


def test_other_functions_are_not_known() -> None:
    assert keywords.taken_keywords("numpy.pad") is None
    assert keywords.taken_keywords("torch.mean") is None
