"""The rounds of a repair, with an analysis that finds words: what a fix replaces, and what it brings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devlint.diagnostic import Applicability, Confidence, Diagnostic, Edit, Fix, Note, Position, Region, Severity
from devlint.repair.document import Document
from devlint.repair.fix_rounds import Documents, RepairResult, applicable_fix_filter, repair

WORD = re.compile(r"(bad|unsafe|shown|slow)(\w*?)(?:_to_(\w+?))?(?:_at_(\d+))?\b")
LEVELS = {
    "bad": Applicability.SAFE,
    "unsafe": Applicability.UNSAFE,
    "shown": Applicability.DISPLAY,
    "slow": Applicability.SAFE,
}


@dataclass(frozen=True)
class Seen:
    diagnostics: tuple[Diagnostic, ...]


def look(documents: Documents) -> Seen:
    """`bad1` is a finding that a fix makes `good`; `bad_to_bad2` one whose fix brings another; `_at_3` tells of row
    3. `slow1` is a warning, and all others are errors."""
    found = []
    for name, document in documents.items():
        for row, line in enumerate(document.text.split("\n"), 1):
            for word in WORD.finditer(line):
                place = (Position(row, word.start() + 1), Position(row, word.end() + 1))
                fix = Fix("Mend it", LEVELS.get(word[1], Applicability.SAFE), (Edit(word[3] or "good", *place),))
                told = int(word[4] or row)
                story = (Note("told", Region(name, Position(told, 1), Position(told, 99))),)
                severity = Severity.WARNING if word[1] == "slow" else Severity.ERROR
                found.append(
                    Diagnostic(
                        "DEV101", "x", severity, Confidence.CERTAIN, "m", Region(name, *place),
                        story if word[4] else (), fix=fix, fingerprint=word[0],
                    )
                )  # fmt: skip
    return Seen(tuple(found))


def run(files: dict[str, str], *, unsafe: bool = False) -> tuple[RepairResult[Seen], int]:
    """The repair of some texts, and how many analyses it took."""
    asked = []

    def counted(documents: Documents) -> Seen:
        asked.append(documents)
        return look(documents)

    documents = {name: Document(name, text.encode()) for name, text in files.items()}
    return repair(documents, look(documents), counted, applicable_fix_filter(unsafe)), len(asked)


def texts(done: RepairResult[Seen]) -> dict[str, str]:
    return {name: document.text for name, document in done.documents.items()}


def test_only_what_may_be_applied_is() -> None:
    words = "bad1 unsafe2 shown3"
    assert texts(run({"a": words})[0]) == {"a": "good unsafe2 shown3"}
    assert texts(run({"a": words}, unsafe=True)[0]) == {"a": "good good shown3"}


def test_fixes_apart_from_each_other_go_in_one_round() -> None:
    done, rounds = run({"a": "bad1 bad2\nbad3", "b": "bad4"})
    assert (texts(done), rounds) == ({"a": "good good\ngood", "b": "good"}, 1)


def test_a_fix_in_the_story_of_another_finding_comes_first() -> None:
    done, rounds = run({"a": "bad1\nbad_at_1"})
    assert (texts(done), rounds) == ({"a": "good\ngood"}, 2)


def test_a_fix_that_brings_a_finding_is_taken_back_and_the_others_stay() -> None:
    many = "\n".join(f"bad{number}" for number in range(20))
    done, rounds = run({"a": f"{many}\nbad_to_shown5\n", "b": "bad"})
    assert texts(done) == {"a": "good\n" * 20 + "bad_to_shown5\n", "b": "good"}
    assert [one.region.start.row for one in done.withdrawn] == [21]
    assert len(done.fixed) == 21 and rounds < 15


def test_a_fix_that_leads_to_another_goes_with_it() -> None:
    done, rounds = run({"a": "bad_to_bad5\nshown"})
    assert (texts(done), rounds) == ({"a": "good\nshown"}, 2)
    assert [one.region.start.row for one in done.fixed] == [1]


def test_what_a_fix_led_to_is_told_apart() -> None:
    done, _ = run({"a": "bad_to_bad5 bad1"})
    assert [one.fingerprint for one in done.fixed] == ["bad_to_bad5", "bad1"]
    assert [one.fingerprint for one in done.followed] == ["bad5"]


def test_a_fix_of_a_warning_that_makes_an_error_is_taken_back() -> None:
    done, _ = run({"a": "slow_to_bad5", "b": "slow_to_slow5"})
    assert texts(done) == {"a": "slow_to_bad5", "b": "good"}
    assert [one.fingerprint for one in done.withdrawn] == ["slow_to_bad5"]


def test_of_findings_with_one_step_in_common_the_surest_slip_is_fixed_first() -> None:
    done, rounds = run({"a": "unsafe1_at_4\nslow2_at_4\nbad3_at_4\nrow"}, unsafe=True)
    assert [one.fingerprint for one in done.fixed] == ["bad3_at_4", "unsafe1_at_4", "slow2_at_4"]
    assert rounds == 3


def test_a_cause_is_fixed_before_its_consequence() -> None:
    """The second finding's place is a step of the first one, and both share another step."""

    def finding(row: int, steps: tuple[int, ...]) -> Diagnostic:
        places = [Region("a", Position(one, 1), Position(one, 4)) for one in (row, *steps)]
        fix = Fix("Mend it", Applicability.SAFE, (Edit("yes", places[0].start, places[0].end),))
        notes = tuple(Note("told", one) for one in places[1:])
        return Diagnostic(
            "DEV101", "x", Severity.ERROR, Confidence.CERTAIN, "m", places[0], notes, fix=fix, fingerprint=str(row)
        )

    def consequence_of_cause(documents: Documents) -> Seen:
        is_fixed = "yes" in documents["a"].text
        return Seen(() if is_fixed else (finding(1, (3, 2)), finding(2, (3,))))

    documents = {"a": Document("a", b"one\ntwo\nend")}
    done = repair(documents, consequence_of_cause(documents), consequence_of_cause, applicable_fix_filter(unsafe=False))
    assert texts(done) == {"a": "one\nyes\nend"}
    assert [one.fingerprint for one in done.fixed] == ["2"]


def test_a_fix_that_does_harm_in_another_file_is_found() -> None:
    def look_across(documents: Documents) -> Seen:
        harmed = documents["a"].text.startswith("evil")
        return look({**documents, "c": Document("c", b"bad1" if harmed else b"")})

    files = {"a": "bad_to_evil bad1", "b": "bad2", "c": ""}
    documents = {name: Document(name, text.encode()) for name, text in files.items()}
    done = repair(documents, look_across(documents), look_across, applicable_fix_filter(unsafe=False))
    assert texts(done) == {"a": "bad_to_evil good", "b": "good", "c": ""}


def test_findings_that_stay_are_not_mended_for_ever() -> None:
    documents = {"a": Document("a", " ".join(f"bad{number}" for number in range(300)).encode())}

    def unmoved(_: Documents) -> Seen:
        return look(documents)

    done = repair(documents, unmoved(documents), unmoved, applicable_fix_filter(unsafe=False))
    assert not done.finished
    assert done.documents == documents


def test_a_fix_that_needs_another_one_is_tried_again_after_it() -> None:
    def look_needing(documents: Documents) -> Seen:
        first, second, _ = documents["a"].text.split("\n")
        is_early = first == "good" and second.startswith("slow2")
        return look({**documents, "b": Document("b", b"shown" if is_early else b"")})

    documents = {"a": Document("a", b"slow1_at_3\nslow2_at_3\nrow")}
    done = repair(documents, look_needing(documents), look_needing, applicable_fix_filter(unsafe=False))
    assert texts(done) == {"a": "good\ngood\nrow"}
    assert [one.fingerprint for one in done.fixed] == ["slow2_at_3", "slow1_at_3"]
    assert not done.withdrawn
