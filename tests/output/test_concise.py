from __future__ import annotations

import click

EXPECTED = """\
src/train.py:8:9: DEV201 [*] the moved tensor is thrown away (discarded-transfer, likely)
src/train.py:9:16: DEV101 `weight` is on cuda:0 and `shift` on the host (mixed-device-op)
src/train.py:10:12: DEV103 `loss` may stay behind (unregistered-tensor, possible)
"""


def test_one_line_for_each_finding(render):
    assert render("concise") == EXPECTED
    assert click.unstyle(render("concise", color=True)) == EXPECTED


def test_nothing_found_is_no_line(render):
    assert render("concise", []) == ""
