from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent.parent / "benchmarks" / "cache_edits.py"


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_edit_a_run_with_the_cache_finds_what_one_without_it_finds(seed, tmp_path):
    spec = importlib.util.spec_from_file_location("cache_edits", PATH)
    assert spec is not None and spec.loader is not None
    cache_edits = sys.modules["cache_edits"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cache_edits)
    found, difference = cache_edits.run_edits(
        cache_edits.SmallProject(tmp_path / "project", seed), tmp_path / "cache", edits=30
    )
    assert difference is None, difference
    assert found > 300
