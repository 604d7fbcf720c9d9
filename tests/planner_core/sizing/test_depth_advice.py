"""MAXDEPTH, QDEPTHHI and QDEPTHLO from the capacity of a structure: worked examples, and properties of every plan."""

from __future__ import annotations

import copy
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.demand import QueueDemand, band_edges, demand_of
from planner_core.sizing.filling import fill, two_pools
from planner_core.sizing.offload import Rule, can_fire
from planner_core.sizing.smds import message_header_bytes, page_bytes
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_result import StructureResult
from tests.planner_core.plan.test_explanations import check
from tests.planner_core.plans import documents, findings_of, varied

Json = dict[str, Any]
MIB = 2**20


def structure_of(**paths: Any) -> StructureResult:  # noqa: ANN401
    return evaluate(read_object(varied(**paths))).structures[1]


def advice_of(**paths: Any) -> Any:  # noqa: ANN401
    return structure_answer(structure_of(**paths), depths=True).as_json()["depth_events"]


def queue(name: str, message_bytes: Any, backlog: int, **more: Any) -> Json:  # noqa: ANN401
    return {"name": name, "message_bytes": message_bytes, "backlog": backlog, **more}


# ---- the structure of IBM's Table 2 era: 512 MB, 2 KB messages, default rules, CFCC 14 -----------------------------

ERA: Json = {
    "cfcc_level": 14,
    "structures__0__initsize": "512M",
    "structures__0__size": "512M",
    "structures__0__queues": [queue("Q1", 2048, 100_000, maxdepth=200_000, qdepthhi=80, qdepthlo=20)],
}


def test_capacity_for_one_queue_alone_matches_the_documented_example() -> None:
    # 512 MiB at CFCC 14 hold 157 672 messages of 2 048 bytes; with the default rules 220 741, and only the rule for
    # messages over 0K fires, from 141 905 on, at 90 %. FULLTHRESHOLD(85) comes first: 85 % of 157 672 is 134 021.
    found = advice_of(**ERA)
    assert (found["action"], found["action_percent"]) == ("FULLTHRESHOLD", 85)
    planned = found["queues"][0]["planned"]
    assert planned["alone_at_action_messages"] == 157_672 * 85 // 100 == 134_021
    assert planned["alone_in_initsize_messages"] == planned["alone_in_size_messages"] == 220_741


def test_first_rule_below_fullthreshold_is_the_action_level() -> None:
    found = advice_of(**ERA, structures__0__full_threshold=95)
    assert (found["action"], found["action_percent"]) == ("OFFLD3TH", 90)
    assert found["queues"][0]["planned"]["alone_at_action_messages"] == 141_905


def test_rule_without_matching_messages_sets_no_action_level() -> None:
    # 70 % and 80 % are for messages over 32K and 4K; there are none.
    assert advice_of(**ERA)["action_percent"] == 85
    large = [queue("Q1", 40_000, 1000)]
    assert advice_of(structures__0__queues=large)["action"] == "OFFLD1TH"


@pytest.mark.parametrize(
    ("target", "expected"), [(60, ("event_target_percent", 60)), (99, ("FULLTHRESHOLD", 85))]
)
def test_event_target_lowers_the_action_level(target: int, expected: tuple[str, int]) -> None:
    found = advice_of(**ERA, structures__0__event_target_percent=target)
    assert (found["action"], found["action_percent"]) == expected


def test_action_level_without_monitoring_and_rules_is_100_percent() -> None:
    found = advice_of(structures__0__full_threshold=0, structures__0__offload={"rules": []})
    assert (found["action"], found["action_percent"]) == ("full", 100)


@pytest.mark.parametrize(
    ("full_threshold", "expected"), [(0, ("OFFLD1TH", 1563)), (50, ("FULLTHRESHOLD", 1240))]
)
def test_capacity_of_the_only_queue_is_that_of_the_structure(
    full_threshold: int, expected: tuple[str, int]
) -> None:
    # A few of the messages are over 4K. So a rule is at work and elements are counted for the assumed shape of the sizes,
    # below the rule's threshold too: 1560 and 1238 messages would be those whose elements suffice for any shape.
    plan = {
        "structures__0__initsize": "33813K",
        "structures__0__full_threshold": full_threshold,
        "structures__0__offload": {"rules": [{"usage_over": 63, "size_over": "4K"}]},
        "structures__0__queues": [queue("Q1", {"mean": 2636, "p95": 4081, "max": 4182}, 1000, maxdepth=1000)],
    }
    found = advice_of(**plan)
    alone = found["queues"][0]["planned"]["alone_at_action_messages"]
    assert (found["action"], alone) == expected
    assert found["action_messages"] == alone
    check(varied(**plan), depths=True)


def test_rule_without_matching_messages_keeps_elements_for_any_distribution() -> None:
    found = advice_of(
        structures__0__initsize="33813K",
        structures__0__full_threshold=63,
        structures__0__offload={"rules": [{"usage_over": 70, "size_over": "5K"}]},
        structures__0__queues=[queue("Q1", {"mean": 2636, "p95": 4081, "max": 4182}, 1000, maxdepth=1000)],
    )
    assert found["queues"][0]["planned"]["alone_at_action_messages"] == found["action_messages"] == 1560


# ---- advice, worked by hand -----------------------------------------------------------------------------------------


def test_advice_for_one_queue_matches_manual_calculation() -> None:
    # 157 672 fit; at 85 % 134 021. A backlog of 100 000: its part at FULLTHRESHOLD is more, so MAXDEPTH is 134 021 and
    # QDEPTHHI would be 100; IBM's default of 80 leaves room before Queue Full. QDEPTHLO is a quarter of it.
    plan = copy.deepcopy(ERA)
    plan["structures__0__queues"] = [queue("Q1", 2048, 100_000)]
    assert advice_of(**plan)["queues"] == [
        {"name": "Q1", "maxdepth": 134_021, "qdepthhi": 80, "qdepthlo": 20}
    ]
    # 150 000 do not fit in 85 %: MAXDEPTH holds the backlog, and 134 021 of 150 000 are 89 %, so 80 it stays.
    plan["structures__0__queues"] = [queue("Q1", 2048, 150_000)]
    assert advice_of(**plan)["queues"] == [
        {"name": "Q1", "maxdepth": 150_000, "qdepthhi": 80, "qdepthlo": 20}
    ]
    # At a target of 60 %, 94 603 of 150 000 are 63 %.
    plan["structures__0__event_target_percent"] = 60
    assert advice_of(**plan)["queues"] == [
        {"name": "Q1", "maxdepth": 150_000, "qdepthhi": 63, "qdepthlo": 15}
    ]


def test_two_queues_share_the_structure_in_proportion_to_their_backlogs() -> None:
    plan = {**ERA, "structures__0__queues": [queue("A", 2048, 90_000), queue("B", 2048, 30_000)]}
    a, b = advice_of(**plan)["queues"]
    # 85 % are 134 021.8 messages: three quarters and one.
    assert (a["maxdepth"], b["maxdepth"]) == (100_516, 33_505)


def test_maxdepth_is_never_more_than_initsize_holds() -> None:
    # 300 000 do not fit in 512 MiB at all: with the rules at work 220 741 do.
    plan = {**ERA, "structures__0__queues": [queue("Q1", 2048, 300_000)]}
    assert advice_of(**plan)["queues"][0]["maxdepth"] == 220_741


def test_queue_without_a_backlog_gets_no_advice() -> None:
    plan = {**ERA, "structures__0__queues": [queue("A", 2048, 0), queue("B", 2048, 10)]}
    assert advice_of(**plan)["queues"][0] == {
        "name": "A",
        "maxdepth": None,
        "qdepthhi": None,
        "qdepthlo": None,
    }
    empty = advice_of(structures__0__queues=[queue("A", 2048, 0)])
    assert empty["action_messages"] is None


def test_document_without_depth_keys_gets_only_advice() -> None:
    found = advice_of()
    assert found["together"] is found["lead"] is found["event_messages_per_event"] is None
    assert [set(each) for each in found["queues"]] == [{"name", "maxdepth", "qdepthhi", "qdepthlo"}]
    assert found["assumptions"]
    assert all(each["basis"] == "assumed" and each["source"] for each in found["assumptions"])
    result = evaluate(read_object(varied())).as_json()
    assert [key for s in result["structures"] for key in s if key == "depth_events"] == ["depth_events"]


def test_result_has_advice_for_single_queues_only_on_request() -> None:
    plan = {**ERA, "perfmev": "ENABLED"}
    brief: Any = structure_answer(structure_of(**plan)).as_json()["depth_events"]
    whole = advice_of(**plan)
    assert "queues" not in brief
    assert brief == {key: value for key, value in whole.items() if key != "queues"}
    assert "assumptions" not in structure_answer(structure_of()).as_json()["depth_events"]


def test_perfmev_alone_gives_no_figures_for_all_queues() -> None:
    found = advice_of(perfmev="ENABLED")
    assert found["together"] is found["lead"] is None
    assert ["planned" in each for each in found["queues"]] == [True]


def test_given_thresholds_are_kept_and_completed() -> None:
    plan = {**ERA, "structures__0__queues": [queue("Q1", 2048, 100_000, maxdepth=400_000)]}
    planned = advice_of(**plan)["queues"][0]["planned"]
    # 134 021 of 400 000 are 33 %: 132 000 messages.
    assert (planned["maxdepth"], planned["qdepthhi"], planned["qdepthlo"]) == (400_000, 33, 8)
    assert (planned["high_at_messages"], planned["low_at_messages"]) == (132_000, 32_000)
    assert planned["given"] == ["maxdepth"]


@pytest.mark.parametrize(
    ("maxdepth", "high", "low", "expected"),
    [
        (1000, 80, 20, (800, 200)),
        (5, 80, 20, (4, 1)),
        (7, 80, 20, (6, 1)),
        (3, 50, 50, (2, 1)),
        (1000, 0, 0, (0, 0)),
    ],
)
def test_thresholds_match_ibms_examples(
    maxdepth: int, high: int, low: int, expected: tuple[int, int]
) -> None:
    given_queue = queue("Q1", 2048, 100, maxdepth=maxdepth, qdepthhi=high, qdepthlo=low)
    planned = advice_of(structures__0__queues=[given_queue])["queues"][0]["planned"]
    assert (planned["high_at_messages"], planned["low_at_messages"]) == expected


# ---- rates ----------------------------------------------------------------------------------------------------------


def test_lead_time_is_remaining_room_over_net_rate() -> None:
    # High at 160 000 would be beyond 134 021, so 50 %: high at 100 000. Net 40 - 30 = 10 a second.
    given_queue = queue(
        "Q1", 2048, 100_000, maxdepth=200_000, qdepthhi=50, put_rate_per_s=40, get_rate_per_s=30
    )
    found = advice_of(**{**ERA, "structures__0__queues": [given_queue]})
    planned = found["queues"][0]["planned"]
    assert planned["at_net_rate"] == {
        "to_maxdepth_s": (200_000 - 100_000) // 10,
        "to_action_s": (134_021 - 100_000) // 10,
        "to_full_s": (220_741 - 100_000) // 10,
    }
    assert planned["when_nothing_gets"]["to_action_s"] == (134_021 - 100_000) // 40
    assert planned["high_to_low_s"] is None
    # Alone it is the same for the structure: event after 10 000 s, 85 % after 13 402.1 s, full after 22 074.1 s.
    lead = found["lead"]
    assert (lead["first_queue"], lead["first_high_s"]) == ("Q1", 10_000)
    assert (lead["to_action_s"], lead["to_full_s"]) == (13_402, 22_074)
    assert (lead["lead_to_action_s"], lead["lead_to_full_s"]) == (3_402, 12_074)


def test_net_rate_matches_ibms_second_example() -> None:
    # Between its events 8 and 9 the queue got 324 and gave 124 messages: +200, the last 200 of MAXDEPTH(1000).
    given_queue = queue(
        "MYQUEUE1",
        2048,
        1000,
        maxdepth=1000,
        qdepthhi=80,
        qdepthlo=20,
        put_rate_per_s=324,
        get_rate_per_s=124,
    )
    planned = advice_of(structures__0__queues=[given_queue])["queues"][0]["planned"]
    assert planned["at_net_rate"]["to_maxdepth_s"] == 1  # T9 - T8 is the unit of time here


def test_time_to_low_event_is_given_for_a_falling_queue() -> None:
    given_queue = queue(
        "Q1", 2048, 1000, maxdepth=1000, qdepthhi=80, qdepthlo=20, put_rate_per_s=1, get_rate_per_s=4
    )
    planned = advice_of(structures__0__queues=[given_queue], perfmev="ENABLED")["queues"][0]["planned"]
    assert planned["at_net_rate"] is None
    assert planned["high_to_low_s"] == 200
    # Up with nothing got takes 600 s, down with nothing put 150 s: 115.2 cycles a day of two sets of five messages.
    assert planned["most_event_messages_per_day"] == 1152


def test_growth_applies_to_rates_and_backlogs() -> None:
    given_queue = queue("Q1", 2048, 1000, put_rate_per_s=4, get_rate_per_s=1)
    found = advice_of(structures__0__queues=[given_queue], growth={"percent_per_year": 100, "years": 1})
    planned = found["queues"][0]["planned"]
    assert (planned["put_rate_per_s"], planned["get_rate_per_s"]) == (8, 2)


def test_rates_by_queue_manager_add_up_to_the_silent_share() -> None:
    rates = {
        "QM01": {"put_rate_per_s": 30, "get_rate_per_s": 5},
        "QM02": {"put_rate_per_s": 10, "get_rate_per_s": 15},
    }
    plan = {"structures__0__queues": [queue("Q1", 2048, 1000, queue_manager_rates=rates)]}
    mixed = advice_of(**plan, perfmev={"QM01": "ENABLED", "QM02": "DISABLED"})
    planned = mixed["queues"][0]["planned"]
    assert (planned["put_rate_per_s"], planned["get_rate_per_s"]) == (40, 20)
    assert (planned["silent_high_percent"], planned["silent_low_percent"]) == (25.0, 75.0)
    assert mixed["event_messages_per_event"] == 1
    for switch, silent, events in (("ENABLED", 0.0, 5), ("DISABLED", 100.0, 0)):
        found = advice_of(**plan, perfmev=switch)
        assert found["queues"][0]["planned"]["silent_high_percent"] == silent
        assert found["event_messages_per_event"] == events


def test_queue_managers_without_rates_are_equally_active() -> None:
    found = advice_of(perfmev={"QM01": "ENABLED", "QM02": "ENABLED"})
    assert found["queues"][0]["planned"]["silent_high_percent"] == 60.0  # three of five


# ---- over-commitment ------------------------------------------------------------------------------------------------


def test_overcommitment_adds_up_all_maxdepths() -> None:
    # Two queues of 157 672 messages each fill 512 MiB once each; with the rules 220 741 fit: 142.9 %.
    both = [queue(name, 2048, 50_000, maxdepth=157_672) for name in "AB"]
    together = advice_of(**{**ERA, "structures__0__queues": both})["together"]
    assert together["all_full_percent_of_initsize"] == pytest.approx(200, abs=0.01)
    assert together["all_full_percent_of_initsize_with_offload"] == pytest.approx(
        2 * 157_672 / 220_741 * 100, abs=0.01
    )
    assert together["all_full_percent_of_size"] == together["all_full_percent_of_initsize"]
    assert together["queues_to_full_threshold"] == ["A"]
    assert together["queues_to_full"] == ["A", "B"]  # 157 672 leave a part of a message free


def test_largest_queues_fill_a_structure_first() -> None:
    queues = [
        queue("SMALL", 2048, 1000, maxdepth=10_000),
        queue("WIDE", 16_384, 1000, maxdepth=20_400),
        queue("MANY", 100, 1000, maxdepth=60_000),
    ]
    # WIDE takes 66 elements a message, 1 346 400 of the 1 576 720 that are there: 85.4 %.
    together = advice_of(**{**ERA, "structures__0__queues": queues})["together"]
    assert together["queues_to_full_threshold"] == ["WIDE"]


# ---- findings -------------------------------------------------------------------------------------------------------

BASE_QUEUE = queue("Q1", 2048, 100_000, persistent=True)


def codes(perfmev: Any = "ENABLED", **keys: Any) -> set[str]:  # noqa: ANN401
    plan = {**ERA, "structures__0__queues": [{**BASE_QUEUE, **keys}]}
    plain = set(findings_of(**{**ERA, "structures__0__queues": [BASE_QUEUE]}))
    return set(findings_of(**plan, perfmev=perfmev)) - plain


GOOD: Json = {
    "maxdepth": 134_021,
    "qdepthhi": 80,
    "qdepthlo": 20,
    "qdphiev": "ENABLED",
    "qdploev": "DISABLED",
    "qdpmaxev": "DISABLED",
}
LINTS: list[tuple[str, Json, Json]] = [
    ("QDEPTHHI_BELOW_QDEPTHLO", {"qdepthhi": 20, "qdepthlo": 21}, {"qdepthhi": 21, "qdepthlo": 20}),
    ("QDEPTHHI_EQUALS_QDEPTHLO", {"qdepthhi": 20, "qdepthlo": 20}, {"qdepthhi": 21, "qdepthlo": 20}),
    ("QDEPTHHI_WARNS_OF_NOTHING", {"qdepthhi": 0, "qdepthlo": None}, {"qdepthhi": 1, "qdepthlo": None}),
    ("QDEPTHHI_WARNS_OF_NOTHING", {"qdepthhi": 100}, {"qdepthhi": 99}),
    ("QDEPTHHI_WARNS_OF_NOTHING", {"maxdepth": 10, "qdepthhi": 91}, {"maxdepth": 10, "qdepthhi": 90}),
    ("QDEPTHHI_WARNS_OF_NOTHING", {"qdepthhi": 100}, {"qdepthhi": 100, "qdphiev": "DISABLED"}),
    ("MAXDEPTH_BELOW_BACKLOG", {"maxdepth": 99_999}, {"maxdepth": 100_000}),
    ("DEPTH_EVENTS_ALL_OFF", {"qdphiev": "DISABLED"}, {}),
    ("DEPTH_EVENTS_ONLY_FULL", {"qdphiev": "DISABLED", "qdpmaxev": "ENABLED"}, {"qdpmaxev": "ENABLED"}),
    (
        "DEPTH_HIGH_EVENT_SPENT",
        {"qdphiev": "DISABLED", "qdploev": "ENABLED", "curdepth": 26_805},
        {"qdphiev": "DISABLED", "qdploev": "ENABLED", "curdepth": 26_804},
    ),
    ("SERVICE_INTERVAL_ON_SHARED_QUEUE", {"qsvciev": "HIGH"}, {"qsvciev": "NONE"}),
    ("MAXDEPTH_UNLIMITED_WITH_EVENTS", {"maxdepth": 999_999_999}, {}),
    (
        "QDEPTHHI_ABOVE_CAPACITY",
        {"maxdepth": 220_742, "qdepthhi": 100},
        {"maxdepth": 220_741, "qdepthhi": 100},
    ),
    (
        "QDEPTHHI_AFTER_ACTION_LEVEL",
        {"maxdepth": 134_022, "qdepthhi": 100},
        {"maxdepth": 134_021, "qdepthhi": 100},
    ),
    ("MAXDEPTH_ABOVE_CAPACITY", {"maxdepth": 220_742}, {"maxdepth": 220_741}),
    ("MAXDEPTHS_ABOVE_CAPACITY", {"maxdepth": 220_742}, {"maxdepth": 220_741}),
    ("NO_QDEPTHHI_SERVES", {"maxdepth": 13_402_101, "qdepthhi": None, "qdepthlo": None}, {"qdepthhi": None}),
    ("NO_QDEPTHHI_SERVES", {"qdepthhi": None, "qdepthlo": 80}, {"qdepthhi": None, "qdepthlo": 79}),
    (
        "NO_QDEPTHHI_SERVES",
        {"maxdepth": None, "qdepthhi": None, "qdepthlo": 90},
        {"qdepthhi": 91, "qdepthlo": 90},
    ),
]


@pytest.mark.parametrize(("code", "wrong", "right"), LINTS, ids=[code for code, _, _ in LINTS])
def test_depth_finding_is_raised_but_not_for_its_near_miss(code: str, wrong: Json, right: Json) -> None:
    assert code in codes(**{**GOOD, **wrong})
    assert code not in codes(**{**GOOD, **right})


def test_usage_of_maxdepths_states_whether_offload_is_included() -> None:
    plan = {**ERA, "structures__0__queues": [{**BASE_QUEUE, **GOOD, "maxdepth": 220_742}]}
    message = findings_of(**plan, perfmev="ENABLED")["MAXDEPTHS_ABOVE_CAPACITY"].message
    assert re.search(
        r"need \d+ % of INITSIZE without offload, and \d+ % of SIZE with the offload rules active", message
    )
    assert message.endswith("; without offload, Q1 fills INITSIZE at MAXDEPTH.")


def test_queue_with_advised_thresholds_has_no_findings() -> None:
    assert codes(**GOOD) == set()


def test_spent_high_event_is_reported_only_where_events_are_written() -> None:
    spent = {**GOOD, "qdphiev": "DISABLED", "qdploev": "ENABLED", "qdpmaxev": "ENABLED"}
    assert "DEPTH_HIGH_EVENT_SPENT" in codes(**spent)
    assert "DEPTH_HIGH_EVENT_SPENT" not in codes(perfmev="DISABLED", **spent)


def test_queue_managers_with_different_perfmev_are_reported() -> None:
    differs = findings_of(perfmev={f"QM0{n}": "ENABLED" if n else "DISABLED" for n in range(5)})
    assert "PERFMEV_DIFFERS" in differs
    assert differs["PERFMEV_DIFFERS"].field == "/perfmev"
    assert "QM00" in differs["PERFMEV_DIFFERS"].message
    assert "PERFMEV_NOT_STATED" not in differs
    same = findings_of(perfmev={f"QM0{n}": "ENABLED" for n in range(5)})
    assert not {"PERFMEV_DIFFERS", "PERFMEV_NOT_STATED", "PERFMEV_OFF"} & set(same)
    assert "PERFMEV_NOT_STATED" in findings_of(perfmev={f"QM0{n}": "ENABLED" for n in range(4)})


def test_events_that_no_queue_manager_writes_are_reported() -> None:
    assert "PERFMEV_OFF" in codes(perfmev="DISABLED", **GOOD)
    assert "PERFMEV_OFF" not in codes(perfmev="DISABLED", maxdepth=134_021)


def test_gap_caused_only_by_two_late_queues_together_is_reported() -> None:
    both = [
        queue(name, 2048, 50_000, maxdepth=134_021, qdepthhi=high) for name, high in (("A", 60), ("B", 60))
    ]
    found = findings_of(**{**ERA, "structures__0__queues": both})
    assert "HIGH_EVENTS_LEAVE_A_GAP" in found
    assert "QDEPTHHI_AFTER_ACTION_LEVEL" not in found
    both = [{**each, "qdepthhi": 49} for each in both]
    assert "HIGH_EVENTS_LEAVE_A_GAP" not in findings_of(**{**ERA, "structures__0__queues": both})


def test_late_event_at_measured_rates_is_reported() -> None:
    rates = {"put_rate_per_s": 10, "get_rate_per_s": 0}
    both = [queue(name, 2048, 50_000, maxdepth=134_021, qdepthhi=60, **rates) for name in "AB"]
    assert "HIGH_EVENT_TOO_LATE_AT_NET_RATES" in findings_of(**{**ERA, "structures__0__queues": both})
    assert "HIGH_EVENT_TOO_LATE_AT_NET_RATES" not in findings_of(**{**ERA, "structures__0__queues": both[:1]})


def test_silent_switches_with_known_rates_are_reported() -> None:
    rates = {"QM01": {"put_rate_per_s": 1}, "QM02": {"get_rate_per_s": 1}}
    names: Json = {"queue_managers": ["QM01", "QM02"]}
    plan = {**names, "structures__0__queues": [queue("Q1", 2048, 10, queue_manager_rates=rates)]}
    assert "SILENT_SWITCHES" in findings_of(**plan, perfmev={"QM01": "ENABLED", "QM02": "DISABLED"})
    assert "SILENT_SWITCHES" not in findings_of(**plan, perfmev={"QM01": "ENABLED", "QM02": "ENABLED"})


def test_finding_on_many_queues_is_reported_once() -> None:
    many = [queue(f"Q{n}", 2048, 10, qsvciev="OK") for n in range(9)]
    found = findings_of(structures__0__queues=many)["SERVICE_INTERVAL_ON_SHARED_QUEUE"]
    assert "Q0 of APP1" in found.message
    assert "Q1, Q2, Q3 and 5 more" in found.message


# ---- what holds for every plan --------------------------------------------------------------------------------------


def application(document: Json) -> list[StructureResult]:
    return [s for s in evaluate(read_object(document)).structures if s.depth_events is not None]


@settings(max_examples=100, deadline=None)
@given(documents(), st.data())
def test_every_mix_raises_a_high_event_before_the_action_level(document: Json, data: st.DataObject) -> None:
    """With any mix of messages, a queue reaches its QDEPTHHI before the structure passes the action level."""
    for structure in application(document):
        advice, load = structure.depth_events, structure.load
        assert advice is not None
        assert load is not None
        limits = [each.high_at for each in advice.queues]
        if load.plain is None or not load.bundles_in_initsize or any(limit is None for limit in limits):
            continue
        depths = [data.draw(st.integers(0, max((limit or 0) - 1, 0))) for limit in limits]
        entries = elements = Fraction(0)
        for depth, demand, place in zip(depths, structure.queues, range(len(depths)), strict=True):
            entries += depth
            if demand.messages:
                elements += Fraction(depth * load.demand.taken[place], demand.messages * load.demand.scale)
        usage = max(
            (pool.entry_cost * entries + pool.element_cost * elements) / pool.total / load.bundles_in_initsize
            for pool in load.plain.pools
        )
        assert usage * 100 <= advice.action_percent


@settings(max_examples=100, deadline=None)
@given(documents())
def test_all_advised_maxdepths_fit_in_initsize_together(document: Json) -> None:
    for structure in application(document):
        advice, load = structure.depth_events, structure.load
        assert advice is not None
        assert load is not None
        total = sum(each.maxdepth or 0 for each in advice.queues)
        assert total <= load.messages_in_initsize(offload=True)
        for each, demand in zip(advice.queues, structure.queues, strict=True):
            if each.maxdepth is None:
                continue
            if load.messages_in_initsize(offload=True) > load.demand.messages:
                assert each.maxdepth >= demand.messages or each.maxdepth == 999_999_999
            if each.qdepthhi is not None and each.qdepthlo is not None:
                assert 0 <= each.qdepthlo < each.qdepthhi <= 80


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from([0, 50, 85, 100]))
def test_capacity_of_one_queue_alone_agrees_with_the_fill_model(document: Json, full_threshold: int) -> None:
    """The shortcuts without rules, and below the first rule, agree with the model with all rules."""
    document["perfmev"] = "ENABLED"
    for each in document["structures"]:
        each["full_threshold"] = full_threshold
    for structure in application(document):
        advice, load = structure.depth_events, structure.load
        assert advice is not None
        assert load is not None
        for place, (each, queue) in enumerate(zip(advice.queues, structure.queues, strict=True)):
            one = demand_of(
                [QueueDemand(1, queue.message_bytes)],
                edges=band_edges([rule.size_bytes for rule in load.rules]),
                header_bytes=structure.curve.header_bytes,
                page_bytes=page_bytes(),
                page_header_bytes=message_header_bytes(),
            )
            mark = Rule(advice.action_percent, one.bands[-1].over_bytes)
            pools = two_pools(structure.curve.bundle_at(load.ratio)[1])
            rules = [rule for rule in load.rules if can_fire(rule, one)]
            filled = fill(one, rules=[*rules, mark], pools=pools)
            level = next((point for point in filled.starts if point.rule == mark), filled.full)
            assert (level is filled.full) == (advice.action_percent == 100)
            assert each.planned is not None
            alone, bundles = each.planned.alone, load.bundles_in_initsize
            assert alone.at_action == filled.messages_at(level, bundles)
            assert alone.in_initsize == filled.capacity(bundles)
            assert alone.in_size == filled.capacity(load.bundles_in_size)
            for messages in (0, alone.in_size // 2, alone.in_size, alone.in_size + 1):
                assert advice.advisor.size_holds(place, messages) == (messages <= alone.in_size)
            for messages in (alone.at_action, alone.at_action + 1):
                assert advice.advisor.is_over_action(place, messages) == (messages > alone.at_action)


_switch = st.sampled_from(["ENABLED", "DISABLED", None])


@st.composite
def with_depth_keys(draw: st.DrawFn) -> Json:
    """Return a strategy for plans with depth events."""
    document = draw(documents())
    members = min(document["queue_managers"], 3)
    by_name = st.dictionaries(
        st.sampled_from(["QM01", "QM02", "QM03"][:members]), st.sampled_from(["ENABLED", "DISABLED"])
    )
    document["perfmev"] = draw(st.one_of(_switch, by_name))
    for structure in document["structures"]:
        structure["full_threshold"] = draw(st.sampled_from([0, 50, 85, 100]))
        structure["event_target_percent"] = draw(st.sampled_from([None, 1, 60, 100]))
        for each in structure["queues"]:
            each["maxdepth"] = draw(st.sampled_from([None, 0, 1, 5000, 999_999_999]))
            each["qdepthhi"] = draw(st.sampled_from([None, 0, 1, 80, 100]))
            each["qdepthlo"] = draw(st.sampled_from([None, 0, 20, 100]))
            each["qdphiev"], each["qdploev"], each["qdpmaxev"] = draw(_switch), draw(_switch), draw(_switch)
            each["curdepth"] = draw(st.sampled_from([None, 0, 4000]))
            if draw(st.booleans()):
                each["get_rate_per_s"] = draw(st.sampled_from([0, 0.5, 2000]))
                each.setdefault("put_rate_per_s", 7.25)
            elif draw(st.booleans()):
                rate = st.sampled_from([0, 0.1, 12])
                each["queue_manager_rates"] = {
                    "QM01": {"put_rate_per_s": draw(rate), "get_rate_per_s": draw(rate)}
                }
    return document


@settings(max_examples=60, deadline=None)
@given(with_depth_keys())
def test_every_figure_on_depth_events_equals_its_explanation(document: Json) -> None:
    assume(bool(document["structures"]))
    assert check(document) <= check(document, depths=True)


@settings(max_examples=60, deadline=None)
@given(with_depth_keys())
def test_depth_keys_change_no_size(document: Json) -> None:
    plain = copy.deepcopy(document)
    plain.pop("perfmev")
    for structure in plain["structures"]:
        structure.pop("event_target_percent")
        for each in structure["queues"]:
            for key in ("maxdepth", "qdepthhi", "qdepthlo", "qdphiev", "qdploev", "qdpmaxev", "curdepth"):
                each.pop(key)
            if each.pop("get_rate_per_s", None) is not None and "backlog" in each:
                each.pop("put_rate_per_s")
            each.pop("queue_manager_rates", None)

    def without(result: Any) -> Any:  # noqa: ANN401
        for structure in result["structures"]:
            structure.pop("depth_events", None)
        return result["structures"], result["totals"]

    assert without(evaluate(read_object(document)).as_json()) == without(
        evaluate(read_object(plain)).as_json()
    )
