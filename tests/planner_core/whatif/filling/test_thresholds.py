"""Advised thresholds: IBM's four examples, their capacity, and the answer if no thresholds hold the backlog.

Source of the examples: IBM MQ, Specifying offload options for shared messages.
"""

from __future__ import annotations

import copy
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.offload import Rule
from planner_core.whatif.filling_up import Outage, fill_up
from planner_core.whatif.thresholds import PURPOSES, ThresholdAdvice, ThresholdQuestion, advise
from tests.planner_core.whatif.filling.plans import Document, documents, queue, structure

MILLION = 1_000_000
SIZES = pytest.mark.parametrize("message_bytes", [1165, 2048, 4096, 6000, 16_384, 40_000, 64_512])
"""IBM does not state the message sizes of its examples; they hold for all sizes for which offload gains capacity at 1:6."""


def thresholds(advice: ThresholdAdvice) -> list[int]:
    return [rule.threshold for rule in advice.rules]


def sizes_kib(advice: ThresholdAdvice) -> list[int]:
    return [rule.size_bytes // 1024 for rule in advice.rules]


def codes(advice: ThresholdAdvice) -> set[str]:
    return {finding.code for finding in advice.findings}


def finding_with_code(advice: ThresholdAdvice, code: str) -> Finding:
    return next(finding for finding in advice.findings if finding.code == code)


def plan_of(size: str, *queues: Document, **keys: object) -> PlanDocument:
    return structure(list(queues), initsize=size, size=size, **keys)


def ask(document: PlanDocument, **keys: object) -> ThresholdAdvice:
    return advise(document, ThresholdQuestion(**keys))


# ---- IBM's four examples ---------------------------------------------------------------------------------------------


@SIZES
def test_example_1_of_10_gb_gives_92_without_and_80_with_the_margin(message_bytes: int) -> None:
    advice = ask(plan_of("10G", queue(message_bytes=message_bytes, backlog=MILLION)))
    assert advice.ibm.highest_threshold == 92
    assert advice.ibm.with_margin is not None
    assert Decimal("82.6") < advice.ibm.with_margin < Decimal("82.9")
    assert advice.compared[0].rules[2] == Rule(80, 0)
    assert advice.ibm.threshold == 80
    assert advice.capacity >= MILLION
    assert "IBM_MARGIN_NOT_KEPT" not in codes(advice)


def test_example_1_without_margin_does_not_exceed_the_default_of_90() -> None:
    advice = ask(plan_of("10G", queue(backlog=MILLION)), margin_percent=Decimal(0))
    assert advice.ibm.threshold == 90  # 92 rounded down
    assert thresholds(advice) == [70, 80, 90]


@SIZES
def test_example_2_of_4_gb_gives_80(message_bytes: int) -> None:
    advice = ask(plan_of("4G", queue(message_bytes=message_bytes, backlog=MILLION)))
    assert advice.compared[0].rules[2] == Rule(80, 0)
    assert thresholds(advice)[:2] == [60, 70]  # the others are adjusted
    assert advice.capacity >= MILLION
    assert advice.ibm.reserved_bytes == 768 * MILLION
    assert "IBM_MARGIN_NOT_KEPT" in codes(advice)


def test_example_2_with_the_full_margin_gives_70() -> None:
    assert thresholds(ask(plan_of("4G", queue(backlog=MILLION)), margin_percent=Decimal(10)))[2] == 70


@pytest.mark.parametrize("message_bytes", [140, 141, 1024, 1164, 64_513, 100_000])
def test_defaults_are_kept_and_reported_if_offload_gains_nothing(message_bytes: int) -> None:
    """1 entry and at most 6 elements each, of 1:6: entries run out, and an offloaded message keeps its entry."""
    document = plan_of("4G", queue(message_bytes=message_bytes, backlog=MILLION))
    advice = ask(document)
    assert thresholds(advice) == [70, 80, 90]  # IBM's defaults
    assert advice.ibm.threshold == 80  # and what its example of 4 GB says, beside them
    assert advice.capacity == advice.compared[-1].capacity  # as many as without any rule
    message = finding_with_code(advice, "OFFLOAD_GAINS_NOTHING").message
    assert ("OFFLD3TH(80)" in message) == (message_bytes <= 1164)
    assert ("ALLOWAUTOALT(NO)" in message) == (140 < message_bytes <= 1164)
    assert "IBM_MARGIN_NOT_KEPT" not in codes(advice)


@pytest.mark.parametrize(("message_bytes", "expected"), [(140, 90), (141, 80), (1024, 80), (1164, 80)])
def test_ibms_arithmetic_applies_if_automatic_alter_uses_the_freed_elements(
    message_bytes: int, expected: int
) -> None:
    """Up to 140 bytes (with 372 of headers, 512) a message takes 2 elements, as many as offloaded: nothing is freed."""
    document = plan_of("4G", queue(message_bytes=message_bytes, backlog=MILLION), allow_auto_alter=True)
    advice = ask(document)
    assert thresholds(advice)[2] == expected
    assert "OFFLOAD_GAINS_NOTHING" in codes(advice)


def test_thresholds_stay_if_ibms_arithmetic_cannot_reserve_the_backlog() -> None:
    advice = ask(plan_of("4G", queue(message_bytes=1024, backlog=5 * MILLION)))
    # 5 million x 768 B are 89.4 % of 4 GB: OFFLD3TH(10), which would hold as few as 90 does.
    assert advice.ibm.threshold == 10
    assert thresholds(advice) == [70, 80, 90]
    assert "BACKLOG_DOES_NOT_FIT" in codes(advice)


def test_thresholds_exceed_the_defaults_above_normal_running() -> None:
    advice = ask(plan_of("4G", queue(message_bytes=1024, backlog=MILLION)), typical=1_400_000)
    # Of 1 949 000 or so: 71.9 %, and 10 above it.
    assert thresholds(advice) == [85, 85, 90]


def test_offload_is_advised_for_one_queue_of_large_messages() -> None:
    small, large = (
        queue("A", message_bytes=1024, backlog=900_000),
        queue("B", message_bytes=30_000, backlog=100_000),
    )
    advice = ask(plan_of("4G", small, large))
    assert "OFFLOAD_GAINS_NOTHING" not in codes(advice)
    assert advice.capacity > advice.compared[-1].capacity


def test_example_3_cheap_messages_over_32_kb_are_always_offloaded() -> None:
    queues = (
        queue("SMALL", message_bytes=4096, backlog=600_000),
        queue("LARGE", message_bytes=40_000, backlog=400_000),
    )
    document = plan_of("4G", *queues)
    plain, cheap = ask(document), ask(document, cheap_over=32 * 1024)
    assert cheap.compared[0].rules[0] == Rule(0, 32 * 1024)
    assert "OFFLD1TH(0) OFFLD1SZ(32K)" in cheap.mqsc
    assert thresholds(cheap)[1:] == [70, 80]
    assert cheap.capacity >= MILLION
    # Where the large ones stay until a threshold, the last one must be lower to hold as many.
    assert thresholds(plain)[0] > 0
    assert thresholds(plain)[2] < 80


def test_example_4_rule_2_separates_16_kb_and_6_kb_at_a_low_threshold() -> None:
    queues = (
        queue("SIX", message_bytes=6 * 1024, backlog=500_000),
        queue("SIXTEEN", message_bytes=16 * 1024, backlog=400_000),
    )
    advice = ask(plan_of("10G", *queues), typical=10_000)
    second = advice.compared[0].rules[1]
    assert 6 * 1024 <= second.size_bytes < 16 * 1024
    assert second == Rule(50, 8 * 1024)
    assert thresholds(advice) == [40, 50, 80]
    assert advice.capacity >= 900_000
    at_50, at_80 = (rule.at_messages for rule in advice.rules[1:])
    assert at_50 is not None
    assert at_80 is not None
    assert at_50 < 900_000 < at_80  # the backlog is held with the smaller ones in the structure only


@pytest.mark.parametrize(
    ("low", "high", "expected_kib"),
    [(6144, 16_384, 8), (5000, 9000, 8), (9000, 14_000, 11), (4097, 32_768, 16)],
)
def test_rule_2_has_a_round_size_between_two_kinds_of_messages(
    low: int, high: int, expected_kib: int
) -> None:
    advice = ask(plan_of("10G", queue("A", message_bytes=low), queue("B", message_bytes=high)))
    assert sizes_kib(advice) == [32, expected_kib, 0]


@pytest.mark.parametrize(
    "other",
    [
        queue("B", message_bytes=16_384, backlog=50_000),  # not many
        queue("B", message_bytes=8_000),  # nearly the same size
        queue("B", message_bytes=2_048),  # the default tells them apart already
        queue("B", message_bytes=40_000),  # the first rule's
    ],
    ids=["few", "close", "small", "large"],
)
def test_rule_2_keeps_4k_without_two_kinds_of_intermediate_messages(other: Document) -> None:
    advice = ask(plan_of("10G", queue("A", message_bytes=6 * 1024), other))
    assert sizes_kib(advice) == [32, 4, 0]


# ---- normal running, cushion, backlog --------------------------------------------------------------------------------


def test_rules_start_above_normal_usage_plus_a_cushion() -> None:
    document = plan_of("4G", queue(message_bytes=4096, backlog=600_000))
    advice = ask(document, typical=390_000)  # of 648 294 that fit
    assert Fraction("60.1") < advice.typical_usage_percent < Fraction("60.2")
    assert advice.lowest_threshold == 75
    assert thresholds(advice) == [75, 75, 80]
    assert not advice.compared[0].offloads_in_normal_running
    assert "OFFLOADS_IN_NORMAL_RUNNING" not in codes(advice)


def test_planned_rules_that_act_in_normal_operation_are_reported() -> None:
    rules = [{"usage_over": 50, "size_over": "0K"}]
    document = plan_of("4G", queue(message_bytes=4096, backlog=600_000), offload={"rules": rules})
    advice = ask(document, typical=390_000)
    finding = finding_with_code(advice, "OFFLOADS_IN_NORMAL_RUNNING")
    assert "324147 messages" in finding.message  # half of the 648 294 that fit
    assert finding.field == "/structures/0/offload/rules"
    assert "OFFLOADS_IN_NORMAL_RUNNING" not in codes(ask(document, typical=324_000))


def test_thresholds_are_lowered_until_the_backlog_fits() -> None:
    """At 1:2 an offloaded message takes an entry with all its elements: more than IBM's 0.75 KB.

    An entry with two elements is 660.48 + 2 x 256 bytes, so 4 GB less 22 MiB have 3 643 472 of
    them. Of 18 elements 404 830 messages fit. From 75 % on 696 378 more take 19.1 %: 94.1 %. From
    70 % on it is 89.7 %, which is within IBM's 90 %.
    """
    queues = [queue(message_bytes=4096, backlog=MILLION)]
    document = plan_of("4G", *queues, entry_to_element_ratio=[1, 2])
    advice = ask(document)
    assert (advice.ibm.threshold, thresholds(advice)) == (80, [50, 60, 70])
    assert Fraction("89.6") < advice.usage_percent < Fraction("89.8")
    assert advice.compared[-1].capacity == 404_830
    assert "the fill model needs less" in advice.rules[2].why


def test_costly_messages_stay_longer_and_larger_ones_are_offloaded_earlier() -> None:
    queues = (
        queue("SMALL", message_bytes=2_000, backlog=500_000),
        queue("LARGE", message_bytes=20_000, backlog=100_000),
    )
    document = plan_of("2G", *queues)
    plain, costly = ask(document, typical=100), ask(document, typical=100, costly_up_to=2_048)
    assert sizes_kib(costly) == [32, 2, 0]
    assert thresholds(costly)[1] < thresholds(plain)[1]
    assert thresholds(costly)[2] >= thresholds(plain)[2]
    assert costly.holds


def test_backlog_that_does_not_fit_reports_a_larger_size_or_a_shorter_outage() -> None:
    document = structure([queue(message_bytes=6 * 1024, put_rate_per_s=1000)], initsize="1G", size="2G")
    advice = ask(document, typical=10_000)
    short = advice.shortfall
    assert short is not None
    assert short.messages == advice.capacity == 478_344 < advice.hold == 5_400_000
    assert short.outage_minutes is not None
    assert 7.9 < short.outage_minutes < 8  # 478 344 of 60 000 a minute
    assert not short.is_within_size
    assert short.size_bytes is not None
    assert finding_with_code(advice, "BACKLOG_DOES_NOT_FIT").message.endswith(
        "INITSIZE 12591M would hold them in 90 % of its space, and this one would hold those of an outage of 7.9 minutes."
    )


def test_reported_size_is_the_smallest_increment_that_suffices() -> None:
    queues = [queue(message_bytes=6 * 1024, put_rate_per_s=1000)]
    short = ask(structure(queues, initsize="1G", size="1G"), typical=10_000).shortfall
    assert short is not None
    assert short.size_bytes is not None
    size_mib = short.size_bytes // 2**20
    enough = ask(structure(queues, initsize=f"{size_mib}M", size=f"{size_mib}M"), typical=10_000)
    assert enough.is_within_margin
    less = ask(structure(queues, initsize=f"{size_mib - 1}M", size=f"{size_mib - 1}M"), typical=10_000)
    assert not less.is_within_margin


def test_backlog_that_fits_at_size_is_reported() -> None:
    document = structure([queue(message_bytes=6 * 1024, backlog=600_000)], initsize="1G", size="2G")
    short = ask(document).shortfall
    assert short is not None
    assert short.is_within_size
    assert ask(document, at="size").shortfall is None


def test_backlog_beyond_every_structure_has_no_size() -> None:
    short = ask(plan_of("1G", queue(backlog=10**12))).shortfall
    assert short is not None
    assert (short.size_bytes, short.more_bytes) == (None, None)


def test_backlog_that_uses_the_last_tenth_is_held_and_reported() -> None:
    document = plan_of("1G", queue(message_bytes=1024, backlog=450_000))  # of 478 344
    advice = ask(document)
    assert advice.holds
    assert advice.shortfall is None
    assert not advice.is_within_margin
    assert finding_with_code(advice, "BACKLOG_USES_LAST_TENTH").severity == "info"
    assert "OFFLOAD_GAINS_NOTHING" in codes(advice)


def test_normal_running_that_nearly_fills_the_structure_is_reported() -> None:
    advice = ask(plan_of("1G", queue(message_bytes=1024, backlog=475_000)), typical=450_000)
    assert thresholds(advice) == [95, 95, 95]
    assert "NORMAL_RUNNING_NEARLY_FULL" in codes(advice)


def test_unknown_normal_depth_is_assumed_zero_and_reported() -> None:
    document = plan_of("4G", queue())
    assert "TYPICAL_DEPTH_NOT_GIVEN" in codes(ask(document))
    assert "TYPICAL_DEPTH_NOT_GIVEN" not in codes(ask(document, typical=0))


def test_question_may_require_more_messages_than_the_plan() -> None:
    document = plan_of("4G", queue(message_bytes=4096, backlog=1_000))
    advice = ask(document, hold=MILLION)
    assert advice.hold == MILLION
    assert advice.usage_percent == ask(plan_of("4G", queue(message_bytes=4096))).usage_percent
    assert advice.offloaded == ask(plan_of("4G", queue(message_bytes=4096))).offloaded


def test_offloading_everything_turns_the_other_rules_off() -> None:
    advice = ask(plan_of("4G", queue()), cheap_over=0)
    assert [rule.is_on for rule in advice.rules] == [True, False, False]
    assert advice.compared[0].rules[0] == Rule(0, 0)
    assert "OFFLD2SZ(64K)" in advice.mqsc


def test_advice_compares_four_settings() -> None:
    advice = ask(plan_of("4G", queue(message_bytes=4096)))
    assert [each.name for each in advice.compared] == ["advised", "plan", "defaults", "none"]
    advised, planned, defaults, none = advice.compared
    assert planned.capacity == defaults.capacity
    assert advised.capacity > defaults.capacity > none.capacity == 648_294
    assert [each.holds for each in advice.compared] == [True, True, True, False]
    assert none.offloaded == 0 < defaults.offloaded < advised.offloaded


def test_explanation_of_each_advised_rule_uses_ibms_terms() -> None:
    advice = ask(plan_of("4G", queue(message_bytes=4096)))
    assert tuple(each.purpose for each in advice.rules) == PURPOSES
    assert all(each.why.endswith(".") for each in advice.rules)


def test_rules_below_cflevel_5_are_advised_with_their_required_level() -> None:
    assert "OFFLOAD_NEEDS_CFLEVEL_5" in codes(ask(plan_of("4G", queue(), cflevel=4)))


def test_structure_without_a_backlog_is_refused() -> None:
    with pytest.raises(InputInvalid, match="no backlog"):
        ask(plan_of("4G"))


# ---- properties ------------------------------------------------------------------------------------------------------

asked = st.fixed_dictionaries(
    {
        "typical": st.sampled_from([None, 0, 10, 100_000]),
        "cheap_over": st.sampled_from([None, None, 0, 4096, 32 * 1024]),
        "costly_up_to": st.sampled_from([None, None, 0, 1024, 8192]),
        "margin_percent": st.sampled_from([None, Decimal(0), Decimal(10), Decimal(50)]),
    }
)


@settings(max_examples=80)
@given(documents(same_outage=True), asked)
def test_advised_capacity_equals_that_of_the_fill_model(found: Document, keys: dict[str, object]) -> None:
    advice = ask(read_object(found), **keys)
    changed = copy.deepcopy(found)
    changed["structures"][0]["offload"]["rules"] = [
        {"usage_over": rule.threshold, "size_over": f"{rule.size_bytes // 1024}K"} for rule in advice.rules
    ]
    planned = evaluate(read_object(changed)).structures[1]
    assert planned.load is not None
    assert advice.capacity == planned.load.messages_in_initsize(offload=True)
    assert planned.at_backlog is None or planned.at_backlog.usage_percent == advice.usage_percent
    assert fill_up(read_object(found), Outage(rules=advice.compared[0].rules)).capacity == advice.capacity


@settings(max_examples=80)
@given(documents(), asked)
def test_thresholds_ascend_and_keep_the_cushion_above_normal_running(
    found: Document, keys: dict[str, object]
) -> None:
    advice = ask(read_object(found), **keys)
    live = [rule for rule in advice.rules if rule.is_on and rule.threshold]
    assert [rule.threshold for rule in live] == sorted(rule.threshold for rule in live)
    assert [rule.size_bytes for rule in live] == sorted((rule.size_bytes for rule in live), reverse=True)
    assert all(rule.threshold >= advice.lowest_threshold for rule in live)
    assert all(rule.threshold % 5 == 0 for rule in live)
    if advice.typical_usage_percent < 85:
        assert advice.lowest_threshold >= advice.typical_usage_percent + 10
        assert not advice.compared[0].offloads_in_normal_running


@settings(max_examples=80)
@given(documents(), asked)
def test_advised_rules_hold_the_reported_messages(found: Document, keys: dict[str, object]) -> None:
    advice = ask(read_object(found), **keys)
    assert advice.holds == (advice.capacity >= advice.hold)
    assert (advice.shortfall is None) == advice.holds
    # No other thresholds above normal running hold more.
    if not advice.holds:
        lowest = [{"usage_over": advice.lowest_threshold, "size_over": "0K"}]
        if keys["cheap_over"] is not None:
            lowest.append({"usage_over": 0, "size_over": f"{keys['cheap_over'] // 1024}K"})  # type: ignore[operator]
        changed = copy.deepcopy(found)
        changed["structures"][0]["offload"]["rules"] = lowest
        load = evaluate(read_object(changed)).structures[1].load
        assert load is not None
        assert load.messages_in_initsize(offload=True) <= advice.capacity


@settings(max_examples=60)
@given(documents(), st.integers(0, 95), st.integers(0, 95))
def test_lower_thresholds_never_hold_fewer_messages(found: Document, one: int, two: int) -> None:
    def capacity(threshold: int) -> int:
        changed = copy.deepcopy(found)
        changed["structures"][0]["offload"]["rules"] = [{"usage_over": threshold, "size_over": "0K"}]
        load = evaluate(read_object(changed)).structures[1].load
        assert load is not None
        return load.messages_in_initsize(offload=True)

    assert capacity(min(one, two)) >= capacity(max(one, two))


@pytest.mark.parametrize(
    ("size", "hold", "typical", "expected"),
    [
        ("4G", MILLION, None, "because the fill model holds the backlog this way"),
        ("100M", 100_000, None, "because a lower one would not hold the backlog either"),
        ("100M", 10_000, 20_000, "because normal running allows no lower one"),
    ],
)
def test_stated_reason_for_a_margin_below_ibms_is_correct(
    size: str, hold: int, typical: int | None, expected: str
) -> None:
    document = plan_of(size, queue(message_bytes=2000, backlog=hold))
    advice = ask(document) if typical is None else ask(document, typical=typical)
    (said,) = [each.message for each in advice.findings if each.code == "IBM_MARGIN_NOT_KEPT"]
    assert said.endswith(f"{expected}.")
    assert ("BACKLOG_DOES_NOT_FIT" in codes(advice)) == ("either" in expected)


def test_rules_omitted_with_db2_are_off() -> None:
    """OFFLD1SZ(32K/64K) OFFLD2SZ(4K/64K) OFFLD3SZ(0K/64K): a plan that gives no rules has them too."""
    document = plan_of("100M", queue(message_bytes=2000, backlog=1000), offload={"to": "DB2"})
    given = document.structures[0].offload.rules
    assert [(rule.usage_over, rule.size_over // 1024) for rule in given] == [(70, 64), (80, 64), (90, 64)]
    held = {each.name: each.capacity for each in ask(document).compared}
    assert held["plan"] == held["defaults"] == held["none"] < held["advised"]


def test_planned_rules_give_the_same_capacity_with_db2_as_with_smds() -> None:
    rules = [{"usage_over": 70, "size_over": "0K"}]
    one, two = (
        ask(plan_of("100M", queue(message_bytes=2000), offload={"to": to, "rules": rules})).compared
        for to in ("DB2", "SMDS")
    )
    assert [each.capacity for each in one if each.name != "defaults"] == [
        each.capacity for each in two if each.name != "defaults"
    ]


def test_usage_is_the_same_without_rules_and_with_rules_that_do_not_act() -> None:
    wide = {"mean": 20_000, "p95": 90_000, "max": 4_194_304}
    answer = advise(structure([queue(message_bytes=wide, backlog=100_000)]), ThresholdQuestion())
    compared = {each.name: each for each in answer.compared}
    usage = {each.usage_percent for each in compared.values()}
    assert len(usage) == 1
    assert usage.pop() < 70
