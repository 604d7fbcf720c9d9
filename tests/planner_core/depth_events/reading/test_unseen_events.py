"""Sets that cannot follow each other, and a CorrelId that cannot belong to one event."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from planner_core.depth_events.reading import EventReading, read_all
from planner_core.depth_events.sets import EventContext, QueueFacts
from planner_core.findings import Finding
from tests.planner_core.depth_events.reading.support import AT, FULL, HIGH, LOW, EventValues, as_lines

UNSEEN, TWICE = "READ_SET_EVENT_UNSEEN", "READ_SET_CORREL_ID_TWICE"


def read(*messages: EventValues, known: EventContext | None = None) -> EventReading:
    return read_all([("events", as_lines(*messages))], known or EventContext())


def findings_with_code(reading: EventReading, code: str) -> list[Finding]:
    return [each for each in reading.findings if each.code == code]


def one_after_the_other(*reasons: int, queue_manager: str = "QM1", apart_s: int = 60) -> list[EventValues]:
    """Return a set of one message for each event, with different CorrelIds."""
    return [
        EventValues(
            queue_manager,
            "SQ1",
            reason,
            apart_s,
            800,
            10,
            0,
            f"{nth:048X}",
            AT + timedelta(seconds=apart_s * nth),
        )
        for nth, reason in enumerate(reasons, start=1)
    ]


@pytest.mark.parametrize(("sets", "more"), [(21, 0), (22, 1), (60, 39)])
def test_omitted_findings_are_counted(sets: int, more: int) -> None:
    reading = read(*one_after_the_other(*[HIGH] * sets))
    assert len(findings_with_code(reading, UNSEEN)) == min(20, sets - 1)
    says = " ".join(each.message for each in findings_with_code(reading, "READ_FINDINGS_LEFT_OUT"))
    assert (f"{more} of {UNSEEN}" in says) is bool(more)


@pytest.mark.parametrize(
    ("reasons", "unseen"),
    [
        ((HIGH, LOW, HIGH, FULL, LOW, HIGH), []),  # IBM's example 2, and on
        ((HIGH, HIGH), [2]),
        ((HIGH, FULL, HIGH), [3]),  # Queue Full does not enable QDPHIEV
        ((HIGH, FULL, LOW, FULL), []),
        ((LOW, LOW), [2]),
        ((LOW, FULL, LOW), []),
        ((FULL, FULL), [2]),
        ((FULL, HIGH, FULL), []),  # QDPHIEV was enabled when the first put was rejected
        ((HIGH, HIGH, LOW, HIGH, HIGH), [2, 5]),
    ],
)
def test_repeated_event_without_another_in_between_is_reported(
    reasons: tuple[int, ...], unseen: list[int]
) -> None:
    findings = findings_with_code(read(*one_after_the_other(*reasons)), UNSEEN)
    assert [each.field for each in findings] == [f"/sets/{number - 1}" for number in unseen]


def test_unseen_event_finding_names_the_possible_events() -> None:
    (finding,) = findings_with_code(read(*one_after_the_other(HIGH, HIGH)), UNSEEN)
    assert (
        "set 1, the same event, left QDPHIEV DISABLED, and only a Queue Depth Low enables it"
        in finding.message
    )
    assert "one set" not in finding.message


def test_unseen_event_finding_mentions_the_window() -> None:
    apart = [
        replace(each, correl_id=None, queue_manager=name, created=AT + timedelta(seconds=9 * nth))
        for nth, (each, name) in enumerate(zip(one_after_the_other(HIGH, HIGH), ("QM1", "QM2"), strict=True))
    ]
    shared = {"SQ1": QueueFacts(qsgdisp="SHARED")}
    (finding,) = findings_with_code(read(*apart, known=EventContext(queues=shared)), UNSEEN)
    assert "or the two are one set whose messages are further apart than the window allows" in finding.message
    assert not findings_with_code(read(*apart, known=EventContext(queues=shared, window_s=9)), UNSEEN)


def test_queues_not_known_as_shared_have_separate_switches() -> None:
    one, other = one_after_the_other(HIGH, HIGH)
    both = (replace(one, correl_id=None), replace(other, correl_id=None, queue_manager="QM2"))
    assert not findings_with_code(read(*both), UNSEEN)


def test_events_of_the_same_second_are_not_ordered() -> None:
    first, *others = one_after_the_other(HIGH, HIGH, LOW)
    at_once = [replace(each, created=others[0].created) for each in others]
    assert not findings_with_code(read(first, *at_once), UNSEEN)


def test_duplicate_correl_id_of_a_queue_manager_is_reported() -> None:
    one, other = one_after_the_other(HIGH, LOW)
    (finding,) = findings_with_code(read(one, replace(one, enqueued=11)), TWICE)
    assert finding.field == "/sets/1"
    assert "Sets 1 and 2 have the same CorrelId" in finding.message
    assert "QM1 wrote more than one message with it" in finding.message
    (finding,) = findings_with_code(read(one, replace(other, correl_id=one.correl_id)), TWICE)
    assert "the events or queues differ" in finding.message
    assert not findings_with_code(read(one, other), TWICE)
    assert not findings_with_code(read(one, replace(one, queue_manager="QM2")), TWICE)


def test_correl_id_shared_by_all_messages_is_reported_once() -> None:
    every = [replace(each, correl_id="A" * 48) for each in one_after_the_other(*(HIGH, LOW) * 4)]
    (finding,) = findings_with_code(read(*every), TWICE)
    assert "Sets 1, 2, 3, 4, 5 and 3 more have the same CorrelId" in finding.message
