"""Event messages in all their formats, made from the same values."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from planner_core.depth_events.readers import EventMessage

HIGH, LOW, FULL = 2224, 2225, 2053
NAMES = {
    2224: "Queue Depth High", 2225: "Queue Depth Low", 2053: "Queue Full", 2226: "Queue Service Interval High",
}  # fmt: skip
CORREL = "C3E2D840D4D8D7F10000000000000000000000000000ABCD"
AT = datetime(2026, 7, 26, 11, 18, 19, tzinfo=UTC)
Order = Literal["big", "little"]


@dataclass(frozen=True)
class EventValues:
    """The values of an event message."""

    queue_manager: str = "MQP1"
    queue: str = "APP.SHARED.Q1"
    reason: int = HIGH
    time_since_reset: int = 120
    high: int = 800
    enqueued: int = 1000
    dequeued: int = 200
    correl_id: str | None = None
    created: datetime | None = AT


def message(
    told: EventValues | None = None,
    *,
    place: str = "line 1",
    file: str = "events",
    **values: Any,  # noqa: ANN401
) -> EventMessage:
    """Return the message as every reader should return it."""
    told = replace(told or EventValues(), **values)
    return EventMessage(
        file=file,
        place=place,
        format="amqsevt_json",
        reason=told.reason,
        queue_manager=told.queue_manager,
        queue=told.queue,
        time_since_reset_s=told.time_since_reset,
        high_q_depth=told.high,
        msg_enq_count=told.enqueued,
        msg_deq_count=told.dequeued,
        correl_id=told.correl_id,
        created=told.created,
    )


def as_object(told: EventValues) -> dict[str, Any]:
    """Return the object that amqsevt writes for the message."""
    made: dict[str, Any] = {
        "eventSource": {
            "objectName": "SYSTEM.ADMIN.PERFM.EVENT",
            "objectType": "Queue",
            "queueMgr": told.queue_manager,
        },
        "eventType": {"name": "Perfm Event", "value": 45},
        "eventReason": {"name": NAMES[told.reason], "value": told.reason},
        "eventData": {
            "queueMgrName": told.queue_manager,
            "baseObjectName": told.queue,
            "timeSinceReset": told.time_since_reset,
            "highQueueDepth": told.high,
            "msgEnqCount": told.enqueued,
            "msgDeqCount": told.dequeued,
        },
    }
    if told.created:
        stamp = told.created.strftime("%Y-%m-%dT%H:%M:%SZ")
        made["eventCreation"] = {"timeStamp": stamp, "epoch": int(told.created.timestamp())}
    if told.correl_id:
        made["correlationID"] = told.correl_id
    return made


def as_lines(*many: EventValues) -> bytes:
    """Return one object per line."""
    return "".join(f"{json.dumps(as_object(told))}\n" for told in many).encode()


def as_text(told: EventValues, *, number: int = 1) -> str:
    """Return the message in the text format of amqsevt."""
    lines = [
        f"**** Message #{number} (236 Bytes) on Queue SYSTEM.ADMIN.PERFM.EVENT ****",
        "Event Type                       : Perfm Event [45]",
        f"Reason                           : {NAMES[told.reason]} [{told.reason}]",
    ]
    if told.created:
        lines.append(f"Event created                    : {told.created:%Y/%m/%d %H:%M:%S}.00 GMT")
    if told.correl_id:
        lines.append(f"Correlation ID                   : {told.correl_id}")
    lines += [
        f"  Queue Mgr Name                 : {told.queue_manager}",
        f"  Base Object Name               : {told.queue}",
        f"  Time Since Reset               : {told.time_since_reset}",
        f"  High Queue Depth               : {told.high}",
        f"  Msg Enq Count                  : {told.enqueued}",
        f"  Msg Deq Count                  : {told.dequeued}",
    ]
    return "\n".join(lines) + "\n\n"


def as_display(told: EventValues) -> str:
    """Return the output of mq-event-display, with the time in an unnamed zone."""
    stamp = f"{told.created:%m/%d/%Y-%H:%M:%S}" if told.created else "00/00/0000-00:00:00"
    return (
        f"-------------------------------------------------------[{stamp}]---\n"
        f"     ReasonCode: {told.reason}\n"
        f"      EventName: {NAMES[told.reason]} - MQRC_X ({told.reason}, X'{told.reason:X}')\n"
        "      EventType: Performance\n"
        "    Description: Something has caused the queue depth to\n"
        "                 be what it is.\n"
        f"       QMgrName: {told.queue_manager:<48}\n"
        f"          QName: {told.queue:<48}\n"
        f" TimeSinceReset: {told.time_since_reset}\n"
        f"     HighQDepth: {told.high}\n"
        f"    MsgEnqCount: {told.enqueued}\n"
        f"    MsgDeqCount: {told.dequeued}\n"
    )


def pcf(
    told: EventValues,
    *,
    order: Order = "big",
    codec: str = "cp500",
    ccsid: int = 0,
    command: int = 45,
    reverse: bool = False,
) -> bytes:
    """Return the message data: an MQCFH and six parameters."""
    mark = ">" if order == "big" else "<"

    def text(parameter: int, value: str) -> bytes:
        return struct.pack(f"{mark}5i", 4, 68, parameter, ccsid, 48) + value.ljust(48).encode(codec)

    def number(parameter: int, value: int) -> bytes:
        return struct.pack(f"{mark}4i", 3, 16, parameter, value)

    parameters = [
        text(2015, told.queue_manager),
        text(2002, told.queue),
        number(35, told.time_since_reset),
        number(36, told.high),
        number(37, told.enqueued),
        number(38, told.dequeued),
    ]
    if reverse:
        parameters.reverse()
    header = struct.pack(f"{mark}9i", 7, 36, 1, command, 1, 1, 1, told.reason, len(parameters))
    return header + b"".join(parameters)


def mqmd(
    told: EventValues, *, order: Order = "big", codec: str = "cp500", ccsid: int = 500, version: int = 2
) -> bytes:
    """Return the message descriptor that precedes the data."""
    mark = ">" if order == "big" else "<"
    encoding = 785 if order == "big" else 546
    put = told.created.strftime("%Y%m%d%H%M%S") + "00" if told.created else " " * 16
    correl_id = bytes.fromhex(told.correl_id) if told.correl_id else bytes(24)
    first = (
        "MD  ".encode(codec)
        + struct.pack(f"{mark}7i", version, 0, 8, -1, 0, encoding, ccsid)
        + "MQEVENT ".encode(codec)
        + struct.pack(f"{mark}2i", 0, 1)
        + b"\x11" * 24
        + correl_id
        + struct.pack(f"{mark}i", 0)
        + " ".ljust(48).encode(codec) * 2
        + " ".ljust(12).encode(codec)
        + bytes(32)
        + " ".ljust(32).encode(codec)
        + struct.pack(f"{mark}i", 7)
        + told.queue_manager.ljust(28).encode(codec)
        + put.encode(codec)
        + "    ".encode(codec)
    )
    second = bytes(24) + struct.pack(f"{mark}4i", 1, 0, 0, -1)
    return first + (second if version == 2 else b"")


def amqsbcg(told: EventValues, data: bytes, *, ccsid: int = 500) -> str:
    """Return the output of amqsbcg for one message."""
    put = told.created.strftime("%Y%m%d%H%M%S") + "00" if told.created else " " * 16
    lines = [
        " MQGET of message number 1, CompCode:0 Reason:0",
        "****Message descriptor****",
        "",
        "  StrucId  : 'MD  '  Version : 2",
        "  Report   : 0  MsgType : 8",
        f"  Encoding : 785  CodedCharSetId : {ccsid}",
        "  Format : 'MQEVENT '",
        f"  MsgId : X'{'11' * 24}'",
        f"  CorrelId : X'{told.correl_id or '0' * 48}'",
        f"  PutDate  : '{put[:8]}'    PutTime  : '{put[8:]}'",
        "",
        "****   Message      ****",
        "",
        f" length - {len(data)} of {len(data)} bytes",
        "",
    ]
    for at in range(0, len(data), 16):
        part = data[at : at + 16].hex().upper()
        words = " ".join(part[i : i + 4] for i in range(0, len(part), 4))
        lines.append(f"{at:08X}:  {words:<39} '................'")
    return "\n".join(lines) + "\n\n"


def dmpmqmsg(told: EventValues, data: bytes, *, ccsid: int = 500) -> str:
    """Return the output of dmpmqmsg for one message."""
    put = told.created.strftime("%Y%m%d%H%M%S") + "00" if told.created else " " * 16
    head = [
        "A VER 2",
        "A MST 8",
        "A ENC 785",
        f"A CCS {ccsid}",
        "A FMT MQEVENT ",
        f"A COI {told.correl_id or '0' * 48}",
        f"A PTD {put[:8]}",
        f"A PTT {put[8:]}",
    ]
    body = [f"X {data[at : at + 25].hex().upper()}" for at in range(0, len(data), 25)]
    return "\n".join([*head, *body]) + "\n\n"
