"""Some forty real files: every sixth module of the standard library's top level, and tests of libcst's own nodes."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst

_STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
_LIBCST = sorted((Path(libcst.__file__).parent / "_nodes" / "tests").glob("test_*.py"))

CORPUS = _STDLIB[::6] + _LIBCST[::4]
