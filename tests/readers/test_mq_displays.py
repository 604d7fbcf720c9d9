"""What MQ says of structures is read whatever the console made of its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.mqsc.displays import MqText, read_mq
from tests.readers import support

K = 1024


def test_a_status_is_read() -> None:
    found = read_mq(support.CFSTATUS)
    assert found.problems == ()
    (status,) = found.statuses
    assert (status.line, status.name, status.queue_manager) == (3, "APPLICATION1", "QM01")
    assert (status.cf_type, status.status, status.offload_use) == ("APPL", "ACTIVE", "NONE")
    assert (status.size_max_bytes, status.size_used_percent) == (524_288 * K, 12)
    assert (status.entries_max, status.entries_used) == (229_134, 1200)
    assert status.attributes["FAILTIME"] == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda text: " ".join(text.split("\n")),
        lambda text: text.replace("\n", " \n"),
        lambda text: "\n".join(f"10.21.33 STC01234  {line}" for line in text.split("\n")),
        lambda text: "\r\n".join(text.split("\n")),
        lambda text: text.replace("+QM01", "QM01"),
        lambda text: text[text.index("CFSTATUS(") :],
    ],
)
def test_the_shape_of_the_lines_does_not_matter(change: object) -> None:
    assert callable(change)
    (status,) = read_mq(change(support.CFSTATUS)).statuses
    assert (status.name, status.size_used_percent, status.entries_used) == ("APPLICATION1", 12, 1200)


def test_the_queue_manager_that_answered_is_named_for_each_answer() -> None:
    text = support.CFSTATUS + support.CFSTATUS.replace("QM01", "QM02").replace("APPLICATION1", "CSQ_ADMIN")
    assert [(each.name, each.queue_manager) for each in read_mq(text).statuses] == [
        ("APPLICATION1", "QM01"),
        ("CSQ_ADMIN", "QM02"),
    ]


def test_other_types_of_status_are_passed_over_and_said() -> None:
    found = read_mq("CFSTATUS(APP1) TYPE(CONNECT) QMNAME(QM01) STATUS(ACTIVE)\n")
    assert found.statuses == ()
    assert "TYPE(CONNECT)" in found.problems[0].message


def test_values_that_are_none_are_left_out_and_reported() -> None:
    found = read_mq("CFSTATUS(APP1)\nSIZEMAX(huge)\nSIZEUSED(101)\nENTSMAX(1,000)\nENTSUSED(7)\n")
    (status,) = found.statuses
    assert (status.size_max_bytes, status.size_used_percent, status.entries_max, status.entries_used) == (
        None,
        None,
        None,
        7,
    )
    assert sorted(problem.line for problem in found.problems) == [2, 3, 4]


def test_a_definition_is_read_with_parentheses_in_its_description() -> None:
    found = read_mq(support.CFSTRUCT)
    assert found.problems == ()
    (struct,) = found.structures
    assert (struct.name, struct.cflevel, struct.recover, struct.offload) == ("APPLICATION1", 5, True, "SMDS")
    assert struct.rules == ((70, 32 * K), (80, 4 * K), (90, 0))
    assert (struct.dsblock_bytes, struct.dsbufs, struct.dsgroup, struct.dsexpand) == (
        256 * K,
        100,
        "MQ.SMDS.*.APP1",
        True,
    )
    assert struct.attributes["DESCR"] == "Payments (both sites)"


def test_a_command_is_no_answer() -> None:
    assert read_mq("+QM01 DIS CFSTATUS(APP1) TYPE(SUMMARY)\n").is_empty


def test_a_text_of_quotes_and_parentheses_takes_no_time() -> None:
    assert read_mq("CFSTRUCT(A) DESCR(" + "'" * 20_000 + "\n" + "A(" * 20_000).structures


WORDS = st.sampled_from(
    [*support.CFSTATUS.split("\n"), *support.CFSTRUCT.split("\n"), "(", ")", "'", "SIZEMAX(", "9" * 30]
)


@given(st.lists(WORDS | st.text(max_size=30), max_size=40), st.sampled_from(["\n", " ", ""]))
def test_no_text_makes_the_reading_fail(parts: list[str], between: str) -> None:
    assert isinstance(read_mq(between.join(parts)), MqText)


@given(st.integers(0, 10**15), st.integers(0, 100), st.integers(0, 10**12))
def test_any_numbers_come_back(size_kb: int, percent: int, entries: int) -> None:
    text = f"CFSTATUS(APP1) SIZEMAX({min(size_kb, 10**14)}) SIZEUSED({percent}) ENTSMAX({entries})"
    (status,) = read_mq(text).statuses
    assert (status.size_max_bytes, status.size_used_percent, status.entries_max) == (
        min(size_kb, 10**14) * K,
        percent,
        entries,
    )
