"""Names for CUDA in code that nothing in its project uses, and in files that cannot be imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import Confidence, Severity, check_paths

HELPERS = """\
import torch

def used():
    return 1

def left(step):
    step()
    torch.cuda.synchronize()
"""
MODEL = """\
from .helpers import used

def build():
    return used()
"""
BEGIN = "from .model import build\n"


def severities(folder: Path, **files: str) -> list[Severity]:
    """Return the severities of what is found in the helpers of a package with these files beside its usual ones."""
    package = folder / "package"
    package.mkdir()
    (folder / "pyproject.toml").write_text("")
    for name, text in {"__init__": BEGIN, "helpers": HELPERS, "model": MODEL, **files}.items():
        (package / f"{name}.py").write_text(text)
    found = check_paths([folder], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    return [one.severity for one in found if one.region.filename.endswith("helpers.py")]


def test_nothing_names(tmp_path: Path) -> None:
    assert severities(tmp_path) == [Severity.INFO]


def test_only_what_nothing_names_calls(tmp_path: Path) -> None:
    helpers = HELPERS + "\ndef best(steps):\n    return [left(one) for one in steps]\n"
    assert severities(tmp_path, helpers=helpers) == [Severity.INFO]


@pytest.mark.parametrize(
    "files",
    [
        {"model": MODEL.replace("used", "left")},
        {"__init__": BEGIN + "from .helpers import left\n"},
        {"__init__": BEGIN + "from .helpers import *\n"},
        {"__init__": BEGIN + "from . import helpers\n"},
        {"helpers": "__all__ = ['left', 'used']\n" + HELPERS},
        {"helpers": HELPERS.replace("def left", "@register\ndef left")},
        {"helpers": HELPERS + "\nsteps = {'left': left}\n"},
        {"helpers": HELPERS + "\ndef find(name):\n    return globals()[name]\n"},
        {"model": MODEL + "\nfrom . import helpers\n\ndef find(name):\n    return getattr(helpers, name)\n"},
        {"model": MODEL + "\nCHOICES = ['package.helpers:left']\n"},
        {"model": "def build():\n    return 1\n"},
        {
            "helpers": HELPERS.replace("def left(", "class Timer:\n  def left(").replace("    ", "      "),
            "model": MODEL + "\nfrom .helpers import Timer\n\ntimer = Timer()\n",
        },
    ],
    ids=[
        *("called", "exported", "exported by a star", "exported with its file", "listed", "decorated", "in a table"),
        *("globals", "computed name", "a text", "nothing imports its file", "a public method"),
    ],
)
def test_something_may_name(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, **files) == [Severity.WARNING]


CLASS = """\
import torch

def used():
    return 1

class Timer(Base):
    def left(self):
        torch.cuda.synchronize()

    def again(self):
        return Timer()
"""


@pytest.mark.parametrize(
    ("change", "files", "severity"),
    [
        (("(Base)", ""), {}, Severity.INFO),
        (("(Base)", "(torch.nn.Module)"), {}, Severity.INFO),
        (("(Base)", "(Base)"), {}, Severity.WARNING),
        (("class Timer(Base)", "@register\nclass Timer"), {}, Severity.WARNING),
        (("(Base)", ""), {"model": MODEL + "\nfrom .helpers import Timer\n\ntimer = Timer()\n"}, Severity.WARNING),
        (("(Base)", ""), {"__init__": BEGIN + "from .helpers import Timer\n"}, Severity.WARNING),
        (("(Base)", ""), {"model": MODEL + "\nprint(Base.__subclasses__())\n"}, Severity.WARNING),
        (("(Base)", ""), {"model": "def build():\n    return 1\n"}, Severity.WARNING),
    ],
    ids=[
        *("nothing names it", "a module", "its base may", "registered", "called", "exported", "listed"),
        "nothing imports its file",
    ],
)
def test_class_of_a_package(tmp_path: Path, change: tuple[str, str], files: dict[str, str], severity: Severity) -> None:
    assert severities(tmp_path, helpers=CLASS.replace(*change), **files) == [severity]


METHODS = """\
import torch

def used():
    return Timer()

class Timer:
    def start(self):
        return 1

    def _left(self):
        torch.cuda.synchronize()
"""


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (("return 1", "return 1"), Severity.INFO),
        (("_left", "left"), Severity.WARNING),
        (("return 1", "self._left()"), Severity.WARNING),
        (("return 1", "getattr(self, f'_{self}')()"), Severity.WARNING),
        (("    def _left", "    @register\n    def _left"), Severity.WARNING),
        (("class Timer", "class Timer(Base)"), Severity.WARNING),
    ],
    ids=["a private method", "a public one", "called", "computed name", "decorated", "perhaps called by a base"],
)
def test_method_of_a_package(tmp_path: Path, change: tuple[str, str], severity: Severity) -> None:
    assert severities(tmp_path, helpers=METHODS.replace(*change)) == [severity]


@pytest.mark.parametrize(
    ("imports", "severity"),
    [
        ("from .helpers import used\n", Severity.INFO),
        ("from .helpers import *\n", Severity.WARNING),
        ("from . import helpers\n", Severity.WARNING),
    ],
    ids=["another name", "all names", "the file"],
)
def test_text_that_is_run_may_name_what_its_file_can(tmp_path: Path, imports: str, severity: Severity) -> None:
    model = f"{imports}\ndef build(name):\n    return eval(f'{{name}}()')\n"
    assert severities(tmp_path, model=model) == [severity]


@pytest.mark.parametrize(
    ("model", "severity"),
    [
        ("def load(name):\n    return import_module(name)\n", Severity.INFO),
        ("def load(name):\n    return import_module(name or 'package.helpers')\n", Severity.WARNING),
        ("def load(name):\n    return import_module('package.' + name)\n", Severity.WARNING),
        ("def load(name):\n    return import_module('other.' + name)\n", Severity.INFO),
        ("def load(name):\n    return import_module(f'.{name}', __package__)\n", Severity.WARNING),
        ("def load():\n    return [import_module(one) for one in os.listdir('.')]\n", Severity.WARNING),
        ("def load(name):\n    return getattr(sys.modules[__name__], name)\n", Severity.INFO),
        ("def load(name):\n    return getattr(sys.modules[name], 'left')\n", Severity.WARNING),
        ("def load(name):\n    return show(locals())\n", Severity.INFO),
        ("from .helpers import *\n\nif 1:\n    found = locals()\n", Severity.WARNING),
        ("class Model:\n    def eval(self):\n        return used()\n", Severity.INFO),
    ],
    ids=[
        *("any file", "a text has its name", "a file of the package", "of another package", "a file beside"),
        *("listed files", "a name of its own", "a loaded file", "local names", "names of the file", "a method"),
    ],
)
def test_file_that_others_import_by_its_name_is_seldom_loaded_by_a_computed_one(
    tmp_path: Path, model: str, severity: Severity
) -> None:
    files = {"model": f"from .helpers import used\n\n{model}", "other": "from .helpers import used\n"}
    assert severities(tmp_path, **files) == [severity]


@pytest.mark.parametrize(
    ("evaluated", "severity"),
    [
        ("LambdaLR(optimizer, lr_lambda=eval(text))", Severity.INFO),
        ("eval(text)()", Severity.WARNING),
        ("build(eval(text))", Severity.WARNING),
    ],
    ids=["a library is handed it", "called", "the program is handed it"],
)
def test_class_that_an_evaluated_text_may_name(tmp_path: Path, evaluated: str, severity: Severity) -> None:
    head = "from torch.optim.lr_scheduler import LambdaLR\n"
    helpers = f"{head}{CLASS.replace('(Base)', '')}\ndef plan(optimizer, text):\n    return {evaluated}\n"
    assert severities(tmp_path, helpers=helpers) == [severity]


@pytest.mark.parametrize(
    ("script", "project", "severity"),
    [
        ("main.py", False, Severity.INFO),
        ("main.py", True, Severity.WARNING),
        ("package/main.py", False, Severity.WARNING),
    ],
    ids=["a script beside it", "installed", "no script beside it"],
)
def test_package_that_passes_on_all_names_to_the_script_beside_it(
    tmp_path: Path, script: str, project: bool, severity: Severity
) -> None:
    written = {
        "package/__init__.py": "from .helpers import *\n",
        "package/helpers.py": HELPERS + "\ndef find(module, name):\n    return getattr(module, name)\n",
        "package/model.py": MODEL,
        script: "from package import used, left\n\nif __name__ == '__main__':\n    print(used())\n",
        **({"pyproject.toml": ""} if project else {}),
    }
    assert _severities_of(tmp_path, written) == [severity]


def _severities_of(folder: Path, written: dict[str, str]) -> list[Severity]:
    """Return the severities of what is found in files with some texts."""
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = check_paths([folder], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    return [one.severity for one in found]


@pytest.mark.parametrize(
    ("script", "imports", "document", "severity"),
    [
        ("scripts/train.py", "from package import build", "", Severity.INFO),
        ("scripts/release.py", "import subprocess", "", Severity.WARNING),
        ("examples/train.py", "from package import build", "", Severity.WARNING),
        ("package/train.py", "from package import build", "", Severity.WARNING),
        ("scripts/train.py", "from package import build", "Write `import package.helpers`.\n", Severity.WARNING),
    ],
    ids=["scripts use it", "scripts do not", "examples use it", "a script in it", "a document names it"],
)
def test_file_that_nothing_imports_in_a_package_that_serves_scripts(
    tmp_path: Path, script: str, imports: str, document: str, severity: Severity
) -> None:
    written = {
        "pyproject.toml": "",
        "package/__init__.py": "from .model import build\n",
        "package/helpers.py": HELPERS + "\ndef start(step):\n    return left(step)\n",
        "package/model.py": "def build():\n    return 1\n",
        "README.md": document,
        script: f"{imports}\n\nif __name__ == '__main__':\n    print(build())\n",
    }
    assert _severities_of(tmp_path, written) == [severity]


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ("patch.apply()\n", Severity.INFO),
        ("run(globals()['left'])\n", Severity.WARNING),
        ("run(left)\n", Severity.WARNING),
    ],
    ids=["other work", "a computed name", "its own work"],
)
def test_left_file_that_does_work_of_its_own(tmp_path: Path, more: str, severity: Severity) -> None:
    written = {
        "helpers.py": HELPERS + "\n" + more,
        "main.py": "if __name__ == '__main__':\n    print(1)\n",
        "other.py": "def other():\n    return 1\n",
    }
    assert _severities_of(tmp_path, written) == [severity]


@pytest.mark.parametrize(
    ("imports", "files", "severity"),
    [
        ("from .data import load\nfrom .losses import loss", {}, Severity.INFO),
        ("from .data import load", {}, Severity.WARNING),
        ("from .data import load\nfrom .losses import loss", {"losses": "loss = 1\n"}, Severity.WARNING),
        ("from ._data import load\nfrom ._losses import loss", {}, Severity.WARNING),
        (
            "try:\n    from .data import load\n    from .losses import loss\nexcept ImportError:\n    pass",
            {},
            Severity.WARNING,
        ),
    ],
    ids=["two lack", "one lacks", "one of two lacks", "compiled", "tried"],
)
def test_file_that_was_copied_without_those_beside_it(
    tmp_path: Path, imports: str, files: dict[str, str], severity: Severity
) -> None:
    script = f"{imports}\n{HELPERS}\nif __name__ == '__main__':\n    left(used)\n"
    assert severities(tmp_path, helpers=script, **files) == [severity]


@pytest.mark.parametrize(
    ("head", "path", "severity"),
    [
        ("left()", "/home/me/steps.pt", Severity.INFO),
        ("left()", "steps.pt", Severity.WARNING),
        ("left(steps)", "/home/me/steps.pt", Severity.WARNING),
    ],
    ids=["a file of its author", "a file beside it", "of what others pass"],
)
def test_trial_in_a_file_that_nothing_imports(tmp_path: Path, head: str, path: str, severity: Severity) -> None:
    helpers = f"import torch\n\ndef {head}:\n    torch.save(1, '{path}')\n    torch.cuda.synchronize()\n"
    assert severities(tmp_path, helpers=helpers, model="def build():\n    return 1\n") == [severity]


MINER = """\
import torch

def used():
    return Miner()

class Miner:
    def __init__(self):
        self.devices = torch.cuda.device_count()  # of CUDA

    def places(self):
        return [0]
"""


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (("[0]", "[0]"), Severity.INFO),
        (("[0]", "[devices for devices in ()]"), Severity.INFO),
        (("[0]", "[0] * self.devices"), Severity.WARNING),
        (("[0]", "getattr(self, 'devices')"), Severity.WARNING),
        (("[0]", "getattr(self, str(self))"), Severity.WARNING),
        (("device_count()", "current_device()"), Severity.WARNING),
    ],
    ids=["nothing reads it", "another name", "read", "read by its name", "computed name", "a call that needs CUDA"],
)
def test_figure_that_an_object_keeps(tmp_path: Path, change: tuple[str, str], severity: Severity) -> None:
    assert severities(tmp_path, helpers=MINER.replace(*change)) == [severity]


@pytest.mark.parametrize(
    ("begin", "severity"),
    [
        ("count = torch.cuda.device_count()", Severity.INFO),
        ("count = torch.cuda.device_count()\nplaces = [0] * count", Severity.WARNING),
        ("count = torch.cuda.current_device()", Severity.WARNING),
        ("count = torch.cuda.device_count()\n\ndef find(name):\n    return globals()[name]", Severity.WARNING),
    ],
    ids=["nothing reads it", "read", "a call that needs CUDA", "computed name"],
)
def test_figure_that_a_file_keeps(tmp_path: Path, begin: str, severity: Severity) -> None:
    helpers = f"import torch\n\n{begin}\n\ndef used():\n    return 1\n"
    assert severities(tmp_path, helpers=helpers) == [severity]


def test_figure_that_another_file_takes(tmp_path: Path) -> None:
    helpers = "import torch\n\ncount = torch.cuda.device_count()\n\ndef used():\n    return 1\n"
    model = MODEL.replace("import used", "import count, used").replace("return used()", "return used() * count")
    assert severities(tmp_path, helpers=helpers, model=model) == [Severity.WARNING]


@pytest.mark.parametrize(
    ("use", "severity"),
    [("", Severity.INFO), ("\n        self.scaler.scale(x)", Severity.WARNING)],
    ids=["nothing reads it", "read"],
)
def test_scaler_that_an_object_keeps(tmp_path: Path, use: str, severity: Severity) -> None:
    helpers = MINER.replace("device_count()  # of CUDA", f"amp.GradScaler(){use}").replace("devices", "scaler")
    model = "import torch\n" + MODEL.replace("    return", "    with torch.autocast('cuda'):\n        return")
    assert severities(tmp_path, helpers=helpers, model=model) == [severity]


TIMED = """\
import time
import torch

class Layer(torch.nn.Linear):
    elapsed = 0.0

    def forward(self, x):
        begin = time.time()
        x = super().forward(x.cuda())
        end = time.time()
        self.elapsed = end - begin
        return x

def used():
    return Layer(3, 3)(torch.ones(3, 3))
"""


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (("+", "+"), Severity.INFO),
        (("self.elapsed = end", "self.elapsed += end"), Severity.INFO),
        (("return Layer(3, 3)(torch.ones(3, 3))", "return Layer(3, 3).elapsed"), Severity.WARNING),
        (("return x", "print(end)\n        return x"), Severity.WARNING),
        (("self.elapsed = end - begin", "print(end - begin)"), Severity.WARNING),
    ],
    ids=["nothing reads it", "added up", "read", "the time is printed", "the difference is printed"],
)
def test_time_that_nothing_reads(tmp_path: Path, change: tuple[str, str], severity: Severity) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "layer.py").write_text(TIMED.replace(*change))
    (tmp_path / "main.py").write_text("from layer import used\n\nused()\n")
    found = check_paths([tmp_path], select=["DEV501"], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.severity for one in found] == [severity]


def test_figure_that_other_files_read(tmp_path: Path) -> None:
    model = MODEL.replace("return used()", "return used().devices")
    assert severities(tmp_path, helpers=MINER, model=model) == [Severity.WARNING]


@pytest.mark.parametrize(
    ("model", "severity"),
    [
        ("from helpers import used\n\nprint(used())\n", Severity.INFO),
        ("from helpers import used, left\n\nprint(used())\n", Severity.INFO),
        ("from helpers import used, left as step\n\nprint(used(), step)\n", Severity.WARNING),
        ("from helpers import used, left\n\nprint(used(), left)\n", Severity.WARNING),
    ],
    ids=["another name", "imported, and no more", "by another name", "passed on"],
)
def test_program_that_nobody_installs(tmp_path: Path, model: str, severity: Severity) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text(model + "\nif __name__ == '__main__':\n    print(1)\n")
    found = check_paths([tmp_path], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.severity for one in found] == [severity]


def test_file_that_nothing_imports_in_a_program_that_nobody_installs(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text("if __name__ == '__main__':\n    print(1)\n")
    (tmp_path / "other.py").write_text("def other():\n    return 1\n")
    found = check_paths([tmp_path], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.severity for one in found] == [Severity.INFO]


@pytest.mark.parametrize(
    ("folder", "severity"),
    [
        ("third_party", Severity.INFO),
        ("package/_vendor/other", Severity.INFO),
        ("external/other", Severity.INFO),
        ("package/parts", Severity.WARNING),
        ("package/vendors_of_data", Severity.WARNING),
    ],
)
def test_copy_of_another_project(tmp_path: Path, folder: str, severity: Severity) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text("import torch\n")
    found = check_paths([tmp_path], select=["DEV605"]).diagnostics
    assert [one.severity for one in found] == [severity]


def test_project_in_a_folder_for_copies(tmp_path: Path) -> None:
    project = tmp_path / "third_party" / "project"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text("")
    (project / "helpers.py").write_text(HELPERS)
    assert [one.severity for one in check_paths([project], select=["DEV605"]).diagnostics] == [Severity.WARNING]


def test_part_of_a_package(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("from .inner import helpers\n")
    for name, text in {"__init__": BEGIN, "helpers": HELPERS, "model": MODEL}.items():
        (inner / f"{name}.py").write_text(text)
    found = check_paths([inner], select=["DEV605"]).diagnostics
    assert [one.severity for one in found] == [Severity.WARNING]


def test_document_names(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Call `left()` after each step.\n")
    assert severities(tmp_path) == [Severity.WARNING]


def test_command_of_an_installed_package(tmp_path: Path) -> None:
    package, record = tmp_path / "package", tmp_path / "package-1.0.dist-info"
    package.mkdir()
    record.mkdir()
    for name, text in {"__init__": BEGIN, "helpers": HELPERS, "model": MODEL}.items():
        (package / f"{name}.py").write_text(text)
    (record / "RECORD").write_text("package/__init__.py,,\n")
    assert [one.severity for one in check_paths([package], select=["DEV605"]).diagnostics] == [Severity.INFO]
    (record / "entry_points.txt").write_text("[console_scripts]\nleft = package.helpers:left\n")
    assert [one.severity for one in check_paths([package], select=["DEV605"]).diagnostics] == [Severity.WARNING]


def test_shown_by_the_rule_alone(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    package = tmp_path / "package"
    package.mkdir()
    for name, text in {"__init__": BEGIN, "helpers": HELPERS, "model": MODEL}.items():
        (package / f"{name}.py").write_text(text)
    assert not check_paths([tmp_path], select=["PORTABILITY"]).diagnostics
    assert check_paths([tmp_path], select=["DEV605"]).diagnostics


SCRIPT = "import torch\n{}\ndef wait():\n    torch.cuda.synchronize()\n\nif __name__ == '__main__':\n    wait()\n"


@pytest.mark.parametrize(
    ("imports", "begin", "severity"),
    [
        ("from package import missing", BEGIN, Severity.INFO),
        ("from package import missing", BEGIN + "from .helpers import *\n", Severity.INFO),
        ("from package import build", BEGIN, Severity.WARNING),
        ("from package import helpers", BEGIN, Severity.WARNING),
        ("from package import used", BEGIN + "from .helpers import *\n", Severity.WARNING),
        ("from package import missing", BEGIN + "from elsewhere import *\n", Severity.WARNING),
        ("from package import missing", BEGIN + "def __getattr__(name):\n    return 1\n", Severity.WARNING),
        ("from package import _compiled", BEGIN, Severity.WARNING),
        ("from package import kernels", BEGIN, Severity.WARNING),
    ],
    ids=["lacks", "star lacks", "has", "a module", "star", "star of others", "computes", "private", "compiled"],
)
def test_script_that_cannot_be_imported(tmp_path: Path, imports: str, begin: str, severity: Severity) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    package = tmp_path / "package"
    package.mkdir()
    for name, text in {"__init__": begin, "helpers": HELPERS, "model": MODEL}.items():
        (package / f"{name}.py").write_text(text)
    (package / "kernels.abi3.so").write_bytes(b"")
    (tmp_path / "script.py").write_text(SCRIPT.format(imports))
    found = check_paths([tmp_path / "script.py", package], select=["DEV605"]).diagnostics
    assert [one.severity for one in found if one.region.filename.endswith("script.py")] == [severity]


def test_script_that_imports_what_is_built(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import torch\n")
    (tmp_path / "setup.py").write_text("setup(ext_modules=[Extension('package.kernels', ['kernels.cpp'])])\n")
    (tmp_path / "script.py").write_text(SCRIPT.format("from package import kernels"))
    found = check_paths([tmp_path], select=["DEV605"]).diagnostics
    assert [one.severity for one in found if one.region.filename.endswith("script.py")] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("path", "user", "severity"),
    [
        ("/home/me/index.pt", MODEL, Severity.INFO),
        ("index.pt", MODEL, Severity.WARNING),
        ("/home/me/index.pt", "", Severity.WARNING),
    ],
    ids=["a file of its author", "a file beside it", "a script that nothing imports"],
)
def test_trial_at_the_end_of_a_file_for_others(tmp_path: Path, path: str, user: str, severity: Severity) -> None:
    trial = f"\nif __name__ == '__main__':\n    kept = torch.load('{path}')\n    torch.cuda.synchronize()\n"
    helpers = "import torch\n\ndef used():\n    return 1\n" + trial
    begin = BEGIN if user else ""
    assert severities(tmp_path, helpers=helpers, model=user, __init__=begin) == [severity]


@pytest.mark.parametrize(
    ("last", "severity"),
    [
        ("if __name__ == '__main__':\n    print(used())\n", Severity.INFO),
        ("if __name__ == '__main__':\n    left(used)\n", Severity.WARNING),
        ("", Severity.WARNING),
    ],
    ids=["a script", "a script that calls it", "a file that nothing imports"],
)
def test_nothing_names_in_a_script(tmp_path: Path, last: str, severity: Severity) -> None:
    assert severities(tmp_path, helpers=HELPERS + "\n" + last, model="", __init__="") == [severity]


def test_another_copy_in_a_folder_that_is_left_out_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "copy.py").write_text(HELPERS)
    assert severities(tmp_path) == [Severity.INFO]


@pytest.mark.parametrize(
    ("imports", "files", "severity"),
    [
        ("from clip import encode", {}, Severity.INFO),
        ("import clip.model", {}, Severity.INFO),
        ("from utils import load", {}, Severity.INFO),
        ("from .utils import load", {}, Severity.WARNING),
        ("from clip import encode", {"package/start.py": "import sys\nsys.path.append('.')\n"}, Severity.WARNING),
        ("from clip import another", {}, Severity.WARNING),
        ("import clip", {}, Severity.WARNING),
        ("from utils import load", {"package/copy/training/utils.py": "load = 1\n"}, Severity.WARNING),
        ("from utils import load", {"utils/__init__.py": "load = 1\n"}, Severity.WARNING),
        ("from helpers import load", {}, Severity.WARNING),
        ("from clip import encode", {"package/copy/clip/wrapped.py": "from clip import encode\n"}, Severity.WARNING),
        ("try:\n    from utils import load\nexcept ImportError:\n    load = None", {}, Severity.WARNING),
    ],
    ids=[
        *("a folder above", "a file above", "no library", "relative", "search path", "a library has the name"),
        *("may be a library", "beside", "of the distribution", "unknown library", "wraps a library", "tried"),
    ],
)
def test_copied_file_of_an_installed_package(
    tmp_path: Path, imports: str, files: dict[str, str], severity: Severity
) -> None:
    written = {
        "package/__init__.py": "",
        "package/copy/__init__.py": "",
        "package/copy/clip/__init__.py": "from .model import encode\n",
        "package/copy/clip/model.py": "def encode(x):\n    return x\n",
        "package/copy/training/__init__.py": "",
        "package/copy/training/main.py": SCRIPT.format(imports),
        "package-1.0.dist-info/RECORD": "package/__init__.py,,0\n",
        **files,
    }
    for name, text in written.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = check_paths([tmp_path], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.severity for one in found] == [severity]


def test_copied_file_of_a_program_that_is_not_installed(tmp_path: Path) -> None:
    for name, text in {"package/clip.py": "def encode(x):\n    return x\n", "package/training/main.py": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or SCRIPT.format("from clip import encode"))
    (tmp_path / "package" / "__init__.py").write_text("")
    (found,) = check_paths([tmp_path], select=["DEV605"]).diagnostics
    assert found.severity == Severity.WARNING


@pytest.mark.parametrize("code", ["DEV610", "DEV611"])
@pytest.mark.parametrize(("used", "severity"), [(False, Severity.INFO), (True, Severity.WARNING)])
def test_other_rules_about_what_nobody_ports(tmp_path: Path, code: str, used: bool, severity: Severity) -> None:
    helpers = """\
import torch
import torch.distributed as dist

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def used():
    return 1

def left(model, x):
    dist.init_process_group("nccl")
    with torch.autocast("cuda"):
        return model(x.to(device))
"""
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    model = MODEL.replace("used", "left") if used else MODEL
    for name, text in {"__init__": BEGIN, "helpers": helpers, "model": model}.items():
        (package / f"{name}.py").write_text(text)
    (found,) = check_paths([tmp_path], select=[code]).diagnostics
    assert found.severity == severity
    assert bool(check_paths([tmp_path], select=["PORTABILITY"], ignore=["DEV601", "DEV605"]).diagnostics) == used


@pytest.mark.parametrize(("record", "severity"), [("group/package", Severity.WARNING), ("other", Severity.INFO)])
def test_package_in_a_folder_of_several_distributions(tmp_path: Path, record: str, severity: Severity) -> None:
    package = tmp_path / "group" / "package"
    package.mkdir(parents=True)
    (tmp_path / "group_package-1.0.dist-info").mkdir()
    (tmp_path / "group_package-1.0.dist-info" / "RECORD").write_text(f"{record}/__init__.py,,0\n")
    for name, text in {"__init__": BEGIN + "from .helpers import left\n", "helpers": HELPERS, "model": MODEL}.items():
        (package / f"{name}.py").write_text(text)
    (found,) = check_paths([tmp_path], select=["DEV605"]).diagnostics
    assert found.severity == severity


@pytest.mark.parametrize("named", ["from lib import helpers", "from . import helpers"])
@pytest.mark.parametrize(("called", "severity"), [("left", Severity.WARNING), ("used", Severity.INFO)])
def test_file_taken_from_a_folder_that_is_no_package(
    tmp_path: Path, named: str, called: str, severity: Severity
) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "helpers.py").write_text(HELPERS.replace("def used():", "def used(step):"))
    (folder / "model.py").write_text(f"{named}\n\ndef build(step):\n    return helpers.{called}(step)\n")
    start = "from lib.model import build\n\nif __name__ == '__main__':\n    build(print)\n"
    (tmp_path / "main.py").write_text(start)
    (tmp_path / "other.py").write_text("if __name__ == '__main__':\n    print(1)\n")
    found = check_paths([tmp_path], select=["DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.severity for one in found] == [severity]


@pytest.mark.parametrize(
    ("imported", "files", "severity"),
    [
        ("ocean.models.waves.layers.scaling", {}, Severity.INFO),
        ("ocean.waves.layers.scaling", {}, Severity.INFO),
        ("ocean.layers.scaling", {}, Severity.WARNING),
        ("ocean.models.waves.layers.other", {}, Severity.WARNING),
        ("ocean.models.waves.layers.scaling", {"requirements.txt": "ocean>=1.0\n"}, Severity.WARNING),
        ("ocean.models.waves.layers.scaling", {"setup.py": "setup(install_requires=['ocean'])\n"}, Severity.WARNING),
        ("ocean.models.waves.layers.scaling", {"package/use.py": "from ocean import tides\n"}, Severity.WARNING),
        ("ocean.models.waves.layers.scaling", {"ocean/tides.py": "", "ocean/__init__.py": ""}, Severity.WARNING),
        ("unittest.models.waves.layers.scaling", {}, Severity.WARNING),
    ],
)
def test_script_that_still_imports_the_project_it_was_copied_from(
    tmp_path: Path, imported: str, files: dict[str, str], severity: Severity
) -> None:
    written = {
        "pyproject.toml": "",
        "package/__init__.py": "from .model import build\n",
        "package/model.py": "def build():\n    return 1\n",
        "package/waves/__init__.py": "",
        "package/waves/layers/__init__.py": "",
        "package/waves/layers/scaling.py": "def fit(step):\n    step()\n",
        "package/waves/helpers.py": SCRIPT.format(f"from {imported} import fit"),
        "main.py": "from package import build\n\nif __name__ == '__main__':\n    print(build())\n",
        **files,
    }
    assert _severities_of(tmp_path, written) == [severity]


TRAINER = """\
import torch
from core.utils import loader, prefetcher

def train():
    for batch in {made}:
        print(batch)
"""
PREFETCHER = """\
import torch

class prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        with torch.cuda.stream(self.stream):
            self.batch = next(self.loader)

def loader():
    return [1]

def start(launcher):
    if launcher == "slurm":
        _start_slurm()

def _start_slurm():
    torch.cuda.set_device(0)
"""


@pytest.mark.parametrize(
    ("made", "severities"),
    [
        ("loader()", {Severity.INFO}),
        ("prefetcher(loader())", {Severity.INFO, Severity.WARNING}),
    ],
    ids=["only imported", "made"],
)
def test_class_that_a_program_only_imports(tmp_path: Path, made: str, severities: set[Severity]) -> None:
    written = {
        "core/__init__.py": "from core.trainer import train\n",
        "core/utils/__init__.py": "from .utils import *\n",
        "core/utils/utils.py": PREFETCHER,
        "core/trainer.py": TRAINER.format(made=made),
        "main.py": "from core import train\n\nif __name__ == '__main__':\n    train()\n",
    }
    assert {*_severities_of(tmp_path, written)} == severities
