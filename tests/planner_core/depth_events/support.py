"""Short timelines, and values of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from planner_core.depth_events.course import Occurrence, Simulation
from planner_core.depth_events.file import read_object
from planner_core.depth_events.model import Event, Switches
from planner_core.depth_events.simulate import simulate
from planner_core.document.types import Switch

Json = dict[str, Any]

IBM_DEFINITION: Json = {
    "maxdepth": 1000, "qdepthhi": 80, "qdepthlo": 20, "qdphiev": "ENABLED", "qdploev": "DISABLED", "qdpmaxev": "DISABLED",
}  # fmt: skip
"""MYQUEUE1 of IBM's examples: DEFINE QLOCAL('MYQUEUE1') MAXDEPTH(1000) QDPMAXEV(DISABLED) QDEPTHHI(80) QDPHIEV(ENABLED)
QDEPTHLO(20) QDPLOEV(DISABLED)."""
REASON = {2224: "High", 2225: "Low", 2053: "Full"}


def shared(name: str = "SQ1", **attributes: object) -> Json:
    """Return a shared queue, by default defined as in IBM's examples."""
    return {"name": name, "qsgdisp": "SHARED", **IBM_DEFINITION, **attributes}


def nonshared(name: str = "LQ1", queue_manager: str = "QM1", **attributes: object) -> Json:
    """Return a nonshared queue, by default defined as in IBM's examples."""
    return {"name": name, "qsgdisp": "QMGR", "queue_manager": queue_manager, **IBM_DEFINITION, **attributes}


def member(name: str, perfmev: str = "ENABLED", *, active: bool = True) -> Json:
    """Return a queue manager of the group."""
    return {"name": name, "perfmev": perfmev, "active": active}


def do(action: str, queue_manager: str, queue: str, messages: int, at: float = 0, **more: object) -> Json:
    """Return a step of the timeline with one or more calls."""
    return {
        "at": at,
        "action": action,
        "queue_manager": queue_manager,
        "queue": queue,
        "messages": messages,
        **more,
    }


def file(members: Sequence[Json], queues: Sequence[Json], timeline: Sequence[Json], **readings: str) -> Json:
    """Return a complete timeline file."""
    found: Json = {"queue_managers": list(members), "queues": list(queues), "timeline": list(timeline)}
    return {**found, "readings": readings} if readings else found


def play(
    members: Sequence[Json], queues: Sequence[Json], timeline: Sequence[Json], **readings: str
) -> Simulation:
    """Return the simulation of a file."""
    return simulate(read_object(file(members, queues, timeline, **readings)))


def codes(simulation: Simulation) -> set[str]:
    """Return the codes of the findings."""
    return {finding.code for finding in simulation.findings}


def message_counts(simulation: Simulation) -> list[tuple[str, str, int, int]]:
    """Return event, queue manager, puts and gets of each message."""
    return [
        (REASON[each.event.reason], each.queue_manager, each.msg_enq_count, each.msg_deq_count)
        for each in simulation.events
    ]


def enabled(simulation: Simulation, queue: str = "SQ1") -> set[str]:
    """Return the events that are enabled on a queue at the end: H, L, F."""
    return {
        letter for letter, is_armed in zip("HLF", armed(simulation.queues[queue]), strict=True) if is_armed
    }


def armed(switches: Switches) -> tuple[bool, ...]:
    """Return whether Queue Depth High, Low and Queue Full are enabled."""
    return tuple(switches.is_armed(event) for event in (Event.HIGH, Event.LOW, Event.FULL))


def missing_messages(occurrence: Occurrence) -> tuple[tuple[str, str], ...]:
    """Return each queue manager that wrote no message, and the reason."""
    return tuple((each.queue_manager, each.why) for each in occurrence.missing)


def switches(*enabled: bool) -> Switches:
    """Return QDPHIEV, QDPLOEV and QDPMAXEV."""
    high, low, full = cast(
        "tuple[Switch, Switch, Switch]", tuple("ENABLED" if each else "DISABLED" for each in enabled)
    )
    return Switches(qdphiev=high, qdploev=low, qdpmaxev=full)
