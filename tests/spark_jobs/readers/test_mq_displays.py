"""MQ's displays of structures are read regardless of how the console formats their lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.texts.mqsc.displays import MqText, read_mq
from tests.spark_jobs.readers import support

K = 1024


def test_cfstatus_is_read() -> None:
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
        lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"),
        lambda text: text.replace("\n", "\x85"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", "\t\n\t"),
        lambda text: "IEF404I SOME JOB ENDED " * 400 + " ".join(text.split("\n")) + " IEF404I" * 900,
        lambda text: text[text.index("CFSTATUS(") :],
    ],
)
def test_cfstatus_is_read_in_any_line_layout(change: object) -> None:
    assert callable(change)
    (status,) = read_mq(change(support.CFSTATUS)).statuses
    assert (status.name, status.size_used_percent, status.entries_used) == ("APPLICATION1", 12, 1200)


def test_responses_without_line_breaks_are_all_read() -> None:
    names = [f"APPLICATION{n}" for n in range(1, 30)]
    text = " ".join(support.CFSTATUS.replace("APPLICATION1", name).replace("\n", " ") for name in names)
    assert len(text) > 8000
    found = read_mq(text)
    assert [status.name for status in found.statuses] == [name for name in names if len(name) <= 12]
    assert {status.entries_used for status in found.statuses} == {1200}


def test_each_response_has_the_name_of_its_queue_manager() -> None:
    text = support.CFSTATUS + support.CFSTATUS.replace("QM01", "QM02").replace("APPLICATION1", "CSQ_ADMIN")
    assert [(each.name, each.queue_manager) for each in read_mq(text).statuses] == [
        ("APPLICATION1", "QM01"),
        ("CSQ_ADMIN", "QM02"),
    ]


def test_other_types_of_status_are_skipped_and_reported() -> None:
    found = read_mq("CFSTATUS(APP1) TYPE(CONNECT) QMNAME(QM01) STATUS(ACTIVE)\n")
    assert found.statuses == ()
    assert "TYPE(CONNECT)" in found.problems[0].message


def test_invalid_values_are_left_out_and_reported() -> None:
    found = read_mq("CFSTATUS(APP1)\nSIZEMAX(huge)\nSIZEUSED(101)\nENTSMAX(1,000)\nENTSUSED(7)\n")
    (status,) = found.statuses
    assert (status.size_max_bytes, status.size_used_percent, status.entries_max, status.entries_used) == (
        None,
        None,
        None,
        7,
    )
    assert sorted(problem.line for problem in found.problems) == [2, 3, 4]


def test_structure_outside_any_coupling_facility_has_nulls() -> None:
    text = support.CFSTATUS.replace("STATUS(ACTIVE)", "STATUS(NOTFOUND)")
    for keyword, value in (
        ("SIZEMAX", "524288"),
        ("SIZEUSED", "12"),
        ("ENTSMAX", "229134"),
        ("ENTSUSED", "1200"),
    ):
        text = text.replace(f"{keyword}({value})", f"{keyword}(0)")
    found = read_mq(text)
    (status,) = found.statuses
    assert status.status == "NOTFOUND"
    assert (status.size_max_bytes, status.size_used_percent, status.entries_max, status.entries_used) == (
        None,
    ) * 4
    assert found.problems == ()


def test_empty_structure_has_no_entries_or_elements_in_use() -> None:
    text = support.CFSTATUS.replace("ENTSUSED(1200)", "ENTSUSED(0)").replace("SIZEUSED(12)", "SIZEUSED(0)")
    (status,) = read_mq(text).statuses
    assert (status.size_used_percent, status.entries_used) == (0, 0)


def test_truncated_response_is_reported_with_its_line() -> None:
    whole = read_mq(support.CFSTATUS).statuses[0]
    for length in range(
        support.CFSTATUS.index("+QM01 CSQMDRTC  D"), support.CFSTATUS.index(" DETAILS\nCSQ9")
    ):
        text = support.CFSTATUS[:length]
        found = read_mq(text)
        assert found.problems, text
        last = max(problem.line for problem in found.problems)
        assert last in {text.count("\n"), text.count("\n") + 1}, text
        for status in found.statuses:  # what is said is right
            for name in ("size_max_bytes", "size_used_percent", "entries_max", "entries_used"):
                assert getattr(status, name) in {None, getattr(whole, name)}, text


def test_missing_keywords_of_a_truncated_response_are_listed() -> None:
    text = support.CFSTATUS[: support.CFSTATUS.index("ENTSMAX")] + "ENTSMAX(2291"
    messages = [(problem.line, problem.message) for problem in read_mq(text).problems]
    assert messages[0][0] == 10
    assert "ENTSMAX(2291 is truncated" in messages[0][1]
    assert messages[1] == (
        9,
        "CFSTATUS(APPLICATION1) ends without ENTSUSED: it was truncated here, or the command did not request all attributes.",
    )


def test_unterminated_definition_is_reported() -> None:
    text = support.CFSTRUCT[: support.CFSTRUCT.index("DSGROUP")]
    (problem,) = read_mq(text).problems
    assert (problem.line, "no END CFSTRUCT DETAILS" in problem.message) == (8, True)


def test_truncated_first_response_is_reported_before_another() -> None:
    cut = support.CFSTATUS[: support.CFSTATUS.index("ENTSUSED")]
    found = read_mq(cut + support.CFSTATUS.replace("APPLICATION1", "APP2"))
    assert [status.name for status in found.statuses] == ["APPLICATION1", "APP2"]
    assert [status.entries_used for status in found.statuses] == [None, 1200]
    (problem,) = found.problems
    assert (problem.line, "ENTSUSED" in problem.message) == (10, True)


@pytest.mark.parametrize(
    ("keyword", "value", "text"),
    [
        ("ENTSUSED", "1200", "12 00"),
        ("ENTSUSED", "1200", "1.200"),
        ("ENTSMAX", "229134", "229K"),
        ("SIZEMAX", "524288", "5242BB"),
        ("SIZEUSED", "12", "-1"),
    ],
)
def test_unreadable_number_is_reported_with_line_and_text(keyword: str, value: str, text: str) -> None:
    found = read_mq(support.CFSTATUS.replace(f"{keyword}({value})", f"{keyword}({text})"))
    (problem,) = found.problems
    lines = support.CFSTATUS.split("\n")
    assert problem.line == lines.index(f"{keyword}({value})") + 1
    assert f"{keyword}({text})" in problem.message


def test_word_other_than_yes_or_no_is_reported() -> None:
    (problem,) = read_mq(support.CFSTRUCT.replace("RECOVER(YES)", "RECOVER(JA)")).problems
    assert (problem.line, "RECOVER(JA)" in problem.message) == (5, True)


def test_definition_with_parentheses_in_its_description_is_read() -> None:
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


def test_command_is_not_read_as_a_response() -> None:
    assert read_mq("+QM01 DIS CFSTATUS(APP1) TYPE(SUMMARY)\n").is_empty


def test_text_of_quotes_and_parentheses_is_read_quickly() -> None:
    assert read_mq("CFSTRUCT(A) DESCR(" + "'" * 20_000 + "\n" + "A(" * 20_000).structures


WORDS = st.sampled_from(
    [*support.CFSTATUS.split("\n"), *support.CFSTRUCT.split("\n"), "(", ")", "'", "SIZEMAX(", "9" * 30]
)


@given(st.lists(WORDS | st.text(max_size=30), max_size=40), st.sampled_from(["\n", " ", ""]))
def test_reading_accepts_any_text(parts: list[str], between: str) -> None:
    assert isinstance(read_mq(between.join(parts)), MqText)


@given(st.integers(1, 10**15), st.integers(0, 100), st.integers(1, 10**12))
def test_any_numbers_are_read_back(size_kb: int, percent: int, entries: int) -> None:
    text = f"CFSTATUS(APP1) SIZEMAX({min(size_kb, 10**14)}) SIZEUSED({percent}) ENTSMAX({entries})"
    (status,) = read_mq(text).statuses
    assert (status.size_max_bytes, status.size_used_percent, status.entries_max) == (
        min(size_kb, 10**14) * K,
        percent,
        entries,
    )
