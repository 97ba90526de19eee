"""What the shell offers, asked as its completion function asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.linter.rule_loader import all_rules

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("ru",), {"plain,rule", "plain,run", "file,ru"}),
        (("--output-fo",), {"plain,--output-format"}),
        (("check", "--output-fo"), {"plain,--output-format"}),
        (("src", "--output-fo"), {"plain,--output-format"}),
        (("rule", "DEV10"), {f"plain,{rule.code}" for rule in all_rules() if rule.code.startswith("DEV10")}),
        (("rule", "mixed"), {"plain,mixed-device-op", "plain,mixed-dtype-op"}),
        (("--select", "ALL,mixed-de"), {"plain,ALL,mixed-device-op"}),
        (("--select", "ALL,PORT"), {"plain,ALL,PORTABILITY"}),
        (("--select", "all,portab"), {"plain,all,PORTABILITY"}),
        (("--output-format", "full,sar"), {"plain,full,sarif"}),
        (("--min-confidence", ""), {"plain,certain", "plain,likely", "plain,possible"}),
        (("src/",), {"file,src/"}),
    ],
)
def test_what_may_come_next_is_offered(words, offered):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COMP_WORDS": " ".join(("devlint", *words)),
        "COMP_CWORD": str(len(words)),
        "_DEVLINT_COMPLETE": "bash_complete",
    }
    code = "from devlint.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (set(done.stdout.splitlines()), done.stderr) == (offered, "")
