"""Events as amqsevt writes them with `-o json`, `json_compact` or `json_array`, also after processing by other programs.

The text is one object, objects without separators, one object per line, or an array of objects. Text around objects,
such as the prefix of a system log, is skipped. With `-d` keys are names of constants. Sources: captures of IBM MQ 9.4.5
(pretty-printed, in this project's tests); for the keys of other programs, the README of amqsevtg.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from planner_core.depth_events.readers.message import (
    LABELS,
    PERFORMANCE_EVENT,
    REASON_OF_NAME,
    TITLES,
    EventFile,
    count,
    shown,
)
from planner_core.inputs import squeezed

FORMAT: Final = "amqsevt_json"
_MOST_FAILURES: Final = 50
_MOST_DEPTH: Final = 8
_LINE_START = re.compile(r"^[^\n{]*\{", re.MULTILINE)
_LARGEST_EPOCH: Final = 253_402_300_799  # the end of the year 9999


def looks_like(text: str) -> bool:
    """Return whether a text contains an event in JSON."""
    return bool(re.search(r"\{", text) and re.search(r'"(?:eventData|eventReason|eventType)"\s*:', text))


def read(text: str, found: EventFile) -> None:
    """Read all events of a text."""
    failures = 0
    position, line, counted = 0, 1, 0
    while (at := text.find("{", position)) >= 0:
        line, counted = line + text.count("\n", counted, at), at
        try:
            # Objects may follow each other without separators, or with the prefix of a log between them.
            value, position = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            failures += 1
            found.problem(
                f"line {line}", f"This is not a complete JSON object: {_why(error)}. It is skipped."
            )
            following = _LINE_START.search(text, _next_line(text, at))
            if following is None:
                return
            # Each failed attempt reads on to the damage, so many failures would take quadratic time.
            if failures == _MOST_FAILURES:
                found.problem(f"line {line}", "There are too many invalid objects: the rest is not read.")
                return
            position = following.end() - 1
            continue
        for event in _events(value, 0):
            _event(event, f"line {line}", found)


_DECODER = json.JSONDecoder()


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:]}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _events(value: object, depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects that are events, also inside the objects that a collector wraps around them."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _events(item, depth + 1)
    elif isinstance(value, dict):
        if "eventData" in value or "eventReason" in value:
            yield value
        else:
            for item in value.values():
                yield from _events(item, depth + 1)


def _event(event: Mapping[str, Any], place: str, found: EventFile) -> None:
    reason = _reason(event.get("eventReason"))
    if reason is None:
        found.problem(place, "The event has no reason code (eventReason): it is omitted.")
        return
    kind = _number_or_name(event.get("eventType"))
    if reason not in TITLES or (isinstance(kind, int) and kind != PERFORMANCE_EVENT):
        found.other_events += 1
        return
    data = event.get("eventData")
    if not isinstance(data, dict):
        found.problem(place, f"The event with reason {reason} has no eventData: it is omitted.")
        return
    values = {
        LABELS[label]: value
        for part in (event, data)
        for key, value in part.items()
        if (label := squeezed(key)) in LABELS
    }
    source = event.get("eventSource")
    if "queue_manager" not in values and isinstance(source, dict):
        values["queue_manager"] = source.get("queueMgr")
    created, local = _created(event.get("eventCreation"), place, found)
    found.add(place, FORMAT, reason=reason, values=values, created=created, created_local=local)


def _reason(value: object) -> int | None:
    told = _number_or_name(value)
    return told if isinstance(told, int) else REASON_OF_NAME.get(told.lower()) if told else None


def _number_or_name(value: object) -> int | str | None:
    """Return the number of {"name": …, "value": …}, or the value that replaces such an object."""
    if isinstance(value, dict):
        number = count(value.get("value"))
        value = value.get("name") if number is None else number
    number = count(value)
    return number if number is not None else value if isinstance(value, str) else None


def _created(value: object, place: str, found: EventFile) -> tuple[datetime | None, datetime | None]:
    """Return the time in UTC, and the time in an unknown zone; one of them is None."""
    if not isinstance(value, dict):
        return None, None
    stamp = value.get("timeStamp")
    if isinstance(stamp, str):
        try:
            when = datetime.fromisoformat(stamp.strip())
            return (when.astimezone(UTC), None) if when.tzinfo else (None, when)
        except (ValueError, OverflowError):
            found.problem(place, f"{shown(stamp)} is not a time: the event is read without one.")
            return None, None
    epoch = value.get("epoch")
    if isinstance(epoch, int) and not isinstance(epoch, bool) and 0 <= epoch <= _LARGEST_EPOCH:
        return datetime.fromtimestamp(epoch, UTC), None
    return None, None
