"""Small programs before and after their fix, told as pairs of texts."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from devlint.diagnostic import Applicability

from ..repair.programs import Program, check

PRELUDE = "import torch\nfrom torch import nn\n\n"
PAIR = re.compile(r"^# becomes( \((safe|unsafe)\))?\n", re.MULTILINE)
FOLDER = Path(__file__).parent / "nowhere"


def check_fix(pair: str, *codes: str) -> None:
    """Assert that the first part of a text, repaired, is the second; the word between says how far the fix is trusted.

    Without a second part there is no fix.
    """
    before, *rest = PAIR.split(textwrap.dedent(pair).lstrip("\n"))
    trust, after = rest[1:] if rest else (None, before)
    program = Program(FOLDER, {"a.py": (PRELUDE + before).encode()}, frozenset(codes))
    found = program.look(program.documents).diagnostics
    assert found, "nothing was found"
    done = check(program, unsafe=True)
    text = done.documents["a.py"].text.removeprefix(PRELUDE)
    assert text == after, text
    if trust is not None:
        assert {one.fix.applicability for one in done.fixed if one.fix} == {Applicability(trust)}
