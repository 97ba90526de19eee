"""Tests of `devlint run` as a user sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]

BROKEN = """\
import sys
import torch


def make(n):
    return torch.zeros(n)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("arguments", sys.argv[1:], __name__)
    x = torch.ones(3).to(device)
    for _ in range(3):
        x.sum().item()
    print("sum", (x + make(3)).sum().item())


if __name__ == "__main__":
    main()
"""
CAUGHT = BROKEN.replace("    main()\n", "    try:\n        main()\n    except RuntimeError:\n        print('caught')\n")
FINE = BROKEN.replace("torch.zeros(n)", "torch.zeros(n, device='cuda')")


def run(folder: Path, *arguments: str, source: str = BROKEN) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "devlint", "run", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


WAITING = """\
import torch

model = torch.nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    loss = model(torch.rand(4, 3, device="cuda")).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def test_the_command_line_chooses_the_rules_of_a_run(tmp_path: Path) -> None:
    options = ("--device", "emulated", "--isolated")
    done = run(tmp_path, *options, "program.py", source=WAITING)
    assert "DEV403" in done.stderr and done.returncode == 0
    for chosen in (["--ignore", "DEV403"], ["--ignore", "dev4"], ["--select", "mixed-device-op"]):
        done = run(tmp_path, *options, *chosen, "program.py", source=WAITING)
        assert "DEV403" not in done.stderr and done.returncode == 0
    done = run(tmp_path, "--ignore", "DEV493", "program.py", source=WAITING)
    assert "--ignore: unknown rule `DEV493`" in done.stderr and done.returncode == 2
    done = run(tmp_path, "--no-lint", "--ignore", "DEV403", "program.py", source=WAITING)
    assert "--no-lint goes with none of" in done.stderr and done.returncode == 2


def test_an_uncaught_error_ends_the_program_as_it_would_on_cuda(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "program.py", "--flag", "1")
    assert done.returncode == 1
    assert done.stdout == "arguments ['--flag', '1'] __main__\n"
    assert "RuntimeError: Expected all tensors to be on the same device" in done.stderr
    assert "devlint/runtime" not in done.stderr.partition("RuntimeError")[0]
    assert "DEV101" in done.stderr and "program.py:15" in done.stderr


def test_a_caught_error_is_confirmed_all_the_same(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "-m", "program", source=CAUGHT)
    assert done.returncode == 1 and "caught" in done.stdout and "DEV101" in done.stderr


def test_keep_going_repairs_and_records(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "--keep-going", "program.py")
    assert "sum 3.0" in done.stdout
    assert done.returncode == 1 and "DEV101" in done.stderr


def test_a_fine_program_keeps_its_exit_status(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "program.py", source=FINE)
    assert done.returncode == 0 and "sum 3.0" in done.stdout
    done = run(tmp_path, "--device", "emulated", "--no-lint", "program.py", source=FINE + "    sys.exit(7)\n")
    assert done.returncode == 7


@pytest.mark.parametrize(
    ("last", "status", "told"),
    [("sys.exit('no data')", 1, "no data\n"), ("raise KeyboardInterrupt", 130, "KeyboardInterrupt\n")],
)
def test_a_program_ends_as_python_would_end_it(tmp_path: Path, last: str, status: int, told: str) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "program.py", source=f"{FINE}    {last}\n")
    assert done.returncode == status and told in done.stderr


UNIMPORTABLE = "import torch\n\nimport no_such_package\nimport model\n\nmodel.make()\n"
MODEL = """\
import torch


def make():
    return torch.zeros(3) + torch.zeros(3, device="cuda")
"""


@pytest.mark.parametrize(
    ("source", "status", "told"),
    [
        (UNIMPORTABLE, 1, "ModuleNotFoundError: No module named 'no_such_package'"),
        ("import sys\nsys.exit(7)\n", 7, "exit status 7"),
        ("raise KeyboardInterrupt\n", 130, "KeyboardInterrupt"),
    ],
)
def test_what_ended_the_program_is_said_first(tmp_path: Path, source: str, status: int, told: str) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    done = run(tmp_path, "--device", "emulated", "program.py", source=source)
    (first, *_) = [line for line in done.stderr.splitlines() if line.startswith("devlint: ")]
    assert done.returncode == status and first.startswith(f"devlint: the program ended with {told}, ")
    assert ("1 static finding not seen" in first) == (source is UNIMPORTABLE)
    assert ("model.py:5:12 (this line did not run)" in done.stderr) == (source is UNIMPORTABLE)


@pytest.mark.parametrize("source", ["import sys\nsys.exit(0)\n", "import sys\nsys.exit()\n", "import torch\n"])
def test_a_program_that_came_to_its_end_is_not_said_to_have_ended_early(tmp_path: Path, source: str) -> None:
    done = run(tmp_path, "--device", "emulated", "program.py", source=source)
    assert done.returncode == 0 and done.stderr.startswith("devlint: no errors, 0 operators")


SHARED = """
import torch


def moved(x):
    return x.cuda() + 1


def made():
    return torch.ones(2) * 2


{}
"""


def test_the_first_line_tells_the_share_of_functions_on_the_accelerator(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "program.py", source=SHARED.format("moved(made())"))
    assert "operators on 1 emulated cuda, 50 % of functions on the accelerator\n" in done.stderr
    done = run(tmp_path, "--device", "emulated", "program.py", source=SHARED.format("made()"))
    assert "of functions on the accelerator" not in done.stderr


def test_an_error_about_devices_is_a_crash_and_told_once(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "program.py")
    assert "devlint: 1 crash, " in done.stderr and "the program ended with" not in done.stderr
    wrapped = CAUGHT.replace("        print('caught')\n", "        raise KeyError('no result')\n")
    done = run(tmp_path, "--device", "emulated", "program.py", source=wrapped)
    assert "devlint: the program ended with KeyError: 'no result', 1 crash, " in done.stderr


def test_json_goes_to_the_file(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "--device",
        "emulated",
        "--no-lint",
        "--output-format",
        "json",
        "--output-file",
        "out.json",
        "program.py",
    )
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    (error,) = [finding for finding in report["findings"] if finding["code"] == "DEV101"]
    assert error["verdict"] == "observed" and error["location"]["row"] == 15
    assert [note["location"]["row"] for note in error["trace"]] == [12, 12, 6]
    costs = {line["line"]: line for line in report["lines"]}
    assert costs[12]["bytes"] == 12 and costs[14]["waits"] == 3
    assert "DEV101" not in done.stderr


def test_the_formats_of_check_show_what_was_seen(tmp_path: Path) -> None:
    forms = "sarif:out/report.sarif,junit:report.xml,github"
    done = run(tmp_path, "--device", "emulated", "--output-format", forms, "program.py")
    log = json.loads((tmp_path / "out/report.sarif").read_text(encoding="utf-8"))
    (error,) = [one for one in log["runs"][0]["results"] if one["ruleId"] == "DEV101"]
    assert error["level"] == "error" and error["codeFlows"]
    assert error["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "program.py"
    assert error["partialFingerprints"]["devlint/v1"]
    assert any("confirmed: RuntimeError" in step["message"]["text"] for step in error["relatedLocations"])
    assert {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]} == {"DEV101"}
    cases = [case.get("name") for case in ElementTree.parse(tmp_path / "report.xml").iter("testcase")]
    assert "org.devlint.DEV101" in cases
    assert "::error title=devlint (DEV101),file=program.py,line=15" in done.stderr


def test_two_reports_need_two_places(tmp_path: Path) -> None:
    done = run(tmp_path, "--output-format", "sarif,github", "program.py")
    assert done.returncode == 2 and "two formats go to one place" in done.stderr and not done.stdout


def test_the_report_goes_where_it_should_when_the_program_changes_the_directory(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    source = f"import os\nos.chdir('elsewhere')\n{FINE}"
    run(tmp_path, "--device", "emulated", "--no-lint", "--output-format", "json:out.json", "program.py", source=source)
    assert (tmp_path / "out.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nofile.py"], "error: there is no program nofile.py\n"),
        (["."], "error: there is no program .\n"),
        (
            ["a.ipynb"],
            "error: a.ipynb is a notebook, and devlint run runs Python programs: run a cell with %%devlint_run, "
            "or the script that `jupyter nbconvert --to script` writes\n",
        ),
        (["-m", "nomodule.part"], "error: there is no module nomodule.part\n"),
    ],
)
def test_a_missing_program_is_said_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_misspelt_option_is_not_taken_for_the_program(tmp_path: Path) -> None:
    done = run(tmp_path, "--kep-going", "program.py")
    assert done.returncode == 2 and "No such option" in done.stderr


WITHOUT_TORCH = """\
import sys
sys.modules["torch"] = None
from devlint.cli import main
main()
"""


@pytest.mark.parametrize("options", [(), ("--no-lint",), ("--device", "emulated:all")])
def test_without_torch_it_says_what_to_install(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "program.py").write_text(FINE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, "run", *options, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: devlint run needs torch: pip install -e '{ROOT}[runtime]'\n"


TRAINING = """\
import torch

x = torch.ones(3, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([x], 0.1)
for _ in range(5):
    x.grad = torch.ones(3, device="cuda")
    optimizer.step()
    x.sum().item()
    x.mean().item()
"""


@pytest.mark.parametrize(("most", "status"), [("2", 0), ("1", 1)])
def test_the_budget_of_waits_decides_the_exit_status(tmp_path: Path, most: str, status: int) -> None:
    options = ("--device", "emulated", "--no-lint", "--max-waits-per-step", most)
    done = run(tmp_path, *options, "program.py", source=TRAINING)
    assert done.returncode == status
    assert "waits by line: 10 waits, 2 in each training step" in done.stderr
    assert ("the host waits 2 times in a training step, and may 1 times" in done.stderr) is bool(status)


def test_a_budget_of_waits_needs_training_steps(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "--max-waits-per-step", "3", "program.py", source=FINE)
    assert done.returncode == 2 and "fewer than two steps of an optimizer" in done.stderr


LEAVING = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.mask = torch.ones(2)

    def forward(self, x):
        return self.layer(x)


net = Net().cuda()
print(net(torch.ones(1, 2, device="cuda")).shape)
"""


def test_the_census_lists_what_a_moved_module_leaves_behind(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--no-lint", "--census", "program.py", source=LEAVING)
    assert done.returncode == 0
    assert "net.mask: float32 [2] on cpu, the module on cuda:0" in done.stderr
    assert "created on the host by torch.ones(), which names no device: program.py:9" in done.stderr
    done = run(tmp_path, "--device", "emulated", "--no-lint", "program.py", source=LEAVING)
    assert "left behind" not in done.stderr


HIDDEN = """\
import os
import torch


class Table:
    def __init__(self):
        self.rows = {"a": torch.zeros(3)}

    def added(self, x):
        return x + eval("self.rows")["a"]


os.chdir("/")
Table().added(torch.ones(3, device="cuda"))
"""


def test_errors_that_only_the_run_shows_are_exported(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "emulated", "--export-cases", "cases", "program.py", source=HIDDEN)
    assert f"1 case written to {tmp_path / 'cases'}" in done.stderr, done.stderr
    case = tmp_path / "cases" / "DEV101-program-added-10"
    seen = json.loads((case / "seen.json").read_text(encoding="utf-8"))
    assert (seen["code"], seen["raised"]) == ("DEV101", "RuntimeError")
    assert seen["came_through"] == ["program.py:10", "program.py:14"]
    program = (case / "program.py").read_text(encoding="utf-8").splitlines()
    assert program[seen["row"] - 1].strip() == 'return x + eval("self.rows")["a"]'


def test_only_errors_that_the_baseline_does_not_record_count(tmp_path: Path) -> None:
    def status(source: str, *options: str) -> int:
        return run(tmp_path, "--device", "emulated", *options, "program.py", source=source).returncode

    caught = "import torch\n\ntry:\n    torch.ones(2).cuda() + torch.ones(2)\nexcept RuntimeError:\n    pass\n"
    another = caught + "try:\n    torch.ones(2).cuda().numpy()\nexcept TypeError:\n    pass\n"
    assert status(caught) == 1
    assert status(caught, "--update-baseline") == 2
    assert status(caught, "--baseline", "known.json") == 2
    assert status(caught, "--baseline", "known.json", "--update-baseline") == 0
    assert status("# moved\n" + caught, "--baseline", "known.json") == 0
    assert status(another, "--baseline", "known.json") == 1


def test_errors_that_a_finding_predicts_are_not_exported(tmp_path: Path) -> None:
    predicted = HIDDEN.replace('eval("self.rows")["a"]', "torch.zeros(3)")
    done = run(tmp_path, "--device", "emulated", "--export-cases", "cases", "program.py", source=predicted)
    assert "confirmed" in done.stderr and f"0 cases written to {tmp_path / 'cases'}" in done.stderr, done.stderr
    assert not (tmp_path / "cases").exists()


def test_html_is_one_page(tmp_path: Path) -> None:
    run(tmp_path, "--device", "emulated", "--no-lint", "--output-format", "html", "--output", "out.html", "program.py")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<svg" in page and "DEV101" in page and "x + make(3)" in page
    assert "src=" not in page and "http" not in page


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a CUDA device")
def test_a_missing_device_is_a_usage_error(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "cuda", "program.py")
    assert done.returncode == 2 and "there is no CUDA device" in done.stderr


def test_a_program_runs_on_the_emulated_device_that_is_asked_for(tmp_path: Path) -> None:
    source = "import torch\nprint(torch.accelerator.current_accelerator())\ntorch.ones(1).cuda()\n"
    done = run(tmp_path, "--device", "emulated:mps", "--no-lint", "program.py", source=source)
    assert done.returncode == 1 and done.stdout == "mps\n"
    assert "AssertionError: Torch not compiled with CUDA enabled" in done.stderr and "DEV601" in done.stderr
    assert "nothing was ever on the emulated mps: 1 operator ran on the host" in done.stderr
    done = run(tmp_path, "--device", "emulated:mps", "--devices", "2", "program.py", source=source)
    assert done.returncode == 2 and "there is only one mps device" in done.stderr


PROJECT_TEST = """\
import pytest
import torch


def step(x, n):
    return x + torch.zeros(n)


@pytest.mark.parametrize("n", [3, 1])
def test_step(n):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert step(torch.ones(3, device=device), n).sum() == 3


def test_nothing():
    assert torch.cuda.is_available() or True
"""


def project(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_project.py").write_text(PROJECT_TEST, encoding="utf-8")
    plugins = ("-p", "devlint.runtime.pytest_plugin", "-p", "xdist", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_pytest_plugin_is_silent_unless_asked(tmp_path: Path) -> None:
    done = project(tmp_path)
    assert done.returncode == 0 and "devlint" not in done.stdout


def test_the_pytest_plugin_adds_operand_histories_to_failures(tmp_path: Path) -> None:
    done = project(tmp_path, "--devlint")
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout
    assert done.stdout.count("DEV105 at") == 2 and "created on the host by torch.zeros()" in done.stdout
    assert "1 emulated cuda; findings: 1 confirmed" in done.stdout
    assert "__torch_dispatch__" not in done.stdout, "tracebacks end in the project's code"


def test_the_pytest_plugin_emulates_other_accelerators(tmp_path: Path) -> None:
    done = project(tmp_path, "--devlint=emulated:xpu")
    assert done.returncode == 0
    assert "nothing was ever on the emulated xpu: 12 operators ran on the host; findings: 1 not reached" in done.stdout
    (tmp_path / "test_more.py").write_text(
        "import torch\n\ndef test_cuda():\n    torch.ones(1).cuda()\n", encoding="utf-8"
    )
    done = project(tmp_path, "--devlint=emulated:npu")
    assert done.returncode == 1 and "Torch not compiled with CUDA enabled" in done.stdout


def test_the_pytest_plugin_joins_what_all_workers_recorded(tmp_path: Path) -> None:
    done = project(tmp_path, "--devlint", "-n", "2")
    assert done.returncode == 1
    assert "1 emulated cuda; findings: 1 confirmed" in done.stdout and "confirmed, 2 times" in done.stdout
    assert done.stdout.count("findings: ") == 1


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a CUDA device")
def test_the_pytest_plugin_needs_the_device_that_it_is_asked_for(tmp_path: Path) -> None:
    done = project(tmp_path, "--devlint=cuda")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR and "there is no CUDA device" in done.stderr


def test_the_plugin_does_not_import_torch_unasked() -> None:
    code = "import sys, devlint.runtime.pytest_plugin, devlint.cli.run_command; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 0
