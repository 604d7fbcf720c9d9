"""Puts and gets are attributed to a queue manager only if the messages of a set show it."""

from __future__ import annotations

from planner_core.depth_events.reading import read_all
from planner_core.depth_events.sets import EventContext, EventSet, QueueFacts
from tests.planner_core.depth_events.reading.support import CORREL, EventValues, as_lines

QUEUE = "APP.SHARED.Q1"


def only(known: EventContext, *told: EventValues) -> EventSet:
    (found,) = read_all([("events.json", as_lines(*told))], known).sets
    return found


def test_gap_is_not_attributed_to_one_of_two_silent_members() -> None:
    """QM1 put 500 of 800 messages: the other 300 are from QM2, QM3, or both."""
    known = EventContext(
        members=["QM1", "QM2", "QM3"],
        queues={QUEUE: QueueFacts(maxdepth=1000, qdepthhi=80, depth_before=0)},
    )
    told = EventValues(queue_manager="QM1", enqueued=500, dequeued=0, high=800, correl_id=CORREL)
    both = only(known, told)
    assert both.reconciliation.unreconciled == 300
    assert [(each.queue_manager, each.cause) for each in both.missing] == [
        ("QM2", "not_known"),
        ("QM3", "not_known"),
    ]
    alone = only(EventContext(members=["QM1", "QM2"], queues=known.queues), told)
    assert [(each.queue_manager, each.cause) for each in alone.missing] == [("QM2", "perfmev_disabled")]


def test_given_initial_depth_is_kept_if_gets_exceed_puts() -> None:
    """With an initial depth of 10 and 30 gets, 20 puts are not in any message. Only an assumed depth is discarded."""
    told = EventValues(reason=2225, enqueued=0, dequeued=30, high=10, correl_id=CORREL)
    given = only(
        EventContext(queues={QUEUE: QueueFacts(maxdepth=1000, qdepthlo=0, depth_before=10)}), told
    ).reconciliation
    assert (given.computed_depth, given.reported_depth, given.unreconciled) == (-20, 0, 20)
    assumed = only(EventContext(queues={QUEUE: QueueFacts(maxdepth=1000, qdepthlo=0)}), told).reconciliation
    assert (assumed.depth_before, assumed.computed_depth, assumed.unreconciled) == (None, None, None)
