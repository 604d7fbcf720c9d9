"""Responses to DISPLAY are read as records, with the framing of runmqsc, the console or CSQUTIL, or without any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.texts.mqsc.records import KINDS, Record, read_records

RUNMQSC = """\
5724-H72 (C) Copyright IBM Corp. 1994, 2016.
Starting MQSC for queue manager A.


     1 : DISPLAY CLUSQMGR(*) ALL
AMQ8441: Display Cluster Queue Manager details.
   CLUSQMGR(A)                             ALTDATE(2019-01-25)
   CHANNEL(TO.A)                           CLUSTER(ALPHA)
   CONNAME(LOCALHOST(3131))                DESCR( )
   STATUS(RUNNING)                         XMITQ( )
AMQ8441: Display Cluster Queue Manager details.
   CLUSQMGR(B)                             CHANNEL(TO.B)
   CONNAME(LOCALHOST(3132))                STATUS(RETRYING)
     2 : DISPLAY CHSTATUS(*) ALL
AMQ8417I: Display Channel Status details.
   CHANNEL(TO.B)                           CHLTYPE(CLUSSDR)
   CONNAME(9.146.163.190(1416))            CURRENT
   RQMNAME(B)                              STATUS(RETRYING)
     3 : DISPLAY QCLUSTER(*)
AMQ8409I: Display Queue details.
   QUEUE(Q1)                               TYPE(QCLUSTER)
   CLUSQMGR(A)                             CLUSTER(ALPHA)
AMQ8409I: Display Queue details.
   QUEUE(Q1)                               TYPE(QCLUSTER)
   CLUSQMGR(B)                             CLUSTER(ALPHA)
     4 : DISPLAY QMGR CLWLUSEQ
AMQ8408I: Display Queue Manager details.
   QMNAME(A)                               CLWLUSEQ(LOCAL)
4 MQSC commands read.
No commands have a syntax error.
"""
CONSOLE = """\
 CSQM201I ZQS1 CSQMDRTC  DISPLAY CHSTATUS DETAILS 610
 CHSTATUS(TO.B)
 CHLDISP(PRIVATE)
 CONNAME(9.31.118.212)
 CURRENT
 CHLTYPE(CLUSSDR)
 QMNAME(ZQS1)
 STATUS(RETRYING)
 SUBSTATE()
 RAPPLTAG(MQ Explorer 9.4.1)
  END CHSTATUS DETAILS
CSQ9022I ZQS1 CSQMDRTC ' DISPLAY CHSTATUS' NORMAL COMPLETION
"""
CSQUTIL = """\
CSQN205I   COUNT=       4, RETURN=00000000, REASON=00000000
CSQM406I !MQ1 QUEUE(Q1) TYPE(QCLUSTER) CLUSQMGR(A) CLUSTER(ALPHA)
CSQM406I !MQ1 QUEUE(Q1) TYPE(QCLUSTER)
 CLUSQMGR(B) CLUSTER(ALPHA)
CSQM409I !MQ1 QMNAME(MQ1) CLWLUSEQ(LOCAL)
CSQ9022I !MQ1 CSQMDMSG ' DISPLAY QUEUE' NORMAL COMPLETION
"""


def names(text: str) -> list[tuple[str, str, int, str | None]]:
    return [(each.kind, each.name, each.line, each.queue_manager) for each in read_records(text).records]


def plain(record: Record) -> dict[str, str]:
    return {key: value.text for key, value in record.values.items()}


def test_runmqsc_responses_are_read() -> None:
    assert names(RUNMQSC) == [
        ("CLUSQMGR", "A", 7, "A"),
        ("CLUSQMGR", "B", 12, "A"),
        ("CHSTATUS", "TO.B", 16, "A"),
        ("QUEUE", "Q1", 21, "A"),
        ("QUEUE", "Q1", 24, "A"),
        ("QMGR", "A", 28, "A"),
    ]
    found = read_records(RUNMQSC)
    assert found.problems == ()
    assert plain(found.records[0]) == {
        "ALTDATE": "2019-01-25",
        "CHANNEL": "TO.A",
        "CLUSTER": "ALPHA",
        "CONNAME": "LOCALHOST(3131)",
        "DESCR": "",
        "STATUS": "RUNNING",
        "XMITQ": "",
    }
    assert found.records[2].flags == {"CURRENT"}
    assert found.records[0].text("DESCR") is None
    assert (found.records[0].line_of("STATUS"), found.records[0].line_of("NETPRTY")) == (10, 7)


def test_console_response_is_read() -> None:
    found = read_records(CONSOLE)
    (status,) = found.records
    assert (status.kind, status.name, status.queue_manager) == ("CHSTATUS", "TO.B", "ZQS1")
    assert status.flags == {"CURRENT"}
    assert status.text("RAPPLTAG") == "MQ Explorer 9.4.1"
    assert found.problems == ()
    assert not status.is_cut


def test_messages_with_one_record_each_are_read() -> None:
    assert names(CSQUTIL) == [
        ("QUEUE", "Q1", 2, "MQ1"),
        ("QUEUE", "Q1", 3, "MQ1"),
        ("QMGR", "MQ1", 5, "MQ1"),
    ]
    assert [each.text("CLUSQMGR") for each in read_records(CSQUTIL, kinds=("QUEUE",)).records] == ["A", "B"]


@pytest.mark.parametrize("text", [RUNMQSC, CONSOLE + CSQUTIL], ids=["runmqsc", "z/OS"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "   \n"),
        lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"),
        lambda text: "\n".join(f"10.21.33 STC01234  {line}" for line in text.split("\n")),
        lambda text: "\n".join(line for line in text.split("\n") if "AMQ" not in line and "CSQ9" not in line),
    ],
)
def test_any_line_ends_console_prefixes_and_missing_headings_are_accepted(text: str, change: object) -> None:
    assert callable(change)
    before, after = read_records(text).records, read_records(change(text)).records
    assert [(each.kind, each.name, plain(each)) for each in after] == [
        (each.kind, each.name, plain(each)) for each in before
    ]


def test_records_without_line_breaks_are_read() -> None:
    text = (
        "AMQ8417I: Display Channel Status details. CHANNEL(A) STATUS(RUNNING) "
        "AMQ8417I: Display Channel Status details. CHANNEL(B) STATUS(RETRYING)"
    )
    assert [(each.kind, each.name, plain(each)) for each in read_records(text).records] == [
        ("CHSTATUS", "A", {"STATUS": "RUNNING"}),
        ("CHSTATUS", "B", {"STATUS": "RETRYING"}),
    ]


def test_channel_definition_is_not_a_status() -> None:
    definition = "CHANNEL(TO.A) CHLTYPE(CLUSRCVR) CLWLRANK(3)\n"
    assert names("AMQ8414I: Display Channel details.\n   " + definition) == [("CHANNEL", "TO.A", 2, None)]
    assert names(definition) == [("CHANNEL", "TO.A", 1, None)]
    assert names("CSQM201I !MQ1 CSQMDRTC DISPLAY CHANNEL DETAILS\n" + definition)[0][0] == "CHANNEL"


def test_displays_of_other_objects_are_ignored() -> None:
    text = (
        "AMQ8276I: Display Connection details.\n   CONN(X) CHANNEL(TO.A) STATUS(RUNNING) QMNAME(Z)\n"
        "CSQM201I !MQ1 CSQMDRTC DISPLAY CONN DETAILS\n CONN(X)\n CHANNEL(TO.A)\n END CONN DETAILS\n"
    )
    assert names(text) == []


def test_command_is_not_read_as_a_response() -> None:
    assert (
        names("DIS CLUSQMGR(*) ALL\n     1 : ALTER QMGR CLWLUSEQ(ANY) QMNAME(X)\n       : QUEUE(Q1)\n") == []
    )


def test_only_requested_kinds_are_returned_and_reported() -> None:
    text = "QUEUE(Q1) CFSTRUCT(APP1) MAXDEPTH(1) MAXDEPTH(2)\nCFSTRUCT(APP2) CFLEVEL(5)\n"
    assert names(text) == [("QUEUE", "Q1", 1, None), ("CFSTRUCT", "APP2", 2, None)]
    found = read_records(text, kinds=["CFSTRUCT"])
    assert [each.name for each in found.records] == ["APP2"]
    assert found.problems == ()
    (problem,) = read_records(text).problems
    assert problem.message == "MAXDEPTH appears twice for QUEUE(Q1): the first is kept."


def test_unterminated_value_is_reported_where_it_is_read() -> None:
    text = "CLUSQMGR(A) CHANNEL(TO.A) STATUS(RUNN"
    assert read_records(text).problems == ()
    found = read_records(text, reads=frozenset({"STATUS"}))
    assert found.records[0].unclosed == {"STATUS"}
    assert "STATUS(RUNN is truncated" in found.problems[0].message


def test_unterminated_response_is_marked() -> None:
    (status,) = read_records(CONSOLE[: CONSOLE.index("SUBSTATE")]).records
    assert status.is_cut


def test_every_kind_begins_with_its_keyword() -> None:
    for kind in KINDS:
        (record,) = read_records(f"{kind.keyword}(X1) DESCR(it's (so))").records
        assert (record.kind, record.name, record.text("DESCR")) == (kind.name, "X1", "it's (so)")


@given(st.text(st.sampled_from("AB1(') \n\tCSQM201IDLAYETHNUQWR:"), max_size=400))
def test_reading_accepts_any_text(text: str) -> None:
    read_records(text)
    read_records(
        RUNMQSC[: len(text)] + text + RUNMQSC[len(text) :], kinds=["QUEUE"], reads=frozenset({"QUEUE"})
    )


def test_unterminated_text_is_read_quickly() -> None:
    assert read_records("QUEUE(" * 100_000 + "\n 'x" * 100_000).records == ()
