"""Findings in functions and classes that nothing in their project uses: they are only possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import Confidence, Severity, check_paths

WRONG = 'torch.zeros(3) + torch.ones(3, device="cuda")'
HELPERS = f"""\
import torch
from torch import nn

def used():
    return 1

def unused():
    return {WRONG}

class Net(nn.Module):
    def call(self):
        return {WRONG}
"""
SCRIPT = """\
from helpers import used, Net

# unused() and Net().call() are left out
if __name__ == "__main__":
    print(used(), Net())
"""


def confidences(folder: Path, **files: str) -> list[tuple[int, Confidence]]:
    """Return the rows and confidences of the findings in the helpers of a project with these files."""
    (folder / "pyproject.toml").write_text("")
    for name, text in {"helpers": HELPERS, "main": SCRIPT, **files}.items():
        (folder / f"{name}.py").write_text(text)
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    return [(one.region.start.row, one.confidence) for one in found if one.region.filename.endswith("helpers.py")]


def test_nothing_calls(tmp_path: Path) -> None:
    assert confidences(tmp_path) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


FORWARDS = f"""\
import torch
from torch import nn

__all__ = ["Old", "New"]

class Old(nn.Module):
    def forward(self):
        return {WRONG}

class New(nn.Module):
    def forward(self):
        return {WRONG}
"""


@pytest.mark.parametrize(
    "call",
    ["helpers.New()", "getattr(helpers, 'New')()", "helpers.__dict__['New']()"],
    ids=["called", "taken by its name", "an entry"],
)
def test_module_that_nothing_makes(tmp_path: Path, call: str) -> None:
    script = f"import helpers\n\nif __name__ == '__main__':\n    {call}()\n"
    found = confidences(tmp_path, helpers=FORWARDS, main=script)
    assert found == [(8, Confidence.POSSIBLE), (12, Confidence.CERTAIN)]


REGISTRY = """\
class Base(nn.Module):
    def __init_subclass__(cls):
        made[cls.__name__] = cls
"""
BASE = "from torch import nn\n\nclass Base(nn.Module):\n    def size(self):\n        return 1\n"


@pytest.mark.parametrize(
    ("base", "use", "confidence"),
    [
        ("from base import Base\n\n", "helpers.New()()", Confidence.POSSIBLE),
        (BASE, "helpers.New()()", Confidence.POSSIBLE),
        (BASE, "helpers.New()(), helpers.Old()()", Confidence.CERTAIN),
        (BASE, "helpers.New()(), [one() for one in helpers.Base.__subclasses__()]", Confidence.CERTAIN),
    ],
    ids=["imported", "beside it", "made", "found by its base"],
)
def test_module_with_a_base_of_the_program(tmp_path: Path, base: str, use: str, confidence: Confidence) -> None:
    helpers = FORWARDS.replace("Old(nn.Module)", "Old(Base)").replace("class Old", base + "class Old")
    script = f"import helpers\n\nif __name__ == '__main__':\n    {use}\n"
    found = confidences(tmp_path, helpers=helpers, main=script, base=BASE)
    assert [one for _, one in found] == [confidence, Confidence.CERTAIN]


@pytest.mark.parametrize(
    "helpers",
    [
        FORWARDS.replace("class Old", "@register\nclass Old").replace("@register", "@torch.jit.register", 1),
        FORWARDS.replace("Old(nn.Module)", "Old(nn.Module, metaclass=Registry)"),
        FORWARDS.replace("Old(nn.Module)", "Old(Base)").replace("class Old", f"{REGISTRY}\nclass Old"),
        FORWARDS.replace("Old(nn.Module)", "Old(Base)").replace("class Old", "from elsewhere import Base\n\nclass Old"),
        FORWARDS + "\nregistry = {'old': Old}\n",
    ],
    ids=["decorated", "metaclass", "a base that registers", "unknown base", "in a table"],
)
def test_module_that_something_may_make(tmp_path: Path, helpers: str) -> None:
    script = "import helpers\n\nif __name__ == '__main__':\n    helpers.New()()\n"
    found = confidences(tmp_path, helpers=helpers, main=script)
    assert [confidence for _, confidence in found] == [Confidence.CERTAIN] * 2


def test_entry_of_a_computed_name(tmp_path: Path) -> None:
    script = "import sys, helpers\n\nif __name__ == '__main__':\n    helpers.__dict__[sys.argv[1]]()()\n"
    found = confidences(tmp_path, helpers=FORWARDS, main=script)
    assert found == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


COSTLY = """\
'''Blocks that nobody uses.'''

import os

import torch
from torch import nn

os.environ["LEVEL"] = "2"

class Block(nn.Module):
    def forward(self, x):
        return x.cuda() + torch.zeros(512, 512).cuda()
"""


def cost_severities(folder: Path, blocks: str, main: str) -> list[Severity]:
    """Return the severities of the findings about cost in a project of two files."""
    (folder / "pyproject.toml").write_text("")
    (folder / "blocks.py").write_text(blocks)
    (folder / "main.py").write_text(f"if __name__ == '__main__':\n    {main}\n")
    found = check_paths([folder], select=["DEV406"], min_confidence=Confidence.POSSIBLE).diagnostics
    return [one.severity for one in found]


@pytest.mark.parametrize(
    ("main", "severities"),
    [
        ("print(1)", [Severity.INFO]),
        ("import blocks\n    print(blocks.Block()(1))", [Severity.WARNING]),
        ("import blocks\n    print(vars(blocks))", [Severity.WARNING]),
    ],
    ids=["no file imports it", "called", "computed name"],
)
def test_cost_of_what_nothing_uses(tmp_path: Path, main: str, severities: list[Severity]) -> None:
    assert cost_severities(tmp_path, COSTLY, main) == severities


def test_cost_in_a_file_that_runs_by_itself(tmp_path: Path) -> None:
    assert cost_severities(tmp_path, COSTLY + "\nprint(Block()(1))\n", "print(1)") == [Severity.WARNING]


def test_cost_in_a_file_that_settings_name(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text("model: blocks.Net")
    assert cost_severities(tmp_path, COSTLY, "print(1)") == [Severity.WARNING]


def test_called_only_by_what_nothing_calls(tmp_path: Path) -> None:
    other = "import helpers\n\ndef left():\n    return helpers.unused(), helpers.Net().call()\n"
    script = SCRIPT + "    import other\n"
    found = confidences(tmp_path, main=script, other=other)
    assert found == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


def test_other_names_that_are_computed(tmp_path: Path) -> None:
    script = SCRIPT + "    Net().eval(), getattr(used, 'name', None)\n"
    assert confidences(tmp_path, main=script) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


@pytest.mark.parametrize(
    "files",
    [
        {"main": SCRIPT + "    from helpers import unused\n    unused(), Net().call()\n"},
        {"main": SCRIPT.partition("if __name__")[0]},
        {"main": SCRIPT + "    import helpers, sys\n    getattr(helpers, sys.argv[1])()\n"},
        {"main": SCRIPT + "    registry = ['unused', 'call']\n"},
    ],
    ids=["called", "no script", "called by a computed name", "named in text"],
)
def test_may_be_called(tmp_path: Path, files: dict[str, str]) -> None:
    assert confidences(tmp_path, **files) == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


def test_named_in_settings(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("make: helpers.unused\n")
    assert confidences(tmp_path) == [(8, Confidence.CERTAIN), (12, Confidence.POSSIBLE)]


def test_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "main.py").write_text(SCRIPT.replace("helpers", "package.helpers"))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found} == {Confidence.CERTAIN}


@pytest.mark.parametrize(
    ("record", "text", "confidence"),
    [
        ("made-1.0.dist-info/RECORD", "package/__init__.py,,\npackage/helpers.py,,\n", Confidence.CERTAIN),
        ("made.egg-info/top_level.txt", "other\npackage\n", Confidence.CERTAIN),
        ("made-1.0.dist-info/RECORD", "other/package/__init__.py,,\nother/__init__.py,,\n", Confidence.POSSIBLE),
        ("made.egg-info/top_level.txt", "packages\n", Confidence.POSSIBLE),
    ],
    ids=["wheel", "egg", "another wheel", "another egg"],
)
def test_package_that_an_installer_has_put_here(tmp_path: Path, record: str, text: str, confidence: Confidence) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text(SCRIPT.replace("helpers", "package.helpers"))
    (tmp_path / record).parent.mkdir()
    (tmp_path / record).write_text(text)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found} == {confidence}


TESTS = """\
from helpers import used, Net

def test_used():
    assert used() == 1 and Net()

if __name__ == "__main__":
    test_used()
"""


def test_tests_that_also_run_by_themselves_are_no_application(tmp_path: Path) -> None:
    (tmp_path / "test_helpers.py").write_text(TESTS)
    found = confidences(tmp_path, main="from helpers import used\n")
    assert found == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


@pytest.mark.parametrize(
    "files",
    [{"test_helpers": TESTS}, {"main": "import helpers\n", "test_net": TESTS.replace("test_used", "evaluate")}],
    ids=["beside a script", "a script named as tests are"],
)
def test_application_with_tests(tmp_path: Path, files: dict[str, str]) -> None:
    assert confidences(tmp_path, **files) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


def test_package_file_in_a_folder_that_is_a_package(tmp_path: Path) -> None:
    package = tmp_path / "python" / "package"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (tmp_path / "python" / "setup.py").write_text("")
    (tmp_path / "main.py").write_text(SCRIPT.replace("helpers", "package.helpers"))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found} == {Confidence.CERTAIN}


def test_words_of_documents_name_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Some code is unused, and a call of it is wrong.\n")
    assert confidences(tmp_path) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]
    (tmp_path / "README.md").write_text("Use `helpers.unused()`, then `call`.\n")
    assert confidences(tmp_path) == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


def test_options_are_no_functions(tmp_path: Path) -> None:
    listed = (
        "    from argparse import ArgumentParser\n    args = ArgumentParser().parse_args()\n    print(args.__dict__)\n"
    )
    assert confidences(tmp_path, main=SCRIPT + listed) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]
    asked = SCRIPT + listed + "    Net.__dict__[args.name](Net())\n"
    assert confidences(tmp_path, main=asked) == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ("import torch, sys\n    getattr(torch, sys.argv[1]), vars(torch.optim)[sys.argv[2]]", Confidence.POSSIBLE),
        ("import settings\n    args = settings.read()\n    print(args.__dict__, vars(args))", Confidence.POSSIBLE),
        ("import helpers as torch, sys\n    getattr(torch, sys.argv[1])()", Confidence.CERTAIN),
        ("import importlib, sys\n    found = importlib.import_module('helpers')\n    vars(found)", Confidence.CERTAIN),
        ("import helpers, sys\n    found = helpers\n    getattr(found, sys.argv[1])()", Confidence.CERTAIN),
        ("import sys\n    getattr(sys.modules['helpers'], sys.argv[1])()", Confidence.CERTAIN),
    ],
    ids=["a library", "options", "another name", "an imported module", "a module as a value", "a table of modules"],
)
def test_names_computed_for_other_things(tmp_path: Path, lines: str, confidence: Confidence) -> None:
    found = confidences(tmp_path, main=SCRIPT + f"    {lines}\n", settings="def read():\n    return 1\n")
    assert found[0] == (8, confidence)


def test_another_function_of_the_same_name(tmp_path: Path) -> None:
    twin = "from other import unused\n" + SCRIPT + "    unused()\n"
    other = "def unused():\n    return 1\n"
    assert confidences(tmp_path, main=twin, other=other) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


@pytest.mark.parametrize(
    "passed_on",
    ["from helpers import unused\n", "from helpers import *\n", "import helpers\nunused = helpers.unused\n"],
)
def test_passed_on_by_another_file(tmp_path: Path, passed_on: str) -> None:
    script = SCRIPT + "    import other\n    other.unused()\n"
    assert confidences(tmp_path, main=script, other=passed_on)[0] == (8, Confidence.CERTAIN)


@pytest.mark.parametrize(
    ("imports", "use", "confidence"),
    [
        ("unused", "", Confidence.POSSIBLE),
        ("unused", "unused()", Confidence.CERTAIN),
        ("unused as other", "other()", Confidence.CERTAIN),
    ],
    ids=["and no more", "and calls it", "by another name"],
)
def test_import_alone_is_no_use(tmp_path: Path, imports: str, use: str, confidence: Confidence) -> None:
    script = f"from helpers import {imports}\n{SCRIPT}    {use}\n"
    assert confidences(tmp_path, main=script)[0] == (8, confidence)


@pytest.mark.parametrize(
    ("other", "confidence"),
    [
        ("class Other:\n    def call(self): ...\n    def run(self):\n        self.call()\n", Confidence.POSSIBLE),
        ("class Other:\n    def run(self):\n        self.call()\n", Confidence.CERTAIN),
        ("class Other:\n    def call(self): ...\n    def run(self, net):\n        net.call()\n", Confidence.CERTAIN),
        ("class Other(Net):\n    def call(self): ...\n    def run(self):\n        self.call()\n", Confidence.CERTAIN),
    ],
    ids=["its own", "perhaps given to it", "of another object", "of a subclass"],
)
def test_class_that_calls_a_method_of_its_own(tmp_path: Path, other: str, confidence: Confidence) -> None:
    script = SCRIPT.replace("# unused", f"{other}\n# unused") + "    Other().run()\n"
    assert confidences(tmp_path, main=script)[1] == (12, confidence)


@pytest.mark.parametrize(
    ("imports", "base", "confidence"),
    [
        ("import torch", "torch.optim.Optimizer", Confidence.POSSIBLE),
        ("from torch.utils.data import Dataset as Data", "Data", Confidence.POSSIBLE),
        ("from elsewhere import Optimizer", "Optimizer", Confidence.CERTAIN),
    ],
)
def test_class_of_a_base_of_torch_that_nothing_makes(
    tmp_path: Path, imports: str, base: str, confidence: Confidence
) -> None:
    helpers = HELPERS.replace("from torch import nn", imports).replace("Net(nn.Module)", f"Net({base})")
    script = SCRIPT.replace(", Net", "").replace(", Net()", "")
    assert confidences(tmp_path, helpers=helpers, main=script)[1] == (12, confidence)


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ("print(vars(self.args), self.net.__dict__)", Confidence.POSSIBLE),
        ("vars(self.args)[self.name]()", Confidence.CERTAIN),
        ("self.args.__dict__.get(self.name)()", Confidence.CERTAIN),
        ("self.__class__.__dict__", Confidence.CERTAIN),
    ],
    ids=["shown", "searched", "searched by a method", "of a class"],
)
def test_dict_of_what_an_object_keeps(tmp_path: Path, lines: str, confidence: Confidence) -> None:
    other = f"class Run:\n    def show(self):\n        {lines}\n"
    script = SCRIPT.replace("# unused", f"{other}\n# unused")
    assert confidences(tmp_path, main=script)[0] == (8, confidence)


def test_attribute_that_only_an_uncalled_method_reads(tmp_path: Path) -> None:
    net = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = torch.ones(3)

    def call(self, x: torch.Tensor):
        return x + self.eps
"""
    script = SCRIPT.replace("used, ", "").replace("used(), ", "")
    assert confidences(tmp_path, helpers=net, main=script) == [(7, Confidence.POSSIBLE)]
    read = net.replace("def call", "def forward")
    assert confidences(tmp_path, helpers=read, main=script) == [(7, Confidence.LIKELY)]
    both = net + "\n    def forward(self, x: torch.Tensor):\n        return x * self.eps\n"
    assert confidences(tmp_path, helpers=both, main=script) == [(7, Confidence.LIKELY)]


BRANCH = f"""\
def shift(x, mode="plain", masked=False):
    if masked:
        return {WRONG}
    if mode != "plain":
        return {WRONG}
    return x

def use(x, **options):
    return shift(x)
"""


def branches(folder: Path, uses: str, helpers: str = BRANCH, **files: str) -> list[Confidence]:
    """Return the confidences of the findings in the two branches that ask for parameters, in a project with a use."""
    script = f"from helpers import *\n\nif __name__ == '__main__':\n    use(1)\n{uses}"
    found = confidences(folder, helpers="import torch\n\n" + helpers, main=script, **files)
    return [confidence for _, confidence in found]


def test_parameter_that_no_call_sets(tmp_path: Path) -> None:
    assert branches(tmp_path, "") == [Confidence.POSSIBLE, Confidence.POSSIBLE]
    assert branches(tmp_path, "    shift(2, 'plain')\n") == [Confidence.POSSIBLE, Confidence.POSSIBLE]
    assert branches(tmp_path, "    shift(2, str(1))\n") == [Confidence.POSSIBLE, Confidence.CERTAIN]


@pytest.mark.parametrize(
    "use",
    [
        "    shift(2, 'other', True)\n",
        "    shift(2, mode='other', masked=True)\n",
        "    options = {}\n    shift(2, **options)\n",
        "    found = map(shift, [1])\n",
        "    found = {'shift': 1}\n    globals()['shift'](1)\n",
    ],
    ids=["by position", "by keyword", "by unpacking", "passed as a value", "by a computed name"],
)
def test_parameter_that_a_call_sets(tmp_path: Path, use: str) -> None:
    assert branches(tmp_path, use) == [Confidence.CERTAIN, Confidence.CERTAIN]


def test_parameter_that_settings_name(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("masked: true\n")
    assert branches(tmp_path, "") == [Confidence.CERTAIN, Confidence.POSSIBLE]


def test_parameter_of_a_method(tmp_path: Path) -> None:
    method = f"""\
class Layer:
    def shift(self, x, masked=False):
        if not masked:
            return x
        return {WRONG}

def use(x):
    return Layer().shift(x)
"""
    assert branches(tmp_path, "", method) == [Confidence.POSSIBLE]
    assert branches(tmp_path, "    Layer().shift(2, True)\n", method) == [Confidence.CERTAIN]


def test_default_side_of_a_parameter(tmp_path: Path) -> None:
    plain = f"def shift(x, masked=True):\n    return {WRONG} if masked else x\n\ndef use(x):\n    return shift(x)\n"
    assert branches(tmp_path, "", plain) == [Confidence.CERTAIN]


IDLE = "if __name__ == '__main__':\n    import tools\n    print(tools)\n"
BOTH = (8, 12)


@pytest.mark.parametrize(
    ("files", "confidence"),
    [
        ({"main": IDLE}, Confidence.POSSIBLE),
        ({"main": IDLE, "left": "import helpers\n\ndef run():\n    helpers.unused(), helpers.Net().call()\n"}, None),
        (
            {"main": IDLE, "run": "import helpers\n\nprint(helpers.unused(), helpers.Net().call())\n"},
            Confidence.CERTAIN,
        ),
        ({"main": IDLE, "helpers": HELPERS + "\nprint(unused(), Net().call())\n"}, Confidence.CERTAIN),
        ({"main": IDLE, "helpers": HELPERS + "\nfound = unused(), Net().call()\n"}, Confidence.CERTAIN),
        ({"main": IDLE + "    __import__(f'{tools}')\n"}, Confidence.CERTAIN),
        (
            {
                "main": IDLE,
                "test_it": "def test_it():\n    import helpers\n    helpers.unused(), helpers.Net().call()\n",
            },
            Confidence.CERTAIN,
        ),
    ],
    ids=["no file", "an unused file", "a script", "itself", "itself, kept", "computed", "a test"],
)
def test_file_that_something_loads(tmp_path: Path, files: dict[str, str], confidence: Confidence | None) -> None:
    used = {f"tools{number}": "def used():\n    return 1\n" for number in range(3)}
    tools = "".join(f"import {name}\n" for name in used)
    found = confidences(tmp_path, tools=tools, **used, **files)
    assert found == [(row, confidence or Confidence.POSSIBLE) for row in BOTH]


def test_decorated_in_a_file_that_nothing_loads(tmp_path: Path) -> None:
    helpers = HELPERS.replace("def unused", "@torch.no_grad()\ndef unused").replace("class Net", "@print\nclass Net")
    tools = {"tools": "import used\n", "used": "def used():\n    return 1\n"}
    assert confidences(tmp_path, helpers=helpers, main=IDLE, **tools) == [
        (9, Confidence.POSSIBLE),
        (14, Confidence.POSSIBLE),
    ]
    loaded = confidences(tmp_path, helpers=helpers, main=IDLE + "    import helpers\n", **tools)
    assert loaded == [(9, Confidence.CERTAIN), (14, Confidence.CERTAIN)]


def test_documents_name_a_file(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Start it by python helpers.py\n")
    found = confidences(tmp_path, main=IDLE, tools="import used\n", used="def used():\n    return 1\n")
    assert found == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


def test_collection_of_files_that_stand_alone(tmp_path: Path) -> None:
    alone = {f"alone{number}": "def used():\n    return 1\n" for number in range(3)}
    found = confidences(tmp_path, main=IDLE, tools="", **alone)
    assert found == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


@pytest.mark.parametrize(
    ("scripts", "confidence"), [(1, Confidence.CERTAIN), (2, Confidence.POSSIBLE)], ids=["one script", "two scripts"]
)
def test_most_files_of_a_folder_that_scripts_share(tmp_path: Path, scripts: int, confidence: Confidence) -> None:
    (tmp_path / "models").mkdir()
    for number in range(3):
        (tmp_path / "models" / f"layers{number}.py").write_text("def used():\n    return 1\n")
    (tmp_path / "models" / "helpers.py").write_text(HELPERS)
    (tmp_path / "pyproject.toml").write_text("")
    for number in range(scripts):
        main = "from models.layers0 import used\n\nif __name__ == '__main__':\n    print(used())\n"
        (tmp_path / f"main{number}.py").write_text(main)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.confidence for one in found] == [confidence, confidence]


HYDRA = "import hydra\n" + IDLE + "    hydra.utils.instantiate(tools.settings)\n"


@pytest.mark.parametrize(
    ("settings", "code", "confidence"),
    [
        ("model:\n  _target_: tools.Net\n", "", Confidence.POSSIBLE),
        ("model:\n  _target_: helpers.Net\n", "", Confidence.CERTAIN),
        ("model:\n  _target_: ${name}.Net\n", "", Confidence.CERTAIN),
        ("model:\n  rate: 1\n", "", Confidence.CERTAIN),
        ("model:\n  _target_: tools.Net\n", "settings = {'_target_': f'{name}.Net'}\n", Confidence.CERTAIN),
        ("model:\n  _target_: tools.Net\n", "settings = {'_target_': 'tools.Net'}\n", Confidence.POSSIBLE),
        ("model:\n  _target_: tools.Net\n", "__import__(f'{tools}')\n", Confidence.CERTAIN),
    ],
    ids=["another", "this", "put together", "none", "computed in code", "in code", "imported"],
)
def test_files_that_settings_have_loaded(tmp_path: Path, settings: str, code: str, confidence: Confidence) -> None:
    (tmp_path / "run.yaml").write_text(settings)
    used = {"tools": "import used\n" + code, "used": "def used():\n    return 1\n"}
    assert confidences(tmp_path, main=HYDRA, **used) == [(row, confidence) for row in BOTH]


def test_settings_are_no_files_that_stand_alone(tmp_path: Path) -> None:
    settings = {f"settings{number}": "from tools import Config\n\nconfig = Config(rate=0.1)\n" for number in range(3)}
    used = {"tools": "class Config:\n    pass\n", "layers": "def used():\n    return 1\n"}
    main = IDLE + "    import layers\n"
    assert confidences(tmp_path, main=main, **used, **settings) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]
    code = {name: text + "\ndef used():\n    return 1\n" for name, text in settings.items()}
    assert confidences(tmp_path, main=main, **used, **code) == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


@pytest.mark.parametrize(
    ("imports", "confidence"),
    [
        ("from tools import missing\n", Confidence.POSSIBLE),
        ("import broken\n", Confidence.POSSIBLE),
        ("from tools import present\n", Confidence.CERTAIN),
        ("from lazy import missing\n", Confidence.CERTAIN),
        ("from passing import missing\n", Confidence.CERTAIN),
        ("from settings import missing\n", Confidence.POSSIBLE),
        ("from adding import missing\n", Confidence.CERTAIN),
        ("try:\n    from tools import missing\nexcept ImportError:\n    missing = None\n", Confidence.CERTAIN),
    ],
    ids=["lacks the name", "through a file", "has the name", "module getattr", "star", "object", "itself", "tried"],
)
def test_caller_that_cannot_be_imported(tmp_path: Path, imports: str, confidence: Confidence) -> None:
    start = imports + SCRIPT + "    import helpers\n    helpers.unused(), helpers.Net().call()\n"
    files = {
        "main": IDLE + "    from helpers import used\n    used()\n",
        "other": start,
        "tools": "def present():\n    return 1\n",
        "broken": "from tools import missing\n",
        "lazy": "def __getattr__(name):\n    return 1\n",
        "passing": "from tools import *\nfrom os import *\n",
        "settings": "def fill(args, key, value):\n    setattr(args, key, value)\n",
        "adding": "import sys\nmodule = sys.modules[__name__]\nsetattr(module, 'missing', 1)\n",
    }
    assert confidences(tmp_path, **files) == [(8, confidence), (12, confidence)]


ATTENTION = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size, soft=True):
        super().__init__()
        self.soft = soft
        self.project = nn.Linear(size, size)

    def forward(self, x):
        y = self.project(x)
        return y if self.soft else y * torch.ones(3)
"""


@pytest.mark.parametrize(
    ("code", "sure"),
    [
        ("Attention(3)", Confidence.POSSIBLE),
        ("Attention(3, *options)", Confidence.LIKELY),
        ("Attention(3, soft=options)", Confidence.LIKELY),
        ("build(Attention)", Confidence.LIKELY),
    ],
)
def test_a_flag_of_a_constructor_that_no_call_passes(tmp_path: Path, code: str, sure: Confidence) -> None:
    (tmp_path / "attention.py").write_text(ATTENTION)
    script = f"from attention import Attention\nfrom elsewhere import build, options\n\nprint({code})\n"
    (tmp_path / "main.py").write_text(f'{script}if __name__ == "__main__":\n    print(1)\n')
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE, select=["DEV105"]).diagnostics
    assert [one.confidence for one in found] == [sure]


def test_a_flag_of_a_constructor_in_copies_of_a_program(tmp_path: Path) -> None:
    for name, code in {"one": "Attention(3)", "two": "Attention(3, soft=False)"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "attention.py").write_text(ATTENTION)
        script = f"from attention import Attention\n\nprint({code})\n"
        (tmp_path / name / "main.py").write_text(f'{script}if __name__ == "__main__":\n    print(1)\n')
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE, select=["DEV105"]).diagnostics
    sure = {Path(one.region.filename).parent.name: one.confidence for one in found}
    assert sure == {"one": Confidence.POSSIBLE, "two": Confidence.LIKELY}


NO_APPLICATION = {"tools": "def present():\n    return 1\n", "main": "from tools import present\n"}


@pytest.mark.parametrize(
    ("wrong", "confidence"),
    [
        ("from tools import missing\n", Confidence.POSSIBLE),
        ("from broken import present\n", Confidence.POSSIBLE),
        ("from tools import present\n", Confidence.CERTAIN),
    ],
    ids=["lacks the name", "through a file", "has the name"],
)
def test_file_that_cannot_be_imported_without_an_application(
    tmp_path: Path, wrong: str, confidence: Confidence
) -> None:
    broken = {"broken": "from tools import missing\npresent = 1\n"}
    works = {**NO_APPLICATION, **broken, "start": "import tools\n\nprint(tools.present())\n"}
    assert confidences(tmp_path, **works, helpers=wrong + HELPERS) == [(9, confidence), (13, confidence)]
    # Nothing that runs shows that the files are where their authors have them.
    idle = {**works, "start": wrong + "print(1)\n" if "missing" in wrong else ""}
    assert confidences(tmp_path, **idle, helpers=wrong + HELPERS) == [(9, Confidence.CERTAIN), (13, Confidence.CERTAIN)]


def test_a_small_script_does_not_show_that_the_main_one_fails(tmp_path: Path) -> None:
    main = "from tools import missing\n" + SCRIPT + "    import helpers\n    helpers.unused(), helpers.Net().call()\n"
    files = {"tools": NO_APPLICATION["tools"], "start": "import tools\n\nprint(tools.present())\n", "main": main}
    helpers = "from tools import missing\n" + HELPERS
    assert confidences(tmp_path, **files, helpers=helpers) == [(9, Confidence.CERTAIN), (13, Confidence.CERTAIN)]


@pytest.mark.parametrize(
    ("marker", "helpers", "main", "confidence"),
    [
        ("__init__.py", HELPERS, "", Confidence.POSSIBLE),
        ("README.md", HELPERS, "", Confidence.CERTAIN),
        ("__init__.py", HELPERS + "\nif __name__ == '__main__':\n    unused(), Net().call()\n", "", Confidence.CERTAIN),
        ("__init__.py", HELPERS, "import runpy\nrunpy.run_path('helpers' + '.py')\n", Confidence.CERTAIN),
    ],
    ids=["package", "plain folder", "script", "loaded by its path"],
)
def test_file_beside_a_package_of_its_name(
    tmp_path: Path, marker: str, helpers: str, main: str, confidence: Confidence
) -> None:
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / marker).write_text("")
    found = confidences(tmp_path, helpers=helpers, main="from helpers import unused\n" + main)
    assert found == [(8, confidence), (12, confidence)]


@pytest.mark.parametrize(
    ("name", "other", "confidence"),
    [
        ("_old", "", Confidence.POSSIBLE),
        ("old", "", Confidence.CERTAIN),
        ("_old", "from ._old import scale\n", Confidence.CERTAIN),
        ("_old", "def load():\n    from . import _old\n    return _old\n", Confidence.CERTAIN),
        ("_old", "plugin = 'package._old'\n", Confidence.CERTAIN),
        ("_old", "import importlib\n\ndef load(name):\n    return importlib.import_module(name)\n", Confidence.CERTAIN),
    ],
    ids=["left over", "public", "imported", "imported in a function", "named", "loaded by a computed name"],
)
def test_private_file_of_a_package_that_nothing_imports(
    tmp_path: Path, name: str, other: str, confidence: Confidence
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("")
    (package / f"{name}.py").write_text(f"import torch\n\ndef scale():\n    return {WRONG}\n")
    (package / "other.py").write_text(other)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [one.confidence for one in found] == [confidence]


TOKENIZER = """\
import torch
from torch import nn

class Tokenizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Conv2d(3, 64, 3)

    def size(self, height):
        return self.layers(torch.zeros(1, 3, height, height)).shape[1]

    def forward(self, x):
        return self.layers(x)
"""
CLASSIFIER = """\
from torch import nn
from tokenizer import Tokenizer

class Classifier(nn.Module):
    def __init__(self, height):
        super().__init__()
        self.tokenizer = Tokenizer()
        self.head = nn.Linear(self.tokenizer.size(height), 3)

    def forward(self, x):
        return self.head(self.tokenizer(x))
"""


@pytest.mark.parametrize(
    ("use", "confidence"),
    [
        ("net", Confidence.POSSIBLE),
        ("net.tokenizer.size(8)", Confidence.LIKELY),
        ("list(map(net.tokenizer.size, [8]))", Confidence.LIKELY),
        ("getattr(net.tokenizer, 'size')(8)", Confidence.LIKELY),
    ],
    ids=["built only", "called", "passed on", "by its name"],
)
def test_method_that_only_constructors_call(tmp_path: Path, use: str, confidence: Confidence) -> None:
    script = (
        f"from classifier import Classifier\n\nif __name__ == '__main__':\n    net = Classifier(32)\n    print({use})\n"
    )
    (tmp_path / "pyproject.toml").write_text("")
    for name, text in {"tokenizer": TOKENIZER, "classifier": CLASSIFIER, "main": script}.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE, select=["DEV105"]).diagnostics
    assert [one.confidence for one in found] == [confidence]


OLD = f"""\
import torch

def scale(x):
    return {WRONG}
"""


@pytest.mark.parametrize(
    ("path", "files", "confidence"),
    [
        ("package/deprecated/scale.py", {}, Confidence.POSSIBLE),
        ("package/nets/_original/scale.py", {}, Confidence.POSSIBLE),
        ("package/nets/scale.py", {}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"use.py": "from package.legacy.scale import scale\n"}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"use.py": "from package import legacy\n"}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"use.py": "load('package/legacy')\n"}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"use.py": "# legacy code\n"}, Confidence.POSSIBLE),
        ("package/legacy/scale.py", {"README.md": "Call `package.legacy.scale()`."}, Confidence.CERTAIN),
        ("package/legacy/test_scale.py", {}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"package/legacy/scale.py": OLD + "\nprint(scale(1))\n"}, Confidence.CERTAIN),
        ("package/legacy/scale.py", {"package/legacy/use.py": "from .scale import scale\n"}, Confidence.POSSIBLE),
    ],
)
def test_folder_for_old_code(tmp_path: Path, path: str, files: dict[str, str], confidence: Confidence) -> None:
    written = {"pyproject.toml": "", "package/__init__.py": "", path: OLD, **files}
    written |= {f"{one.as_posix()}/__init__.py": "" for one in [*Path(path).parents][:-2]}
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found if one.code == "DEV101"} == {confidence}


@pytest.mark.parametrize(
    ("inner", "files", "confidence"),
    [
        ("package/copy/setup.py", {}, Confidence.POSSIBLE),
        ("package/copy/readme.py", {}, Confidence.CERTAIN),
        ("package/copy/setup.py", {"use.py": "from package.copy.lib import scale\n"}, Confidence.CERTAIN),
        ("package/copy/setup.py", {"package/copy/lib/__init__.py": "from . import scale\n"}, Confidence.CERTAIN),
        ("package/copy/setup.py", {"package/copy/lib/scale.py": OLD + "\nprint(scale(1))\n"}, Confidence.CERTAIN),
        (
            "package/copy/setup.py",
            {"package/copy/lib/scale.py": f"from . import other\n{OLD}\nother.install()\n"},
            Confidence.POSSIBLE,
        ),
    ],
    ids=["left", "no project of its own", "imported", "offered", "a script", "no script, by its imports"],
)
def test_copy_of_another_project_in_a_package(
    tmp_path: Path, inner: str, files: dict[str, str], confidence: Confidence
) -> None:
    written = {"pyproject.toml": "", "package/__init__.py": "", inner: "print(1)\n"}
    written |= {"package/copy/lib/__init__.py": "", "package/copy/lib/scale.py": OLD, **files}
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found if one.code == "DEV101"} == {confidence}


LIGHTNING = f"""\
import torch
import lightning.pytorch as pl

class Net(pl.LightningModule):
    def training_step(self, batch):
        return 1

    def {{name}}(self, x):
        return {WRONG}
"""


@pytest.mark.parametrize(
    ("name", "base", "files", "confidence"),
    [
        ("_perturb", "pl.LightningModule", {}, Confidence.POSSIBLE),
        ("perturb", "pl.LightningModule", {}, Confidence.CERTAIN),
        ("_perturb", "pl.Strange", {}, Confidence.CERTAIN),
        ("_perturb", "pl.LightningModule", {"use": "def use(net):\n    return net._perturb(1)\n"}, Confidence.CERTAIN),
        (
            "_perturb",
            "pl.LightningModule",
            {"use": "def use(net):\n    return net.step('_perturb')\n"},
            Confidence.CERTAIN,
        ),
    ],
)
def test_private_method_of_a_class_of_lightning(
    tmp_path: Path, name: str, base: str, files: dict[str, str], confidence: Confidence
) -> None:
    text = LIGHTNING.format(name=name).replace("pl.LightningModule", base)
    written = {"__init__": "from .net import Net\n", "net": text, "use": "from .net import Net\n", **files}
    (tmp_path / "package").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    for stem, each in written.items():
        (tmp_path / "package" / f"{stem}.py").write_text(each)
    (tmp_path / "train.py").write_text("from package import Net\n\nif __name__ == '__main__':\n    print(Net())\n")
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found if one.code == "DEV101"} == {confidence}


SCALED = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3)).cuda()

    def forward(self, x):
        return {result}
"""


@pytest.mark.parametrize(
    ("result", "path", "script", "confidence"),
    [
        ("x", "net.py", "Net()(1)", Confidence.POSSIBLE),
        ("x * self.scale", "net.py", "Net()(1)", Confidence.CERTAIN),
        ("x", "net.py", "Net().scale", Confidence.CERTAIN),
        ("x", "net.py", "getattr(Net(), 'scale')", Confidence.CERTAIN),
        ("getattr(self, x)", "net.py", "Net()(1)", Confidence.CERTAIN),
        ("x", "package/net.py", "Net()(1)", Confidence.CERTAIN),
    ],
    ids=["read nowhere", "read", "read by another file", "read by a text", "a computed name", "in a package"],
)
def test_lost_parameter_that_nothing_reads(
    tmp_path: Path, result: str, path: str, script: str, confidence: Confidence
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(SCALED.format(result=result))
    if path.startswith("package"):
        (tmp_path / "pyproject.toml").write_text("")
        (tmp_path / "package" / "__init__.py").write_text("")
    module = path.removesuffix(".py").replace("/", ".")
    (tmp_path / "main.py").write_text(f"from {module} import Net\n\nif __name__ == '__main__':\n    print({script})\n")
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found if one.code == "DEV113"} == {confidence}
