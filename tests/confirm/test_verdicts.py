"""Tests of the verdicts on claims that are wrong: a finding about one program is confirmed on a repaired one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

from devlint.api import check_paths
from devlint.confirm.confirmation import ConfirmOptions, confirm_findings
from devlint.confirm.driver_process import Evidence
from devlint.confirm.judgement import Judgement, Verdict, judge
from devlint.diagnostic import Confidence

from .test_command import POSITIONS


def on_repaired(folder: Path, wrong: str, right: str) -> Judgement:
    """Return the judgement on the finding of the wrong program, when the right one stands in its file."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(wrong), encoding="utf-8")
    [finding] = check_paths([path], isolated=True).diagnostics
    path.write_text(textwrap.dedent(right), encoding="utf-8")
    [judged] = confirm_findings([finding], ConfirmOptions())
    return judged


def test_a_claim_that_is_not_so_is_refuted(tmp_path: Path) -> None:
    right = POSITIONS.replace(
        "self.table = torch.zeros(512, size)", 'self.register_buffer("table", torch.zeros(512, size))'
    )
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.REFUTED
    assert "all of its story ran on the accelerator" in judged.reason
    assert "made(x=" in judged.driver


def test_operands_that_torch_takes_refute(tmp_path: Path) -> None:
    right = POSITIONS.replace("self.table = torch.zeros(512, size)", "self.table = torch.tensor(2.0)")
    judged = on_repaired(tmp_path, POSITIONS, right.replace("self.table[: x.size(1)]", "self.table.mul(1.00000)"))
    assert judged.verdict is Verdict.REFUTED
    assert judged.reason == "this took operands on different devices without an error"


def test_a_path_that_is_not_taken_refutes_nothing(tmp_path: Path) -> None:
    right = POSITIONS.replace("return x +", "return x if len(x) < 10**6 else x +")
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.NOT_REACHED


def test_an_error_of_shapes_alone_confirms_nothing(tmp_path: Path) -> None:
    right = POSITIONS.replace("x + self.table[: x.size(1)]", "x.new_ones(3) + x.new_ones(5)")
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.NOT_REACHED
    assert "must match the size of tensor b" in judged.reason


UNMOVED = """
    import torch
    from torch import nn


    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(16, 16)

        def predict(self, x):
            return self.net(x.cuda())


    def main():
        return Model().predict(torch.ones(2, 16))
"""


def test_what_the_code_itself_moves_is_not_moved_by_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(UNMOVED), encoding="utf-8")
    [finding] = check_paths([path], isolated=True, min_confidence=Confidence.POSSIBLE).diagnostics
    assert finding.code == "DEV102"
    [judged] = confirm_findings([finding], ConfirmOptions())
    assert judged.verdict is Verdict.CONFIRMED
    assert ".to(device)" not in judged.driver
    moved = UNMOVED.replace("self.net = nn.Linear(16, 16)", "self.net = nn.Linear(16, 16, device='cuda')")
    path.write_text(textwrap.dedent(moved), encoding="utf-8")
    [judged] = confirm_findings([finding], ConfirmOptions())
    assert judged.verdict is not Verdict.CONFIRMED


def test_what_a_file_imports_for_other_functions_is_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import no_such_package_at_all\n" + textwrap.dedent(POSITIONS), encoding="utf-8")
    [finding] = check_paths([path], isolated=True).diagnostics
    [judged] = confirm_findings([finding], ConfirmOptions())
    assert judged.verdict is Verdict.CONFIRMED
    assert "# What Positions needs of its file" in judged.driver


BRANCH = """
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, size: int = 16):
        super().__init__()
        self.gru = nn.GRU(size, size)

    def forward(self, x: torch.Tensor, hidden=None):
        hidden = torch.rand(1, 6, 16) if hidden is not None else hidden
        return self.gru(x, hidden)
"""
"""A program whose error is in a branch of an expression, which the simplest driver does not take."""


def test_a_branch_that_its_row_skips_refutes_nothing(tmp_path: Path) -> None:
    judged = on_repaired(tmp_path, BRANCH, BRANCH)
    assert judged.verdict is Verdict.CONFIRMED
    assert "hidden=torch." in judged.driver
    right = BRANCH.replace("torch.rand(1, 6, 16) if hidden is not None", "torch.rand(1, 6, 16) if len(x) > 10**6")
    assert on_repaired(tmp_path, BRANCH, right).verdict is Verdict.NOT_REACHED


def test_an_error_without_the_story_confirms_nothing(tmp_path: Path) -> None:
    wrong = """
        import torch


        def host(data, device=None):
            if device is not None:
                return data.detach().cpu().numpy()
            return data.detach().numpy()


        class Shown:
            def __init__(self, x: torch.Tensor, device: torch.device):
                self.x = x.to(device)

            def show(self):
                return host(self.x)
        """
    judged = on_repaired(tmp_path, wrong, wrong.replace("host(self.x)", "host(self.x, self.x.device)"))
    assert judged.verdict is Verdict.NOT_REACHED
    assert judged.reason == "its error was seen, but not all lines of its story ran"


FRAMED = """
    import torch
    from torch import nn


    class Framed(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(17, 16)

        def forward(self, data: torch.Tensor, end_mark):
            start = torch.ones(data.size(0), 1)
            return self.net(torch.cat([start, data], -1))
    """


@pytest.mark.parametrize(
    ("joined", "verdict"), [("[start, data]", Verdict.CONFIRMED), ("[start.to(data), data]", Verdict.REFUTED)]
)
def test_an_error_at_another_place_is_not_that_of_the_finding(tmp_path: Path, joined: str, verdict: Verdict) -> None:
    right = FRAMED.replace("torch.ones(data.size(0), 1)", "torch.ones(data.size(0), 1) * end_mark")
    judged = on_repaired(tmp_path, FRAMED, right.replace("[start, data]", joined))
    assert judged.verdict is verdict
    if verdict is Verdict.CONFIRMED:
        assert "end_mark=1)" in judged.driver
        assert judged.row == 13


@pytest.mark.parametrize(
    ("kind", "verdict"), [("torch.cuda.FloatTensor", Verdict.NOT_REACHED), ("torch.FloatTensor", Verdict.CONFIRMED)]
)
def test_a_default_device_of_the_project_takes_a_confirmation_back(tmp_path: Path, kind: str, verdict: Verdict) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(POSITIONS), encoding="utf-8")
    [finding] = check_paths([path], isolated=True).diagnostics
    main = f"import torch\n\n\ndef main():\n    torch.set_default_tensor_type({kind!r})\n"
    (tmp_path / "main.py").write_text(main, encoding="utf-8")
    [judged] = confirm_findings([finding], ConfirmOptions(folders=(tmp_path,)))
    assert judged.verdict is verdict
    if verdict is Verdict.NOT_REACHED:
        assert judged.reason == "the project sets the default device for new tensors in main.py, line 5"


APART = """
    import torch
    from torch import nn


    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.ones(16)
            self.second = torch.ones(16)

        def forward(self, x: torch.Tensor):
            return x + self.first


    class Scaled(Shifted):
        def forward(self, x: torch.Tensor):
            return x * self.second
    """


def test_what_stands_behind_another_error_is_not_reached(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    together = APART.replace("return x + self.first", "y = x + self.first\n            return x * self.second, y")
    for source, last in ((APART, Verdict.CONFIRMED), (together.partition("class Scaled")[0], Verdict.NOT_REACHED)):
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        findings = check_paths([path], isolated=True).diagnostics
        judged = confirm_findings(findings, ConfirmOptions())
        assert [one.verdict for one in judged] == [Verdict.CONFIRMED, last]
    assert judged[1].reason == "another error came first, which ends a program before this one"


DECODED = """
    import torch
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 3)
            self.anchors = torch.ones(3)

        def forward(self, x: torch.Tensor):
            return self.net(x)

        def decode(self, boxes: torch.Tensor):
            return boxes + self.anchors
    """
USED = """
    import torch

    from program import Net


    def predict(x: torch.Tensor):
        net = Net().cuda()
        out = net(x.cuda())
        return net.decode(out.cpu())
    """


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("", "", Verdict.NOT_REACHED),
        ("out.cpu()", "out", Verdict.CONFIRMED),
        (".cuda()", ".cpu()", Verdict.CONFIRMED),  # nothing is on the accelerator there
    ],
)
def test_what_the_project_only_gives_host_tensors_is_not_reached(
    tmp_path: Path, before: str, after: str, verdict: Verdict
) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(DECODED), encoding="utf-8")
    (tmp_path / "used.py").write_text(textwrap.dedent(USED).replace(before, after) if before else textwrap.dedent(USED))
    [finding] = check_paths([tmp_path / "program.py"], isolated=True, min_confidence=Confidence.POSSIBLE).diagnostics
    [judged] = confirm_findings([finding], ConfirmOptions(folders=(tmp_path,)))
    assert judged.verdict is verdict
    if verdict is Verdict.NOT_REACHED:
        assert judged.reason == "the project itself calls it with tensors on the host, in predict"
        assert "predict(x=" in judged.driver


def test_a_finding_that_is_given_twice_is_judged_twice(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(POSITIONS), encoding="utf-8")
    [finding] = check_paths([path], isolated=True).diagnostics
    judged = confirm_findings([finding, finding], ConfirmOptions())
    assert [one.verdict for one in judged] == [Verdict.CONFIRMED, Verdict.CONFIRMED]


BY_TYPE = """
    import torch
    from torch import nn


    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(3, 16))

        def forward(self, x: torch.Tensor):
            noise = torch.Tensor(3, 16).normal_()
            return x @ (self.weight * noise).T
"""


def test_a_tensor_made_by_its_type_lies_on_the_host(tmp_path: Path) -> None:
    assert on_repaired(tmp_path, BY_TYPE, BY_TYPE).verdict is Verdict.CONFIRMED
    right = BY_TYPE.replace("torch.Tensor(3, 16)", "torch.empty(3, 16, device=x.device)")
    assert on_repaired(tmp_path, BY_TYPE, right).verdict is Verdict.REFUTED


SCALED = """
    import torch


    def scaled(x, scale):
        return x * scale
    """
SCRIPT = """
    import torch
    from program import scaled

    x = torch.ones(3).cuda()
    print(scaled(x, torch.ones(3)))
    """


def test_a_finding_whose_cause_is_in_another_file_names_the_file_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(textwrap.dedent(SCALED), encoding="utf-8")
    (tmp_path / "train.py").write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    findings = check_paths([tmp_path], isolated=True).diagnostics
    [judged] = confirm_findings(findings, ConfirmOptions(folders=(tmp_path,)))
    assert judged.verdict is Verdict.NOT_REACHED
    assert judged.reason.endswith(". The cause is in train.py, line 6: try `devlint run train.py`")


def test_a_finding_whose_story_is_in_one_file_names_no_other(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(POSITIONS), encoding="utf-8")
    [finding] = check_paths([tmp_path], isolated=True).diagnostics
    seen = Evidence("not-reached", "it did not run", None, False, None, None, True, True, True, False, 0)
    assert judge(finding, seen, None) == (Verdict.NOT_REACHED, "it did not run")


@pytest.mark.parametrize("inner", ["", "inner"])
def test_modules_of_one_name_in_two_folders_are_told_apart(tmp_path: Path, inner: str) -> None:
    (tmp_path / "setup.py").write_text("", encoding="utf-8")
    for folder, size in (("first", 3), ("second", 5)):
        place = tmp_path / folder
        (place / "parts" / inner).mkdir(parents=True)
        (place / "parts" / inner / "sizes.py").write_text(f"{folder.upper()} = {size}\n", encoding="utf-8")
        module = ".".join(filter(None, ("parts", inner, "sizes")))
        text = f"import torch\nfrom {module} import {folder.upper()} as SIZE\n\n\n"
        text += "def shifted(x: torch.Tensor):\n    return x.cuda() + torch.zeros(SIZE)\n"
        (place / "program.py").write_text(text, encoding="utf-8")
    found = check_paths([tmp_path], isolated=True).diagnostics
    judged = confirm_findings(found, ConfirmOptions(folders=(tmp_path,)))
    assert [one.verdict for one in judged] == [Verdict.CONFIRMED] * 2, [one.reason for one in judged]
