"""Events in lines of `label : value`: amqsevt's own format, and that of mq-event-display (SupportPac MH05).

Sources: an event that amqsevt printed, on the author's page "Formatting MQ Events as JSON"; for mq-event-display its
source, Xmqdspev.java. The latter writes times in the zone of the machine that it runs on, without naming it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from planner_core.depth_events.readers.message import (
    LABELS,
    PERFORMANCE_EVENT,
    REASON_OF_NAME,
    TITLES,
    EventFile,
    EventFormat,
    shown,
)
from planner_core.inputs import squeezed

AMQSEVT: Final = "amqsevt_text"
EVENT_DISPLAY: Final = "mq_event_display"
_MARK = re.compile(r"\s*\*{2,}\s*Message\s*#|\s*-{3,}\[(?P<local>[^\]]{8,40})\]-{3,}", re.IGNORECASE)
_LABELLED = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z0-9_ ]{1,47}?)\s*:(?P<value>.*)")
_NUMBER = re.compile(r"\[\s*(?P<number>[0-9]{1,9})\s*\]|(?<![0-9])(?P<bare>[0-9]{1,9})\s*$")
_UTC = re.compile(
    r"(?P<y>\d{4})[/-](?P<m>\d\d)[/-](?P<d>\d\d)[ T](?P<h>\d\d)[:.](?P<min>\d\d)[:.](?P<s>\d\d)(?:[.](?P<f>\d{1,6}))?\s*(?:GMT|UTC|Z)?"
)
_LOCAL = re.compile(r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4})-(?P<h>\d\d):(?P<min>\d\d):(?P<s>\d\d)")
_REASON: Final = frozenset({"reason", "reasoncode"})
_TYPE: Final = "eventtype"
_CREATED: Final = "eventcreated"
_LONGEST_LINE: Final = 1000


def looks_like(text: str) -> bool:
    """Return whether a text contains events in one of the two formats."""
    return bool(
        re.search(r"^[ \t]*Reason(?:Code)?[ \t]*:", text, re.MULTILINE | re.IGNORECASE)
        and re.search(
            r"^[ \t]*(?:Event[ _]?(?:Type|Name|created)|Msg[ _]?Enq[ _]?Count|MQIA_MSG_ENQ_COUNT)[ \t]*:",
            text,
            re.MULTILINE | re.IGNORECASE,
        )
    )


class _Record:
    """The lines of one event."""

    def __init__(self, line: int, local: str | None = None) -> None:
        self.line, self.local = line, local
        self.values: dict[str, str] = {}
        self.reason: str | None = None
        self.reason_label = ""
        self.kind: str | None = None
        self.created: str | None = None

    def has(self, label: str) -> bool:
        """Return whether the record already has this label."""
        if label in _REASON:
            return self.reason is not None
        if label == _TYPE:
            return self.kind is not None
        if label == _CREATED:
            return self.created is not None
        return LABELS.get(label, "") in self.values

    def store(self, label: str, value: str) -> None:
        """Store the value of one line; if a label is repeated, its first value is used."""
        if self.has(label):
            return
        if label in _REASON:
            self.reason, self.reason_label = value, label
        elif label == _TYPE:
            self.kind = value
        elif label == _CREATED:
            self.created = value
        elif label in LABELS:
            self.values[LABELS[label]] = value


def read(text: str, found: EventFile) -> None:
    """Read all events of a text."""
    record: _Record | None = None
    has_marks = False
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > _LONGEST_LINE:
            continue
        mark = _MARK.match(line)
        if mark:
            _close(record, found)
            record, has_marks = _Record(number, mark["local"]), True
            continue
        labelled = _LABELLED.match(line)
        if not labelled:
            continue
        label, value = squeezed(labelled["label"]), labelled["value"].strip()
        # Nothing separates events, so a repeated label begins the next one.
        if record is None or (record.has(label) and (not has_marks or label in _REASON)):
            _close(record, found)
            record = _Record(number)
        record.store(label, value)
    _close(record, found)


def _close(record: _Record | None, found: EventFile) -> None:
    if record is None or (record.reason is None and not record.values):
        return
    place = f"line {record.line}"
    if record.reason is None:
        if {"msg_enq_count", "msg_deq_count"} & record.values.keys():
            found.problem(place, "The event has no line with its reason: it is omitted.")
        return
    reason = _reason(record.reason)
    if reason is None:
        found.problem(place, f"{shown(record.reason)} is not a reason: the event is omitted.")
        return
    kind = _NUMBER.search(record.kind or "")
    if reason not in TITLES or (
        kind and kind["number"] is not None and int(kind["number"]) != PERFORMANCE_EVENT
    ):
        found.other_events += 1
        return
    # mq-event-display writes ReasonCode where amqsevt writes Reason.
    format_name: EventFormat = EVENT_DISPLAY if record.reason_label == "reasoncode" else AMQSEVT
    created = _time(_UTC, record.created, place, found)
    local = _time(_LOCAL, record.local, place, found)
    found.add(
        place,
        format_name,
        reason=reason,
        values=record.values,
        # amqsevt writes GMT. Times of mq-event-display are in the zone of its machine, which it does not name.
        created=created.replace(tzinfo=UTC) if created else None,
        created_local=local,
    )


def _reason(text: str) -> int | None:
    number = _NUMBER.search(text)
    if number:
        return int(number["number"] or number["bare"])
    return REASON_OF_NAME.get(text.lower())


def _time(pattern: re.Pattern[str], text: str | None, place: str, found: EventFile) -> datetime | None:
    if text is None:
        return None
    match = pattern.match(text.strip())
    parts = match.groupdict() if match else {}
    try:
        return datetime(  # noqa: DTZ001 - the zone is added where it is known
            int(parts["y"]),
            int(parts["m"]),
            int(parts["d"]),
            int(parts["h"]),
            int(parts["min"]),
            int(parts["s"]),
            int((parts.get("f") or "0").ljust(6, "0")),
        )
    except (KeyError, ValueError):
        found.problem(place, f"{shown(text)} is not a time: the event is read without one.")
        return None
