"""SE1 to SE9: derived cases of shared queues. SQ1 has MAXDEPTH 1000, QDEPTHHI 80, QDEPTHLO 20; only QDPHIEV is enabled."""

from __future__ import annotations

import pytest

from planner_core.depth_events.course import Simulation
from tests.planner_core.depth_events.support import (
    codes,
    do,
    enabled,
    member,
    message_counts,
    missing_messages,
    nonshared,
    play,
    shared,
)

SWITCHED = {"L", "F"}
ACTIVITY = [
    do("put", "QM2", "SQ1", 300, at=1),
    do("get", "QM2", "SQ1", 100, at=2),
    do("put", "QM1", "SQ1", 600, at=3),
]


def case(
    qm1: str = "ENABLED", qm2: str = "ENABLED", qm3: str = "ENABLED", *, active: bool = True, **readings: str
) -> Simulation:
    members = [member("QM1", qm1), member("QM2", qm2), member("QM3", qm3, active=active)]
    return play(members, [shared()], ACTIVITY, **readings)


def test_se1_all_members_enabled_give_three_messages_with_one_correl_id() -> None:
    simulation = case()
    assert message_counts(simulation) == [
        ("High", "QM1", 600, 0),
        ("High", "QM2", 300, 100),
        ("High", "QM3", 0, 0),
    ]
    assert [each.is_null for each in simulation.events] == [False, False, True]
    (correl_id,) = {each.correl_id for each in simulation.events}
    assert correl_id is not None
    assert len(bytes.fromhex(correl_id)) == 24
    (occurrence,) = simulation.occurrences
    assert (occurrence.depth, occurrence.detector, occurrence.null_events) == (800, "QM1", 1)
    assert occurrence.reconciliation is not None
    assert occurrence.reconciliation.computed_depth == 800
    assert enabled(simulation) == SWITCHED
    assert max(each.high_q_depth for each in simulation.events) == 800


def test_se2_idle_disabled_member_leaves_no_gap() -> None:
    simulation = case(qm3="DISABLED")
    assert message_counts(simulation) == [("High", "QM1", 600, 0), ("High", "QM2", 300, 100)]
    (occurrence,) = simulation.occurrences
    assert missing_messages(occurrence) == (("QM3", "perfmev_disabled"),)
    assert occurrence.reconciliation is not None
    assert (occurrence.reconciliation.computed_depth, occurrence.reconciliation.unreconciled) == (800, 0)
    assert "EVENT_SET_INCOMPLETE" not in codes(simulation)


def test_se3_messages_of_a_disabled_member_are_unreconciled() -> None:
    simulation = case(qm2="DISABLED")
    assert message_counts(simulation) == [("High", "QM1", 600, 0), ("High", "QM3", 0, 0)]
    (occurrence,) = simulation.occurrences
    assert occurrence.reconciliation is not None
    assert (occurrence.reconciliation.computed_depth, occurrence.reconciliation.unreconciled) == (600, 200)
    (cause,) = occurrence.reconciliation.causes
    assert (cause.cause, cause.queue_manager, cause.messages) == ("perfmev_disabled", "QM2", 200)
    (finding,) = [each for each in simulation.findings if each.code == "EVENT_SET_INCOMPLETE"]
    assert "QM2 did not report 200 messages" in finding.message


def test_se4_disabled_detector_switches_without_a_message() -> None:
    simulation = case(qm1="DISABLED")
    assert message_counts(simulation) == []
    assert enabled(simulation) == SWITCHED
    (occurrence,) = simulation.occurrences
    assert not occurrence.written
    assert occurrence.correl_id is None
    assert missing_messages(occurrence) == (
        ("QM1", "perfmev_disabled"),
        ("QM2", "not_asked"),
        ("QM3", "not_asked"),
    )
    assert {"EVENT_SWITCHED_SILENTLY", "EVENT_READING_MATTERS"} <= codes(simulation)
    (finding,) = [each for each in simulation.findings if each.code == "EVENT_READING_MATTERS"]
    assert "'silent', the timeline gives 0 messages; read as 'broadcast', 2 messages" in finding.message


def test_se4_other_members_write_messages_under_the_other_interpretation() -> None:
    simulation = case(qm1="DISABLED", disabled_detector="broadcast")
    assert message_counts(simulation) == [("High", "QM2", 300, 100), ("High", "QM3", 0, 0)]
    assert enabled(simulation) == SWITCHED
    (occurrence,) = simulation.occurrences
    assert occurrence.reconciliation is not None
    assert (occurrence.reconciliation.computed_depth, occurrence.reconciliation.unreconciled) == (200, 600)
    assert "EVENT_SWITCHED_SILENTLY" not in codes(simulation)


def test_se5_inactive_member_writes_no_message() -> None:
    simulation = case(active=False)
    assert message_counts(simulation) == [("High", "QM1", 600, 0), ("High", "QM2", 300, 100)]
    (occurrence,) = simulation.occurrences
    assert missing_messages(occurrence) == (("QM3", "not_active"),)
    assert occurrence.reconciliation is not None
    assert occurrence.reconciliation.computed_depth == 800


@pytest.mark.parametrize("reading", ["silent", "broadcast"])
def test_se6_switches_change_without_messages_if_all_members_are_disabled(reading: str) -> None:
    simulation = case("DISABLED", "DISABLED", "DISABLED", disabled_detector=reading)
    assert message_counts(simulation) == []
    assert enabled(simulation) == SWITCHED
    assert "EVENT_READING_MATTERS" not in codes(simulation)


QM1_DISABLED = [member("QM1", "DISABLED")]
BOTH = [shared("SQ1"), nonshared("LQ1")]
SE7 = [do("put", "QM1", "SQ1", 800, at=1), do("put", "QM1", "LQ1", 800, at=1)]


def test_se7_only_the_shared_queue_switches_with_perfmev_disabled() -> None:
    simulation = play(QM1_DISABLED, BOTH, SE7)
    assert message_counts(simulation) == []
    assert enabled(simulation, "SQ1") == {"L", "F"}
    assert enabled(simulation, "LQ1") == {"H"}


SE8 = [
    *SE7,
    {"at": 2, "action": "alter_qmgr", "queue_manager": "QM1", "perfmev": "ENABLED"},
    do("put", "QM1", "SQ1", 1, at=3),
    do("put", "QM1", "LQ1", 1, at=3),
]


def test_se8_only_the_nonshared_queue_reports_at_the_next_put_after_enabling() -> None:
    simulation = play(QM1_DISABLED, BOTH, SE8)
    assert [(each.event.reason, each.queue) for each in simulation.events] == [(2224, "LQ1")]
    assert enabled(simulation, "SQ1") == enabled(simulation, "LQ1") == {"L", "F"}


@pytest.mark.parametrize(
    ("then", "reason"),
    [(do("get", "QM1", "SQ1", 601, at=4), 2225), (do("put", "QM1", "SQ1", 200, at=4), 2053)],
    ids=["down to QDEPTHLO", "a rejected put"],
)
def test_se8_shared_queue_reports_again_at_low_or_full(then: dict[str, object], reason: int) -> None:
    simulation = play(QM1_DISABLED, BOTH, [*SE8, then])
    assert [(each.event.reason, each.queue) for each in simulation.events] == [
        (2224, "LQ1"),
        (reason, "SQ1"),
    ]


def test_se9_thirty_one_idle_members_give_null_events() -> None:
    members = [member(f"M{number:03}") for number in range(32)]
    simulation = play(members, [shared()], [do("put", "M007", "SQ1", 800)])
    assert len(simulation.events) == 32
    assert sum(each.is_null for each in simulation.events) == 31
    assert simulation.events[0].queue_manager == "M007"
    assert simulation.occurrences[0].null_events == 31
