"""Event messages in dumps with bytes and descriptors: amqsbcg, dmpmqmsg.

amqsbcg (CSQ4BCJ1 on z/OS) and dmpmqmsg also show the message descriptor, so that messages can be grouped by CorrelId.
Sources: the labels of amqsbcg and the codes of dmpmqmsg are IBM's ("Meaning of three letter codes in dmpmqmsg output
file"); the layout of their lines is from memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from planner_core.depth_events.readers import pcf
from planner_core.depth_events.readers.message import EventFile, EventFormat

AMQSBCG: Final = "amqsbcg"
DMPMQMSG: Final = "dmpmqmsg"
_DESCRIPTOR = re.compile(r"^[ \t]*\*{2,}[ \t]*Message[ \t]+descriptor", re.MULTILINE | re.IGNORECASE)
_BCG_LINE = re.compile(r"[ \t]*[0-9A-Fa-f]{8}:(?P<rest>.*)")
_DMP_FIRST = re.compile(r"^A[ \t]+VER[ \t]+[12][ \t]*$", re.MULTILINE)
_DMP_LINE = re.compile(r"A[ \t]+(?P<code>[A-Z]{3})[ \t]+(?P<value>.*)|X[ \t]+(?P<hex>[0-9A-Fa-f]+)[ \t]*")


def looks_like_amqsbcg(text: str) -> bool:
    """Return whether a text was written by amqsbcg."""
    return bool(_DESCRIPTOR.search(text))


def looks_like_dmpmqmsg(text: str) -> bool:
    """Return whether a text was written by dmpmqmsg."""
    return bool(_DMP_FIRST.search(text))


def read_amqsbcg(text: str, found: EventFile) -> None:
    """Read the messages in the output of amqsbcg."""
    starts = [match.start() for match in _DESCRIPTOR.finditer(text)]
    line, counted = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line, counted = line + text.count("\n", counted, start), start
        part = text[start:end]
        digits = "".join(_bcg_bytes(part))
        descriptor = pcf.Descriptor(
            ccsid=int(_told(part, r"CodedCharSetId\s*:\s*(\d{1,9})") or 0),
            correl_id=_told(part, r"CorrelId\s*:\s*X'([0-9A-Fa-f]{48})'"),
            created=pcf.put_time(
                _told(part, r"PutDate\s*:\s*'(\d{8})'") or "", _told(part, r"PutTime\s*:\s*'(\d{8})'") or ""
            ),
        )
        _shown_message(digits, descriptor, AMQSBCG, f"line {line}", found)


def _bcg_bytes(part: str) -> Iterator[str]:
    for line in part.split("\n"):
        match = _BCG_LINE.match(line)
        if match:
            # The column of characters may contain hexadecimal digits, too.
            yield re.sub(r"[^0-9A-Fa-f]", "", re.split(r"\s['|]", match["rest"], maxsplit=1)[0])


def _told(part: str, pattern: str) -> str | None:
    match = re.search(pattern, part)
    return match[1] if match else None


def read_dmpmqmsg(text: str, found: EventFile) -> None:
    """Read a file of dmpmqmsg; each message begins with a line `A VER`."""
    attributes: dict[str, str] = {}
    digits: list[str] = []
    first = 0
    # The line that is added ends the last message.
    for number, line in enumerate([*text.split("\n"), "A VER 0"], start=1):
        match = _DMP_LINE.fullmatch(line.rstrip("\r"))
        if not match:
            continue
        if match["code"] == "VER":
            if attributes:
                _dumped(attributes, digits, first, found)
            attributes, digits, first = {}, [], number
        if match["code"]:
            attributes.setdefault(match["code"], match["value"].strip())
        else:
            digits.append(match["hex"])


def _dumped(attributes: dict[str, str], digits: list[str], line: int, found: EventFile) -> None:
    ccsid = attributes.get("CCS", "")
    descriptor = pcf.Descriptor(
        ccsid=int(ccsid) if re.fullmatch(r"\d{1,9}", ccsid) else 0,
        correl_id=attributes.get("COI"),
        created=pcf.put_time(attributes.get("PTD", ""), attributes.get("PTT", "")),
    )
    _shown_message("".join(digits), descriptor, DMPMQMSG, f"line {line}", found)


def _shown_message(
    digits: str, descriptor: pcf.Descriptor, format_name: EventFormat, place: str, found: EventFile
) -> None:
    # A dump that was cut off may end with half a byte.
    data = bytes.fromhex(digits[: len(digits) - len(digits) % 2])
    if not data:
        found.problem(place, "The dump does not contain the bytes of the message: it is omitted.")
        return
    pcf.read_message(data, 0, found, descriptor, format_name, place=place)
