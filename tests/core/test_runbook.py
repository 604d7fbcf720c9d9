"""The runbook: a section for each structure with its own names, numbers and commands."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from planner_core.document import read_object
from planner_core.plan import evaluate
from planner_core.xcf.runbook import runbook
from tests.core.plans import policy_documents, varied

RULE = "-" * 71


def sections(**paths: Any) -> dict[str, str]:  # noqa: ANN401
    """The text of each structure by its name in the policy."""
    lines = runbook(evaluate(read_object(varied(**paths)))).splitlines()
    starts = [n - 1 for n, line in enumerate(lines) if line == RULE]
    ends = [*starts[1:], len(lines)]
    return {lines[start]: "\n".join(lines[start + 2 : end]) for start, end in zip(starts, ends, strict=True)}


def test_each_structure_has_a_section_of_its_own() -> None:
    found = sections()
    assert list(found) == ["SQ03CSQ_ADMIN", "SQ03APP1", "SQ03CSQSYSAPPL"]
    for name, text in found.items():
        assert f"D XCF,STR,STRNAME={name}" in text
        assert f"DISPLAY CFSTATUS({name.removeprefix('SQ03')}) ALL" in text
        assert "IXC585E  when entries or elements are 85 % in use" in text


def test_for_ixc585e_it_inhibits_puts_adds_getters_and_alters_between_the_sizes() -> None:
    text = sections(structures__0__initsize="300M", structures__0__size="500M")["SQ03APP1"]
    assert "INITSIZE 307200K (300.0 MiB)" in text
    assert "SIZE     512000K (500.0 MiB)" in text
    assert "Start more applications that get from it" in text
    assert "     ALTER QLOCAL(Q1) QSGDISP(SHARED) PUT(DISABLED)" in text
    assert "     SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=409600" in text
    assert "raise SIZE in the policy and rebuild it" in text


def test_reason_2192_is_explained_with_both_pools_and_the_queue_that_is_not_to_blame() -> None:
    text = sections()["SQ03APP1"]
    after = text[text.index("On reason 2192 (MQRC_STORAGE_MEDIUM_FULL)") :]
    assert "All entries, or all elements" in after
    assert "need not be the one that filled the structure" in after
    assert "PUT(ENABLED)" in after


def test_the_administrative_structure_shows_itself_indirectly_and_holds_no_queue() -> None:
    text = sections()["SQ03CSQ_ADMIN"]
    assert "ENTSMAX at least 5000" in text
    assert "commands get no response" in text
    assert "fail while they process a commit" in text
    assert "CSQE022E" in text
    assert "PUT(DISABLED)" not in text


def test_nobody_is_told_to_inhibit_puts_to_system_queues() -> None:
    text = sections()["SQ03CSQSYSAPPL"]
    assert "Do not inhibit puts to these." in text
    assert "PUT(DISABLED)" not in text


def test_the_five_largest_queues_are_named_largest_first_and_quoted() -> None:
    queues = [{"name": f"q{n}", "message_bytes": 100, "backlog": n} for n in (3, 9, 1, 7, 5, 8)]
    text = sections(structures__0__queues=queues)["SQ03APP1"]
    named = [line.strip() for line in text.splitlines() if "PUT(DISABLED)" in line]
    assert named == [f"ALTER QLOCAL('q{n}') QSGDISP(SHARED) PUT(DISABLED)" for n in (9, 8, 7, 5, 3)]


def test_a_structure_that_cannot_grow_in_place_is_told_so() -> None:
    text = sections(size_factor=1)["SQ03APP1"]
    assert "4. The structure cannot grow in place" in text
    assert "SETXCF START,ALTER" not in text


def test_where_monitoring_is_off_it_does_not_wait_for_ixc585e() -> None:
    text = sections(structures__0__full_threshold=0)["SQ03APP1"]
    assert "IXC585E  is never issued: FULLTHRESHOLD(0)" in text


@settings(max_examples=50)
@given(policy_documents())
def test_any_plan_has_a_runbook_in_plain_text(document: dict[str, Any]) -> None:
    text = runbook(evaluate(read_object(document)))
    assert text.isascii()
    assert all(line == line.rstrip() for line in text.splitlines())
    assert text.count(RULE) == len(document["structures"]) + 2


def test_the_unit_of_size_is_stated_and_reallocate_follows_its_test() -> None:
    for sizes in ({"initsize": "300M", "size": "500M"}, {"initsize": "500M", "size": "500M"}):
        text = sections(**{f"structures__0__{key}": value for key, value in sizes.items()})["SQ03APP1"]
        assert "check the unit" not in text
        assert "     SETXCF START,REBUILD,STRNAME=SQ03APP1\n" in text
        assert text.index("     D XCF,REALLOCATE,TEST") < text.index("     SETXCF START,REALLOCATE")
