"""The CFCC level of structures, their minimum sizes and storage increments, compared with published figures.

CSQ_ADMIN at CFCC 25: the chart of the z16 report (MP16-like report of September 2022, page 13). Increments: z/OS MVS Sysplex
Services Guide, Coupling Facility Storage Increment. IXL015I: the same report, pages 12 to 17.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.plan.splitting import advise
from planner_core.sizing.fitted import fitted_curve
from planner_core.units import KIB, MIB
from planner_core.whatif.growth import UpgradeQuestion, upgrades
from tests.planner_core.plans import varied
from tests.planner_core.sizing.test_fitted import TWO_COSTS

S0 = "structures__0__"
CHART_25 = {1: 23, 2: 23, 3: 24, 4: 24, 5: 25, 6: 26}
CHART_24 = {4: 17, 5: 17}


def at(plan_level: int, *levels: int | None, **paths: Any) -> PlanResult:  # noqa: ANN401 - any JSON value
    """Return the plan at a level, with coupling facilities at these levels."""
    facilities = [
        {"name": f"CF{number:02}", **({} if level is None else {"cfcc_level": level})}
        for number, level in enumerate(levels, start=1)
    ]
    preflist = [each["name"] for each in facilities]
    plan = varied(
        cfcc_level=plan_level, coupling_facilities=facilities, **{S0 + "preflist": preflist}, **paths
    )
    return evaluate(read_object(plan))


def levels_of(result: PlanResult) -> dict[str, object]:
    return {each.name: each.level.level for each in result.structures}


def by_name(result: PlanResult, name: str) -> Any:  # noqa: ANN401
    return next(each for each in result.structures if each.name == name)


@pytest.mark.parametrize("managers", [3, 4, 5, 6])
@pytest.mark.parametrize("levels", [(24, 25), (25, 24), (None, 25), (25,)])
def test_csq_admin_uses_the_chart_of_the_highest_level_in_its_preflist(
    managers: int, levels: tuple[int | None, ...]
) -> None:
    result = at(24, *levels, queue_managers=managers, admin={})
    admin = result.structures[0]
    assert admin.sizes.need_bytes == CHART_25[managers] * MIB
    assert admin.sizes.initsize_bytes == CHART_25[managers] * MIB


@pytest.mark.parametrize("managers", [4, 5])
def test_csq_admin_uses_the_chart_of_the_plan_if_no_level_in_preflist_is_higher(managers: int) -> None:
    for levels in ((), (None,), (24, None), (23,)):
        assert (
            at(24, *levels, queue_managers=managers).structures[0].sizes.need_bytes
            == CHART_24[managers] * MIB
        )


def test_every_structure_uses_its_own_preflist() -> None:
    document = varied(
        cfcc_level=24,
        coupling_facilities=[{"name": "CF01", "cfcc_level": 24}, {"name": "CF02", "cfcc_level": 25}],
        admin={"preflist": ["CF01"]},
        system={"preflist": ["CF02"]},
    )
    document["structures"].append(
        {**copy.deepcopy(document["structures"][0]), "name": "APP2", "preflist": ["CF01"]}
    )
    document["structures"][1]["queues"][0]["name"] = "Q2"
    result = evaluate(read_object(document))
    assert levels_of(result) == {"CSQ_ADMIN": 24, "APP1": 25, "APP2": 24, "CSQSYSAPPL": 25}
    # The same backlog takes 8 MiB more at CFCC 25, all of it base.
    one, two = by_name(result, "APP1"), by_name(result, "APP2")
    assert one.sizes.need_bytes - two.sizes.need_bytes == 8 * MIB
    assert (one.curve.id, two.curve.id) == ("published-cfcc25", "published-cfcc17")
    assert result.curve.id == "published-cfcc25"
    # IBM's start value at CFCC 25, 50 000 K, in whole MB; 20 480 K before that.
    assert by_name(result, "CSQSYSAPPL").sizes.initsize_bytes == 49 * MIB
    (said,) = [each for each in result.findings if each.code == "SIZED_FOR_CF_LEVEL"]
    assert said.message.startswith("APP1 and CSQSYSAPPL are sized for CFCC level 25 of CF02")
    assert said.field == "/coupling_facilities/1/cfcc_level"


def test_preflist_with_only_lower_levels_is_sized_for_them() -> None:
    assert set(levels_of(at(25, 24, 23)).values()) == {24}
    assert set(levels_of(at(25, 24, None)).values()) == {25}


def test_coupling_facility_missing_from_the_plan_is_assumed_at_the_level_of_the_plan() -> None:
    result = at(24, 23, admin__preflist=["CF01", "ELSEWHR"])
    assert levels_of(result)["CSQ_ADMIN"] == 24


def test_level_without_figures_is_reported_at_its_coupling_facility() -> None:
    result = at(25, 25, 26)
    found = [each for each in result.findings if each.code == "CFCC_LEVEL_ABOVE_FIGURES"]
    assert {each.field for each in found} == {"/coupling_facilities/1/cfcc_level"}
    assert {each.structure for each in found} == {None, "CSQ_ADMIN"}
    assert len(found) == 2


def test_level_of_a_structure_has_an_explanation() -> None:
    explained = {each.figure: each for each in explain_result(at(24, None, 25))}
    level = explained["/structures/1/cfcc_level"]
    assert (level.value, level.formula) == (25, "max(cfcc_level_1, cfcc_level_2)")
    assert [each.source.section for each in level.inputs if each.source] == [
        "cfcc_level",
        "coupling facility CF02",
    ]


def test_fitted_curve_is_kept_and_a_higher_level_in_the_preflist_reported() -> None:
    curve = fitted_curve(version=7, fit=replace(TWO_COSTS, cfcc_level=24))
    document = read_object(varied(cfcc_level=24, curve={"fitted": 7}, coupling_facilities__1__cfcc_level=25))
    result = evaluate(document, curve=curve)
    app, admin = result.structures[1], result.structures[0]
    assert app.curve is curve
    assert admin.sizes.need_bytes == CHART_25[5] * MIB
    (said,) = [each for each in result.findings if each.code == "FITTED_CURVE_OF_OTHER_LEVEL"]
    assert "the highest level in the PREFLIST of APP1 and CSQSYSAPPL is 25" in said.message
    assert "too small" in said.message
    (sized,) = [each for each in result.findings if each.code == "SIZED_FOR_CF_LEVEL"]
    assert sized.message.startswith("CSQ_ADMIN is sized")


def test_upgrade_changes_no_size_already_calculated_for_its_level() -> None:
    document = at(24, 25).document
    (step,) = upgrades(document, UpgradeQuestion(cfcc=(25,), queue_managers=0, years=())).steps
    assert step.after is not None
    assert [each.after.sizes for each in step.structures] == [each.before.sizes for each in step.structures]


def test_upgrade_of_coupling_facilities_below_the_level_of_the_plan_is_calculated() -> None:
    document = at(25, 24).document
    answer = upgrades(document, UpgradeQuestion(queue_managers=0, years=()))
    assert [step.change.cfcc_level for step in answer.steps] == [25]
    admin = answer.steps[0].structures[0]
    assert (admin.before.sizes.need_bytes, admin.after.sizes.need_bytes) == (17 * MIB, 25 * MIB)


def test_split_advice_uses_the_level_of_the_structure() -> None:
    """A queue that takes just more than half of a coupling facility at CFCC 25, where the base is 8 MiB larger."""
    queues = [
        {
            "name": f"Q{number}",
            "message_bytes": 1024,
            "backlog": 38_000 if number else 40_000,
            "persistent": True,
        }
        for number in range(2)
    ]
    facility = {"name": "CF01", "size": "184M", "cfcc_level": 25}
    document = varied(
        cfcc_level=24, coupling_facilities=[facility], **{S0 + "queues": queues, S0 + "preflist": ["CF01"]}
    )
    moves = advise(read_object(document)).moves
    assert [each.reason for each in moves if "half of a coupling facility" in each.reason]


@pytest.mark.parametrize(
    ("level", "kib"),
    [(9, 256), (14, 256), (15, 512), (16, 1024), (17, 1024), (24, 1024), (25, 1024), (26, 1024)],
)
def test_sizes_are_whole_storage_increments_of_the_level(level: int, kib: int) -> None:
    result = at(level, level, **{S0 + "queues__0__backlog": 12_345})
    app = by_name(result, "APP1")
    assert app.sizes.increment_bytes == kib * KIB
    assert app.sizes.initsize_bytes % (kib * KIB) == 0
    assert app.sizes.initsize_bytes - app.sizes.wanted_bytes < kib * KIB


@pytest.mark.parametrize(("messages", "mib"), [(100, 22), (1000, 24)])
def test_small_application_structure_at_level_25_has_the_size_in_ibms_chart(messages: int, mib: int) -> None:
    """The chart of the z16 report has 22 MB for 100 and 24 MB for 1,000 messages of 1 KB."""
    found = by_name(at(25, 25, headroom_percent=0, **{S0 + "queues__0__backlog": messages}), "APP1")
    assert abs(found.sizes.need_bytes - mib * MIB) <= MIB
    assert found.sizes.initsize_bytes < 26 * MIB
    computed = by_name(at(25, 25, **{S0 + "queues__0__backlog": messages}), "APP1")
    assert computed.sizes.initsize_bytes < 26 * MIB


def test_csqsysappl_below_xcfs_minimum_is_reported() -> None:
    small = at(25, 25, system={"shared_channels": 0, "group_ur_messages": 0, "initsize": "40M"})
    assert "SYSTEM_STRUCTURE_BELOW_MINIMUM" in {each.code for each in small.findings}


def test_small_application_structure_states_its_sources() -> None:
    result = at(25, 25, **{S0 + "queues__0__backlog": 1000})
    (said,) = [each for each in result.findings if each.code == "INITSIZE_BELOW_XCF_MINIMUM"]
    assert said.severity == "info"
    assert "22 to 24 MB" in said.message
    explained = {each.figure: each for each in explain_result(result)}["/structures/1/initsize_kib"]
    (least,) = [each for each in explained.inputs if each.name == "minimum_bytes"]
    assert (least.value, str(least.source).count("Minimum sizes")) == (0, 1)


def test_finding_on_size_above_initsize_lists_all_its_structures() -> None:
    found = [each for each in at(25, 25).findings if each.code == "SIZE_CONTROLS_NOT_KNOWN"]
    assert len(found) == 1
    assert found[0].severity == "info"
    assert found[0].structure is None
    one = at(25, 25, size_factor=1, **{S0 + "initsize": "300M", S0 + "size": "301M"})
    (said,) = [each for each in one.findings if each.code == "SIZE_CONTROLS_NOT_KNOWN"]
    assert said.message.startswith("SIZE is above INITSIZE for APP1:")
