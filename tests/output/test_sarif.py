from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from devlint.output.github_line_hash import line_hashes

from .conftest import MIXED

SCHEMA = Path(__file__).parents[3] / "shared" / "schemas" / "sarif-schema-2.1.0.json"


@pytest.fixture
def run(render):
    """The only run of the report."""
    (run,) = json.loads(render("sarif"))["runs"]
    return run


@pytest.mark.skipif(not SCHEMA.exists(), reason=f"the schema is not at {SCHEMA}")
@pytest.mark.parametrize("empty", [False, True])
def test_the_report_is_valid(render, empty):
    report = json.loads(render("sarif", [])) if empty else json.loads(render("sarif"))
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(report)


def test_each_rule_is_described_as_code_scanning_wants_it(run):
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["DEV101"] == {
        "id": "DEV101",
        "name": "mixed-device-op",
        "shortDescription": {"text": "Two devices."},
        "fullDescription": {"text": "Two devices."},
        "help": {"text": "Two devices.\n\nWhy", "markdown": "Two devices.\n\nWhy"},
        "defaultConfiguration": {"level": "error", "enabled": True},
        "properties": {"tags": ["pytorch", "placement"], "precision": "high", "problem.severity": "error"},
    }
    assert rules["DEV201"]["defaultConfiguration"]["level"] == "warning"
    assert rules["DEV103"]["properties"]["problem.severity"] == "recommendation"


def test_only_rules_with_a_finding_are_described(render):
    (run,) = json.loads(render("sarif", []))["runs"]
    assert run["tool"]["driver"]["rules"] == []


def test_no_link_leads_to_a_place_that_nobody_owns(run):
    """devlint has no domain, so nothing it writes may send a reader to one."""
    assert "informationUri" not in run["tool"]["driver"]
    assert not [rule["id"] for rule in run["tool"]["driver"]["rules"] if "helpUri" in rule]


def test_another_finding_of_a_rule_adds_little(render):
    """The documentation of a rule, which is most of a short report, stands in it once."""
    once, often = (render("sarif", [MIXED] * number) for number in (1, 24))
    assert once.count("Two devices.\\n\\nWhy") == often.count("Two devices.\\n\\nWhy") == 2
    assert (len(often) - len(once)) / 23 < 4_500


def test_a_result_has_its_place_and_its_rule(run):
    _discarded, mixed, _elsewhere = run["results"]
    assert [result["level"] for result in run["results"]] == ["warning", "error", "note"]
    (place,) = mixed["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "src/train.py"},
        "region": {"startLine": 9, "startColumn": 16, "endLine": 9, "endColumn": 30},
    }
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["DEV201", "DEV101", "DEV103"]


def test_the_story_is_a_code_flow_that_ends_at_the_finding(run):
    _, mixed, elsewhere = run["results"]
    (flow,) = mixed["codeFlows"][0]["threadFlows"]
    told = [
        (step["location"]["physicalLocation"]["region"]["startLine"], step["location"]["message"]["text"])
        for step in flow["locations"]
    ]
    assert told == [
        (5, "`weight` is created on cuda:0"),
        (7, "`shift` is created on the host, the default device"),
        (9, "`weight` is on cuda:0 and `shift` on the host"),
    ]
    assert [related["id"] for related in mixed["relatedLocations"]] == [1, 2]
    (related,) = elsewhere["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "src/data.py"


def test_a_fix_replaces_a_region(run):
    discarded, *_ = run["results"]
    (fix,) = discarded["fixes"]
    assert fix["artifactChanges"] == [
        {
            "artifactLocation": {"uri": "src/train.py"},
            "replacements": [
                {
                    "deletedRegion": {"startLine": 8, "startColumn": 9, "endLine": 8, "endColumn": 9},
                    "insertedContent": {"text": "shift = "},
                }
            ],
        }
    ]


def test_a_result_is_known_again_by_its_line(run):
    _, mixed, _ = run["results"]
    assert mixed["partialFingerprints"]["devlint/v1"] == "f1"
    assert re.fullmatch("[0-9a-f]{1,16}:1", mixed["partialFingerprints"]["primaryLocationLineHash"])


def test_paths_count_from_the_repository(render, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    (run,) = json.loads(render("sarif", base=tmp_path))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sub/src/train.py"


# What GitHub's uploader computes for these texts.
HASHES = {
    "": ["c129715d7a2bc9a3:1"],
    " a\nb\n  \t\tc\n d": ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
    " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n": [
        "e9496ae3ebfced30:1",
        "fb7c023a8b9ccb3f:1",
        "ce8ba1a563dcdaca:1",
        "e20e36e16fcb0cc8:1",
        "b3edc88f2938467e:1",
        "c8e28b0b4002a3a0:1",
        "c129715d7a2bc9a3:1",
    ],
    "Lorem ipsum dolor sit amet.\n" * 10: [
        *(f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)),
        "a7f2ff1481e87703:1",
        "a9cf91f7bbf1862b:1",
        "55ec222b86bcae53:1",
        "cc97dc7b1d7d8f7b:1",
        "c129715d7a2bc9a3:1",
    ],
}


@pytest.mark.parametrize("text", HASHES)
def test_line_hashes_are_those_of_the_uploader(text):
    assert line_hashes(text.split("\n")) == HASHES[text]
