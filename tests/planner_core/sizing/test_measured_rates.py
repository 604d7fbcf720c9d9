"""Transfer of measured rates from event sets to a plan document."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.depth_events.measured import MOST_SETS, PlanWithRates, with_rates
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, InputInvalid
from planner_core.plan.evaluate import evaluate
from tests.planner_core.plans import varied

HIGH, LOW, FULL = 2224, 2225, 2053


def member(name: str, puts: int, gets: int, seconds: float | None = 100, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "queue_manager": name,
        "msg_enq_count": puts,
        "msg_deq_count": gets,
        "rate_seconds": seconds,
        "time_since_reset_s": None,
        **more,
    }


def of(queue: str, reason: int, *members: dict[str, Any]) -> dict[str, Any]:
    return {"queue": queue, "reason": reason, "members": list(members)}


PLAN = varied(queue_managers=["QM1", "QM2"])


def plan_with_rates(sets: Any, **more: Any) -> PlanWithRates:  # noqa: ANN401
    return with_rates(PLAN, {"sets": sets}, **more)


def rates(made: PlanWithRates) -> Any:  # noqa: ANN401
    return made.text["structures"][0]["queues"][0].get("queue_manager_rates")


def test_rates_between_events_match_ibms_second_example() -> None:
    # Event 9, Queue Full: 324 puts and 124 gets since event 8. Taken as 100 seconds.
    made = plan_with_rates(
        [of("Q1", HIGH, member("QM1", 1377, 777)), of("Q1", FULL, member("QM1", 324, 124))]
    )
    assert rates(made) == {"QM1": {"put_rate_per_s": 3.24, "get_rate_per_s": 1.24}}
    assert made.taken[0].as_json() == {
        "queue": "Q1",
        "sets": 1,
        "put_rate_per_s": 3.24,
        "get_rate_per_s": 1.24,
        "queue_managers": ["QM1"],
    }


def test_given_document_stays_unchanged() -> None:
    before = copy.deepcopy(PLAN)
    made = plan_with_rates([of("Q1", FULL, member("QM1", 324, 124))])
    assert rates(made) is not None
    assert before == PLAN
    without = plan_with_rates([])
    assert without.text == PLAN
    assert without.plan == read_object(PLAN)


def test_set_ending_with_low_is_not_used_for_filling() -> None:
    sets = [of("Q1", HIGH, member("QM1", 500, 100)), of("Q1", LOW, member("QM1", 0, 900))]
    assert rates(plan_with_rates(sets)) == {"QM1": {"put_rate_per_s": 5, "get_rate_per_s": 1}}
    assert rates(plan_with_rates(sets, using="all")) == {"QM1": {"put_rate_per_s": 2.5, "get_rate_per_s": 5}}
    only_low = plan_with_rates(sets[1:])
    assert rates(only_low) is None
    assert "no set ends with Queue Depth High" in only_low.passed_over[0].reason


def test_rates_use_the_time_of_each_member_and_zero_for_idle_ones() -> None:
    idle = member("QM2", 0, 0, None, time_since_reset_s=100)
    made = plan_with_rates([of("Q1", HIGH, member("QM1", 500, 100, 50), idle)])
    assert rates(made) == {
        "QM1": {"put_rate_per_s": 10, "get_rate_per_s": 2},
        "QM2": {"put_rate_per_s": 0, "get_rate_per_s": 0},
    }


def test_set_without_a_time_has_no_rate() -> None:
    made = plan_with_rates([of("Q1", HIGH, member("QM1", 500, 100, None))])
    assert rates(made) is None
    assert made.passed_over[0].reason == "no set has a time"


def test_queues_and_queue_managers_not_in_the_plan_are_reported() -> None:
    made = plan_with_rates([of("OTHER", HIGH, member("QM1", 1, 0)), of("Q1", HIGH, member("QM9", 1, 0))])
    assert [each.as_json()["queue"] for each in made.passed_over] == ["OTHER", "Q1"]
    assert "QM9" in made.passed_over[1].reason
    assert made.text == PLAN


def test_rates_of_queue_managers_replace_those_of_the_queue() -> None:
    plan = copy.deepcopy(PLAN)
    plan["structures"][0]["queues"][0] |= {"put_rate_per_s": 9, "get_rate_per_s": 1}
    made = with_rates(plan, [of("Q1", HIGH, member("QM1", 500, 100))])
    queue = made.text["structures"][0]["queues"][0]
    assert {"put_rate_per_s", "get_rate_per_s"}.isdisjoint(queue)
    advice = evaluate(made.plan).structures[1].depth_events
    assert advice is not None
    assert advice.queues[0].planned is not None
    assert advice.queues[0].planned.net_rate == 4
    rated = copy.deepcopy(PLAN)
    rated["structures"][0]["queues"][0] = {
        "name": "Q1",
        "message_bytes": 1,
        "put_rate_per_s": 9,
        "outage_minutes": 5,
        "get_rate_per_s": 1,
    }
    made = with_rates(rated, [of("Q1", HIGH, member("QM1", 500, 100))])
    assert made.text["structures"][0]["queues"][0]["put_rate_per_s"] == 9  # it makes the backlog


@pytest.mark.parametrize(
    ("sets", "field"),
    [
        ({}, "/sets"),
        ({"sets": 3}, "/sets"),
        ([3], "/0"),
        ([{"queue": ""}], "/0/queue"),
        ([{"queue": "Q1", "reason": True}], "/0/reason"),
        ([of("Q1", HIGH) | {"members": 3}], "/0/members"),
        ([of("Q1", HIGH, {"queue_manager": 3})], "/0/members/0/queue_manager"),
        ([of("Q1", HIGH, member("QM1", -1, 0))], "/0/members/0/msg_enq_count"),
        ([of("Q1", HIGH, member("QM1", 1, 0, -1))], "/0/members/0/rate_seconds"),
        ([of("Q1", HIGH, member("QM1", 1, 0, "soon"))], "/0/members/0/rate_seconds"),  # type: ignore[arg-type]
        ([of("Q1", HIGH)] * (MOST_SETS + 1), ""),
    ],
)
def test_invalid_sets_are_refused_with_their_place(sets: object, field: str) -> None:
    with pytest.raises(InputInvalid) as caught:
        with_rates(PLAN, sets)
    assert caught.value.problems[0].field == field


def test_document_with_rates_is_validated_as_a_plan() -> None:
    with pytest.raises(DocumentInvalid):
        with_rates({"qsg": "Q"}, [])


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**13) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["queue", "reason", "members", "sets", "queue_manager"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(values)
def test_with_rates_raises_only_documented_errors(sets: object) -> None:
    with contextlib.suppress(InputInvalid):
        assert with_rates(PLAN, sets).text == PLAN
