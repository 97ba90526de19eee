from __future__ import annotations

import pytest

from devlint.config.rule_selection import SelectionLayer, UnknownSelectorError, check_selectors, selected_codes
from devlint.diagnostic import Severity
from devlint.rule_metadata import RuleMetadata


def card(code: str, name: str, *, default: bool = True) -> RuleMetadata:
    return RuleMetadata(code, name, Severity.ERROR, default, False, "", "")


CARDS = [
    card("DEV101", "mixed-device-op"),
    card("DEV102", "module-input-device"),
    card("DEV204", "shared-storage-mutation", default=False),
    card("DEV601", "hard-coded-accelerator", default=False),
    card("DEV606", "inconsistent-availability", default=False),
    card("DEV900", "unreadable-file"),
    card("DEV902", "revealed-placement"),
    card("DEVX1", "from-elsewhere", default=False),
]
SPECIAL = {"DEV900", "DEV902"}


def on(*layers: SelectionLayer) -> set[str]:
    return set(selected_codes(layers, CARDS)) - SPECIAL


def test_the_default_rules():
    assert on() == {"DEV101", "DEV102"}


@pytest.mark.parametrize(
    ("layer", "codes"),
    [
        (SelectionLayer(select=()), set()),
        (SelectionLayer(select=("ALL",)), {"DEV101", "DEV102", "DEV204", "DEV601", "DEV606", "DEVX1"}),
        (SelectionLayer(select=("DEV",)), {"DEV101", "DEV102", "DEV204", "DEV601", "DEV606"}),
        (SelectionLayer(select=("PORTABILITY",)), {"DEV601", "DEV606"}),
        (SelectionLayer(select=("PORTABILITY",), ignore=("DEV606",)), {"DEV601"}),
        (SelectionLayer(extend_select=("DEV6",), ignore=("PORTABILITY",)), {"DEV101", "DEV102"}),
        (SelectionLayer(select=("ALL",), ignore=("PORTABILITY", "DEV204")), {"DEV101", "DEV102", "DEVX1"}),
        (SelectionLayer(select=("DEV10",)), {"DEV101", "DEV102"}),
        (SelectionLayer(select=("DEVX",)), {"DEVX1"}),
        (SelectionLayer(select=("from-elsewhere",)), {"DEVX1"}),
        (SelectionLayer(select=("DEV1",), ignore=("DEV102",)), {"DEV101"}),
        (SelectionLayer(select=("DEV102",), ignore=("DEV1",)), {"DEV102"}),
        (SelectionLayer(select=("DEV102",), ignore=("module-input-device",)), set()),
        (SelectionLayer(select=("ALL",), ignore=("ALL",)), set()),
        (SelectionLayer(extend_select=("DEV2",)), {"DEV101", "DEV102", "DEV204"}),
        (SelectionLayer(extend_select=("DEV204",), ignore=("DEV",)), {"DEV204"}),
        (SelectionLayer(select=("all",), ignore=("portability", "dev204")), {"DEV101", "DEV102", "DEVX1"}),
        (SelectionLayer(select=("dev1",), ignore=("Module-Input-Device",)), {"DEV101"}),
        (SelectionLayer(select=("devX",)), {"DEVX1"}),
    ],
)
def test_one_layer(layer, codes):
    assert on(layer) == codes


@pytest.mark.parametrize(
    ("later", "codes"),
    [
        (SelectionLayer(), {"DEV102", "DEV204"}),
        (SelectionLayer(select=("DEV1",)), {"DEV101", "DEV102"}),
        (SelectionLayer(extend_select=("DEV101",)), {"DEV101", "DEV102", "DEV204"}),
        (SelectionLayer(ignore=("DEV2",)), {"DEV102"}),
    ],
)
def test_the_later_layer_has_the_last_word(later, codes):
    assert on(SelectionLayer(extend_select=("DEV204",), ignore=("DEV101",)), later) == codes


def test_an_unreadable_file_is_told_unless_it_is_ignored():
    assert "DEV900" in selected_codes([SelectionLayer(select=("DEV101",))], CARDS)
    assert "DEV900" not in selected_codes([SelectionLayer(ignore=("DEV9",))], CARDS)


def test_what_is_revealed_is_told_always():
    assert "DEV902" in selected_codes([SelectionLayer(select=(), ignore=("ALL",))], CARDS)


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("DEV7", None),
        ("D", None),
        ("dev11", "DEV101"),
        ("mixed-device-ops", "mixed-device-op"),
        ("mixed_device_op", "mixed-device-op"),
        ("DEV1O1", "DEV101"),
        ("al", "ALL"),
        ("", None),
    ],
)
def test_a_selector_that_means_nothing_names_what_it_may_mean(selector, hint):
    with pytest.raises(UnknownSelectorError) as caught:
        check_selectors([selector], CARDS)
    expected = f"unknown rule `{selector}`" + (f" (did you mean `{hint}`?)" if hint else "")
    if hint:
        assert str(caught.value) == expected
    else:
        assert str(caught.value).startswith(f"unknown rule `{selector}`")
