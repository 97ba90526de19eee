from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_rooms_import_only_downwards():
    done = run("-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(cache_dir=None))")
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_modules_import_one_another_in_a_circle():
    done = run("benchmarks/import_circles.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 import circles among ")


def test_a_circle_is_found(tmp_path: Path):
    program = "import sys; sys.path.insert(0, 'benchmarks'); from import_circles import circles"
    program += "; print(list(circles({'a': {'b'}, 'b': {'c'}, 'c': {'b'}, 'd': {'a'}})))"
    assert run("-c", program).stdout.strip() == "[['b', 'c']]"
