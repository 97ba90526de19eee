from __future__ import annotations

import json
import re
import webbrowser
from pathlib import Path

import pytest

from devlint import cli
from devlint.documentation import page_folder
from devlint.linter import rule_loader


@pytest.mark.parametrize("key", ["DEV101", "dev101", "mixed-device-op", "Mixed-Device-Op"])
def test_a_rule_is_explained_by_its_documentation(devlint, key):
    result = devlint("rule", key)
    assert result.status == 0
    assert result.out == (
        "# mixed-device-op (DEV101)\n\nerror, on by default, without a fix\n\n"
        "Operands lie on two devices.\n\n## Why is this bad?\nPyTorch refuses it.\n"
    )


def test_all_rules_for_programs(devlint):
    result = devlint("rule", "--all", "--output-format", "json")
    listed = json.loads(result.out)
    assert [rule["code"] for rule in listed] == ["DEV101", "DEV201", "DEV204", "DEV900", "DEV902"]
    assert listed[1] == {
        "code": "DEV201",
        "name": "discarded-transfer",
        "severity": "error",
        "default": True,
        "fixable": True,
        "summary": "The result of a transfer is thrown away.",
        "doc": "The result of a transfer is thrown away.",
    }


def test_all_rules_for_people(devlint):
    assert devlint("rule", "--all").out.splitlines() == [
        "DEV101  mixed-device-op          error    on",
        "DEV201  discarded-transfer       error    on   fixable",
        "DEV204  shared-storage-mutation  warning  off",
        "DEV900  unreadable-file          error    on",
        "DEV902  revealed-placement       info     on",
    ]


@pytest.mark.parametrize("family", ["DEV2", "dev2", "DEV20"])
def test_a_family_of_rules_is_listed(devlint, family):
    assert [line.split()[0] for line in devlint("rule", family).out.splitlines()] == ["DEV201", "DEV204"]
    told = json.loads(devlint("rule", family, "--output-format", "json").out)
    assert [rule["code"] for rule in told] == ["DEV201", "DEV204"]


def test_a_family_without_rules_is_an_error(devlint):
    result = devlint("rule", "DEV7")
    assert result.status == 2
    assert "unknown rule `DEV7`" in result.err


def test_an_unknown_rule_is_an_error(devlint):
    result = devlint("rule", "mixed-device-opp")
    assert result.status == 2
    assert "unknown rule `mixed-device-opp` (did you mean `mixed-device-op`?)" in result.err
    assert "unknown rule `mixed` (did you mean `mixed-device-op`?)" in devlint("rule", "mixed").err
    assert "unknown rule `DEV999`\n" in devlint("rule", "DEV999").err


@pytest.mark.parametrize("arguments", [["rule"], ["rule", "DEV101", "--all"]])
def test_one_rule_or_all(devlint, arguments):
    result = devlint(*arguments)
    assert result.status == 2
    assert "give a rule's code or name, or --all" in result.err


def test_every_real_rule_can_be_explained(capsys):
    for rule in rule_loader.all_rules():
        assert cli.invoke(["rule", rule.name]) == 0
        assert capsys.readouterr().out.startswith(f"# {rule.name} ({rule.code})\n")


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """The pages that a browser would show, by address; they are written below the temporary folder."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(page_folder, "user_cache_folder", lambda: tmp_path / "cache")
    return opened


@pytest.mark.parametrize("key", ["DEV201", "discarded-transfer"])
def test_the_page_of_a_rule_is_opened(devlint, pages, key):
    result = devlint("rule", key, "--open")
    page = Path(result.out.strip())
    assert result.status == 0
    assert pages == [page.as_uri()]
    assert "<h1>discarded-transfer (DEV201)</h1>" in page.read_text(encoding="utf-8")


def test_the_list_of_all_rules_is_opened(devlint, pages):
    index = Path(devlint("rule", "--all", "--open").out.strip())
    assert pages == [index.as_uri()]
    links = re.findall(r'href="(.+?)"', index.read_text(encoding="utf-8"))
    assert links == ["DEV101.html", "DEV201.html", "DEV204.html", "DEV900.html", "DEV902.html"]
    assert all((index.parent / link).is_file() for link in links)


@pytest.mark.parametrize("key", ["DEV2", "mixed-device-opp"])
def test_a_page_is_of_one_rule(devlint, pages, key):
    result = devlint("rule", key, "--open")
    assert (result.status, pages) == (2, [])
    assert f"--open takes the code or the name of one rule, not `{key}`" in result.err


def test_pages_that_cannot_be_written(devlint, pages, tmp_path):
    (tmp_path / "cache").write_text("")
    result = devlint("rule", "DEV101", "--open")
    assert (result.status, pages) == (2, [])
    assert "cannot write the pages" in result.err
