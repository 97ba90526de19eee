"""Which findings a comment silences: by its form, by the rules it names and by where it stands."""

from __future__ import annotations

import textwrap

import pytest

from devlint.diagnostic import Position
from devlint.syntax.index import index_source
from devlint.syntax.source import Source
from devlint.syntax.suppressions import Suppression, Suppressions, find_suppressions, may_suppress

CODE, NAME = "DEV101", "mixed-device-op"


def suppressions(text: str) -> Suppressions:
    source = Source.of(text)
    return find_suppressions(source, index_source(source))


def silent_rows(text: str, code: str = CODE, name: str = NAME) -> list[int]:
    """The rows on which a finding of one row would be silenced."""
    found = suppressions(text)
    return [row for row in range(1, text.count("\n") + 1) if found.covers(code, name, row, row)]


def only(text: str) -> Suppression:
    (suppression,) = suppressions(text).all
    return suppression


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NoQA",
        "# noqa: DEV101",
        "# noqa:dev101",
        "# noqa: E501,DEV101",
        "# noqa: E501 DEV101",
        "# noqa: E501, DEV1 why not",
        "# noqa: some-name",
        "# type: ignore  # noqa: DEV101  # pragma",
        "# devlint: ignore",
        "#devlint:ignore",
        "# devlint: ignore -- a reason",
        "# devlint: ignore[DEV101]",
        "# devlint: ignore[dev101]",
        "# devlint: ignore[DEV1]",
        "# devlint: ignore[mixed-device-op]",
        "# devlint: ignore[Mixed-Device-Op, DEV3] -- a reason",
        "# noqa: E501  # devlint: ignore[DEV101]",
        "# devlint: disable[DEV101]",
    ],
)
def test_a_comment_silences_its_line(comment: str) -> None:
    assert silent_rows(f"a\nb  {comment}\nc\n") == [2]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: DEV102",
        "# noqa: DEV1011",
        "# noqattention",
        "# devlint: ignore[DEV102]",
        "# devlint: ignore[mixed-device]",
        "# devlint: ignore[]",
        "# devlint: ignore[DEV101",
        "# devlint: ignore DEV101",
        "# devlint: ignored",
        "# devlint: enable",
        "# devlint: file-ignore",
        "# devlint",
    ],
)
def test_a_comment_that_says_something_else(comment: str) -> None:
    assert silent_rows(f"a\nb  {comment}\nc\n") == []


def test_what_a_suppression_tells_of_itself() -> None:
    found = only("é = 1  # type: x # devlint: ignore[DEV101, Unregistered-Tensor] -- since so\n")
    assert found == Suppression(
        kind="line",
        codes=frozenset({"DEV101", "unregistered-tensor"}),
        first_row=1,
        last_row=1,
        region=(Position(1, 18), Position(1, 76)),
        reason="since so",
    )
    assert only("a  # noqa: DEV101, E501 \n").region == (Position(1, 4), Position(1, 24))


def test_the_first_suppression_that_covers_is_the_answer() -> None:
    found = suppressions("a  # noqa: E501  # devlint: ignore[DEV101]  # noqa\n")
    covering = found.covers(CODE, NAME, 1, 1)
    assert covering is not None and covering.kind == "noqa" and not covering.codes
    assert len(found.all) == 3


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# flake8: noqa", True),
        ("#flake8=NOQA", True),
        ("# flake8: noqa: DEV101,E501", True),
        ("# flake8: noqa  # generated", True),
        ("# flake8: noqa: E501", False),
        ("# see # flake8: noqa", False),
        ("# flake8: nothing", False),
        ("x = 1  # flake8: noqa", False),
    ],
)
def test_flake8_has_a_comment_for_the_whole_file(comment: str, silent: bool) -> None:
    assert silent_rows(f"a\n{comment}\nb\n") == ([1, 2, 3] if silent else [])


@pytest.mark.parametrize("comment", ["# noqa", "# devlint: ignore"])
class TestLinesThatBelongTogether:
    def test_a_comment_inside_brackets_covers_its_line(self, comment: str) -> None:
        assert silent_rows(f"a = [\n  b,  {comment}\n  c,\n]\n") == [2]

    def test_a_finding_on_several_lines_is_covered_by_a_comment_on_any(self, comment: str) -> None:
        found = suppressions(f"x = f(\n  a,\n  b,  {comment}\n  c,\n)\n")
        assert found.covers(CODE, NAME, 1, 5)
        assert found.covers(CODE, NAME, 2, 3)
        assert not found.covers(CODE, NAME, 1, 2)

    def test_a_comment_that_ends_a_logical_line_covers_it_all(self, comment: str) -> None:
        assert silent_rows(f"a\nx = f(\n  a,\n  b)  {comment}\nc\n") == [2, 3, 4]

    def test_a_comment_after_a_string_covers_the_string(self, comment: str) -> None:
        assert silent_rows(f"f(\n  '''\n\n''', a,  {comment}\n  b)\n") == [2, 3, 4]

    def test_a_comment_after_a_continuation_covers_what_it_continues(self, comment: str) -> None:
        assert silent_rows(f"a = b + \\\n  c  {comment}\nd\n") == [1, 2]

    def test_the_head_of_a_compound_statement_is_a_line_of_its_own(self, comment: str) -> None:
        assert silent_rows(f"@a\ndef f(\n  b=c,\n):  {comment}\n  d\n") == [2, 3, 4]

    def test_a_decorator_is_a_line_of_its_own(self, comment: str) -> None:
        assert silent_rows(f"@a  {comment}\ndef f(): pass\n") == [1]

    def test_a_comment_on_a_line_of_its_own_covers_no_other(self, comment: str) -> None:
        assert silent_rows(f"a\n{comment}\nb\ndef f():\n  {comment}\n  c\n") == [2, 5]

    def test_text_in_a_string_is_no_comment(self, comment: str) -> None:
        assert silent_rows(f'a = "{comment}"\nb = """\n{comment}\n"""\nc = f"{comment}"\n') == []

    def test_newlines_tabs_form_feeds_and_no_ascii(self, comment: str) -> None:
        for newline in ("\n", "\r\n", "\r"):
            text = newline.join(["é", "\x0cif a:", "\t'😀\x0c'", f"\tb  {comment}", "c", f"d  {comment}"])
            found = suppressions(text)
            assert [row for row in range(1, 7) if found.covers(CODE, NAME, row, row)] == [4, 6]
            assert found.all[0].region[0] == Position(4, 5)


def test_a_comment_in_a_nested_string_of_a_newer_f_string() -> None:
    assert silent_rows("x = f'{a['# noqa']}'\ny = b  # noqa\n") == [2]


class TestNextLine:
    def test_it_covers_the_next_logical_line(self) -> None:
        assert silent_rows("# devlint: ignore-next-line[DEV101]\n\n# more\nx = f(\n  a)\nb\n") == [4, 5]

    def test_the_head_of_a_function_is_the_next_line(self) -> None:
        assert silent_rows("# devlint: ignore-next-line\ndef f(a=b,\n  c=d):\n  e\n") == [2, 3]

    def test_inside_brackets_it_covers_the_next_physical_line(self) -> None:
        assert silent_rows("x = [\n  # devlint: ignore-next-line\n  a,\n  b,\n]\n") == [3]

    def test_in_a_block(self) -> None:
        assert silent_rows("def f():\n  a\n  # devlint: ignore-next-line\n  b\n  c\n") == [4]

    def test_after_a_statement(self) -> None:
        assert silent_rows("a  # devlint: ignore-next-line\nb\nc\n") == [2]

    def test_at_the_end_of_the_file(self) -> None:
        assert silent_rows("a\n# devlint: ignore-next-line\n") == [2]


class TestFile:
    @pytest.mark.parametrize("text", ["{}\na\nb\n", "a\nb\n{}\n", "def f():\n  {}\n  a\n"])
    def test_it_covers_the_file_from_anywhere(self, text: str) -> None:
        text = text.format("# devlint: file-ignore[mixed-device-op]")
        assert silent_rows(text) == [1, 2, 3]
        assert silent_rows(text, "DEV102", "module-input-device") == []
        assert only(text).kind == "file"

    def test_all_rules(self) -> None:
        assert suppressions("# devlint: file-ignore -- generated\na\n").covers("DEV201", "discarded-transfer", 2, 2)


class TestBlocks:
    def rows(self, text: str, code: str = CODE) -> list[int]:
        return silent_rows(textwrap.dedent(text).lstrip("\n"), code)

    def test_from_disable_to_enable(self) -> None:
        assert self.rows("a\n# devlint: disable[DEV101]\nb\nc\n# devlint: enable[DEV101]\nd\n") == [2, 3, 4, 5]

    def test_to_the_end_of_the_file(self) -> None:
        assert self.rows("a\n# devlint: disable\nb\ndef f():\n  c\n") == [2, 3, 4, 5]

    def test_to_the_end_of_the_indented_block(self) -> None:
        text = """
        def f():
            if a:
                # devlint: disable
                b
                if c:
                    d

                # e
            f
        g
        """
        assert self.rows(text) == [3, 4, 5, 6, 7, 8]

    def test_to_the_end_of_the_function(self) -> None:
        assert self.rows("def f():\n    # devlint: disable\n    a\n\n\nb\ndef g():\n    c\n") == [2, 3, 4, 5]

    def test_a_block_with_tabs(self) -> None:
        assert self.rows("if a:\n\t# devlint: disable\n\tb\nc\n") == [2, 3]

    def test_an_enable_in_a_nested_block_ends_it_too(self) -> None:
        assert self.rows("# devlint: disable\na\nif b:\n  # devlint: enable\n  c\nd\n") == [1, 2, 3, 4]

    def test_an_enable_that_names_part_of_the_codes_ends_that_part(self) -> None:
        text = "# devlint: disable[DEV101, DEV102]\na\n# devlint: enable[DEV101]\nb\n# devlint: enable\nc\n"
        assert self.rows(text) == [1, 2, 3]
        assert self.rows(text, "DEV102") == [1, 2, 3, 4, 5]

    def test_an_enable_of_other_codes_ends_nothing(self) -> None:
        assert self.rows("# devlint: disable[DEV101]\na\n# devlint: enable[DEV3]\nb\n") == [1, 2, 3, 4]

    def test_an_enable_ends_a_disable_of_everything(self) -> None:
        assert self.rows("# devlint: disable\na\n# devlint: enable[DEV101]\nb\n") == [1, 2, 3]

    def test_what_starts_before_the_block_is_not_in_it(self) -> None:
        found = suppressions("x = f(\n  a,\n  # devlint: disable\n  b)\nc\n")
        assert not found.covers(CODE, NAME, 1, 4)
        assert found.covers(CODE, NAME, 4, 4)

    def test_two_blocks(self) -> None:
        text = "# devlint: disable\na\n# devlint: enable\nb\n# devlint: disable\nc\n# devlint: enable\nd\n"
        assert self.rows(text) == [1, 2, 3, 5, 6, 7]


def test_a_file_without_suppressions_is_not_even_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenize.generate_tokens", None)
    assert suppressions("a  # comment\n").all == ()


@pytest.mark.parametrize("comment", ["# noqa: DEV1O1", "# noqa: dev10l", "# NOQA:Dev1O1", "# DevLint: ignore"])
def test_a_text_whose_comment_devlint_alone_reads_is_read(comment: str) -> None:
    assert may_suppress(f"x = 1  {comment}\n", noqa=False)


@pytest.mark.parametrize(
    "comment", ["# noqa", "# noqa: E501", "# noqa: XDEV1O1", "# noqa: DEV1O12", "# the device", "# a dev"]
)
def test_a_text_whose_comments_concern_other_linters_or_nobody_is_not_read(comment: str) -> None:
    assert not may_suppress(f"x = 1  {comment}\n", noqa=False)
