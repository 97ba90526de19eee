"""What the documentation says is so: outputs are real, commands run, options and links exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from devlint import cli
from devlint.cli.group import devlint
from devlint.config.config_files import read_config_chain
from devlint.config.config_options import parse_options
from devlint.linter.rule_loader import all_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from .examples import AGAIN, PAGES, ROOT, refreshed

README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FEATURES = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
BUG = "import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones(3)\n"
OTHERS = frozenset(f"--{name}" for name in "all-files hook-stage hook-type jobs version select devlint help".split())
"""Options of other programs."""


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_outputs_are_real(name):
    page = (ROOT / name).read_text(encoding="utf-8")
    assert page == refreshed(page), AGAIN


def test_the_first_example_is_short():
    assert len([line for line in blocks(README, "python")[0].splitlines() if line]) <= 10


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
        assert [target for target in targets if not (page.parent / target).exists()] == [], page


def test_options_exist():
    context = click.Context(devlint)
    commands = [devlint, *(devlint.get_command(context, name) for name in devlint.list_commands(context))]
    known = {name for command in commands for parameter in command.params for name in parameter.opts}
    plugin = (ROOT / "devlint" / "flake8_plugin.py").read_text(encoding="utf-8")
    known |= set(re.findall(r'"(--devlint-[\w-]+)"', plugin))
    written = (ROOT / "docs" / f"{name}.md" for name in ("index", "start", "certainty", "configuration", "faq"))
    ours = re.sub(r"^(\|[^|]*\|[^|]*\|).*", r"\1", FEATURES, flags=re.MULTILINE)
    for page in (README, CI, ours, *(path.read_text(encoding="utf-8") for path in written)):
        assert set(re.findall(r"(?<![\w`-])--[a-z][a-z-]+|(?<=`)--[a-z][a-z-]+", page)) - known - OTHERS == set()


def test_pages_that_install_by_name_say_how_to_install_from_a_checkout():
    places = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "editors").glob("vscode/*/*.md")),
    ]
    told = 0
    for page in (one for one in places if "node_modules" not in one.parts):
        text = page.read_text(encoding="utf-8")
        if re.search(r"pip install '?devlint", text):
            told += 1
            assert "path of the checkout instead" in text or "a checkout instead" in text, page
    assert told


def test_the_demo_is_set_up_and_run_by_one_command(tmp_path):
    (command,) = [line for line in README.splitlines() if line.endswith("fixtures/demo --exit-zero")]
    checkout = tmp_path / "checkout"
    usual = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", ".*_cache", "build", ".hypothesis")
    shutil.copytree(ROOT, checkout, ignore=usual)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"DEV102", "DEV103", "DEV105", "DEV106", "DEV201"} <= set(re.findall(r"\bDEV\d{3}\b", done.stdout))


def test_the_configuration_can_be_used(tmp_path):
    (text,) = [block for block in blocks(README, "toml") if "[tool.devlint]" in block]
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "devlint.toml").write_text("")
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "pyproject.toml"
    path.write_text(text)
    base, own = read_config_chain(path)
    assert base[0] == tmp_path / "shared" / "devlint.toml"
    assert own[1].per_file_ignores == {"tests/*": ("DEV4",)}
    assert cli.invoke([str(tmp_path / "project"), "--show-settings"]) == 0


def test_the_examples_of_configurations_are_valid():
    page = ROOT / "docs" / "configuration.md"
    examples = [tomllib.loads(text)["tool"]["devlint"] for text in blocks(page.read_text(encoding="utf-8"), "toml")]
    assert [parse_options(example, page).ignore for example in examples] == [("DEV6",), None]


def test_the_package_index_is_never_named_without_the_checkout():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "editors" / "vscode" / "README.md"]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    naming = {name for name, text in texts.items() if re.search(r"""pip install ['"]?devlint""", text)}
    assert "ci.md" in naming
    assert {name for name in naming if "checkout" not in texts[name]} == set()


def test_the_set_up_of_a_team_is_valid(tmp_path, monkeypatch):
    """Its settings, hook and job are read, and its commands leave nothing to report in a project with an old bug."""
    page = (ROOT / "docs" / "team.md").read_text(encoding="utf-8")
    hooks, workflow = (yaml.safe_load(block) for block in blocks(page, "yaml"))
    assert {hook["id"] for hook in hooks["repos"][0]["hooks"]} <= {
        hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    }
    (line,) = [step["run"] for step in workflow["jobs"]["devlint"]["steps"] if "devlint --" in step.get("run", "")]
    json.loads(blocks(page, "json")[0])
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(blocks(page, "toml")[0], encoding="utf-8")
    Path("a.py").write_text(BUG, encoding="utf-8")
    assert cli.invoke(["check"]) == 2  # there is no baseline yet
    assert cli.invoke(["check", "--update-baseline"]) == 0
    assert cli.invoke(shlex.split(line)[1:]) == 0
    assert cli.invoke(["check", "--no-baseline"]) == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert f"_DEVLINT_COMPLETE={shell}_source devlint" in README
    environment = {**os.environ, "_DEVLINT_COMPLETE": f"{shell}_source", "PYTHONPATH": str(ROOT)}
    code = "from devlint.cli.group import devlint; devlint(prog_name='devlint')"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert f"_DEVLINT_COMPLETE={shell}_complete" in done.stdout


def test_ruff_leaves_our_codes_alone_once_it_is_told_of_them(tmp_path):
    (setting,) = [block for block in blocks(README, "toml") if "external" in block]
    (tmp_path / "pyproject.toml").write_text(re.sub(r"^  ", "", setting, flags=re.MULTILINE))
    (tmp_path / "a.py").write_text("x = 1  # noqa: DEV101\n")
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "RUF100,RUF102", "a.py"]
    assert subprocess.run(ruff, cwd=tmp_path, capture_output=True).returncode == 0
    assert subprocess.run([*ruff, "--isolated"], cwd=tmp_path, capture_output=True).returncode == 1


def test_the_examples_for_services_are_valid_and_their_commands_run(tmp_path, monkeypatch, capfd):
    found = [yaml.safe_load(block) for block in blocks(CI, "yaml")]
    lines = re.findall(r"^(?:\s*- (?:run: |script: )?)?devlint (--.*?)(?:\s+#.*)?$", CI, re.MULTILINE)
    assert len(found) == 9
    assert len(lines) == 7
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(BUG)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for command in ("init -q -b main", "add .", "-c user.name=A -c user.email=a@b commit -q -m first"):
        subprocess.run(["git", *command.split()], check=True)
    subprocess.run(["git", "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    statuses = [cli.invoke(shlex.split(line)) for line in lines]
    assert statuses == [1, 1, 0, 1, 1, 0, 0], capfd.readouterr()
    assert json.loads(Path("devlint.sarif").read_text())["version"] == "2.1.0"
    assert [each["check_name"] for each in json.loads(Path("devlint.json").read_text())] == ["DEV101"]


def test_the_shards_of_the_examples_give_the_report_of_one_run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for number in range(6):
        Path(f"bug{number}.py").write_text(BUG)
    section = CI.partition("## Several machines")[2].partition("\n## ")[0]
    commands = re.findall(r"- (?:run: )?(devlint .*)", section)
    matrices = [yaml.safe_load(block) for block in blocks(section, "yaml")]
    assert matrices[0]["jobs"]["shards"]["strategy"]["matrix"] == {"shard": [1, 2, 3, 4]}
    assert matrices[1]["devlint-shards"]["parallel"] == 4
    assert len(commands) == 4
    for check, merge in (commands[:2], commands[2:]):
        for number in "1234":
            check_part = check.replace("${{ matrix.shard }}", number).replace("$CI_NODE_INDEX", number)
            words = shlex.split(check_part.replace("$CI_NODE_TOTAL", "4"))
            assert cli.invoke(words[1:]) == 0
        words = [name for word in shlex.split(merge)[1:] for name in (sorted(map(str, Path().glob(word))) or [word])]
        assert cli.invoke(words) == 1
        form, whole = ("sarif", "devlint.sarif") if "sarif" in merge else ("junit", "devlint.xml")
        merged = Path(whole).read_text()
        capfd.readouterr()
        assert cli.invoke(["check", "--output-format", form]) == 1
        assert capfd.readouterr().out == merged


def test_the_hook_that_one_writes_oneself_is_the_one_that_is_offered():
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
    (local,) = [each for each in re.findall(r"```yaml\n(repos:\n.*?)```", CI, re.DOTALL) if "repo: local" in each]
    hook = yaml.safe_load(local)["repos"][0]["hooks"][0]
    assert hook == {"language": "system"} | {key: offered[key] for key in hook if key != "language"}


def test_every_feature_is_there_or_its_absence_explained():
    rows = [line.split("|")[1:-1] for line in FEATURES.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 35
    reasons = set(re.findall(r"^(\d+)\. ", FEATURES, re.MULTILINE))
    for row in rows:
        assert len(row) == 8, row
        assert re.match(r"Y\b|(?:n|~) \(\d+\)$", row[1].strip()), row
    assert {number for row in rows for number in re.findall(r"\((\d+)\)$", row[1].strip())} == reasons


def test_every_fix_is_told():
    page = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8")
    listed = re.findall(r"DEV\d{3}", page.partition("## What they do")[2])
    assert sorted(listed) == [rule.code for rule in all_rules() if rule.fixable]
