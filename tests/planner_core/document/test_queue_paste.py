"""Queues pasted from spreadsheets, displays and plan files."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.texts.queue_paste import detect, read_queues
from tests.cpu import at_most_cpu_seconds

DISPLAY_CSQM = """CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS
QUEUE(PAYMENTS.IN)
TYPE(QLOCAL)
QSGDISP(SHARED)
CFSTRUCT(APPLICATION1)
DEFPSIST(YES)
MAXDEPTH(200000)
MAXMSGL(4194304)
DESCR('It''s QUEUE(NOT.ONE) (a) test')
END QLOCAL DETAILS
CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS
QUEUE(LOCAL.ONLY)
QSGDISP(QMGR)
END QLOCAL DETAILS
CSQ9022I +QM01 CSQMDRTC ' DISPLAY QLOCAL' NORMAL COMPLETION
"""

DISPLAY_AMQ = """AMQ8409I: Display Queue details.
   QUEUE(Orders.In)                        TYPE(QLOCAL)
   MAXDEPTH(999999999)                     DEFPSIST(NO)
   QSGDISP(SHARED)
"""


def test_table_with_tabs_and_headings_in_any_order_is_read() -> None:
    text = (
        "Backlog\tQueue name\tPersistent\tAvg size\n200 000\tPAYMENTS.IN\tYes\t1,024\n5\tOrders.in\tno\t300\n"
    )

    found = read_queues(text)

    assert found.kind == "table"
    assert found.problems == ()
    assert found.queues == (
        {"name": "PAYMENTS.IN", "persistent": True, "message_bytes": 1024, "backlog": 200000},
        {"name": "Orders.in", "persistent": False, "message_bytes": 300, "backlog": 5},
    )


def test_table_with_commas_quotes_and_a_rate_is_read() -> None:
    text = 'name,size,p95,max,rate,outage\n"A.B",3500,12000,60000,0.25,90\n'

    (queue,) = read_queues(text).queues

    assert queue == {
        "name": "A.B",
        "message_bytes": {"mean": 3500, "p95": 12000, "max": 60000},
        "put_rate_per_s": Decimal("0.25"),
        "outage_minutes": 90,
    }


def test_table_without_a_heading_reports_its_assumed_columns() -> None:
    found = read_queues("A,1024,500,yes\nB,10,1,no\n")

    assert [queue["backlog"] for queue in found.queues] == [500, 1]
    assert [(p.line, "name, message_bytes, backlog, persistent" in p.message) for p in found.problems] == [
        (1, True)
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("bad name\t1\t2\tno", "not allowed here"),
        ("A\tx\t3\tno", "is not a number (message_bytes)"),
        ("A\t1\t3\tmaybe", "neither yes nor no"),
        ("A\t1\t\tno", "neither a backlog nor a rate"),
        ("A\t\t3\tno", "no message size"),
        ("A\t1\t3\tno\tmore", "5 cells"),
        ('A\t"1\t3\tno', "a quote is not closed"),
    ],
)
def test_missing_values_are_reported_with_their_line(row: str, told: str) -> None:
    found = read_queues(f"name\tsize\tbacklog\tpersistent\nOK\t1\t1\tno\n\n{row}\n")

    assert found.queues[0]["name"] == "OK"
    assert [problem.line for problem in found.problems] == [4]
    assert told in found.problems[0].message


def test_conflicting_lines_for_a_queue_are_both_reported() -> None:
    found = read_queues("name,size,backlog\nA,1,1\nB,1,1\nA,2,2\n")

    assert [queue["name"] for queue in found.queues] == ["B"]
    assert sorted(problem.line for problem in found.lost) == [2, 4]


def test_queue_with_identical_lines_is_read_once_and_reported() -> None:
    found = read_queues("name,size,backlog\nA,1,1\nA,1,1\n")

    assert [queue["name"] for queue in found.queues] == ["A"]
    assert [(p.line, p.kind) for p in found.problems] == [(3, "twice")]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("200000", 200000),
        ("200,000", 200000),
        ("1,234,567", 1234567),
        ("200 000", 200000),
        ("0,5", Decimal("0.5")),
        ("0,125", Decimal("0.125")),
    ],
)
def test_numbers_in_spreadsheet_notation_are_read(cell: str, number: object) -> None:
    (queue,) = read_queues(f'name\tsize\tbacklog\nA\t1\t"{cell}"\n').queues

    assert queue["backlog"] == number


def test_long_cell_is_cut_in_its_error() -> None:
    found = read_queues(f"name,size,backlog\nA,1024,{'9' * 5_000}\n")
    assert [problem.message for problem in found.lost] == [f"A: '{'9' * 40}' is not a number (backlog)."]


@pytest.mark.parametrize("cell", ["1e3", "-1", "many", "4K"])
def test_line_with_an_invalid_number_gives_no_queue(cell: str) -> None:
    found = read_queues(f"name\tsize\tbacklog\nA\t1\t{cell}\n")

    assert found.queues == ()
    assert [problem.line for problem in found.lost] == [2]


@pytest.mark.parametrize("column", ["size", "backlog"])
def test_point_before_three_digits_in_a_whole_number_is_reported_not_guessed(column: str) -> None:
    row = {"size": "1024", "backlog": "5000"} | {column: "1.024"}
    found = read_queues(f"name;size;backlog\nA;{row['size']};{row['backlog']}\n")

    assert found.queues == ()
    assert "may have a thousands separator: write 1024." in found.lost[0].message


@pytest.mark.parametrize("cell", ["1.125", "1,125"])
def test_rate_that_may_be_two_numbers_is_refused(cell: str) -> None:
    found = read_queues(f"name;size;rate;outage\nA;1024;{cell};60\n")

    assert found.queues == ()
    words = f"A: '{cell}' (put_rate_per_s) may have a thousands separator: write 1125 or 1.1250."
    assert [problem.message for problem in found.lost] == [words]


def test_rate_may_have_three_decimals_and_a_zero() -> None:
    (queue,) = read_queues("name,size,rate,outage\nA,1024,1.1250,60\n").queues

    assert queue["put_rate_per_s"] == Decimal("1.125")


def test_sizes_in_tables_may_have_units() -> None:
    (queue,) = read_queues("name,size,p95,max,backlog\nA.Q,3500,12K,60K,100\n").queues

    assert queue["message_bytes"] == {"mean": 3500, "p95": 12288, "max": 61440}


def test_unreadable_heading_returns_the_whole_table_for_correction() -> None:
    found = read_queues('"name,size\nA,1024,500,yes\n')

    assert found.queues == ()
    assert list(found.lost[0].lines) == [1, 2]


@pytest.mark.parametrize(
    "line", ["A.Q,3500,12K,60K,100,maybe", "A.Q,3500,12K,,100,no", "A" + "," * 20_001, '"A.Q,1,1,1,1,no']
)
def test_line_with_an_unreadable_value_gives_no_queue(line: str) -> None:
    found = read_queues(f"name,size,p95,max,backlog,persistent\n{line}\n")

    assert found.queues == ()
    assert [problem.line for problem in found.lost] == [2]


def test_columns_for_structure_and_selectors_are_read() -> None:
    found = read_queues("structure,name,message_bytes,backlog,selector_reads\napp1,A,1,1,yes\n,B,1,1,no\n")

    assert found.structures == ("APP1", "")
    assert [queue["selector_reads"] for queue in found.queues] == [True, False]
    assert found.problems == ()


def test_two_columns_with_the_same_meaning_are_reported() -> None:
    found = read_queues("name,size,bytes,backlog\nA,1,2,3\n")

    assert found.queues[0]["message_bytes"] == 1
    assert [problem.kind for problem in found.problems] == ["columns"]


def test_display_qlocal_gives_shared_queues_and_asks_for_sizes() -> None:
    found = read_queues(DISPLAY_CSQM)

    assert found.kind == "display"
    assert found.queues == (
        {"name": "PAYMENTS.IN", "persistent": True, "backlog": 200000, "maxdepth": 200000},
    )
    assert [(p.line, p.message.split(":")[0].split(" is ")[0]) for p in found.problems] == [
        (2, "PAYMENTS.IN"),
        (12, "LOCAL.ONLY"),
    ]
    assert found.structures == ("APPLICATION1",)
    assert found.lost == ()


def test_unreadable_displayed_queue_is_left_out_with_all_its_lines() -> None:
    found = read_queues("QUEUE(GOOD)\nMAXDEPTH(5)\nQUEUE(BAD NAME)\nMAXDEPTH(5)\nQUEUE(GOOD.TOO)\n")

    assert [queue["name"] for queue in found.queues] == ["GOOD", "GOOD.TOO"]
    assert [list(problem.lines) for problem in found.lost] == [[3, 4]]


def test_truncated_queue_name_in_a_display_is_reported() -> None:
    found = read_queues("QUEUE(GOOD) MAXDEPTH(5)\nQUEUE(CUT.O\nMAXDEPTH(9)\n")

    assert [problem.line for problem in found.lost] == [2]


@pytest.mark.parametrize(
    "attributes",
    ["QSGDISP(QMGR)", "QSGDISP(SHARED) CFSTRUCT(CSQSYSAPPL)", "TYPE(QALIAS)"],
)
def test_displayed_queues_that_cannot_be_planned_are_reported(attributes: str) -> None:
    found = read_queues(f"DIS QLOCAL(*) ALL\nQUEUE(A) {attributes}\n")

    assert found.queues == ()
    assert [(problem.kind, problem.queue) for problem in found.problems] == [("apart", "A")]


def test_display_qlocal_from_other_platforms_is_read() -> None:
    found = read_queues(DISPLAY_AMQ)

    assert found.queues == ({"name": "Orders.In", "persistent": False, "maxdepth": 999999999},)
    assert any("does not limit" in problem.message for problem in found.problems)


def test_plan_file_gives_the_queues_of_all_its_structures() -> None:
    text = '{"structures": [{"queues": [{"name": "A"}]}, {"queues": [{"name": "B"}]}]}'

    found = read_queues(text)

    assert (found.kind, [queue["name"] for queue in found.queues]) == ("plan", ["A", "B"])


@pytest.mark.parametrize(
    "text",
    [
        '{"structures": [',
        '{"structures": []}',
        '{"structures": {}}',
        '{"queues": [5]}',
        '{"queues": [{"name": "A", "colour": 1}]}',
        '{"queues": [{"name": "A", "backlog": {}}]}',
        '{"queues": [{"name": "A", "backlog": 1e999999}]}',
        '{"queues": [{"name": "A", "persistent": "maybe"}]}',
        '{"queues": [{"name": "A", "message_bytes": {"mean": 1}}]}',
        '{"queues": [{"name": "A\\tB"}]}',
        '{"queues": [{"name": "A"}, {"name": "A"}]}',
        '{"structures": [{"name": "not one", "queues": []}]}',
    ],
)
def test_invalid_plan_gives_no_queues(text: str) -> None:
    found = read_queues(f"\n{text}\n")

    assert (found.kind, found.queues) == ("plan", ())
    assert [list(problem.lines) for problem in found.lost] == [[1, 2]]


def test_pasted_plan_names_the_structure_of_each_queue() -> None:
    text = '{"structures": [{"name": "APP1", "queues": [{"name": "A"}]}, {"name": "APP2", "queues": [{"name": "B"}]}]}'

    assert read_queues(text).structures == ("APP1", "APP2")


def test_detected_kind_of_text_can_be_overridden() -> None:
    assert detect("name,QUEUE(A)") == "display"
    assert read_queues("name,size,backlog\nA,1,1", kind="table").kind == "table"


def test_text_of_many_quotes_without_a_closing_bracket_is_read_quickly() -> None:
    found = read_queues("QUEUE(A) DESCR(" + "'" * 10_001)

    assert [queue["name"] for queue in found.queues] == ["A"]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="QUEUE()'\",\t\n 1a;{}:")))
def test_any_pasted_text_is_read_without_an_exception(text: str) -> None:
    found = read_queues(text)

    assert all(1 <= problem.line <= text.count("\n") + len(text) + 1 for problem in found.problems)
    names = [queue.get("name") for queue in found.queues]
    assert found.kind == "plan" or len(set(names)) == len(names)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(alphabet="AB1,\"x'; ", max_size=12), max_size=6))
def test_every_table_line_is_read_as_a_queue_or_reported(lines: list[str]) -> None:
    found = read_queues("name,size,backlog\n" + "\n".join(lines), kind="table")
    told = {line for problem in found.problems for line in problem.lines} | set(found.lines)

    assert {number for number, line in enumerate(lines, start=2) if line.strip()} <= told


def test_depth_events_are_read_from_a_display() -> None:
    text = (
        "QUEUE(A) QSGDISP(SHARED) MAXDEPTH(5000) QDEPTHHI(80) QDEPTHLO(20) QDPHIEV(DISABLED) QDPLOEV(ENABLED)\n"
        "QDPMAXEV(ENABLED) QSVCIEV(NONE) CURDEPTH(4200) QDEPTHHI2(1)\n"
        "QUEUE(B) QSGDISP(SHARED) MAXDEPTH(12) QDEPTHHI(101) QDPHIEV(OFF) CURDEPTH(-1)\n"
    )
    first, second = read_queues(text).queues
    assert first == {
        "name": "A",
        "backlog": 5000,
        "maxdepth": 5000,
        "qdepthhi": 80,
        "qdepthlo": 20,
        "curdepth": 4200,
        "qdphiev": "DISABLED",
        "qdploev": "ENABLED",
        "qdpmaxev": "ENABLED",
        "qsvciev": "NONE",
    }
    assert second == {"name": "B", "backlog": 12, "maxdepth": 12}


def test_maxdepth_is_the_backlog_only_without_another_value() -> None:
    (one,) = read_queues("name,size,maxdepth\nA,1,200\n").queues
    assert one == {"name": "A", "message_bytes": 1, "backlog": 200}
    (both,) = read_queues("name,size,backlog,maxdepth,curdepth\nA,1,100,200,3\n").queues
    assert both == {"name": "A", "message_bytes": 1, "backlog": 100, "maxdepth": 200, "curdepth": 3}
    (rated,) = read_queues("name,size,rate,outage,maxdepth\nA,1,4,5,200\n").queues
    assert rated == {
        "name": "A",
        "message_bytes": 1,
        "put_rate_per_s": 4,
        "outage_minutes": 5,
        "maxdepth": 200,
    }


def test_rates_by_queue_manager_and_switches_are_read_from_tables() -> None:
    text = "name\tsize\tbacklog\tqdphiev\tqueue_manager_rates\nA\t1\t1\tenabled\tQM01:30/12.5 QM02:0/1\n"
    (queue,) = read_queues(text).queues
    assert queue["qdphiev"] == "ENABLED"
    assert queue["queue_manager_rates"] == {
        "QM01": {"put_rate_per_s": 30, "get_rate_per_s": Decimal("12.5")},
        "QM02": {"put_rate_per_s": 0, "get_rate_per_s": 1},
    }
    assert "is not a number" in read_queues(text.replace("30/12.5", "30")).problems[0].message


@pytest.mark.parametrize(
    "text",
    [
        "\t\t\t\n" * 12_000,
        "\n" * 60_000,
        "QUEUE(" * 20_000,
        "A1(" * 40_000,
        "A1('" * 40_000,
        "A1(x" * 40_000 + "QUEUE(Q1)",
    ],
    ids=lambda text: repr(text[:6]),
)
def test_long_texts_without_queues_are_read_in_bounded_cpu_time(text: str) -> None:
    with at_most_cpu_seconds(5):
        assert read_queues(text).queues == ()


def test_empty_rows_around_a_table_change_nothing() -> None:
    table = "name\tmessage_bytes\tbacklog\nQ1\t500\t10\n"
    read = read_queues("\t\t\n" * 12_000 + table + "\t\t\n" * 12_000)
    assert read.queues == read_queues(table).queues
    assert read.lines == (12_002,)


def test_invalid_maxdepth_is_not_used_as_the_backlog() -> None:
    for depth in ("9" * 5_000, "\u00b2"):
        read = read_queues(f"QUEUE(Q1) QSGDISP(SHARED) MAXDEPTH({depth})")
        assert [queue.get("backlog") for queue in read.queues] == [None]


def test_rows_beyond_the_largest_plan_are_reported_and_not_read() -> None:
    read = read_queues("name,message_bytes,backlog\n" + "".join(f"Q{at},500,10\n" for at in range(40_100)))
    assert len(read.queues) == 40_000
    (problem,) = read.problems
    assert (problem.line, problem.last, problem.kind) == (40_002, 40_101, "lost")
    assert "40000 queues" in problem.message


def test_problem_with_many_unknown_columns_names_only_the_first_ones() -> None:
    read = read_queues("name," + ",".join(f"c{at}" for at in range(3_000)) + "\nQ1\n")
    assert [queue["name"] for queue in read.queues] == ["Q1"]
    assert "c19 and 2980 more" in read.problems[0].message
