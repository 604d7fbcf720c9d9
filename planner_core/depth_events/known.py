"""Attributes of queues and queue managers in the output of DISPLAY QLOCAL and DISPLAY QMGR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from planner_core.depth_events.file import MOST_MAXDEPTH
from planner_core.depth_events.model import PERCENT
from planner_core.depth_events.sets import QueueFacts
from planner_core.document.types import Switch
from planner_core.texts.console import LineProblem
from planner_core.texts.mqsc.records import Record, read_records

_READ: Final = frozenset({"MAXDEPTH", "QDEPTHHI", "QDEPTHLO", "QSGDISP", "PERFMEV"})
_NUMBERS: Final = {"MAXDEPTH": MOST_MAXDEPTH, "QDEPTHHI": PERCENT, "QDEPTHLO": PERCENT}
_SWITCHES: Final[dict[str, Switch]] = {each: each for each in get_args(Switch)}
_DISPOSITIONS: Final = ("SHARED", "QMGR", "PRIVATE", "COPY")
_WHOLE = re.compile(r"[0-9]{1,9}")
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class DisplayedAttributes:
    """Attributes of queues, and PERFMEV by queue manager."""

    queues: Mapping[str, QueueFacts]
    perfmev: Mapping[str, Switch]
    problems: tuple[LineProblem, ...]


def read_displayed(text: str) -> DisplayedAttributes:
    """Return the attributes of every QUEUE(...) and QMNAME(...) in a text. Never raises.

    >>> read_displayed("QUEUE(SQ1) MAXDEPTH(1000) QDEPTHHI(80)").queues["SQ1"].maxdepth
    1000
    """
    # Other attributes may be cut off without a report.
    read = read_records(text, kinds=("QUEUE", "QMGR"), reads=_READ)
    problems = list(read.problems)
    queues: dict[str, QueueFacts] = {}
    perfmev: dict[str, Switch] = {}
    for record in read.records:
        if record.kind == "QUEUE":
            # Every queue manager shows the same definition of a shared queue, so the first display counts.
            queues.setdefault(record.name, _queue(record, problems))
        elif (value := record.text("PERFMEV")) is not None:
            if value in _SWITCHES:
                perfmev.setdefault(record.name, _SWITCHES[value])
            else:
                message = f"PERFMEV({value[:_SHOWN]}) is neither ENABLED nor DISABLED: omitted."
                problems.append(LineProblem(record.line_of("PERFMEV"), message))
    return DisplayedAttributes(queues, perfmev, tuple(problems))


def _queue(record: Record, problems: list[LineProblem]) -> QueueFacts:
    numbers: dict[str, int | None] = dict.fromkeys(_NUMBERS)
    for keyword, largest in _NUMBERS.items():
        value = record.text(keyword)
        if value is None:
            continue
        if _WHOLE.fullmatch(value) and int(value) <= largest:
            numbers[keyword] = int(value)
        else:
            message = f"{keyword}({value[:_SHOWN]}) is not a whole number from 0 to {largest}: omitted."
            problems.append(LineProblem(record.line_of(keyword), message))
    disposition = record.text("QSGDISP")
    return QueueFacts.model_validate(
        {keyword.lower(): value for keyword, value in numbers.items()}
        | {"qsgdisp": disposition if disposition in _DISPOSITIONS else None}
    )
