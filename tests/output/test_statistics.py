from __future__ import annotations

from .conftest import DISCARDED, MIXED


def test_the_most_frequent_rule_comes_first(render):
    findings = [DISCARDED] * 11 + [MIXED]
    assert render("statistics", findings) == "11  DEV201  discarded-transfer  [*] 11\n 1  DEV101  mixed-device-op\n"


def test_nothing_found(render):
    assert render("statistics", []) == ""
