"""The magics of the IPython extension, in a session without a kernel and in a real kernel."""

from __future__ import annotations

import atexit
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell

ROOT = Path(__file__).parent.parent.parent
MIXED = "y = x * torch.ones(3)"


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., str]]:
    """Runs a cell in a session that has loaded the extension, and returns what it writes."""
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell()
    shell.colors = "NoColor"

    def cell(text: str) -> str:
        shell.run_cell(text, store_history=True)
        return capsys.readouterr().out

    cell("%load_ext devlint")
    yield cell
    shell.history_manager.end_session()
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)  # a second time it would fail


def test_a_cell_is_checked_with_what_ran_before_it_and_run(run):
    run("import torch\nx = torch.ones(3)")
    told = run("%%devlint\nx = x + 1\nhost = x.device.type")
    assert told == "devlint: no findings in this cell\n"
    assert run("print(host)") == "cpu\n"
    run("if torch.cuda.is_available():\n    x = x.cuda()")
    told = run(f"%%devlint\n{MIXED}\nprint('ran')")
    assert "error[DEV101]" in told and "session.ipynb:cell 6:2:5" in told
    assert f"2 | {MIXED}" in told
    assert told.endswith("devlint: 1 finding in this cell\nran\n")


def test_a_finding_of_an_earlier_cell_is_not_told_again(run):
    run("import torch\nx = torch.ones(3, device='cuda' if torch.cuda.is_available() else 'cpu')")
    assert "DEV101" in run(f"%%devlint\n{MIXED}")
    assert run("%%devlint\nz = 1") == "devlint: no findings in this cell\n"


def test_a_cell_can_be_checked_only(run):
    run("import torch\nx = torch.ones(3)")
    assert run("%%devlint --no-run\nprint('ran')") == "devlint: no findings in this cell\n"


def test_the_settings_are_those_of_the_directory(run):
    run("import torch\nx = torch.ones(3, device='cuda' if torch.cuda.is_available() else 'cpu')")
    Path("devlint.toml").write_text('ignore = ["DEV101"]\n')
    assert run(f"%%devlint\n{MIXED}") == "devlint: no findings in this cell\n"
    Path("devlint.toml").write_text("nonsense = 1\n")
    assert "unknown setting `nonsense`" in run(f"%%devlint --no-run\n{MIXED}")


def test_the_line_of_the_magic_chooses_rules(run):
    run("import torch\nx = torch.ones(3, device='cuda' if torch.cuda.is_available() else 'cpu')")
    assert run(f"%%devlint --no-run --ignore dev101,DEV403\n{MIXED}") == "devlint: no findings in this cell\n"
    told = run("%%devlint --no-run --select DEV6 --ignore DEV605\nz = torch.ones(3).cuda()")
    assert "[DEV601]" in told and "[DEV406]" not in told
    assert "unknown rule `DEV991`" in run(f"%%devlint --no-run --select DEV991\n{MIXED}")


def test_a_cell_runs_on_an_emulated_accelerator(run):
    run("import torch\nmodel = torch.nn.Linear(3, 1)")
    told = run("%%devlint_run\nmodel.cuda()\nout = model(torch.rand(2, 3).cuda())\nprint(out.device, out.sum().item())")
    assert told.count("cuda:0 ") == 1
    assert "waits by line" in told
    # What a cell has left on the accelerator is there for the next one.
    assert "cuda:0" in run("%%devlint_run\nprint((out * 2).device)")
    assert run("print(torch.cuda.is_available())") == f"{_has_cuda()}\n"


def test_a_cell_that_raises_shows_its_error_once_and_the_report(run):
    run("import torch\nmodel = torch.nn.Linear(3, 1)")
    told = run("%%devlint_run\nmodel.cuda()\nmodel(torch.rand(2, 3))\nprint('not reached')")
    assert told.count("Expected all tensors to be on the same device") <= 2
    assert "error[DEV101]" in told and "model(torch.rand(2, 3))" in told
    assert "--> cell 3:2:1" in told and "ipython-input" not in told.partition("── errors ──")[2]
    assert "\nnot reached" not in told


def test_another_accelerator(run):
    run("import torch")
    assert "xpu:0" in run("%%devlint_run --device xpu --devices 2\nprint(torch.ones(1, device='xpu').device)")


def test_nothing_of_ipython_is_imported_with_devlint():
    code = "import sys, devlint; assert not any(name.startswith(('IPython', 'torch')) for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_extension_in_a_real_kernel(tmp_path):
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(kernel_name="python3", cwd=str(tmp_path), extra_arguments=[])
    try:
        written: list[str] = []

        def keep(message):
            if message["msg_type"] == "stream":
                written.append(message["content"]["text"])

        for text in (
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n%load_ext devlint\nimport torch\nx = torch.ones(3)",
            "%%devlint_run\nx = x.cuda()\nprint(x.device)",
            "%%devlint_run\nprint(x + torch.ones(3))",
            f"%%devlint\nx = x.cuda() if torch.cuda.is_available() else x\n{MIXED.replace('x *', 'x.cpu() *')}",
        ):
            client.execute_interactive(text, output_hook=keep, timeout=120)
        told = "".join(written)
        assert "cuda:0\n" in told and "devlint: " in told
        assert "--> cell 3:1:7" in told and "ipykernel" not in told
        assert told.endswith("devlint: no findings in this cell\n")
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def _has_cuda() -> bool:
    torch = pytest.importorskip("torch")
    return bool(torch.cuda.is_available())
