"""Load of clusters on structures: IBM's example with its rates, and cases calculated by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.texts.documents import example_text, parse_yaml
from planner_core.clusters.flow import Failure, flow_of
from planner_core.document.model import Cluster
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.plan.evaluate import evaluate

INSTANCES: list[dict[str, Any]] = [
    {"queue_manager": "NEWYORK"},
    {"queue_manager": "P1", "shared": True},
    {"queue_manager": "P2", "shared": True},
    {"queue_manager": "P3", "shared": True},
]
PLAN: dict[str, Any] = {
    "qsg": "SQ03",
    "queue_managers": ["P1", "P2", "P3"],
    "cfcc_level": 14,
    "structures": [
        {
            "name": "INVENTORY1",
            "queues": [
                {"name": "INVENTQ", "message_bytes": 2048, "put_rate_per_s": 750, "outage_minutes": 4}
            ],
        }
    ],
    "clusters": [
        {
            "name": "INVENTORY",
            "queue": "INVENTQ",
            "sender": "LONDON",
            "rate_per_s": 1000,
            "instances": INSTANCES,
        }
    ],
}


def varied(*, queue: dict[str, Any] | None = None, **cluster: object) -> dict[str, Any]:
    """Return PLAN with changes to the keys of its cluster and its queue."""
    plan = copy.deepcopy(PLAN)
    plan["clusters"][0].update(cluster)
    if queue is not None:
        plan["structures"][0]["queues"][0] = {"name": "INVENTQ", "message_bytes": 2048, **queue}
    return plan


def load(plan: dict[str, Any]) -> dict[str, Any]:
    found: Any = evaluate(read_object(plan)).as_json()
    return found["clusters"]


def codes(plan: dict[str, Any]) -> list[str]:
    findings = evaluate(read_object(plan)).findings
    return [item.code for item in findings if item.code.startswith("CLUSTER_")]


def during(found: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    (structure,) = found["structures"]
    (one,) = [each for each in structure["failures"] if (each["kind"], each["name"]) == (kind, name)]
    return one


def in_flow(found: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    (flow,) = found["flows"]
    (one,) = [each for each in flow["failures"] if (each["kind"], each["name"]) == (kind, name)]
    return one


def test_shared_queue_with_three_of_four_instances_gets_three_quarters() -> None:
    (flow,) = load(PLAN)["flows"]
    assert [
        (item["name"], item["rate_per_s"], item["share_percent"]) for item in flow["physical_queues"]
    ] == [
        ("NEWYORK", 250, 25),
        ("SQ03", 750, 75),
    ]
    assert [item["rate_per_s"] for item in flow["instances"]] == [250, 250, 250, 250]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("channel", "TO.NEWYORK"), ("queue_manager", "NEWYORK"), ("destination", "NEWYORK")],
)
def test_failure_of_newyork_raises_the_rate_of_the_group_by_a_third(kind: str, name: str) -> None:
    found = load(PLAN)
    one = during(found, kind, name)
    assert (one["rate_per_s"], one["change_percent"]) == (1000, 33.333)
    assert in_flow(found, kind, name)["rates_per_s"] == {"SQ03": 1000}


def test_failure_of_a_member_moves_its_share_to_newyork() -> None:
    found = load(PLAN)
    for kind, name in (("channel", "TO.P1"), ("queue_manager", "P1")):
        assert in_flow(found, kind, name)["rates_per_s"] == {"NEWYORK": 333.333, "SQ03": 666.667}
        assert during(found, kind, name)["change_percent"] == -11.111


def test_messages_collected_before_detection_arrive_as_a_burst() -> None:
    """250 a second for 300 + 60 seconds are 90 000 messages, and all of them are new to the structure."""
    found = load(PLAN)
    (queue,) = during(found, "channel", "TO.NEWYORK")["queues"]
    assert (queue["burst_messages"], queue["added_messages"]) == (90_000, 90_000)
    assert in_flow(found, "channel", "TO.NEWYORK")["burst_messages"] == {"SQ03": 90_000}


def test_messages_moving_between_members_do_not_add_to_the_backlog() -> None:
    found = load(PLAN)
    (queue,) = during(found, "channel", "TO.P1")["queues"]
    assert (queue["burst_messages"], queue["added_messages"]) == (60_000, 0)
    assert queue["messages"] == 180_000  # 750 a second for four minutes: the plan's own backlog
    only_members = load(varied(instances=INSTANCES[1:]))
    (queue,) = during(only_members, "channel", "TO.P1")["queues"]
    assert during(only_members, "channel", "TO.P1")["change_percent"] == 0
    assert queue["added_messages"] == 0
    assert queue["messages"] == 180_000


@pytest.mark.parametrize(
    ("given", "seconds"),
    [({"hbint": 300}, 360), ({"hbint": 60}, 120), ({"hbint": 59}, 118), ({"hbint": 5}, 10), ({"hbint": 0}, 360),
     ({"hbint": 300, "detect_seconds": 20}, 20)],
)  # fmt: skip
def test_detection_time_comes_from_the_plan_or_the_heartbeat(given: dict[str, Any], seconds: int) -> None:
    found = load(varied(**given))
    assert found["flows"][0]["detect_seconds"] == seconds
    (queue,) = during(found, "channel", "TO.NEWYORK")["queues"]
    assert queue["burst_messages"] == 250 * seconds
    assert ("CLUSTER_DETECTION_ASSUMED" in codes(varied(**given))) == ("detect_seconds" not in given)


def test_bound_messages_neither_move_nor_join_the_burst() -> None:
    found = load(varied(not_fixed_percent=40))
    one = in_flow(found, "channel", "TO.NEWYORK")
    assert one["rates_per_s"] == {"SQ03": 850}  # 750 and 40 % of 250
    assert one["waiting_per_s"] == 150
    assert one["burst_messages"] == {"SQ03": 36_000}


def test_sizes_that_survive_a_failure_equal_those_of_a_plan_with_that_backlog() -> None:
    """1000 a second for four minutes plus the burst are 330 000 messages: a plan with that backlog has the same size."""
    (structure,) = load(PLAN)["structures"]
    assert structure["survives"]["messages"] == 240_000 + 90_000
    alone = copy.deepcopy(PLAN)
    del alone["clusters"]
    alone["structures"][0]["queues"] = [{"name": "INVENTQ", "message_bytes": 2048, "backlog": 330_000}]
    sized = evaluate(read_object(alone)).structures[1]
    assert structure["survives"]["need_bytes"] == sized.sizes.need_bytes
    assert structure["survives"]["initsize_kib"] * 1024 == sized.sizes.initsize_bytes
    assert structure["survives"]["size_kib"] * 1024 == sized.sizes.size_bytes
    assert structure["survives"]["holds_in_initsize"] is False
    planned = evaluate(read_object(PLAN)).structures[1].sizes
    assert structure["survives"]["planned_initsize_kib"] * 1024 == planned.initsize_bytes
    assert structure["survives"]["planned_size_kib"] * 1024 == planned.size_bytes
    assert "CLUSTER_FAILURE_ABOVE_INITSIZE" in codes(PLAN)


def test_sufficiently_large_structure_has_no_finding() -> None:
    plan = varied()
    plan["structures"][0] |= {"initsize": "2G", "size": "3G"}
    (structure,) = load(plan)["structures"]
    assert structure["survives"]["holds_in_initsize"] is True
    assert structure["survives"]["initsize_kib"] < 2 * 2**20  # computed, whatever the plan gives
    assert "CLUSTER_FAILURE_ABOVE_INITSIZE" not in codes(plan)


def test_backlog_of_a_queue_without_a_rate_grows_at_the_rate_of_its_clusters() -> None:
    found = load(varied(queue={"backlog": 30_000}))
    (queue,) = during(found, "channel", "TO.NEWYORK")["queues"]
    assert queue["messages"] == 40_000 + 90_000  # 30 000 by 1000/750, and the burst


def test_backup_structure_gets_all_messages_if_the_preferred_destination_fails() -> None:
    """With priority on NEWYORK the group gets nothing until NEWYORK fails, and then everything."""
    instances = [{"queue_manager": "NEWYORK", "channels": [{"clwlprty": 9}]}, *INSTANCES[1:]]
    found = load(varied(instances=instances, queue={"backlog": 1000}, outage_minutes=2))
    assert found["structures"][0]["rate_per_s"] == 0
    one = during(found, "queue_manager", "NEWYORK")
    assert (one["rate_per_s"], one["change_percent"]) == (1000, None)
    assert one["queues"][0]["burst_messages"] == 360_000
    assert one["messages"] == 1000 + 1000 * 120 + 360_000


def test_higher_rank_of_a_failed_queue_manager_keeps_all_messages_at_the_sender() -> None:
    instances = [{"queue_manager": "NEWYORK", "channels": [{"clwlrank": 1}]}, *INSTANCES[1:]]
    plan = varied(instances=instances)
    one = in_flow(load(plan), "queue_manager", "NEWYORK")
    assert one["rates_per_s"] == {}
    assert one["waiting_per_s"] == 1000
    assert one["burst_messages"] == {}
    assert "CLUSTER_RANK_DECIDES" in codes(plan)


def test_bound_messages_arrive_when_their_destination_returns() -> None:
    """P1 fails for 10 minutes: 250 a second are bound, 150 000 wait, in addition to the backlog of 180 000."""
    found = load(varied(not_fixed_percent=0, outage_minutes=10))
    (queue,) = during(found, "queue_manager", "P1")["queues"]
    assert queue["waiting_messages"] == 150_000
    assert queue["surge_messages"] == 150_000
    assert queue["surge_seconds"] is None
    assert queue["messages"] == 330_000
    longer = load(varied(not_fixed_percent=0, outage_minutes=20))
    assert during(longer, "queue_manager", "P1")["queues"][0]["messages"] == 480_000


def test_surge_is_reduced_by_messages_that_consumers_get_meanwhile() -> None:
    """Consumers get 1000 a second and 750 arrive normally, so half of the 500 returning ones stay."""
    gets = [{**item, "get_rate_per_s": 1000} if item.get("shared") else item for item in INSTANCES]
    gets[1]["get_rate_per_s"], gets[2]["get_rate_per_s"], gets[3]["get_rate_per_s"] = 400, 300, 300
    found = load(varied(not_fixed_percent=0, outage_minutes=20, return_rate_per_s=500, instances=gets))
    (queue,) = during(found, "queue_manager", "P1")["queues"]
    assert queue["waiting_messages"] == 300_000
    assert queue["surge_seconds"] == 600
    assert queue["surge_messages"] == 150_000


def test_surge_of_a_queue_without_an_outage_is_unknown() -> None:
    plan = varied(not_fixed_percent=0, queue={"backlog": 1000})
    (queue,) = during(load(plan), "queue_manager", "P1")["queues"]
    assert queue["waiting_messages"] is None
    assert "CLUSTER_OUTAGE_MISSING" in codes(plan)
    assert "CLUSTER_OUTAGE_MISSING" not in codes(varied(queue={"backlog": 1000}))


def test_slow_consumers_are_reported() -> None:
    gets = [{**item, "get_rate_per_s": 300} if item.get("shared") else item for item in INSTANCES]
    found = load(varied(instances=gets))
    assert during(found, "queue_manager", "NEWYORK")["queues"][0]["growth_per_s"] == 100
    assert during(found, "queue_manager", "P1")["queues"][0]["gets_per_s"] == 600
    assert during(found, "channel", "TO.P1")["queues"][0]["gets_per_s"] == 900
    assert "CLUSTER_GETS_TOO_SLOW" in codes(varied(instances=gets))
    enough = [{**item, "get_rate_per_s": 500} if item.get("shared") else item for item in INSTANCES]
    assert "CLUSTER_GETS_TOO_SLOW" not in codes(varied(instances=enough))


def test_rates_and_bursts_grow_with_the_plan() -> None:
    plan = {**varied(), "growth": {"percent_per_year": 100, "years": 1}}
    found = load(plan)
    assert found["flows"][0]["rate_per_s"] == 2000
    (queue,) = during(found, "channel", "TO.NEWYORK")["queues"]
    assert queue["burst_messages"] == 180_000
    assert found["structures"][0]["survives"]["messages"] == 660_000


def test_contradictions_between_clusters_and_plan_are_reported() -> None:
    elsewhere = varied()
    elsewhere["clusters"][0]["queue"] = "OTHERQ"
    assert "CLUSTER_QUEUE_NOT_IN_PLAN" in codes(elsewhere)
    assert load(elsewhere)["structures"] == []
    stranger = varied(instances=[*INSTANCES, {"queue_manager": "P9", "shared": True}])
    assert "CLUSTER_MEMBER_UNKNOWN" in codes(stranger)
    assert "CLUSTER_MEMBER_UNKNOWN" not in codes({**stranger, "queue_managers": 4})
    assert "CLUSTER_RATE_ABOVE_PLAN" in codes(varied(queue={"put_rate_per_s": 749, "outage_minutes": 4}))
    assert "CLUSTER_RATE_ABOVE_PLAN" not in codes(PLAN)
    assert "CLUSTER_SHARES_ONE_QUEUE" in codes(PLAN)


def test_sending_member_uses_its_own_instance_if_local_is_not_stated() -> None:
    found = load(varied(sender="P1"))
    assert found["flows"][0]["chosen"] == ["P1"]
    other = varied(instances=[{"queue_manager": "P1", "shared": True, "local": True}])
    with pytest.raises(DocumentInvalid) as caught:
        read_object(other)
    assert [problem.field for problem in caught.value.problems] == ["/clusters/0/instances/0/local"]


def test_failed_channel_is_never_more_favored_than_before() -> None:
    paused = [{**item, "channels": [{"status": "PAUSED"}]} for item in INSTANCES]
    found = in_flow(load(varied(instances=paused)), "channel", "TO.NEWYORK")
    assert found["chosen"] == ["NEWYORK", "P1", "P2", "P3"]


def test_rates_of_two_senders_are_added() -> None:
    plan = varied()
    plan["clusters"].append({**plan["clusters"][0], "sender": "PARIS", "rate_per_s": 200})
    found = load(plan)
    assert found["structures"][0]["rate_per_s"] == 900
    assert during(found, "queue_manager", "NEWYORK")["rate_per_s"] == 1200
    assert during(found, "queue_manager", "NEWYORK")["queues"][0]["added_messages"] == 108_000


def test_result_of_a_plan_without_clusters_has_no_load() -> None:
    plan = varied()
    del plan["clusters"]
    assert "clusters" not in evaluate(read_object(plan)).as_json()
    with_none = evaluate(read_object({**plan, "clusters": []})).as_json()
    assert with_none == evaluate(read_object(plan)).as_json()


def test_plan_with_clusters_is_read_back_unchanged() -> None:
    for plan in (PLAN, parse_yaml(example_text("inventory.yaml").encode())):
        document = read_object(plan)
        again = read_object(document.model_dump(mode="json"))
        assert again == document
        assert evaluate(again).as_json() == evaluate(document).as_json()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rate_per_s": -1}, "/clusters/0/rate_per_s"),
        ({"not_fixed_percent": 101}, "/clusters/0/not_fixed_percent"),
        ({"instances": []}, "/clusters/0/instances"),
        ({"instances": [{"queue_manager": "A"}, {"queue_manager": "A"}]}, "/clusters/0/instances/1/queue_manager"),
        ({"instances": [{"queue_manager": "A", "channels": [{"clwlwght": 0}]}]},
         "/clusters/0/instances/0/channels/0/clwlwght"),
        ({"mode": "both"}, "/clusters/0/mode"),
        ({"instances": [{"queue_manager": f"Q{n}", "channels": [{"channel": f"C{i}"} for i in range(4)]}
                        for n in range(51)]}, "/clusters"),
    ],
)  # fmt: skip
def test_invalid_cluster_fields_are_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        read_object(varied(**change))
    assert field in {problem.field for problem in caught.value.problems}


def test_repeated_sender_is_refused() -> None:
    plan = varied()
    plan["clusters"].append(plan["clusters"][0])
    with pytest.raises(DocumentInvalid, match="already at /clusters/0"):
        read_object(plan)


instances = st.lists(
    st.builds(
        lambda name, rank, priority, weight, shared: {
            "queue_manager": name,
            "shared": shared,
            "channels": [{"clwlrank": rank, "clwlprty": priority, "clwlwght": weight}],
        },
        st.sampled_from("ABCDEF"),
        st.integers(0, 1),
        st.integers(0, 1),
        st.integers(1, 99),
        st.booleans(),
    ),
    min_size=1,
    unique_by=lambda item: item["queue_manager"],
)


@settings(max_examples=60)
@given(instances, st.integers(0, 5000), st.integers(0, 100))
def test_failures_neither_lose_nor_add_messages(
    given_instances: list[dict[str, Any]], rate: int, percent: int
) -> None:
    """Messages arrive or wait during any failure, and the burst is at most the collected messages."""
    entry = {"name": "C", "queue": "Q", "rate_per_s": rate, "not_fixed_percent": percent}
    document = read_object(
        {"qsg": "SQ03", "queue_managers": 3, "clusters": [{**entry, "instances": given_instances}]}
    )
    cluster: Cluster = document.clusters[0]
    flow = flow_of(cluster, index=0, qsg="SQ03")
    assert sum(flow.arriving.values()) == rate
    for failure in flow.failures:
        outcome = flow.during(failure)
        assert sum(outcome.arriving.values()) + outcome.waiting_per_s == rate
        assert sum(outcome.burst.values()) <= sum(outcome.due.values())
    nothing = flow.during(Failure("queue_manager", "NOBODY"))
    assert nothing.arriving == flow.arriving
    assert nothing.burst == {}


SIZES = st.one_of(st.integers(0, 70_000), st.just({"mean": 3500, "p95": 12_000, "max": 60_000}))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(SIZES, st.integers(0, 200_000)), min_size=2, max_size=5),
    st.integers(1, 2000),
    st.booleans(),
    st.integers(0, 30),
)
def test_need_during_a_failure_equals_that_of_a_plan_with_the_same_depths(
    queues: list[tuple[Any, int]], rate: int, with_offload: bool, percent_per_year: int
) -> None:
    """Compare the need of each failure with that of a plan with the depths in the answer."""
    listed = [
        {"name": f"Q{place}", "message_bytes": sizes, "backlog": backlog}
        for place, (sizes, backlog) in enumerate(queues)
    ]
    structure = {"name": "APP1", "size_with_offload": with_offload, "queues": listed}
    plan = {
        "qsg": "SQ03",
        "queue_managers": 3,
        "growth": {"percent_per_year": percent_per_year, "years": 1},
        "structures": [structure],
        "clusters": [
            {"name": "C", "queue": f"Q{place}", "rate_per_s": rate, "instances": INSTANCES[: 2 + place]}
            for place in (0, 1)
        ],
    }
    result: Any = evaluate(read_object(plan)).as_json()
    grown = {  # as the plan has them: rounded up to whole messages
        queue["name"]: -(-queue["backlog"] * (100 + percent_per_year) // 100) for queue in listed
    }
    (loaded,) = result["clusters"]["structures"]
    assert loaded["failures"]
    for failure in loaded["failures"]:
        deep = {**grown, **{each["queue"]: each["messages"] for each in failure["queues"]}}
        alone = copy.deepcopy(plan)
        del alone["clusters"], alone["growth"]
        alone["structures"][0]["queues"] = [  # type: ignore[index]
            {**queue, "backlog": deep[queue["name"]]} for queue in listed
        ]
        again: Any = evaluate(read_object(alone)).as_json()
        assert failure["need_bytes"] == again["structures"][1]["need_bytes"]
        assert failure["messages"] == again["structures"][1]["messages"]


def test_burst_of_the_ibm_example_needs_the_expected_bytes() -> None:
    """90 000 messages of 2 KB at CFCC level 14: ten elements each, six to a bundle of 2018.688 bytes."""
    grown = load(PLAN)["structures"][0]["failures"][0]["need_bytes"]
    plan = varied(detect_seconds=0)
    without = load(plan)["structures"][0]["failures"][0]["need_bytes"]
    assert grown - without == 302_803_200


def test_structure_lists_only_failures_that_affect_it() -> None:
    plan = varied()
    plan["structures"].append(
        {"name": "OTHER1", "queues": [{"name": "OTHERQ", "message_bytes": 100, "backlog": 10}]}
    )
    plan["clusters"].append(
        {"name": "C2", "queue": "OTHERQ", "rate_per_s": 1,
         "instances": [{"queue_manager": "MADRID"}, {"queue_manager": "P1", "shared": True}]}
    )  # fmt: skip
    first, second = load(plan)["structures"]
    assert "MADRID" not in {each["name"] for each in first["failures"]}
    assert "NEWYORK" not in {each["name"] for each in second["failures"]}
    assert {each["queue"] for each in first["failures"][0]["queues"]} == {"INVENTQ"}
