"""Rates from incomplete sets: omissions are reported, and a part of a set is never treated as the whole set."""

from __future__ import annotations

from typing import Any

import pytest

from planner_core.depth_events.measured import PlanWithRates, with_rates
from planner_core.depth_events.reading import read_all
from planner_core.depth_events.sets import EventContext, QueueFacts
from tests.planner_core.depth_events.reading.support import CORREL, FULL, HIGH, LOW, EventValues, as_lines

QUEUE = {"name": "SQ1", "message_bytes": 2048, "backlog": 60_000}
PLAN: dict[str, Any] = {
    "qsg": "QSG1",
    "queue_managers": ["QM1", "QM2", "QM3"],
    "structures": [{"name": "APPLICATION1", "queues": [QUEUE]}],
}
OTHER_CORREL = CORREL[:-1] + "E"


def event_values(
    name: str, puts: int, seconds: int, *, reason: int = HIGH, correl_id: str = CORREL
) -> EventValues:
    return EventValues(name, "SQ1", reason, seconds, 800, puts, 0, correl_id)


def plan_with_rates(
    *messages: EventValues,
    known: EventContext | None = None,
    using: Any = "filling",  # noqa: ANN401
) -> PlanWithRates:
    reading = read_all([("events", as_lines(*messages))], known or EventContext())
    return with_rates(PLAN, reading.as_json(), using=using)


def rates(made: PlanWithRates) -> Any:  # noqa: ANN401
    return made.text["structures"][0]["queues"][0].get("queue_manager_rates")


def test_set_without_the_time_of_a_putting_member_has_no_rates() -> None:
    made = plan_with_rates(event_values("QM1", 600, 120), event_values("QM2", 200, 0))
    assert rates(made) is None
    assert made.passed_over[0].reason == "no set has the times of all members that put or got"
    made = plan_with_rates(event_values("QM1", 600, 120), event_values("QM2", 200, 120))
    assert rates(made) == {
        "QM1": {"put_rate_per_s": 5, "get_rate_per_s": 0},
        "QM2": {"put_rate_per_s": 1.666667, "get_rate_per_s": 0},
    }


def test_idle_member_without_a_time_is_ignored() -> None:
    made = plan_with_rates(event_values("QM1", 600, 120), event_values("QM2", 0, 0))
    assert rates(made) == {"QM1": {"put_rate_per_s": 5, "get_rate_per_s": 0}}


def test_newest_set_with_a_time_is_used() -> None:
    at_once = event_values("QM1", 200, 0, reason=FULL, correl_id=OTHER_CORREL)
    for using in ("filling", "all"):
        made = plan_with_rates(event_values("QM1", 600, 100), at_once, using=using)
        assert rates(made) == {"QM1": {"put_rate_per_s": 6, "get_rate_per_s": 0}}
        assert made.taken[0].sets == 1


def test_member_without_a_message_is_reported_with_the_rates() -> None:
    known = EventContext(members=["QM1", "QM2"], queues={"SQ1": QueueFacts(depth_before=0)})
    made = plan_with_rates(event_values("QM1", 600, 100), known=known)
    assert rates(made) == {"QM1": {"put_rate_per_s": 6, "get_rate_per_s": 0}}
    (finding,) = made.findings
    assert finding.code == "MEASURED_RATES_INCOMPLETE"
    assert "the puts and gets of QM2, and 200 puts or gets that are not in any message" in finding.message
    assert finding.field == "/structures/0/queues/0/queue_manager_rates"
    assert made.as_json()["findings"] == [finding.as_json()]


def test_complete_set_has_no_finding() -> None:
    known = EventContext(members=["QM1", "QM2"], queues={"SQ1": QueueFacts(depth_before=0)})
    assert (
        plan_with_rates(event_values("QM1", 600, 100), event_values("QM2", 200, 100), known=known).findings
        == ()
    )


def test_gap_after_an_assumed_depth_is_not_reported() -> None:
    assert plan_with_rates(event_values("QM1", 600, 100)).findings == ()


@pytest.mark.parametrize("members", [["QM1"], ["QM1", "QM2"]])
def test_gaps_of_unused_sets_are_not_reported(members: list[str]) -> None:
    low = event_values("QM1", 0, 100, reason=LOW, correl_id=OTHER_CORREL)
    known = EventContext(members=members, queues={"SQ1": QueueFacts(depth_before=0)})
    made = plan_with_rates(event_values("QM1", 800, 100), event_values("QM2", 0, 100), low, known=known)
    assert made.findings == ()


@pytest.mark.parametrize(
    "spoilt", [{"missing": 3}, {"missing": [4]}, {"reconciliation": {"unreconciled": "x"}}]
)
def test_sets_without_missing_messages_are_treated_as_complete(spoilt: dict[str, Any]) -> None:
    made = read_all([("events", as_lines(event_values("QM1", 600, 100)))], EventContext())
    one = made.sets[0].as_json()
    assert with_rates(PLAN, [one | spoilt]).findings == ()
