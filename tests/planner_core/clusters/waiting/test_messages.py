"""Browses of a transmission queue: dumps in ASCII and EBCDIC, CSV, JSON, and errors."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.clusters import messages as module
from planner_core.clusters.messages import channel_of, instant, moment, read_messages, read_rows
from tests.planner_core.clusters.waiting.support import PINNED, dump

ONE = {
    "channel": "TO.NEWYORK",
    "queue": "INVENTQ",
    "queue_manager": "NEWYORK",
    "put": "2026112112064150",
    "original": "2026112112004117",
}
# As amqsbcg of a real MQ printed it (a message that is on no transmission queue).
REAL = """\
MQGET of message number 1
****Message descriptor****
  StrucId  : 'MD  '  Version : 2
  Report   : 0  MsgType : 8
  Expiry   : -1  Feedback : 0
  Encoding : 546  CodedCharSetId : 819
  Format : 'MQSTR   '
  Priority : 0  Persistence : 0
  MsgId : X'414D5120514D432020202020202020209093F25002350020'
  CorrelId : X'000000000000000000000000000000000000000000000000'
  BackoutCount : 0
  ReplyToQ       : '                                                '
  ReplyToQMgr    : 'QMC                                             '
  ** Identity Context
  UserIdentifier : 'mqm         '
  AccountingToken :
   X'0334393600000000000000000000000000000000000000000000000000000006'
  ApplIdentityData : '                                '
  ** Origin Context
  PutApplType    : '6'
  PutApplName    : 'amqsput                     '
  PutDate  : '20130113'    PutTime  : '11370619'
  ApplOriginData : '    '
"""


@pytest.mark.parametrize("ebcdic", [False, True])
def test_dump_shows_channel_queue_and_both_put_times(ebcdic: bool) -> None:
    browse = read_messages(dump(ONE, {**ONE, "token": PINNED}, ebcdic=ebcdic))
    assert (browse.format, browse.problems) == ("dump", ())
    first, second = browse.messages
    assert (first.number, first.channel, first.queue, first.queue_manager) == (
        1,
        "TO.NEWYORK",
        "INVENTQ",
        "NEWYORK",
    )
    assert first.put_at == datetime(2026, 11, 21, 12, 6, 41, 500_000, tzinfo=UTC)
    assert first.original_put_at == datetime(2026, 11, 21, 12, 0, 41, 170_000, tzinfo=UTC)
    assert first.message_id == "414D5120" + "1".zfill(40)
    assert (first.token_is_zero, second.token_is_zero) == (False, True)
    assert (first.line, second.number) == (11, 2)


def test_real_dump_is_read() -> None:
    (message,) = read_messages(REAL).messages
    assert message.put_at == datetime(2013, 1, 13, 11, 37, 6, 190_000, tzinfo=UTC)
    assert (message.channel, message.queue, message.token_is_zero) == ("", "", False)
    assert message.message_id == "414D5120514D432020202020202020209093F25002350020"


def test_typographic_quotes_are_read() -> None:
    bent = REAL.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}").replace("\n", "\r\n")
    assert read_messages(bent).messages == read_messages(REAL).messages


def test_dump_without_a_token_has_a_problem() -> None:
    text = dump(ONE).replace("AccountingToken", "Something")
    browse = read_messages(text)
    assert browse.messages[0].token_is_zero is None
    assert "has no AccountingToken" in browse.problems[0].message


def test_dump_of_only_the_descriptor_has_no_queue() -> None:
    text = dump(ONE)
    (message,) = read_messages(text[: text.index("****   Message")]).messages
    assert (message.channel, message.queue, message.original_put_at) == ("TO.NEWYORK", "", None)


CSV = """\
Message ID,CorrelId,Queue,put_date,put_time,Accounting token,bind,logical order
01,TO.A,Q1,20261121,12032000,,GROUP,yes
02,{hex},Q1,2026-11-21,12:03:21,0000,MQBND_BIND_NOT_FIXED,no
"""


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_rows_are_read(delimiter: str) -> None:
    text = CSV.format(hex="TO.B".ljust(24).encode().hex()).replace(",", delimiter)
    browse = read_messages(text)
    assert (browse.format, browse.problems) == ("csv", ())
    first, second = browse.messages
    assert (first.channel, first.queue, first.bind, first.logical_order) == ("TO.A", "Q1", "GROUP", True)
    assert first.token_is_zero is None
    assert first.put_at == datetime(2026, 11, 21, 12, 3, 20, tzinfo=UTC)
    assert (second.channel, second.bind, second.logical_order, second.token_is_zero) == (
        "TO.B",
        "NOTFIXED",
        False,
        True,
    )
    assert second.put_at == datetime(2026, 11, 21, 12, 3, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    "shape",
    [
        json.dumps,
        lambda rows: json.dumps({"messages": rows}),
        lambda rows: "\n".join(json.dumps(row) for row in rows),
        lambda rows: json.dumps(rows, indent=2),
    ],
)
def test_json_messages_are_read_in_every_supported_form(shape: object) -> None:
    assert callable(shape)
    rows = [
        {"channel": "TO.A", "queue": "Q1", "put_at": "2026-11-21T13:03:20+01:00", "accountingToken": "X'00'"},
        {"channel": "TO.B", "queue": "Q1", "names_queue_manager": True, "put_at": None},
    ]
    browse = read_messages(shape(rows))
    assert (browse.format, browse.problems) == ("json", ())
    first, second = browse.messages
    assert first.put_at == datetime(2026, 11, 21, 12, 3, 20, tzinfo=UTC)
    assert (first.token_is_zero, second.names_queue_manager, second.put_at) == (True, True, None)
    assert [each.channel for each in read_rows(rows).messages] == ["TO.A", "TO.B"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("some words\nmore", 1, "neither a dump"),
        ("[1, 2", 1, "not a JSON object"),
        ('{"channel": "A"}\nnot', 2, "not a JSON object"),
        ("[7]", 1, "Message 1 is not an object"),
        ("7", 1, "neither a dump"),
        ("[" * 100_000, 1, ""),
        ('{"messages": 7}', 1, "a list of objects"),
        ("channel,colour\nTO.A,red", 1, "Unknown columns are ignored: colour"),
        ("channel,bind\nTO.A,LOOSE", 2, "is not OPEN, NOTFIXED, GROUP or AS_Q_DEF"),
        ("channel,logical_order\nTO.A,perhaps", 2, "neither yes nor no"),
        ("channel,accounting_token\nTO.A,zero", 2, "not hexadecimal"),
        ("channel,put_at\nTO.A,noon", 2, "is not a time such as"),
        ("channel,put_date,put_time\nTO.A,20261341,12032000", 2, "is not a put time"),
        ('[{"channel": "A", "colour": "red"}]', 1, "the unknown key 'colour' is ignored"),
    ],
)
def test_unreadable_parts_are_reported_with_their_line(text: str, line: int, message: str) -> None:
    problem = read_messages(text, name="browse.csv").problems[0]
    assert (problem.text, problem.line) == ("browse.csv", line)
    assert message in problem.message


def test_empty_text_has_no_messages() -> None:
    assert read_messages(" \n").format == "nothing"


def test_messages_beyond_the_limit_are_ignored_with_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MESSAGES", 2)
    for text in (
        dump(ONE, ONE, ONE),
        "channel\nA\nB\nC\nD",
        '[{"channel":"A"},{"channel":"A"},{"channel":"A"}]',
    ):
        browse = read_messages(text)
        assert len(browse.messages) == 2
        assert [each.message for each in browse.problems] == ["Only the first 2 messages are read."]


def test_channel_is_read_from_a_correlation_identifier() -> None:
    assert channel_of("TO.A".ljust(24).encode().hex()) == "TO.A"
    assert channel_of("TO.A".ljust(24).encode("cp500").hex().upper()) == "TO.A"
    assert channel_of("X'" + "TO.A".ljust(20).encode().hex() + "00000000'") == "TO.A"
    assert channel_of("TO.A") == "TO.A"
    assert channel_of("0" * 48) == ""
    assert channel_of("not a name") == ""


def test_invalid_times_are_read_as_none() -> None:
    assert moment("20260230", "12000000") is None
    assert moment("20260228", "24000000") is None
    assert instant("0001-01-01T00:00:00+14:00") is None
    assert instant("2026-11-21T12:00:00") == datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(st.text(max_size=200), st.integers(0, 3_000))
def test_any_text_is_read_without_errors(noise: str, at: int) -> None:
    whole = dump(ONE)
    read_messages(noise)
    read_messages(whole[:at] + noise + whole[at:])
    read_messages("channel,queue,put_at\n" + noise)
    read_messages('[{"channel": "' + noise)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda of: (
            st.lists(of) | st.dictionaries(st.sampled_from(["messages", "channel", "put_at", "bind"]), of)
        ),
        max_leaves=8,
    )
)
def test_any_json_is_read_without_errors(value: object) -> None:
    read_rows(value)
