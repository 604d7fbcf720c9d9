"""Every format gives the same message, and damage is reported with its position."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.depth_events.readers import EventFile, EventMessage, read_events
from planner_core.depth_events.readers.code_pages import CODECS, EBCDIC_WITHOUT_TABLE, decode_name
from tests.planner_core.depth_events.reading.support import (
    AT,
    CORREL,
    FULL,
    LOW,
    EventValues,
    Order,
    amqsbcg,
    as_display,
    as_lines,
    as_object,
    as_text,
    dmpmqmsg,
    mqmd,
    pcf,
)

TOLD = EventValues(correl_id=CORREL)


def read(data: bytes | str) -> EventFile:
    return read_events(data.encode() if isinstance(data, str) else data, name="events")


def only(data: bytes | str) -> EventMessage:
    found = read(data)
    assert found.problems == []
    (message,) = found.messages
    return message


def values_of(message: EventMessage) -> EventValues:
    return EventValues(
        message.queue_manager,
        message.queue,
        message.reason,
        message.time_since_reset_s if message.time_since_reset_s is not None else -1,
        message.high_q_depth if message.high_q_depth is not None else -1,
        message.msg_enq_count if message.msg_enq_count is not None else -1,
        message.msg_deq_count if message.msg_deq_count is not None else -1,
        message.correl_id,
        message.created,
    )


# ---- what queue managers really wrote ----------------------------------------------------------------------------------


def test_captured_high_event_of_mq_9_4_5_is_read() -> None:
    """Pretty-printed JSON with blanks before the colons, from a queue manager NHARAPP on 26 July 2026."""
    text = """{
      "eventSource" : { "objectName" : "SYSTEM.ADMIN.PERFM.EVENT", "objectType" : "Queue", "queueMgr" : "NHARAPP" },
      "eventType" : { "name" : "Perfm Event", "value" : 45 },
      "eventReason" : { "name" : "Queue Depth High", "value" : 2224 },
      "eventCreation" : { "timeStamp" : "2026-07-26T11:18:19Z", "epoch" : 1785064699 },
      "eventData" : { "queueMgrName" : "NHARAPP", "baseObjectName" : "EVT.HI", "timeSinceReset" : 0,
                      "highQueueDepth" : 4, "msgEnqCount" : 4, "msgDeqCount" : 0 }
    }"""
    assert values_of(only(text)) == EventValues("NHARAPP", "EVT.HI", 2224, 0, 4, 4, 0, None, AT)


def test_captured_events_without_separators_are_read() -> None:
    high = as_object(EventValues("NHARAPP", "EVT.HI", 2224, 0, 4, 4, 0))
    full = as_object(EventValues("NHARAPP", "EVT.HI", 2053, 0, 5, 1, 0))
    text = json.dumps(high, indent=1) + json.dumps(full, indent=1)
    found = read(text)
    assert [
        (each.reason, each.high_q_depth, each.msg_enq_count, each.msg_deq_count) for each in found.messages
    ] == [
        (2224, 4, 4, 0),
        (2053, 5, 1, 0),
    ]
    assert found.messages[1].place == f"line {json.dumps(high, indent=1).count(chr(10)) + 1}"


def test_captured_full_event_of_evtcap_is_read() -> None:
    told = EventValues(
        "EVTCAP", "EVT.FULL", 2053, 2, 1, 1, 0, None, datetime(2026, 7, 20, 15, 16, 44, tzinfo=UTC)
    )
    assert values_of(only(as_lines(told))) == told


def test_published_full_event_of_amqsevt_is_read() -> None:
    """From the page "Formatting MQ Events as JSON"."""
    text = """
**** Message #7 (236 Bytes) on Queue SYSTEM.ADMIN.PERFM.EVENT ****
Event Type                     : Perfm Event [45]
Reason                         : Queue Full [2053]
Event created                  : 2016/10/21 07:11:28.58 GMT
  Queue Mgr Name               : V9000_A
  Base Object Name             : FULLEVT
  Time Since Reset             : 0
  High Queue Depth             : 4
  Msg Enq Count                : 0
  Msg Deq Count                : 0
"""
    found = only(text)
    assert values_of(found) == EventValues(
        "V9000_A", "FULLEVT", 2053, 0, 4, 0, 0, None, datetime(2016, 10, 21, 7, 11, 28, 580_000, tzinfo=UTC)
    )
    assert (found.format, found.is_null) == ("amqsevt_text", True)


# ---- the same message in every format ----------------------------------------------------------------------------------

FORMATS = {
    "json": (json.dumps(as_object(TOLD)).encode(), "amqsevt_json"),
    "json pretty": (json.dumps(as_object(TOLD), indent=2).encode(), "amqsevt_json"),
    "json array": (json.dumps([as_object(TOLD)]).encode(), "amqsevt_json"),
    "json in a system log": (
        b"Jul 26 11:18:20 host amqsevt[12]: " + json.dumps(as_object(TOLD)).encode(),
        "amqsevt_json",
    ),
    "json wrapped by a collector": (
        json.dumps({"host": "lpar1", "event": as_object(TOLD)}).encode(),
        "amqsevt_json",
    ),
    "json with a byte order mark": (b"\xef\xbb\xbf" + as_lines(TOLD), "amqsevt_json"),
    "json as PowerShell redirects it": (as_lines(TOLD).decode().encode("utf-16"), "amqsevt_json"),
    "text": (as_text(TOLD).encode(), "amqsevt_text"),
    "text with carriage returns": (as_text(TOLD).replace("\n", "\r\n").encode(), "amqsevt_text"),
    "pcf with mqmd": (mqmd(TOLD) + pcf(TOLD), "pcf_with_mqmd"),
    "pcf with mqmd, version 1": (mqmd(TOLD, version=1) + pcf(TOLD), "pcf_with_mqmd"),
    "pcf with mqmd, converted": (
        mqmd(TOLD, order="little", codec="ascii", ccsid=819) + pcf(TOLD, order="little", codec="ascii", ccsid=819),
        "pcf_with_mqmd",
    ),
    "pcf with mqmd, data not converted": (
        mqmd(TOLD, order="little", codec="ascii", ccsid=500) + pcf(TOLD),
        "pcf_with_mqmd",
    ),
    "hexadecimal": ((mqmd(TOLD) + pcf(TOLD)).hex().encode(), "pcf_with_mqmd"),
    "amqsbcg": (amqsbcg(TOLD, pcf(TOLD)).encode(), "amqsbcg"),
    "dmpmqmsg": (dmpmqmsg(TOLD, pcf(TOLD)).encode(), "dmpmqmsg"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_message_is_the_same_in_every_format(name: str) -> None:
    data, format_name = FORMATS[name]
    found = only(data)
    assert values_of(found) == TOLD
    assert found.format == format_name


@pytest.mark.parametrize(
    "text", [as_display(TOLD), as_display(TOLD).replace("\n", "\r\n")], ids=["unix", "windows"]
)
def test_mq_event_display_has_no_correl_id_and_a_local_time(text: str) -> None:
    found = only(text)
    assert values_of(found) == replace(TOLD, correl_id=None, created=None)
    assert found.format == "mq_event_display"
    assert found.created_local == AT.replace(tzinfo=None)
    assert found.at == AT


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize(
    ("codec", "ccsid"), [("cp500", 0), ("cp500", 500), ("cp037", 37), ("ascii", 819), ("ascii", 0)]
)
@pytest.mark.parametrize("reverse", [False, True], ids=["in order", "in another order"])
def test_pcf_without_mqmd_is_read_in_any_byte_order_and_code_page(
    order: Order, codec: str, ccsid: int, reverse: bool
) -> None:
    data = pcf(TOLD, order=order, codec=codec, ccsid=ccsid, reverse=reverse)
    assert len(data) == 236
    found = read(data)
    assert values_of(found.messages[0]) == replace(TOLD, correl_id=None, created=None)
    assert found.format == "pcf"
    assert bool(found.notes) is (ccsid == 0)


def _groups(data: bytes, size: int) -> str:
    digits = data.hex()
    return " ".join(digits[at : at + size] for at in range(0, len(digits), size))


HEX_TEXTS = {
    "one line": pcf(TOLD).hex(),
    "words": _groups(pcf(TOLD), 8),
    "bytes on lines": "\n".join(_groups(pcf(TOLD)[at : at + 16], 2) for at in range(0, 236, 16)),
    "xxd": "\n".join(
        f"{at:08x}: {_groups(pcf(TOLD)[at : at + 16], 4):<39}  abcdef0123456789" for at in range(0, 236, 16)
    ),
    "hexdump -C": "\n".join(
        f"{at:08x}  {_groups(pcf(TOLD)[at : at + 8], 2)}  {_groups(pcf(TOLD)[at + 8 : at + 16], 2)}  |abcdef..|"
        for at in range(0, 236, 16)
    ),
    "prefixed": "0x" + pcf(TOLD).hex(),
    "as a hexadecimal literal": f"X'{pcf(TOLD).hex().upper()}'",
    "with a remark": "# taken from QM1\n" + pcf(TOLD).hex(),
}


@pytest.mark.parametrize("name", HEX_TEXTS)
def test_hexadecimal_is_read_in_any_layout(name: str) -> None:
    assert values_of(only(HEX_TEXTS[name])) == replace(TOLD, correl_id=None, created=None)


@pytest.mark.parametrize(
    "change",
    [
        {"queueMgrName": "qMgrName", "baseObjectName": "queueName", "highQueueDepth": "highQDepth"},
        {"baseObjectName": "baseQueueName"},
        {
            "queueMgrName": "MQCA_Q_MGR_NAME",
            "baseObjectName": "MQCA_BASE_OBJECT_NAME",
            "timeSinceReset": "MQIA_TIME_SINCE_RESET",
            "highQueueDepth": "MQIA_HIGH_Q_DEPTH",
            "msgEnqCount": "MQIA_MSG_ENQ_COUNT",
            "msgDeqCount": "MQIA_MSG_DEQ_COUNT",
        },
    ],
    ids=["amqsevtg", "base queue", "amqsevt -d"],
)
def test_json_keys_are_read_in_other_spellings(change: dict[str, str]) -> None:
    event = as_object(TOLD)
    event["eventData"] = {change.get(key, key): value for key, value in event["eventData"].items()}
    assert values_of(only(json.dumps(event))) == TOLD


def test_reason_is_read_from_its_name() -> None:
    event = as_object(TOLD)
    event["eventReason"] = {"name": "MQRC_Q_DEPTH_HIGH"}
    assert only(json.dumps(event)).reason == 2224
    assert only(as_text(TOLD).replace("Queue Depth High [2224]", "Queue Depth High")).reason == 2224


def test_missing_counts_are_unknown_and_not_zero() -> None:
    event = as_object(TOLD)
    del event["eventData"]["msgDeqCount"]
    assert only(json.dumps(event)).msg_deq_count is None


def test_correl_id_of_zeros_is_read_as_none() -> None:
    assert only(as_lines(replace(TOLD, correl_id="0" * 48))).correl_id is None


def test_other_events_are_counted_and_skipped() -> None:
    config = as_object(TOLD) | {
        "eventType": {"name": "Config Event", "value": 43},
        "eventReason": {"name": "Config Change Object", "value": 2368},
    }
    found = read(json.dumps(config).encode() + as_lines(TOLD))
    assert (len(found.messages), found.other_events, found.problems) == (1, 1, [])
    found = read(pcf(TOLD, command=43) + pcf(TOLD))
    assert (len(found.messages), found.other_events, found.problems) == (1, 1, [])
    text = as_text(TOLD).replace("Perfm Event [45]", "Config Event [43]").replace("[2224]", "[2368]")
    found = read(text + as_text(TOLD))
    assert (len(found.messages), found.other_events, found.problems) == (1, 1, [])


def test_service_interval_events_are_read() -> None:
    assert only(as_lines(replace(TOLD, reason=2226))).event == "Queue Service Interval High"


# ---- many in a file ----------------------------------------------------------------------------------------------------

ORDERS: tuple[Order, ...] = ("big", "little", "big")
MANY = (
    TOLD,
    EventValues("MQP2", reason=LOW, correl_id=CORREL),
    EventValues("MQP3", reason=FULL, correl_id=CORREL),
)


@pytest.mark.parametrize(
    "data",
    [
        as_lines(*MANY),
        json.dumps([as_object(each) for each in MANY]).encode(),
        "".join(json.dumps(as_object(each), indent=2) for each in MANY).encode(),
        "".join(as_text(each) for each in MANY).encode(),
        b"".join(mqmd(each) + pcf(each) for each in MANY),
        b"".join(
            mqmd(each) + pcf(each, order=order) for each, order in zip(MANY, ORDERS, strict=True)
        ),
        "".join(amqsbcg(each, pcf(each)) for each in MANY).encode(),
        "".join(dmpmqmsg(each, pcf(each)) for each in MANY).encode(),
        "\n".join((mqmd(each) + pcf(each)).hex() for each in MANY).encode(),
    ],
    ids=["lines", "array", "stream", "text", "pcf", "pcf of two orders", "amqsbcg", "dmpmqmsg", "hexadecimal"],
)  # fmt: skip
def test_all_messages_of_a_file_are_read(data: bytes) -> None:
    found = read(data)
    assert [values_of(each) for each in found.messages] == list(MANY)
    assert found.problems == []


def test_repeated_labels_separate_messages_without_headings() -> None:
    text = "".join(as_text(each) for each in MANY)
    plain = "\n".join(line for line in text.split("\n") if not line.startswith("****"))
    assert [values_of(each) for each in read(plain).messages] == list(MANY)


# ---- what is broken ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [4, 35, 36, 40, 44, 100, 235])
def test_truncated_pcf_is_reported_and_earlier_messages_are_read(length: int) -> None:
    found = read(pcf(TOLD) + pcf(TOLD)[:length])
    assert len(found.messages) == 1
    assert len(found.problems) == 1
    assert found.problems[0].place == "offset 236 (X'EC')"


def test_truncated_mqmd_is_reported() -> None:
    found = read(pcf(TOLD) + mqmd(TOLD)[:100])
    assert (len(found.messages), str(found.problems[0])) == (
        1,
        "offset 236 (X'EC'): The MQMD is truncated: only 100 of 364 bytes are present.",
    )


def test_bytes_between_messages_are_reported_and_skipped() -> None:
    found = read(pcf(TOLD) + b"\xffgarbage" + pcf(TOLD))
    assert len(found.messages) == 2
    assert [str(each) for each in found.problems] == [
        "offset 236 (X'EC'): 8 bytes are not part of an event message."
    ]


def test_mqmd_without_an_event_is_reported_with_its_format() -> None:
    found = read(mqmd(TOLD) + b"\x00\x01hello" + pcf(TOLD))
    assert len(found.messages) == 1
    assert "whose Format is 'MQEVENT'" in str(found.problems[0])


def test_invalid_object_is_reported_and_the_others_are_read() -> None:
    good = as_lines(TOLD).decode()
    found = read(good + good[:-20] + "\n" + good)
    assert [each.place for each in found.messages] == ["line 1", "line 3"]
    (problem,) = found.problems
    assert problem.place == "line 2"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("msgEnqCount", -1, "-1' is not a number"),
        ("msgEnqCount", True, "'True' is not a number"),
        ("msgEnqCount", 2**31, "is not a number"),
        ("msgEnqCount", 1.5, "is not a number"),
        ("queueMgrName", "", "does not name its queue manager"),
        ("baseObjectName", "", "does not name its queue"),
        ("baseObjectName", "NO GOOD", "'NO GOOD' is not the name of a queue"),
        ("baseObjectName", "A" * 49, "is not the name of a queue"),
    ],
)
def test_event_with_an_impossible_value_is_omitted_and_reported(key: str, value: object, words: str) -> None:
    event = as_object(TOLD)
    event["eventData"][key] = value
    event["eventSource"] = {}
    found = read(json.dumps(event))
    assert found.messages == []
    (problem,) = found.problems
    assert words in problem.message
    assert problem.place == "line 1"


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"\x00\x01\x02\x03", b"{}", b'{"a": 1}', b"QUEUE(A) MAXDEPTH(5)", b"abc", b"\xff" * 500],
)
def test_unsupported_file_is_reported(data: bytes) -> None:
    found = read(data)
    assert (found.format, found.messages) == ("unknown", [])
    assert "format is not supported" in found.problems[0].message


def test_deeply_nested_text_is_reported() -> None:
    text = '"eventData":' + '{"a":' * 10_000 + "\n"
    assert read(text).messages == []
    assert read('"eventData":' + "{" * 10_000 + ("\n{" * 10_000)).problems


def test_only_100_problems_are_listed() -> None:
    text = "".join(as_text(replace(TOLD, queue="BAD NAME")) for _ in range(130))
    found = read(text)
    assert (len(found.problems), found.problems_omitted) == (100, 30)


# ---- character sets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ccsid", CODECS)
def test_every_supported_ccsid_has_a_codec(ccsid: int) -> None:
    name = "Ab9./_%"
    assert decode_name(name.ljust(48).encode(CODECS[ccsid]), ccsid=ccsid) == (name, "")


@pytest.mark.parametrize("ccsid", [1047, 277, 1141, 1148])
def test_ebcdic_names_without_a_codec_are_read_with_a_note(ccsid: int) -> None:
    assert ccsid in EBCDIC_WITHOUT_TABLE
    found = decode_name("APP.SHARED.Q1".ljust(48).encode("cp500"), ccsid=ccsid)
    assert found.text == "APP.SHARED.Q1"
    assert f"CCSID {ccsid}" in found.note


def test_name_that_does_not_fit_its_ccsid_is_read_by_its_bytes() -> None:
    found = decode_name("APP.Q1".ljust(48).encode("cp500"), ccsid=819)
    assert (found.text, bool(found.note)) == ("APP.Q1", True)


# ---- anything ----------------------------------------------------------------------------------------------------------

TOLDS = st.builds(
    EventValues,
    queue_manager=st.from_regex(r"[A-Z][A-Z0-9]{0,3}", fullmatch=True),
    queue=st.from_regex(r"[A-Za-z0-9./_%]{1,48}", fullmatch=True),
    reason=st.sampled_from([2224, 2225, 2053]),
    time_since_reset=st.integers(0, 2**31 - 1),
    high=st.integers(0, 999_999_999),
    enqueued=st.integers(0, 999_999_999),
    dequeued=st.integers(0, 999_999_999),
    correl_id=st.none() | st.from_regex(r"[0-9A-F]{47}[1-9A-F]", fullmatch=True),
    created=st.datetimes(
        min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)  # noqa: DTZ001
    ).map(lambda when: when.replace(microsecond=0)),
)  # fmt: skip


@given(st.lists(TOLDS, min_size=1, max_size=4), st.sampled_from(["big", "little"]))
def test_events_written_in_any_format_are_read_back(many: list[EventValues], order: Order) -> None:
    codec = "cp500" if order == "big" else "ascii"
    ccsid = 500 if order == "big" else 819
    for data in (
        as_lines(*many),
        "".join(as_text(each) for each in many).encode(),
        b"".join(mqmd(each, order=order, codec=codec, ccsid=ccsid) + pcf(each, order=order, codec=codec) for each in many),
        "".join(amqsbcg(each, pcf(each, order=order, codec=codec), ccsid=ccsid) for each in many).encode(),
        "".join(dmpmqmsg(each, pcf(each, order=order, codec=codec), ccsid=ccsid) for each in many).encode(),
    ):  # fmt: skip
        assert [values_of(each) for each in read(data).messages] == many


@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_reported(data: bytes) -> None:
    found = read(data)
    assert found.messages or found.problems or found.other_events or found.format != "unknown"


@given(st.data())
def test_damaged_text_is_read_or_its_damage_reported(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from([each for each, _ in FORMATS.values()])))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    found = read(bytes(whole))
    for each in found.messages:
        assert each.queue
        assert each.queue_manager


@given(
    st.text(max_size=500),
    st.sampled_from(["Reason : 2224\n", '{"eventData":', "0000000700000024", "A VER 2\n"]),
)
def test_any_text_with_markers_of_a_format_is_read_without_errors(text: str, mark: str) -> None:
    read((mark + text + mark).encode("utf-8", errors="replace"))
