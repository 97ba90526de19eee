"""The formats that services and other programs read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from devlint.diagnostic import Applicability, Position

from .conftest import DISCARDED, ELSEWHERE, MIXED, region

JUNIT = Path(__file__).parents[3] / "shared" / "schemas" / "JUnit.xsd"


def test_grouped(render):
    assert render("grouped", [DISCARDED, MIXED]) == (
        "src/train.py:\n"
        "  8:9   DEV201  [*] the moved tensor is thrown away (discarded-transfer, likely)\n"
        "  9:16  DEV101  `weight` is on cuda:0 and `shift` on the host (mixed-device-op)\n\n"
        "[*] 1 fixable with --fix\n"
    )


def test_json_lines(render):
    objects = [json.loads(line) for line in render("json-lines").splitlines()]
    assert objects == json.loads(render("json"))


def test_pylint(render):
    assert render("pylint", [DISCARDED]) == (
        "src/train.py:8: [DEV201(discarded-transfer)] the moved tensor is thrown away\n"
    )


def test_github_has_the_story_in_the_annotation(render):
    assert render("github", [MIXED]) == (
        "::error title=devlint (DEV101),file=src/train.py,line=9,endLine=9,col=16,endColumn=30::"
        "src/train.py:9:16: DEV101 `weight` is on cuda:0 and `shift` on the host (mixed-device-op)%0A"
        "1. src/train.py:5:14: `weight` is created on cuda:0%0A"
        "2. src/train.py:7:17: `shift` is created on the host, the default device%0A"
        "help: create it there: `torch.zeros(3, device=weight.device)`\n"
    )


def test_github_says_what_a_finding_assumes(render):
    assert "%0Aassumes: that `shift` is a tensor and that `debug` holds" in render("github", [DISCARDED])


def test_github_gets_columns_only_where_they_belong_to_one_line(render):
    command = render("github", [ELSEWHERE])
    assert command.startswith("::notice title=devlint (DEV103),file=src/train.py,line=10,endLine=12::")


def test_github_properties_are_escaped(render):
    odd = replace(DISCARDED, region=region(1, 1, 1, 2, "a,b:100%.py"))
    assert "file=a%2Cb%3A100%25.py," in render("github", [odd])


def test_azure(render):
    odd = replace(DISCARDED, message="100%;\nyes", region=region(1, 2, 1, 3, "a;b].py"))
    assert render("azure", [MIXED, odd]).splitlines() == [
        "##vso[task.logissue type=error;sourcepath=src/train.py;linenumber=9;columnnumber=16;code=DEV101;]"
        "`weight` is on cuda:0 and `shift` on the host (mixed-device-op)",
        "##vso[task.logissue type=warning;sourcepath=a%3Bb%5D.py;linenumber=1;columnnumber=2;code=DEV201;]"
        "100%AZP25;%0Ayes (discarded-transfer)",
    ]


def test_gitlab(render):
    discarded, mixed, _ = json.loads(render("gitlab"))
    assert mixed.pop("fingerprint") != discarded.pop("fingerprint")
    assert mixed == {
        "description": "DEV101 `weight` is on cuda:0 and `shift` on the host (mixed-device-op)",
        "check_name": "DEV101",
        "severity": "major",
        "location": {
            "path": "src/train.py",
            "positions": {"begin": {"line": 9, "column": 16}, "end": {"line": 9, "column": 30}},
        },
    }


def test_gitlab_fingerprints_are_unique_and_stay_the_same(render):
    def fingerprints() -> list[str]:
        return [each["fingerprint"] for each in json.loads(render("gitlab", [MIXED, MIXED, DISCARDED]))]

    assert len(set(fingerprints())) == 3
    assert fingerprints() == fingerprints()


@pytest.mark.skipif(not JUNIT.exists(), reason=f"the schema is not at {JUNIT}")
@pytest.mark.parametrize("findings", [(), (DISCARDED, MIXED, ELSEWHERE)])
def test_junit_is_valid(render, findings):
    xmlschema.XMLSchema(JUNIT).validate(render("junit", findings))


def test_junit(render):
    odd = replace(DISCARDED, message="\x1b[31m <&>", region=region(1, 1, 1, 2, "b.py"))
    root = ElementTree.fromstring(render("junit", [DISCARDED, MIXED, odd]))
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [("src/train.py", "2"), ("b.py", "1")]
    _, mixed, last = root.iter("testcase")
    assert (mixed.get("classname"), mixed.get("name")) == ("src/train", "org.devlint.DEV101")
    failure = mixed.find("failure")
    assert failure is not None
    assert failure.text is not None
    assert "\n1. src/train.py:5:14: `weight` is created on cuda:0\n" in failure.text
    assert [failure.get("message") for failure in last] == ["\ufffd[31m <&>"]


def test_junit_passes_where_nothing_is_found(render):
    (suite,) = ElementTree.fromstring(render("junit", []))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_rdjson(render):
    report = json.loads(render("rdjson", [DISCARDED, MIXED]))
    assert report["source"] == {"name": "devlint"}
    discarded, mixed = report["diagnostics"]
    assert mixed["code"] == {"value": "DEV101"}
    assert mixed["severity"] == "ERROR"
    assert mixed["location"] == {
        "path": "src/train.py",
        "range": {"start": {"line": 9, "column": 16}, "end": {"line": 9, "column": 30}},
    }
    (suggestion,) = discarded["suggestions"]
    assert suggestion["text"] == "shift = "


def test_rdjson_columns_count_bytes(render):
    odd = replace(MIXED, region=region(1, 5, 1, 6, "a.py"))
    (finding,) = json.loads(render("rdjson", [odd], {"a.py": 'é"日"+ x'}))["diagnostics"]
    assert finding["location"]["range"] == {"start": {"line": 1, "column": 8}, "end": {"line": 1, "column": 9}}


@pytest.mark.parametrize(("name", "key"), [("rdjson", "suggestions"), ("sarif", "fixes")])
def test_what_is_only_shown_is_not_offered_for_applying(render, name, key):
    assert DISCARDED.fix is not None
    shown = replace(DISCARDED, fix=replace(DISCARDED.fix, applicability=Applicability.DISPLAY))
    assert f'"{key}"' in render(name, [DISCARDED])
    assert f'"{key}"' not in render(name, [shown])


def test_positions_past_the_end_of_a_file_are_kept(render):
    late = replace(MIXED, region=replace(MIXED.region, start=Position(99, 7), end=Position(99, 9)))
    (finding,) = json.loads(render("rdjson", [late]))["diagnostics"]
    assert finding["location"]["range"]["start"] == {"line": 99, "column": 7}
