from __future__ import annotations

import pytest

from devlint.config.selection import Layer, UnknownSelectorError, check_selectors, selected
from devlint.diagnostic import Severity
from devlint.rule_metadata import RuleCard


def card(code: str, name: str, *, default: bool = True) -> RuleCard:
    return RuleCard(code, name, Severity.ERROR, default, False, "", "")


CARDS = [
    card("DEV101", "mixed-device-op"),
    card("DEV102", "module-input-device"),
    card("DEV204", "shared-storage-mutation", default=False),
    card("DEV900", "unreadable-file"),
    card("DEV902", "revealed-placement"),
    card("DEVX1", "from-elsewhere", default=False),
]
SPECIAL = {"DEV900", "DEV902"}


def on(*layers: Layer) -> set[str]:
    return set(selected(layers, CARDS)) - SPECIAL


def test_the_default_rules():
    assert on() == {"DEV101", "DEV102"}


@pytest.mark.parametrize(
    ("layer", "codes"),
    [
        (Layer(select=()), set()),
        (Layer(select=("ALL",)), {"DEV101", "DEV102", "DEV204", "DEVX1"}),
        (Layer(select=("DEV",)), {"DEV101", "DEV102", "DEV204"}),
        (Layer(select=("DEV10",)), {"DEV101", "DEV102"}),
        (Layer(select=("DEVX",)), {"DEVX1"}),
        (Layer(select=("from-elsewhere",)), {"DEVX1"}),
        (Layer(select=("DEV1",), ignore=("DEV102",)), {"DEV101"}),
        (Layer(select=("DEV102",), ignore=("DEV1",)), {"DEV102"}),
        (Layer(select=("DEV102",), ignore=("module-input-device",)), set()),
        (Layer(select=("ALL",), ignore=("ALL",)), set()),
        (Layer(extend_select=("DEV2",)), {"DEV101", "DEV102", "DEV204"}),
        (Layer(extend_select=("DEV204",), ignore=("DEV",)), {"DEV204"}),
    ],
)
def test_one_layer(layer, codes):
    assert on(layer) == codes


@pytest.mark.parametrize(
    ("later", "codes"),
    [
        (Layer(), {"DEV102", "DEV204"}),
        (Layer(select=("DEV1",)), {"DEV101", "DEV102"}),
        (Layer(extend_select=("DEV101",)), {"DEV101", "DEV102", "DEV204"}),
        (Layer(ignore=("DEV2",)), {"DEV102"}),
    ],
)
def test_the_later_layer_has_the_last_word(later, codes):
    assert on(Layer(extend_select=("DEV204",), ignore=("DEV101",)), later) == codes


def test_an_unreadable_file_is_told_unless_it_is_ignored():
    assert "DEV900" in selected([Layer(select=("DEV101",))], CARDS)
    assert "DEV900" not in selected([Layer(ignore=("DEV9",))], CARDS)


def test_what_is_revealed_is_told_always():
    assert "DEV902" in selected([Layer(select=(), ignore=("ALL",))], CARDS)


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("DEV7", None),
        ("D", None),
        ("dev101", "DEV101"),
        ("mixed-device-ops", "mixed-device-op"),
        ("mixed_device_op", "mixed-device-op"),
        ("DEV1O1", "DEV101"),
        ("all", "ALL"),
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
