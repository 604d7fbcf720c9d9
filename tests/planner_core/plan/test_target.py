"""INITSIZE from the share that the planned backlog may use: exact, lowered by rules, without findings on defaults."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import MIB
from planner_core.whatif.thresholds import ThresholdQuestion, advise
from tests.planner_core.plans import documents, varied

OWN_DEFAULTS = {"PEAK_ABOVE_FULLTHRESHOLD", "OFFLOADED_AT_BACKLOG", "BACKLOG_USES_LAST_TENTH"}
S0 = "structures__0__"


def result(**paths: Any) -> PlanResult:  # noqa: ANN401 - any JSON value
    return evaluate(read_object(varied(**paths)))


def app(**paths: Any) -> StructureResult:  # noqa: ANN401
    return result(**paths).structures[1]


def initsize_mib(structure: StructureResult) -> Fraction:
    return Fraction(structure.sizes.initsize_bytes, MIB)


def codes(found: PlanResult) -> set[str]:
    return {each.code for each in found.findings}


def test_default_target_is_80_percent_of_the_fuller_pool() -> None:
    found = app(cfcc_level=24, coupling_facilities=[])
    # 14 MiB + 100 000 x 2196.48 bytes x 100 / 80 = 275.84 MiB, in whole MB 276; the base does not grow with the target.
    assert initsize_mib(found) == 276
    assert 79 < found.peak_usage_percent <= 80
    assert structure_answer(found).target_usage_percent == 80
    assert structure_answer(found).target_lowered_by is None


def test_target_applies_to_elements_if_they_are_the_fuller_pool() -> None:
    # 4000 + 372 bytes are 18 elements, three entries' worth: 22 MiB + 100 000 x 3 x 2196.48 x 100 / 80 = 807.5 MiB.
    found = app(**{S0 + "queues__0__message_bytes": 4000})
    assert initsize_mib(found) == 808
    assert 79 < found.peak_usage_percent <= 80


def test_target_usage_of_the_plan_is_used() -> None:
    # 22 MiB + 100 000 x 2196.48 bytes x 100 / 50 = 440.9 MiB.
    found = app(target_usage_percent=50)
    assert initsize_mib(found) == 441
    assert structure_answer(found).target_usage_percent == 50
    assert found.peak_usage_percent <= 50


def test_target_usage_may_have_decimals() -> None:
    found = app(target_usage_percent=62.5)
    assert structure_answer(found).target_usage_percent == 62.5
    assert 62 < found.peak_usage_percent <= Fraction(125, 2)


def test_headroom_replaces_the_target() -> None:
    # 22 MiB + 100 000 x 2196.48 bytes = 231.5 MiB; 10 percent of all of it on top are 254.6 MiB.
    for paths in ({"headroom_percent": 10}, {"headroom_percent": 10, "target_usage_percent": 40}):
        found = app(**paths)
        assert initsize_mib(found) == 255
        assert structure_answer(found).target_usage_percent is None


def test_csq_admin_keeps_its_own_headroom() -> None:
    admin = result(target_usage_percent=40).structures[0]
    assert structure_answer(admin).target_usage_percent is None
    assert admin.sizes == result().structures[0].sizes


def test_structure_with_a_given_initsize_has_no_target() -> None:
    assert structure_answer(app(**{S0 + "initsize": "400M"})).target_usage_percent is None


def test_csqsysappl_above_its_minimum_is_sized_by_the_target() -> None:
    system = result(system={"shared_channels": 100_000}).structures[2]
    # 201 000 messages: 22 MiB + 201 000 x 2196.48 bytes x 1.25 = 548.3 MiB (2 KB takes more elements: 1 000 x 2 bundles).
    assert structure_answer(system).target_usage_percent == 80
    assert 79 < system.peak_usage_percent <= 80


@pytest.mark.parametrize(
    ("message_bytes", "target", "rule"),
    [
        (1024, 80, None),
        (32_768, 80, None),
        (32_769, 70, "OFFLD1TH(70) OFFLD1SZ(32K)"),
        (64_512, 70, "OFFLD1TH(70) OFFLD1SZ(32K)"),
        (64_513, 80, None),  # offloaded whatever the rules say
        ({"mean": 3500, "p95": 12_000, "max": 30_000}, 80, None),
        ({"mean": 3500, "p95": 12_000, "max": 60_000}, 70, "OFFLD1TH(70) OFFLD1SZ(32K)"),
    ],
)
def test_default_rules_lower_the_target_if_messages_match_them(
    message_bytes: object, target: int, rule: str | None
) -> None:
    found = app(**{S0 + "queues__0__message_bytes": message_bytes})
    shown = structure_answer(found)
    assert (shown.target_usage_percent, shown.target_lowered_by) == (target, rule)
    assert found.peak_usage_percent <= target
    assert found.offloaded_by_rules == 0


@pytest.mark.parametrize(
    ("rules", "target"),
    [
        ([], 80),
        ([(60, "0K")], 60),
        ([(50, "0K")], 50),
        ([(49, "0K")], 80),  # meant to act in normal running
        ([(30, "0K"), (65, "0K")], 65),
        ([(65, "0K"), (55, "0K")], 55),
        ([(60, "64K")], 80),  # switched off
        ([(60, "1K")], 80),  # 1024 bytes are not over 1 K
        ([(90, "0K")], 80),
    ],
)
def test_rules_with_thresholds_from_50_percent_lower_the_target(
    rules: list[tuple[int, str]], target: int
) -> None:
    given_rules = [{"usage_over": over, "size_over": size} for over, size in rules]
    found = app(**{S0 + "offload__rules": given_rules})
    assert structure_answer(found).target_usage_percent == target


def test_offload_to_db2_and_cflevel_4_keep_the_target() -> None:
    large = {S0 + "queues__0__message_bytes": 40_000}
    assert structure_answer(app(**large, **{S0 + "offload__to": "DB2"})).target_usage_percent == 80
    assert structure_answer(app(**large, **{S0 + "cflevel": 4})).target_usage_percent == 80


def test_size_with_offload_holds_125_percent_of_the_backlog() -> None:
    found = app(**{S0 + "queues__0__message_bytes": 40_000, S0 + "size_with_offload": True})
    shown = structure_answer(found)
    assert (shown.target_usage_percent, shown.target_messages_percent) == (None, 80)
    assert found.peak_usage_percent > 80
    assert found.load is not None
    held = found.load.messages_in_initsize(offload=True)
    assert 125_000 <= held < 126_500
    assert found.sizes.need_bytes < found.sizes.initsize_bytes


def test_structure_without_a_backlog_holds_one_message() -> None:
    found = app(**{S0 + "queues": []})
    assert found.load is not None
    assert initsize_mib(found) == 23  # the base is 22 MiB
    assert found.load.bundles_in_initsize >= 1


def test_given_size_is_an_upper_limit_for_initsize() -> None:
    assert initsize_mib(app(**{S0 + "size": "240M"})) == 240


def test_explanation_names_the_target_and_the_rule() -> None:
    found = result(**{S0 + "queues__0__message_bytes": 40_000})
    explained = {each.figure: each for each in explain_result(found)}
    target = explained["/structures/1/target_usage_percent"]
    assert (target.value, target.formula) == (70, "min(target_usage_percent, offld1th)")
    assert {each.name: each.value for each in target.inputs} == {"target_usage_percent": 80, "offld1th": 70}
    assert "How full at the planned backlog" in str(target.source)
    assert "/ used_target_percent" in explained["/structures/1/initsize_kib"].formula
    assert "/structures/0/target_usage_percent" not in explained
    assert structure_answer(result().structures[1]).target_messages_percent is None


def test_target_with_offload_is_explained_as_a_share_of_messages() -> None:
    found = result(**{S0 + "queues__0__message_bytes": 40_000, S0 + "size_with_offload": True})
    explained = {each.figure: each for each in explain_result(found)}
    assert explained["/structures/1/target_messages_percent"].value == 80
    assert "/structures/1/target_usage_percent" not in explained


def test_example_raises_no_finding_about_defaults() -> None:
    found = result()
    assert not OWN_DEFAULTS & codes(found)


@pytest.mark.parametrize(
    ("code", "message_bytes"), [("PEAK_ABOVE_FULLTHRESHOLD", 1024), ("OFFLOADED_AT_BACKLOG", 40_000)]
)
def test_headroom_of_ten_percent_raises_findings_about_defaults(code: str, message_bytes: int) -> None:
    assert code in codes(result(headroom_percent=10, **{S0 + "queues__0__message_bytes": message_bytes}))


def _untouched(document: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with defaults for headroom, rules, thresholds and sizes."""
    found = copy.deepcopy(document)
    del found["headroom_percent"]
    for structure in found["structures"]:
        for key in ("initsize", "size", "size_with_offload"):
            structure.pop(key, None)
        structure["offload"].pop("rules", None)
    return found


@settings(max_examples=200)
@given(documents())
def test_defaults_raise_no_finding_in_any_plan(document: dict[str, Any]) -> None:
    plan = read_object(_untouched(document))
    found = evaluate(plan)
    assert not OWN_DEFAULTS & codes(found)
    for structure in found.structures:
        if structure.load is None or not structure.load.demand.messages:
            continue
        assert structure.peak_usage_percent <= 80
        assert structure.offloaded_by_rules == 0
        if structure.role == "application":
            advice = advise(plan, ThresholdQuestion(structure=structure.name))
            assert not OWN_DEFAULTS & {each.code for each in advice.findings}


WIDE = {S0 + "queues__0__message_bytes": {"mean": 20_000, "p95": 90_000, "max": 4_194_304}}
NARROW = {S0 + "queues__0__message_bytes": {"mean": 2000, "p95": 2100, "max": 2200}}


def test_size_far_above_that_for_the_assumed_distribution_is_reported() -> None:
    (found,) = [each for each in result(**WIDE).findings if each.code == "SIZED_FOR_ANY_SHAPE"]
    assert (found.severity, found.field) == ("info", "/structures/0/queues")
    assert "To reduce it, define each size class as a separate queue" in found.message
    assert app(**WIDE).peak_usage_percent < 70 / Fraction(5, 4)
    for keys in (NARROW, WIDE | {S0 + "initsize": "4G"}, {}):
        assert "SIZED_FOR_ANY_SHAPE" not in {each.code for each in result(**keys).findings}
