from __future__ import annotations

import pytest

from devlint.config.version_requirement import version_satisfies


@pytest.mark.parametrize(
    ("version", "required", "met"),
    [
        ("0.1.0", "0.1.0", True),
        ("0.1.0", "==0.1", True),
        ("0.1.1", "0.1", False),
        ("0.10.0", ">=0.9", True),
        ("0.10.0", ">0.10", False),
        ("1.2.3", ">=1, <2", True),
        ("2.0", ">=1,<2", False),
        ("2.0", "!=2", False),
        ("1.9.9", "<=1.9", False),
        ("0.2.0a1", ">=0.2", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version, required, met):
    assert version_satisfies(version, required) is met


@pytest.mark.parametrize("required", ["", "new", ">=", "~1", ">=1,"])
def test_what_is_no_version_is_refused(required):
    with pytest.raises(ValueError, match="expected a version"):
        version_satisfies("1.0", required)
