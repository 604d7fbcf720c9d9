"""Files as users get them: z/OS text transferred in binary, and headers with a wrong parameter count."""

from __future__ import annotations

import struct

import pytest

from planner_core.depth_events.readers import read_events
from planner_core.depth_events.reading import read_all
from planner_core.depth_events.sets import EventContext
from tests.planner_core.depth_events.reading.support import (
    CORREL,
    EventValues,
    amqsbcg,
    as_lines,
    as_text,
    mqmd,
    pcf,
)

TOLD = EventValues("QM1", "SQ1", correl_id=CORREL)
PARAMETERS_AT = 32


@pytest.mark.parametrize("new_line", [b"\x15", b"\x25"])
@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        (amqsbcg(TOLD, pcf(TOLD)), "amqsbcg"),
        (as_text(TOLD), "amqsevt_text"),
        (as_lines(TOLD).decode(), "amqsevt_json"),
    ],
)
def test_ebcdic_text_is_read_and_reported(text: str, format_name: str, new_line: bytes) -> None:
    data = text.encode("cp500").replace(b"\x25", new_line)
    found = read_events(data, name="SYSPRINT")
    assert found.format == format_name
    (message,) = found.messages
    assert (message.queue_manager, message.queue, message.msg_enq_count) == ("QM1", "SQ1", TOLD.enqueued)
    assert "EBCDIC" in found.notes[0]
    assert [
        each.code
        for each in read_all([("SYSPRINT", data)], EventContext()).findings
        if "CODE_PAGE" in each.code
    ]
    assert not read_events(text.encode(), name="SYSPRINT").notes


@pytest.mark.parametrize("with_descriptor", [False, True])
def test_message_with_a_wrong_parameter_count_is_skipped_and_the_next_is_read(
    *, with_descriptor: bool
) -> None:
    def one(told: EventValues, more: int) -> bytes:
        data = bytearray(pcf(told))
        (parameters,) = struct.unpack_from(">i", data, PARAMETERS_AT)
        struct.pack_into(">i", data, PARAMETERS_AT, parameters + more)
        return (mqmd(told) if with_descriptor else b"") + bytes(data)

    other = EventValues("QM2", "SQ1", correl_id=CORREL)
    found = read_events(one(TOLD, 1) + one(other, 0), name="events")
    assert [message.queue_manager for message in found.messages] == ["QM2"]
    assert (
        "The header specifies 7 parameters, but the next message begins after 6" in found.problems[0].message
    )
    assert len(found.problems) == 1
    whole = read_events(one(TOLD, 0) + one(other, 0), name="events")
    assert [message.queue_manager for message in whole.messages] == ["QM1", "QM2"]
