"""Performance events as read from any format, with their place in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, PlainSerializer, WithJsonSchema, computed_field

from planner_core.depth_events.model import Event
from planner_core.wire import Answer, Hidden, Unchecked

PERFORMANCE_EVENT: Final = 45
"""The command number MQCMD_PERFM_EVENT."""
SERVICE_INTERVAL: Final = {2226: "Queue Service Interval High", 2227: "Queue Service Interval OK"}
TITLES: Final[dict[int, str]] = {**{event.reason: event.title for event in Event}, **SERVICE_INTERVAL}
_CONSTANTS: Final[dict[str, int]] = {
    **{event.constant: event.reason for event in Event},
    "MQRC_Q_SERVICE_INTERVAL_HIGH": 2226,
    "MQRC_Q_SERVICE_INTERVAL_OK": 2227,
}
REASON_OF_NAME: Final = {
    **{title.lower(): reason for reason, title in TITLES.items()},
    **{constant.lower(): reason for constant, reason in _CONSTANTS.items()},
}
LARGEST_COUNT: Final = 2**31 - 1
LONGEST_NAME: Final = 48
CORREL_ID_DIGITS: Final = 48
MOST_PROBLEMS: Final = 100
"""The maximum number of problems of one file that are listed individually."""
_NAME = re.compile(rf"[A-Za-z0-9./_%]{{1,{LONGEST_NAME}}}")
_QUEUE_MANAGER = re.compile(rf"[A-Za-z0-9./_%$#@]{{1,{LONGEST_NAME}}}")
"""The name of a queue manager: on z/OS 1 to 4 characters A-Z 0-9 $ # @, on other platforms up to 48 characters of queue
names."""
_DIGITS = re.compile(r"[0-9]{1,10}")
_HEX_ID = re.compile(rf"[0-9A-Fa-f]{{{CORREL_ID_DIGITS}}}")

LABELS: Final[Mapping[str, str]] = {
    label: field_name
    for field_name, labels in {
        "queue_manager": ("queuemgrname", "qmgrname", "queuemanagername", "mqcaqmgrname"),
        "queue": (
            "baseobjectname", "baseqname", "basequeuename", "queuename", "qname", "mqcabaseobjectname", "mqcabaseqname",
            "mqcaqname",
        ),
        "time_since_reset_s": ("timesincereset", "mqiatimesincereset"),
        "high_q_depth": ("highqueuedepth", "highqdepth", "mqiahighqdepth"),
        "msg_enq_count": ("msgenqcount", "mqiamsgenqcount"),
        "msg_deq_count": ("msgdeqcount", "mqiamsgdeqcount"),
        "correl_id": ("correlationid", "correlid"),
    }.items()
    for label in labels
}  # fmt: skip
"""The field of each label in the formats; comparisons of labels ignore blanks, underscores and case."""
COUNTS: Final = ("time_since_reset_s", "high_q_depth", "msg_enq_count", "msg_deq_count")


EventFormat = Literal[
    "amqsevt_json", "amqsevt_text", "mq_event_display", "pcf", "pcf_with_mqmd", "amqsbcg", "dmpmqmsg", "hex",
]  # fmt: skip
CorrelId = Annotated[str, Field(pattern=f"^[0-9A-F]{{{CORREL_ID_DIGITS}}}$")]


def _iso(when: datetime | None) -> str | None:
    return when.isoformat().replace("+00:00", "Z") if when else None


IsoTime = Annotated[datetime | None, Unchecked(), PlainSerializer(_iso, return_type=str | None)]
"""A time that is written in ISO 8601, with Z for UTC."""


@dataclass(frozen=True, kw_only=True)
class CountersReport(Answer):
    """The counters of one queue manager, which are None if its message does not have them."""

    file: str
    place: Annotated[str, Field(description="Line or offset in the file.")]
    queue_manager: str
    time_since_reset_s: int | None = None
    high_q_depth: int | None = None
    msg_enq_count: int | None = None
    msg_deq_count: int | None = None
    created: Annotated[IsoTime, Field(description="Time at which it was put on the event queue, in UTC.")] = (
        None
    )
    created_local: Annotated[
        IsoTime, Field(description="The same time, in a time zone that the format does not show.")
    ] = None

    @computed_field
    @property
    def is_null(self) -> bool:
        """True if the queue manager neither put nor got messages."""
        return not self.msg_enq_count and not self.msg_deq_count

    @property
    def at(self) -> datetime | None:
        """Return the time for comparisons; a time without a zone is treated as UTC."""
        return self.created or (self.created_local.replace(tzinfo=UTC) if self.created_local else None)


@dataclass(frozen=True, kw_only=True)
class EventMessage(CountersReport):
    """One event message, with null for values that it does not have."""

    format: EventFormat
    reason: Annotated[int, WithJsonSchema({"type": "integer", "enum": sorted(TITLES)})]
    queue: str
    correl_id: Annotated[CorrelId | None, Field(description="Null if it is missing or all zeros.")] = None

    @computed_field
    @property
    def event(self) -> str:
        """The event's name as IBM writes it."""
        return TITLES[self.reason]


@dataclass(frozen=True, slots=True)
class ReadProblem(Answer):
    """A part of a file that could not be read."""

    place: Annotated[str, Field(description="Line or offset in the file.")]
    message: str

    def __str__(self) -> str:
        """Return place and message in one line."""
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(slots=True)
class EventFile(Answer):
    """The event messages of one file, and the problems with reading it."""

    name: str
    # No answer has the format `unknown`: such files are refused.
    format: Annotated[
        EventFormat | Literal["unknown"],
        WithJsonSchema({"type": "string", "enum": list(get_args(EventFormat))}),
    ]
    messages: Hidden[list[EventMessage]] = field(default_factory=list)
    other_events: Annotated[int, Field(description="Events of other kinds, which are skipped.")] = 0
    problems: list[ReadProblem] = field(default_factory=list)
    problems_omitted: int = 0
    notes: Annotated[list[str], Field(description="Assumptions made to read it.")] = field(
        default_factory=list
    )

    @computed_field(alias="messages")
    @property
    def message_count(self) -> int:
        """Number of performance events."""
        return len(self.messages)

    def problem(self, place: str, message: str) -> None:
        """Add a problem; beyond the first hundred, only count it."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(ReadProblem(place, message))
        else:
            self.problems_omitted += 1

    def note(self, text: str) -> None:
        """Add an assumption, unless it is already listed."""
        if text not in self.notes:
            self.notes.append(text)

    def add(
        self,
        place: str,
        format_name: EventFormat,
        *,
        reason: int,
        values: Mapping[str, object],
        created: datetime | None = None,
        created_local: datetime | None = None,
    ) -> None:
        """Add a performance event if its values are possible; otherwise add a problem."""
        checked: dict[str, int | None] = {}
        for name in COUNTS:
            checked[name] = count(values.get(name))
            # A message that is missing is reported, but a wrong count would not be noticed.
            if checked[name] is None and values.get(name) is not None:
                self.problem(
                    place,
                    f"{shown(values[name])} is not a number of messages or seconds: the event is omitted.",
                )
                return
        manager, queue = _text(values.get("queue_manager")), _text(values.get("queue"))
        for named, pattern, what in (
            (manager, _QUEUE_MANAGER, "queue manager"),
            (queue, _NAME, "queue"),
        ):
            if not named:
                self.problem(place, f"The event does not name its {what}: it is omitted.")
                return
            if not pattern.fullmatch(named):
                self.problem(place, f"{shown(named)} is not the name of a {what}: the event is omitted.")
                return
        self.messages.append(
            EventMessage(
                file=self.name,
                place=place,
                format=format_name,
                reason=reason,
                queue_manager=manager,
                queue=queue,
                correl_id=self._correl_id(place, values.get("correl_id")),
                created=created,
                created_local=created_local,
                **checked,
            )
        )

    def _correl_id(self, place: str, value: object) -> str | None:
        text = re.sub(r"^[xX]'|'$|\s", "", _text(value))
        if not text:
            return None
        if not _HEX_ID.fullmatch(text):
            self.problem(
                place,
                f"{shown(value)} is not a CorrelId of 48 hexadecimal digits: the event is read without one.",
            )
            return None
        # Only events of shared queues have a CorrelId; in others it is all zeros.
        return text.upper() if text.strip("0") else None


def _text(value: object) -> str:
    # MQ pads names with blanks or zeros.
    return value.strip(" \0\t") if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """Return a number of messages or seconds; None if the value is not one."""
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    return None


def shown(value: object) -> str:
    """Return a printable form of a value for a sentence, limited in length."""
    text = value if isinstance(value, str) else str(value)[: LONGEST_NAME + 1]
    return ascii(text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}...")
