"""Readers of performance events in every common format; `read_events` detects the format itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from planner_core.depth_events.readers import amqsevt_json, dump, hexadecimal, labelled, pcf
from planner_core.depth_events.readers.message import EventFile, EventFormat, EventMessage, ReadProblem

__all__ = ["FORMATS", "LARGEST_FILE_BYTES", "EventFile", "EventMessage", "ReadProblem", "read_events"]

LARGEST_FILE_BYTES: Final = 32 * 2**20
FORMATS: Final = {
    amqsevt_json.FORMAT: "amqsevt, JSON",
    labelled.AMQSEVT: "amqsevt, text",
    labelled.EVENT_DISPLAY: "mq-event-display (MH05)",
    pcf.FORMAT: "PCF",
    pcf.FORMAT_WITH_MQMD: "PCF after its MQMD",
    dump.AMQSBCG: "amqsbcg dump",
    dump.DMPMQMSG: "dmpmqmsg file",
    hexadecimal.HEX: "PCF in hexadecimal",
    "unknown": "unknown",
}
"""Title of each format on pages, by its name in answers."""
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_EBCDIC: Final = "cp500"
_EBCDIC_NEW_LINE: Final = "\x85"
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def read_events(data: bytes, *, name: str) -> EventFile:
    """Read all performance events of a file; parts that cannot be read are in `problems`. Never raises."""
    text = _text(data)
    if text is None and pcf.looks_like(data):
        found = EventFile(name, pcf.FORMAT)
        pcf.read(data, found)
        return _with_format_of_messages(found)
    found = _unknown(name) if text is None else _read_text(text, name)
    if found.format != "unknown":
        return found
    in_ebcdic = _read_text(data.decode(_EBCDIC).replace(_EBCDIC_NEW_LINE, "\n"), name)
    if in_ebcdic.format == "unknown":
        return found
    in_ebcdic.note(
        "The text is in EBCDIC: it is read as CCSID 500. Transfer such files as text, not in binary."
    )
    return in_ebcdic


def _read_text(text: str, name: str) -> EventFile:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Dumps first, because they contain hexadecimal digits and may contain the labels of the other formats.
    readers: tuple[tuple[Callable[[str], bool], Callable[[str, EventFile], None], EventFormat], ...] = (
        (dump.looks_like_amqsbcg, dump.read_amqsbcg, dump.AMQSBCG),
        (dump.looks_like_dmpmqmsg, dump.read_dmpmqmsg, dump.DMPMQMSG),
        (amqsevt_json.looks_like, amqsevt_json.read, amqsevt_json.FORMAT),
        (labelled.looks_like, labelled.read, labelled.AMQSEVT),
        (hexadecimal.looks_like, hexadecimal.read, hexadecimal.HEX),
    )
    for looks_like, read, format_name in readers:
        if looks_like(text):
            found = EventFile(name, format_name)
            read(text, found)
            return _with_format_of_messages(found)
    return _unknown(name)


def _text(data: bytes) -> str | None:
    """Return the characters of a text; None if the bytes are not a text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if _UNPRINTABLE.search(data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Latin-1 decodes any byte, so a name in another code page does not hide the events around it.
        return None if pcf.looks_like(data) else data.decode("latin-1")


def _with_format_of_messages(found: EventFile) -> EventFile:
    """Return the file with the format of its first message."""
    # The readers of labels and of PCF each read two formats, and recognize the format only from a message.
    if found.messages and found.format in (labelled.AMQSEVT, pcf.FORMAT):
        found.format = found.messages[0].format
    return found


def _unknown(name: str) -> EventFile:
    found = EventFile(name, "unknown")
    found.problem(
        "",
        "The format is not supported. Supported formats are amqsevt's JSON or text, mq-event-display's text, PCF in binary or "
        "hexadecimal, amqsbcg's or dmpmqmsg's dump.",
    )
    return found
