from __future__ import annotations

import json

import jsonschema
import pytest

from devlint.config.config_error import ConfigError
from devlint.config.config_options import parse_options
from devlint.config.settings_schema import SCHEMA_PATH, schema_text

GOOD = {
    "extend": "../base.toml",
    "required-version": ">=0.1",
    "select": ["ALL"],
    "ignore": [],
    "per-file-ignores": {"tests/*": ["DEV1"]},
    "severity": {"DEV101": "warning"},
    "min-confidence": "possible",
    "exclude": ["gen"],
    "force-exclude": True,
    "src": ["src"],
    "min-torch": "2.9",
}
BAD = [
    {"selct": []},
    {"select": "DEV1"},
    {"select": [1]},
    {"per-file-ignores": {"tests": "DEV1"}},
    {"severity": {"DEV1": "bad"}},
    {"min-confidence": "sure"},
    {"force-exclude": 1},
    {"extend": ["a"]},
    {"min-torch": 2.9},
    {"min-torch": ">=2.9"},
]


def validator() -> jsonschema.Draft7Validator:
    schema = json.loads(SCHEMA_PATH.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_schema_is_up_to_date():
    assert SCHEMA_PATH.read_text() == schema_text(), "run `python -m devlint.config.settings_schema`"


def test_the_schema_takes_what_devlint_takes(tmp_path):
    validator().validate(GOOD)
    assert parse_options(GOOD, tmp_path).select == ("ALL",)


@pytest.mark.parametrize("table", BAD)
def test_the_schema_refuses_what_devlint_refuses(tmp_path, table):
    assert not validator().is_valid(table)
    with pytest.raises(ConfigError):
        parse_options(table, tmp_path)
