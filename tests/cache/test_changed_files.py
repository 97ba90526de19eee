"""Which files a run analyses again after a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devlint.cache.store import ProjectCache, Store
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.linter.check import CheckResult, check_files
from devlint.linter.discovery import Discovery
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.rule_listing import all_rule_metadata

FILES = {
    "helper.py": "import torch\n\nSIZE = 3\n\n\ndef make():\n    return torch.zeros(SIZE, device='cuda')\n\n\n"
    "def other():\n    return 1\n",
    "user.py": "import torch\nfrom helper import make\n\n\ndef use():\n    return make() + torch.ones(3)\n",
    "plain.py": "import torch\n\n\ndef add():\n    return torch.zeros(3, device='cuda') + torch.ones(3)\n",
    "caller.py": "from user import use\n\nuse()\n",
}


@pytest.fixture
def analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., set[str]]:
    """Checks a project twice, with and without a cache, and returns the names of the files that the first analysed."""
    paths: list[Path] = []
    analyse = FileAnalyser.analyse

    def noted(self: FileAnalyser, path: Path):
        paths.append(path)
        return analyse(self, path)

    monkeypatch.setattr(FileAnalyser, "analyse", noted)
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "project"

    def check(cache: ProjectCache | None) -> CheckResult:
        options = Options()
        resolver = Resolver(list(all_rule_metadata()), options, cwd=project, isolated=True)
        return check_files(list(Discovery(resolver.settings_for, pytest.fail).find([project])), cache=cache)

    def run(**changed: str | None) -> set[str]:
        for name, text in {**FILES, **{f"{name}.py": text for name, text in changed.items()}}.items():
            (project / name).parent.mkdir(exist_ok=True)
            if text is None:
                (project / name).unlink(missing_ok=True)
            else:
                (project / name).write_text(text)
        paths.clear()
        warm = check(ProjectCache(Store(tmp_path / "cache"), project))
        names = {path.name for path in paths}
        assert warm.diagnostics == check(None).diagnostics
        return names

    run()
    return run


HELPER = FILES["helper.py"]


def test_nothing_is_analysed_again_where_nothing_has_changed(analysed):
    assert analysed() == set()


def test_a_changed_file_is_analysed(analysed):
    assert analysed(plain=FILES["plain.py"] + "\n# a comment\n") == {"plain.py"}


def test_a_comment_does_not_concern_the_files_that_import_it(analysed):
    assert analysed(helper="# one\n# two\n" + HELPER) == {"helper.py"}


def test_what_nobody_uses_does_not_concern_the_files_that_import_it(analysed):
    assert analysed(helper=HELPER.replace("return 1", "return 2")) == {"helper.py"}
    assert analysed(helper=HELPER + "\n\ndef added():\n    pass\n") == {"helper.py"}
    assert analysed(helper=HELPER + "\nLIMIT = 3\n") == {"helper.py"}
    assert analysed(helper=HELPER + "\nNAME = 'a'  # of the project\n") == {"helper.py"}


@pytest.mark.parametrize(
    "text",
    [
        HELPER.replace("'cuda'", "'cpu'"),
        HELPER.replace("SIZE = 3", "SIZE = torch.ones(3).sum()"),
        HELPER.replace("SIZE = 3", "SIZE = 4"),
        HELPER + "\nSIZE = 4\n",
        HELPER + "\nimport extra\n",
        HELPER + "\ndevice = 'cuda'\n",
        HELPER + "\n\ndef make():\n    return 3\n",
        HELPER.replace("def make", "def made"),
        "def broken(:\n",
        None,
    ],
)
def test_what_is_used_concerns_all_who_use_it(analysed, text):
    own = {"helper.py"} if text is not None and "torch" in text else set()
    assert analysed(helper=text) == {*own, "user.py", "caller.py"}


def test_a_new_file_that_shadows_a_library_is_seen(analysed):
    assert analysed(torch="def ones(*sizes):\n    return 1\n") == {
        "helper.py",
        "user.py",
        "plain.py",
        "caller.py",
    }


def test_going_back_analyses_nothing(analysed):
    analysed(helper=HELPER.replace("'cuda'", "'cpu'"))
    assert analysed() == set()


def test_findings_move_with_their_statements(analysed):
    # The finding in user.py has steps in helper.py.
    assert analysed(helper="\n\n\n\n" + HELPER) == {"helper.py"}
    assert analysed(helper="\n" + HELPER.replace("SIZE = 3\n", "SIZE = 3\n\n\ndef new():\n    pass\n")) == {"helper.py"}


def test_the_place_of_a_constant_counts(analysed):
    star = "from plain import *\n"
    assert analysed(helper="import torch\n" + star + HELPER.partition("\n")[2], plain="SIZE = 4\n")
    moved = HELPER.replace("SIZE = 3\n", "SIZE = 3\n" + star)
    assert analysed(helper=moved, plain="SIZE = 4\n") == {"helper.py", "user.py", "caller.py"}
    ended = HELPER.replace("SIZE = 3", "raise SystemExit\nSIZE = 3")
    analysed(helper=ended)
    assert "user.py" in analysed(helper=HELPER.replace("SIZE = 3\n", "SIZE = 3\nraise SystemExit\n"))


def test_a_name_that_code_computes_leads_to_the_whole_module(analysed):
    text = "import helper\n\n\ndef call(name):\n    return getattr(helper, name)()\n"
    assert analysed(extra=text) == {"extra.py"}
    assert "extra.py" in analysed(extra=text, helper=HELPER.replace("return 1", "return 2"))


def test_a_module_that_is_passed_on_leads_to_all_of_it(analysed):
    text = "import helper\nfrom calling import call\n\n\ndef run():\n    return call(helper)\n"
    calling = "def call(module):\n    return module.other()\n"
    assert analysed(extra=text, calling=calling) == {"extra.py"}
    assert "extra.py" in analysed(extra=text, calling=calling, helper=HELPER.replace("return 1", "return 2"))


def test_imports_in_functions_count(analysed):
    text = "def run():\n    from helper import other\n\n    return other()\n"
    assert analysed(extra=text) == {"extra.py"}
    assert "extra.py" in analysed(extra=text, helper=HELPER.replace("return 1", "return 2"))


def test_a_finding_with_a_fix_in_another_file_is_made_again(analysed):
    # The fix depends on the whole file that it changes.
    text = HELPER.replace("def make():\n", "def make(x=torch.ones(3)):\n    x.cuda()\n")
    analysed(helper=text)
    assert analysed(helper="# one\n" + text) == {"helper.py", "user.py", "caller.py"}


def test_a_file_without_tensors_is_analysed_when_it_gets_some(analysed):
    area = "import settings\n\n\ndef area():\n    return settings.size() + settings.WIDTH\n"
    plain = "WIDTH = 4\n\n\ndef size():\n    return 3\n"
    tensors = "import torch\n\nWIDTH = torch.ones(3)\n\n\ndef size():\n    return torch.ones(3, device='cuda')\n"
    assert analysed(area=area, settings=plain) == set()
    assert analysed(area=area, settings=tensors) == {"area.py", "settings.py"}
    assert analysed(area=area, settings=tensors) == set()
    assert analysed(area=area, settings=plain) == set()
    assert analysed(area=area, settings="def broken(:\n") == set()
    assert analysed(area=area, settings=tensors) == set()


def test_settings_count(analysed, monkeypatch):
    monkeypatch.setattr("devlint.linter.stored_findings.engine_digest", lambda: "another version")
    monkeypatch.setattr("devlint.linter.stored_run.engine_digest", lambda: "another version")
    assert analysed() == set(FILES)


def test_calls_of_a_constructor_in_other_files_count(analysed):
    trainer = (
        "class Trainer:\n    def __init__(self, net, batches):\n        self.net = net.cuda()\n"
        "        self.batches = batches\n\n"
        "    def run(self):\n        for x in self.batches:\n            self.net(x)\n"
    )
    make = "import torch\nfrom trainer import Trainer\n\nTrainer(torch.nn.Linear(3, 3), [torch.ones(3)]).run()\n"
    assert analysed(trainer=trainer, make=make) == {"trainer.py", "make.py"}
    assert "make.py" in analysed(trainer=trainer, make=make.replace("[torch.ones(3)]", "torch.ones(2, 3)"))


CONFIG = "OPTIONS = {}\nOPTIONS['device'] = 'cpu'\n"
READER = "import torch\nfrom config import OPTIONS\n\ntorch.ones(3, device=OPTIONS['device']).numpy()\n"
BLOCK = (
    "import torch\nfrom torch import nn\n\n\nclass Block(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n"
    "        self.shift = torch.ones(3)\n\n    def forward(self, x):\n        return x + self.shift\n"
)
PINNED = "import torch\n\n\ndef move(x):\n    return x.pin_memory().to('cuda')\n"
WAITS = "import torch\nfrom layer import attend\n\n\ndef wait(x):\n    attend(x)\n    torch.cuda.synchronize()\n"
SEEDS = "import torch\n\n\ndef work(n):\n    torch.cuda.manual_seed(n)\n"
SCALER = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
STARTS = "import torch\nimport seeds\n\ntorch.manual_seed(3)\nseeds.work(3)\n"
LAYER = "import kernels\n\n\ndef attend(x):\n    return x\n\n\ndef other(x):\n    return kernels.attend(x)\n"
WORKERS = (
    "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\n\ndef read():\n"
    "    for (x,) in DataLoader(TensorDataset(torch.ones(3).cuda()), num_workers=2):\n        print(x)\n"
)
TIMES = (
    "import time\nimport torch\n\n\ndef measure(x):\n    start = time.time()\n    y = x.cuda() @ x.cuda()\n"
    "    print(time.time() - start)\n"
)
STATE = (
    "import torch\n\n\nclass State:\n"
    "    def __init__(self):\n        self.scale = torch.ones(3)\n\n"
    "    def scaled(self):\n        return self.scale * torch.ones(3, device='cuda')\n"
)
STATE_MOVER = "from state import State\n\nstate = State()\nstate.scale = state.scale.cuda()\n"
MOVER = "from block import Block\n\nnet = Block().cuda()\nnet.shift = net.shift.cuda()\n"


@pytest.mark.parametrize(
    ("before", "after", "concerned"),
    [
        # What runs where a module is imported, though no name leads to it.
        ({"config": CONFIG, "reader": READER}, {"config": CONFIG.replace("cpu", "cuda")}, "reader.py"),
        (
            {"config": CONFIG, "reader": READER},
            {"config": CONFIG + "for key in OPTIONS:\n    OPTIONS[key] = 'cuda'\n"},
            "reader.py",
        ),
        # Star imports of star imports, and what they leave out.
        (
            {"star": "from helper import *\n", "extra": "from star import *\n\nmake().numpy()\n"},
            {"helper": HELPER.replace("'cuda'", "'cpu'")},
            "extra.py",
        ),
        (
            {"star": "from helper import *\n", "extra": "from star import *\n\nmake().numpy()\n"},
            {"helper": "__all__ = ['other']\n" + HELPER},
            "extra.py",
        ),
        # The default device, and attributes that are moved, in files that import the file.
        (
            {"main": "import user\n"},
            {"main": "import torch\nimport user\n\ntorch.set_default_device('cuda')\n"},
            "user.py",
        ),
        (
            {"main": "import user\n"},
            {"main": "import deepxde\nimport user\n"},
            "user.py",
        ),
        (
            {"extra": "from setting import f\nimport torch\n\nx = torch.ones(3)\n", "setting": "def f(): pass\n"},
            {"setting": "import deepxde\n\ndef f(): pass\n"},
            "extra.py",
        ),
        ({"block": BLOCK, "mover": MOVER}, {"mover": MOVER.replace("net.shift = net.shift.cuda()\n", "")}, "block.py"),
        (
            {"state": STATE, "mover": STATE_MOVER},
            {"mover": STATE_MOVER.replace("state.scale = state.scale.cuda()\n", "")},
            "state.py",
        ),
        # Whether code may run in another thread, as far as its file tells.
        (
            {"pinned": PINNED, "extra": "from pinned import move\nimport torch\n\nmove(torch.ones(3))\n"},
            {"pinned": PINNED + "\n\ndef start(f):\n    import threading\n\n    threading.Thread(target=f).start()\n"},
            "extra.py",
        ),
        # How a program that imports the file starts processes.
        (
            {"loads": WORKERS, "main": "import loads\n"},
            {"main": "import loads\nimport multiprocessing\n\nmultiprocessing.set_start_method('spawn')\n"},
            "loads.py",
        ),
        # Whether a program that imports the file makes launches on CUDA wait.
        (
            {"times": TIMES, "main": "import times\n"},
            {"main": "import os\nimport times\n\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n"},
            "times.py",
        ),
        # Whether a file runs without CUDA.
        (
            {"extra": WAITS, "layer": LAYER},
            {"layer": LAYER.replace("import kernels", "import kernels_cuda as kernels")},
            "extra.py",
        ),
        (
            {"extra": WAITS.replace("import attend", "import other as attend"), "layer": LAYER},
            {"layer": LAYER.replace("import kernels", "try:\n    import kernels_cuda as kernels\nexcept: pass")},
            "extra.py",
        ),
        # Whether the files that import one run without CUDA, and what they do before they call it.
        ({"waits": WAITS, "extra": "import waits\n"}, {"extra": "import cupy\nimport waits\n"}, "waits.py"),
        ({"seeds": SEEDS, "extra": STARTS}, {"extra": STARTS.replace("manual_seed", "set_num_threads")}, "seeds.py"),
        # Whether some file computes in half precision.
        ({"scaler": SCALER, "half": "import scaler\n"}, {"half": "import scaler\n\nautocast = 3\n"}, "scaler.py"),
        # Where a module is found.
        ({"extra": "from tools import make\n\nmake().numpy()\n"}, {"tools": HELPER}, "extra.py"),
    ],
)
def test_what_another_file_does_to_a_file(analysed, before, after, concerned):
    analysed(**before)
    assert analysed(**before) == set()
    assert concerned in analysed(**{**before, **after})


def test_a_file_that_is_imported_for_its_effect_counts(analysed):
    user = "import setting\nimport torch\n\nx = torch.ones(3) + torch.ones(3, device='cuda')\n"
    analysed(extra=user, setting="import torch\n")
    assert "extra.py" in analysed(extra=user, setting="import torch\n\ntorch.set_default_device('cuda')\n")
    assert "extra.py" in analysed(extra=user, setting="import torch\n\ntorch.set_default_dtype(torch.float64)\n")


def test_what_calls_in_other_files_pass_counts(analysed):
    helper = (
        "import torch\n\n\ndef combine(x, matrix, masked=None):\n    if masked is None:\n"
        "        masked = torch.bernoulli(matrix).bool()\n"
        "    return torch.bernoulli(torch.full(x.shape, 0.8, device=x.device)).bool() & masked\n"
    )
    start = "import torch\nfrom helper import combine\n\nif __name__ == '__main__':\n"
    caller = start + "    combine(torch.ones(3).cuda(), {})\n"
    analysed(helper=helper, user=None, caller=caller.format("torch.ones(3)"))
    assert analysed(helper=helper, user=None, caller=caller.format("torch.ones(3).cuda()")) == {"caller.py"}
    assert analysed(helper="# one\n" + helper, user=None, caller=caller.format("torch.ones(3)")) == {
        "helper.py",
        "caller.py",
    }
    analysed(helper="# two\n# three\n" + helper, user=None, caller=caller.format("torch.ones(3)"))
