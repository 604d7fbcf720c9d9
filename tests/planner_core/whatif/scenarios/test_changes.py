"""Changes of a scenario: the changed plan document, and refusals."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.whatif.changes import applied, read_changes, what_changes
from tests.app.plans.support import SQ03

RATED = {"name": "RATED", "message_bytes": 1000, "put_rate_per_s": 40, "outage_minutes": 90}
MEASURED = {
    "name": "MEASURED",
    "message_bytes": 1000,
    "backlog": 1001,
    "put_rate_per_s": 10,
    "get_rate_per_s": 9,
    "queue_manager_rates": {"QM01": {"put_rate_per_s": 10, "get_rate_per_s": 9}},
}


def document(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a plan with two coupling facilities, one with a stated level, and a structure with queues of every kind."""
    return {
        "qsg": "SQ03",
        "queue_managers": 3,
        "cfcc_level": 24,
        "coupling_facilities": [
            {"name": "CF01", "size": "64G", "cfcc_level": 24},
            {"name": "CF02", "size": "64G"},
        ],
        "structures": [
            {
                "name": "APP1",
                "offload": {"dsgroup": "MQ.SMDS.*.APP1"},
                "queues": [{"name": "PLAIN", "message_bytes": 1000, "backlog": 1001}, RATED, MEASURED],
            }
        ],
        **members,
    }


def changed(**changes: Any) -> PlanDocument:  # noqa: ANN401
    return applied(read_object(document()), read_changes(changes))


def problems(changes: object, plan: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InputInvalid) as refused:
        applied(read_object(plan or document()), read_changes(changes))
    return [(each.field, each.message) for each in refused.value.problems]


def test_values_that_a_scenario_does_not_change_are_kept() -> None:
    before = read_object(document())
    after = applied(before, read_changes({"headroom_percent": 25}))
    assert after.model_dump() == {**before.model_dump(), "headroom_percent": Decimal(25)}


def test_new_level_raises_only_facilities_with_a_lower_level() -> None:
    after = changed(cfcc_level=25)
    assert (after.cfcc_level, [each.cfcc_level for each in after.coupling_facilities]) == (25, [25, None])


def test_scenario_factors_multiply_rates_outages_and_backlogs() -> None:
    plain, rated, measured = changed(rate_factor=1.5, outage_factor=2).structures[0].queues
    assert plain.backlog == 3003  # 1001 x 1.5 x 2
    assert (rated.put_rate_per_s, rated.outage_minutes, rated.backlog) == (Decimal(60), Decimal(180), None)
    assert (measured.backlog, measured.put_rate_per_s, measured.get_rate_per_s) == (
        3003,
        Decimal(15),
        Decimal(9),
    )
    assert measured.queue_manager_rates is not None
    assert measured.queue_manager_rates["QM01"].model_dump() == {"put_rate_per_s": 15, "get_rate_per_s": 9}


def test_multiplied_backlog_is_rounded_up() -> None:
    assert changed(outage_factor=1.0001).structures[0].queues[0].backlog == 1002  # 1001.1001


def test_growth_in_a_scenario_replaces_that_of_the_plan() -> None:
    plan = read_object(document(growth={"percent_per_year": 5, "years": 4}))
    after = applied(plan, read_changes({"growth": {"percent_per_year": 20, "years": 1}}))
    assert (after.growth.percent_per_year, after.growth.years) == (Decimal(20), Decimal(1))


def test_given_rules_replace_all_rules_and_keep_other_offload_values() -> None:
    part = {"name": "APP1", "full_threshold": 90, "offload_rules": [{"usage_over": 50, "size_over": "16K"}]}
    structure = changed(structures=[part]).structures[0]
    assert structure.full_threshold == 90
    assert [(rule.usage_over, rule.size_over) for rule in structure.offload.rules] == [(50, 16 * 1024)]
    assert structure.offload.dsgroup == "MQ.SMDS.*.APP1"


def test_lost_facility_in_a_scenario_does_not_change_the_document() -> None:
    assert changed(lost="CF02") == read_object(document())


def test_each_change_is_listed_with_the_planned_value() -> None:
    changes = read_changes(
        {
            "cfcc_level": 25,
            "growth": {"percent_per_year": 10, "years": 1},
            "rate_factor": 1.5,
            "lost": "CF01",
            "structures": [{"name": "APP1", "initsize": "1G", "preflist": ["CF02"], "offload_rules": []}],
        }
    )
    told = [(each.what, each.before, each.after) for each in what_changes(read_object(document()), changes)]
    assert told == [
        ("CFCC level", "24", "25"),
        ("Growth", "none", "10 % a year for 1 year"),
        ("Arrival rates and backlogs", "as planned", "times 1.5"),
        ("Lost coupling facility", "none", "CF01"),
        ("INITSIZE", "computed", "1G"),
        ("PREFLIST", "all, in order", "CF02"),
        ("Offload rules", "70 % over 32K, 80 % over 4K, 90 % over 0K", "none"),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({}, "/changes"),
        ([], "/changes"),
        ({"structures": []}, "/changes"),
        ({"cfclevel": 25}, "/changes/cfclevel"),
        ({"cfcc_level": "25"}, "/changes/cfcc_level"),
        ({"queue_managers": 0}, "/changes/queue_managers"),
        ({"growth": {"percent_per_year": -100}}, "/changes/growth/percent_per_year"),
        ({"rate_factor": -1}, "/changes/rate_factor"),
        ({"lost": "CF03"}, "/changes/lost"),
        ({"structures": [{"name": "OTHER", "size": "1G"}]}, "/changes/structures/0/name"),
        ({"structures": [{"name": "APP1"}]}, "/changes/structures/0"),
        ({"structures": [{"name": "APP1", "size": "1G"}] * 2}, "/changes/structures/1/name"),
        (
            {"structures": [{"name": "APP1", "initsize": "2G", "size": "1G"}]},
            "/changes/structures/0/initsize",
        ),
        ({"outage_factor": 1000, "rate_factor": 1000}, None),
    ],
)
def test_invalid_change_is_refused_with_its_pointer(changes: object, field: str | None) -> None:
    if field is None:  # 40 messages/s x 1000 and 90 minutes x 1000 are numbers that a plan may have
        applied(read_object(document()), read_changes(changes))
    else:
        assert [each for each, _ in problems(changes)] == [field]


def test_change_that_makes_the_plan_invalid_is_refused() -> None:
    plan = document()
    plan["structures"][0]["queues"][0]["backlog"] = 10**12
    (found,) = problems({"rate_factor": 2}, plan)
    assert found[0] == "/changes"
    assert "/structures/0/queues/0/backlog" in found[1]


def test_fewer_queue_managers_than_the_plan_names_are_refused() -> None:
    plan = document(perfmev={"QM01": "ENABLED", "QM02": "ENABLED"})
    (found,) = problems({"queue_managers": 1}, plan)
    assert "/perfmev" in found[1]


FACTORS = st.decimals(min_value=0, max_value=1000, places=3)


@given(rate=FACTORS, outage=FACTORS)
def test_any_factors_give_a_valid_plan_document(rate: Decimal, outage: Decimal) -> None:
    before = copy.deepcopy(SQ03)
    after = applied(read_object(before), read_changes({"rate_factor": rate, "outage_factor": outage}))
    assert read_object(after.model_dump(mode="json")) == after


@given(level=st.integers(1, 99), more=st.integers(1, 32))
def test_stored_changes_read_back_unchanged(level: int, more: int) -> None:
    changes = read_changes({"cfcc_level": level, "queue_managers": more, "growth": {}})
    assert read_changes(changes.as_json()) == changes


def test_queues_that_no_change_concerns_are_the_lists_of_the_plan_themselves() -> None:
    plan = read_object(document())
    grown = applied(plan, read_changes({"growth": {"percent_per_year": 10, "years": 2}}))
    # Evaluations recognize the list, and share the counts of its queues.
    assert grown.structures[0].queues is plan.structures[0].queues
    busier = applied(plan, read_changes({"rate_factor": 2}))
    assert busier.structures[0].queues is not plan.structures[0].queues
    assert plan.structures[0].queues[1].put_rate_per_s == Decimal(40)


def test_queues_that_no_change_concerns_are_still_checked_against_changes() -> None:
    both = {name: {"put_rate_per_s": 5, "get_rate_per_s": 4.5} for name in ("QM01", "QM02")}
    plan = document()
    plan["structures"][0]["queues"][2] = {**MEASURED, "queue_manager_rates": both}
    [(field, message)] = problems({"queue_managers": 1}, plan)
    assert field == "/changes"
    assert "/structures/0/queues/2/queue_manager_rates: names 2 queue managers" in message
