"""Dumps of od, hexdump and xxd: offsets, asterisks for repeated lines, and the refusal of ambiguous text."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.depth_events.readers import read_events
from planner_core.depth_events.reading import read_all
from planner_core.depth_events.sets import EventContext
from planner_core.errors import InputInvalid
from tests.planner_core.depth_events.reading.support import CORREL, EventValues, mqmd, pcf

MANY = (EventValues(correl_id=CORREL), EventValues(queue_manager="MQP2", correl_id=CORREL))
DATA = b"".join(mqmd(told) + pcf(told) for told in MANY)
"""The descriptors contain identical lines: MsgId, CorrelId and blanks."""


def dump(
    data: bytes, offset: str = "{:06x}", *, beside: str = "", is_short: bool = True, columns: int = 16
) -> str:
    """Return lines of an offset and single bytes; if `is_short`, an asterisk replaces repeated lines, as in od."""
    lines: list[str] = []
    before = b""
    for at in range(0, len(data), columns):
        part = data[at : at + columns]
        if is_short and part == before:
            if lines[-1] != "*":
                lines.append("*")
            continue
        before = part
        words = part.hex(" ").ljust(3 * columns)
        lines.append(f"{offset.format(at)} {words}{beside}".rstrip())
    return "\n".join([*lines, offset.format(len(data))]) + "\n"


DUMPS = {
    "od -A x -t x1": dump(DATA),
    "od -A x -t x1 -v": dump(DATA, is_short=False),
    "od -t x1": dump(DATA, "{:07o}"),
    "od -A d -t x1": dump(DATA, "{:07d}"),
    "od -A x -t x1z": dump(DATA, beside=" >..|.. <..<"),
    "hexdump -C": dump(DATA, "{:08x} ", beside=" |..>. .|..|"),
    "of wide lines": dump(DATA, columns=32),
    "of short lines": dump(DATA, "{:07o}", columns=5),
    "xxd -a": dump(DATA, "{:08x}:"),
    "one after the other": "".join(dump(mqmd(told) + pcf(told)) for told in MANY),
}


@pytest.mark.parametrize("name", DUMPS)
def test_dump_with_offsets_and_asterisks_is_read(name: str) -> None:
    found = read_events(DUMPS[name].encode(), name="dump")
    assert found.problems == []
    assert [(each.queue_manager, each.correl_id) for each in found.messages] == [
        ("MQP1", CORREL),
        ("MQP2", CORREL),
    ]
    assert found.messages[1].msg_enq_count == MANY[1].enqueued


def test_sample_dumps_abbreviate_repeated_lines_with_asterisks() -> None:
    assert "\n*\n" in DUMPS["hexdump -C"]
    assert "\n*\n" not in DUMPS["od -A x -t x1 -v"]


@given(data=st.binary(min_size=1, max_size=200), times=st.integers(1, 6), base=st.sampled_from("xod"))
def test_every_dump_is_restored_to_its_bytes(data: bytes, times: int, base: str) -> None:
    from planner_core.depth_events.readers import hexadecimal

    whole = data * times + pcf(MANY[0])
    rows = hexadecimal._rows(dump(whole, f"{{:07{base}}}"))
    assert rows is not None
    assert hexadecimal._digits(rows) == whole.hex()


def _numbers(data: bytes, kind: str, mark: str, offset: str = "{:07o}") -> str:
    size = struct.calcsize(kind)
    rows = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        numbers = struct.unpack(f"<{len(part) // size}{kind}", part[: len(part) // size * size])
        rows.append(f"{offset.format(at)} {' '.join(mark.format(number) for number in numbers)}")
    return "\n".join([*rows, offset.format(len(data))]) + "\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_numbers(DATA, "H", "{:06o}"), "Line 1 shows numbers, such as 142324, not single bytes"),
        (_numbers(DATA, "H", "{:04x}"), "Line 1 shows numbers, such as c4d4, not single bytes"),
        (_numbers(DATA, "H", "{:04x}", "{:07x}"), "such as c4d4, not single bytes"),
        (_numbers(DATA, "I", "{:08x}"), "such as 4040c4d4, not single bytes"),
        (_numbers(DATA, "B", "{:03o}"), "such as 324, not single bytes"),
        (
            "\n".join(line[7:] or "*" for line in dump(DATA).splitlines()[:-1]),
            "An asterisk replaces repeated lines, and without offsets their number is unknown",
        ),
        (
            "".join(dump(DATA, is_short=False).splitlines(keepends=True)[:3])
            + "".join(dump(DATA, is_short=False).splitlines(keepends=True)[4:]),
            "The offset of line 4 is 000040, but 16 bytes are missing before it",
        ),
        (
            "".join(
                f"{at:08x}: {' '.join(f'{b:08b}' for b in DATA[at : at + 6])}\n" for at in range(0, 600, 6)
            ),
            "The offset of line 2 is 00000006, but 18 bytes too many are before it",
        ),
        (
            f"00000000  {'00 ' * 16} |.|\n*\nffffffff0  00\n",
            "The asterisk before line 3 replaces 68719476704 bytes, too many",
        ),
    ],
    ids=[
        "od",
        "od -x",
        "hexdump",
        "od -t x4",
        "od -b",
        "asterisk alone",
        "missing line",
        "xxd -b",
        "far too many",
    ],
)
def test_ambiguous_dump_is_refused_with_unambiguous_od_options(text: str, says: str) -> None:
    with pytest.raises(InputInvalid) as caught:
        read_all([("dump", text.encode())], EventContext())
    (problem,) = caught.value.problems
    assert says in problem.message
    assert problem.message.endswith("`od -A x -t x1 -v FILE`, or send the file as it is.")
