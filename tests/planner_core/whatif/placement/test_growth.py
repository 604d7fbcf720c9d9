"""Upgrades and growth: the plan before and after, compared with IBM's tables and with a plan changed by hand."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.errors import OutOfRange, PlanRefused
from planner_core.findings import DEPTH_EVENT_CODES
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import render_output
from planner_core.units import MIB
from planner_core.whatif import growth
from planner_core.whatif.growth import (
    GrownStructure,
    UnplacedAfterLoss,
    UpgradeAnswer,
    UpgradeQuestion,
    UpgradeStep,
    levels_above,
    upgrades,
)
from tests.planner_core.whatif.placement.scenes import cf

K = 1024


def plan(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return IBM's example of 200 000 messages of 1 KB, by default at CFCC level 14."""
    queue = {"name": "Q", "message_bytes": 1024, "backlog": 200_000, "persistent": True}
    structure = {"name": "APP", "queues": [queue], "offload": {"dsgroup": "MQ.SMDS.*.APP"}}
    return {
        "qsg": "SQ03",
        "queue_managers": 5,
        "cfcc_level": 14,
        "headroom_percent": 10,
        "coupling_facilities": [cf("CF01", cfcc_level=14), cf("CF02", cfcc_level=14)],
        "structures": [structure],
        **more,
    }


def ask(document: dict[str, Any], **how: Any) -> UpgradeAnswer:  # noqa: ANN401
    curve = how.pop("curve", None)
    return upgrades(read_object(document), UpgradeQuestion(**how), curve=curve)


def step(answer: UpgradeAnswer, key: str) -> UpgradeStep:
    (found,) = [each for each in answer.steps if each.change.key == key]
    return found


def one(found: UpgradeStep, name: str) -> GrownStructure:
    (structure,) = [each for each in found.structures if each.after.name == name]
    return structure


def need_k(changed: GrownStructure) -> tuple[int, int]:
    return changed.before.sizes.need_bytes // K, changed.after.sizes.need_bytes // K


def test_default_steps_are_published_levels_one_queue_manager_and_three_years() -> None:
    keys = [each.change.key for each in ask(plan()).steps]
    assert keys == ["cfcc-24", "cfcc-25", "queue-managers-1", "growth-1", "growth-2", "growth-3", "together"]
    assert levels_above(14) == (24, 25)
    assert levels_above(25) == ()


def test_csq_admin_growth_follows_the_published_tables() -> None:
    answer = ask(plan())
    # Table 1: 5 queue managers 9728 KB, 6 queue managers 10496 KB.
    assert need_k(one(step(answer, "queue-managers-1"), "CSQ_ADMIN")) == (9728, 10496)
    # z16 report: 5 queue managers 17 MB at CFCC level 24, 25 MB at 25; 6: 26 MB.
    assert need_k(one(step(answer, "cfcc-24"), "CSQ_ADMIN")) == (9728, 17 * K)
    assert need_k(one(step(answer, "cfcc-25"), "CSQ_ADMIN")) == (9728, 25 * K)
    assert need_k(one(step(answer, "together"), "CSQ_ADMIN")) == (9728, 26 * K)


def test_every_structure_grows_by_8_mb_from_level_24_to_25() -> None:
    document = plan(cfcc_level=24, coupling_facilities=[cf("CF01", cfcc_level=24), cf("CF02", cfcc_level=24)])
    found = step(ask(document), "cfcc-25")
    assert {each.after.name for each in found.structures} == {"CSQ_ADMIN", "APP", "CSQSYSAPPL"}
    for each in found.structures:
        assert each.after.sizes.need_bytes - each.before.sizes.need_bytes == 8 * MIB


def test_need_follows_the_model_of_each_level() -> None:
    found = one(step(ask(plan()), "cfcc-25"), "APP")
    # 200 000 entries of 2018.688 bytes on 6.089 MiB; of 2196.48 bytes on 22 MiB.
    assert found.before.sizes.need_bytes == 410_122_380
    assert found.after.sizes.need_bytes == 200_000 * 2196.48 + 22 * MIB


def test_same_size_holds_fewer_messages_at_a_higher_level() -> None:
    found = one(step(ask(plan()), "cfcc-25"), "APP")
    # INITSIZE 440 576 K: (451 149 824 - 6 384 779) / 2018.688 and (451 149 824 - 23 068 672) / 2196.48.
    assert found.before.sizes.initsize_bytes == 440_576 * K
    assert (found.holds_before, found.old_holds_after) == (220_323, 194_894)


def test_growth_is_compounded() -> None:
    answer = ask(plan(), growth=Decimal(10), years=(1, 2))
    messages = [one(step(answer, key), "APP").after.load.demand.messages for key in ("growth-1", "growth-2")]  # type: ignore[union-attr]
    assert messages == [220_000, 242_000]


def test_growth_extends_the_horizon_of_the_plan_at_its_rate() -> None:
    document = plan(growth={"percent_per_year": 20, "years": 1})
    answer = ask(document, years=(1,))
    found = one(step(answer, "growth-1"), "APP")
    assert found.before.load.demand.messages == 240_000  # type: ignore[union-attr]
    assert found.after.load.demand.messages == 288_000  # type: ignore[union-attr]
    assert not any("example" in each for each in answer.assumptions)
    with pytest.raises(OutOfRange) as refused:
        ask(document, growth=Decimal(10))
    assert str(refused.value) == (
        "growth is 10, but must be 20. The plan grows by 20 % a year already; for another rate, remove growth from the plan."
    )


def test_default_growth_rate_is_reported_as_an_example() -> None:
    assert any("10 percent per year is used as an example" in each for each in ask(plan()).assumptions)
    assert not any("example" in each for each in ask(plan(), growth=Decimal(10)).assumptions)


def test_step_to_33_queue_managers_is_refused_without_affecting_the_others() -> None:
    answer = ask(plan(queue_managers=32))
    refused = step(answer, "queue-managers-1")
    assert refused.after is None
    assert [each.code for each in refused.findings] == ["TOO_MANY_QUEUE_MANAGERS"]
    assert refused.as_json()["structures"] == []
    assert step(answer, "cfcc-25").after is not None
    assert step(answer, "together").after is None


def test_named_queue_managers_are_counted() -> None:
    answer = ask(plan(queue_managers=["QM01", "QM02"]), queue_managers=3)
    assert step(answer, "queue-managers-3").after.document.queue_manager_count == 5  # type: ignore[union-attr]


def test_given_size_is_kept_while_it_holds_the_need() -> None:
    document = plan()
    document["structures"][0] |= {"initsize": "2G", "size": "4G"}
    found = one(step(ask(document), "cfcc-25"), "APP")
    assert not found.is_replaced
    assert (found.after.sizes.initsize_bytes, found.after.sizes.size_bytes) == (2048 * MIB, 4096 * MIB)


def test_given_size_that_no_longer_holds_the_need_is_replaced() -> None:
    document = plan()
    document["structures"][0] |= {"initsize": "435M", "size": "600M"}  # 391.1 MiB and 10 % at level 14: 430.3
    found = one(step(ask(document), "cfcc-25"), "APP")
    assert found.is_replaced
    # 200 000 x 2196.48 + 22 MiB = 440.95 MiB; with 10 % 485.04, so 486; times 1.5: 729.
    assert (found.after.sizes.initsize_bytes, found.after.sizes.size_bytes) == (486 * MIB, 729 * MIB)
    assert not found.was_too_small
    assert not one(step(ask(document), "queue-managers-1"), "APP").is_replaced


def test_given_size_that_was_too_small_before_the_step_is_distinguished() -> None:
    document = plan()
    document["structures"][0] |= {"initsize": "400M", "size": "600M"}  # below 430.3 MiB at level 14
    answer = ask(document)
    found = one(step(answer, "cfcc-25"), "APP")
    assert (found.is_replaced, found.was_too_small) == (True, True)
    assert found.as_json()["given_size_was_too_small"] is True
    lines = [line for line in answer.lines() if line.startswith("  **")]
    assert lines[0] == "  ** The given size was too small before this change, too, and was recalculated."
    assert not [line for line in answer.lines() if line.startswith("  *  ")]


def test_coupling_facilities_are_raised_with_the_level() -> None:
    document = plan(
        coupling_facilities=[cf("CF01", cfcc_level=14), cf("CF02", cfcc_level=25), cf("CF03")],
    )
    after = step(ask(document, cfcc=[24]), "cfcc-24").after
    assert after is not None
    assert [each.cfcc_level for each in after.document.coupling_facilities] == [24, 25, None]


def test_step_reports_structures_that_no_longer_fit() -> None:
    document = plan(coupling_facilities=[cf("CF01", "2G", cfcc_level=14), cf("CF02", "470M", cfcc_level=14)])
    answer = ask(document)
    # At level 14 APP (430.3 MiB), CSQ_ADMIN (9.5) and CSQSYSAPPL (20) fit in 470 MiB; at level 25 APP alone has 486.
    assert step(answer, "queue-managers-1").unplaced_after_loss == ()
    assert step(answer, "cfcc-25").unplaced_after_loss == (UnplacedAfterLoss("CF01", ("SQ03APP",)),)
    assert step(answer, "cfcc-25").unplaced == ()


def test_fragment_is_the_policy_of_the_plan_after_the_step() -> None:
    after = plan(cfcc_level=25, coupling_facilities=[cf("CF01", cfcc_level=25), cf("CF02", cfcc_level=25)])
    expected = render_output("policy", evaluate(read_object(after))).text
    assert step(ask(plan()), "cfcc-25").fragment == expected


def test_step_reports_only_new_findings() -> None:
    answer = ask(plan())
    before = {each.message for each in answer.before.findings}
    for each in answer.steps:
        assert not before & {found.message for found in each.findings}
    assert "CURVE_BASE_ASSUMED" in {found.code for found in step(answer, "cfcc-24").findings}


def test_long_question_leaves_out_findings_about_queue_depths(monkeypatch: pytest.MonkeyPatch) -> None:
    document = plan(cfcc_level=24)
    document["structures"][0]["queues"][0] |= {"maxdepth": 200_000, "qdepthhi": 80, "qdphiev": "ENABLED"}
    short = ask(document)
    monkeypatch.setattr(growth, "MOST_QUEUES_WITH_DEPTHS", 1)
    found = ask(document)
    assert [each.figures_after for step in found.steps for each in step.structures] == [
        each.figures_after for step in short.steps for each in step.structures
    ]
    assert [each.fragment for each in found.steps] == [each.fragment for each in short.steps]
    assert {each.code for each in short.findings} & DEPTH_EVENT_CODES
    assert not {each.code for each in found.findings} & DEPTH_EVENT_CODES
    (assumed,) = set(found.assumptions) - set(short.assumptions)
    assert "1 queues and is evaluated" in assumed
    # A single change is answered completely.
    single = ask(document, cfcc=[], queue_managers=0, years=[1])
    assert {each.code for each in single.findings} & DEPTH_EVENT_CODES
    assert assumed not in single.assumptions


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"cfcc": [14]}, "cfcc_level"),
        ({"cfcc": [100]}, "cfcc_level"),
        ({"queue_managers": -1}, "queue_managers"),
        ({"queue_managers": 32}, "queue_managers"),
        ({"years": [51]}, "years"),
        ({"years": range(1, 14)}, "steps"),
        ({"growth": Decimal(1001)}, "growth"),
    ],
)
def test_invalid_step_is_refused(how: dict[str, Any], field: str) -> None:
    with pytest.raises(OutOfRange) as refused:
        ask(plan(), **how)
    assert refused.value.field == field


def test_impossible_plan_is_refused() -> None:
    with pytest.raises(PlanRefused):
        ask(plan(queue_managers=33))


def test_upgrade_question_without_changes_has_no_steps() -> None:
    assert ask(plan(), cfcc=[], queue_managers=0, years=[]).steps == ()
    # Years of 0 are how a form asks for no growth.
    assert ask(plan(), cfcc=[], queue_managers=0, years=[0]).steps == ()


@given(
    st.integers(1, 31),
    st.sampled_from([14, 20, 24, 25]),
    st.integers(0, 3),
    st.sampled_from([0, 5, 12.5, 40]),
    st.integers(1, 10**6),
)
@settings(max_examples=30)
def test_step_equals_the_plan_with_that_change(
    queue_managers: int, level: int, more: int, percent: float, backlog: int
) -> None:
    document = plan(queue_managers=queue_managers, cfcc_level=level, coupling_facilities=[cf("CF01")])
    document["structures"][0]["queues"][0]["backlog"] = backlog
    answer = ask(document, queue_managers=more, growth=Decimal(str(percent)), years=(2,))
    for found in answer.steps:
        written = copy.deepcopy(document)
        if found.change.cfcc_level:
            written["cfcc_level"] = found.change.cfcc_level
        written["queue_managers"] += found.change.more_queue_managers
        if found.change.years:
            written["growth"] = {"percent_per_year": percent, "years": 2}
        if found.after is None:
            assert written["queue_managers"] > 32
            continue
        assert found.after.structures == evaluate(read_object(written)).structures
        for each in found.structures:
            assert each.after.sizes.need_bytes >= each.before.sizes.need_bytes
