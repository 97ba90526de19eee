"""The child process of `devlint confirm` for tests: it runs tests of a project under `pytest --devlint`.

`python -m devlint.runtime.driven_tests MEGABYTES` reads one request from its standard input: the findings, and pytest's
arguments. It answers with one line, as `driven_runs` does. It is a module of its own because pytest need not be there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from devlint.runtime.driven_evidence import Claim, claims_in, evidence_on
from devlint.runtime.driven_runs import answers_only, limit_memory


class _Judge:
    """Pytest plugin object that takes the recording of a suite from the companion, and judges given findings by it."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self.evidence: list[dict[str, Any]] = []
        self.ran = 0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the findings by what the tests did."""
        companion: Any = session.config.pluginmanager.get_plugin("devlint-companion")
        if companion is not None:
            self.ran = len(companion.report.ran)
            self.evidence = evidence_on(companion.report, self._claims)


def run_tests(arguments: Sequence[str], claims: Sequence[Claim]) -> dict[str, Any]:
    """Run pytest with some arguments, and return what the tests show about the claims."""
    judge = _Judge(claims)
    pytest.main([*arguments, "-q", "-p", "no:cacheprovider", "--devlint-no-lint"], plugins=[judge])
    return {"error": None, "ran": judge.ran, "evidence": judge.evidence}


def main() -> None:
    """Serve the process that has started this one."""
    limit_memory(int(sys.argv[1]))
    torch.set_num_threads(1)
    if sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]  # `python -m` puts it there
    asked = [json.loads(line) for line in (sys.stdin.readline(), sys.stdin.readline())]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    claims = claims_in(asked[0])
    with answers_only() as answers:
        answers.write(json.dumps(run_tests(asked[1]["tests"], claims)) + "\n")


if __name__ == "__main__":
    main()
