"""A structure that fills over time holds the messages of the plan and of the fill model."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.offload import Rule
from planner_core.whatif.filling_up import FillingUp, Outage, fill_up
from tests.planner_core.whatif.filling.plans import Document, documents, queue, structure


def codes(answer: FillingUp) -> set[str]:
    return {finding.code for finding in answer.findings}


def kinds(answer: FillingUp) -> list[str]:
    return [moment.kind for moment in answer.events]


def example(*, dsexpand: bool = True, **keys: object) -> FillingUp:
    """512 MB at CFCC 14, 2048 bytes, IBM's default rules: the example of docs/explanation/assumptions.md, at 40 messages a second."""
    offload = {} if dsexpand else {"offload": {"dsexpand": False}}
    document = structure([queue(put_rate_per_s=40)], cfcc_level=14, initsize="512M", size="512M", **offload)
    return fill_up(document, Outage(**keys))


def test_documented_example_offloads_at_141_905_messages_and_holds_220_741() -> None:
    answer = example(outage_minutes=Decimal(100))
    assert kinds(answer) == ["full_threshold", "rule_starts", "structure_full", "outage_ends"]
    threshold, rule, full, _ = answer.events
    assert (rule.messages, full.messages, answer.capacity) == (141_905, 220_741, 220_741)
    assert rule.rule == Rule(90, 0)
    assert threshold.messages == 134_021  # 85 % of 157 672
    assert full.usage_percent == 100
    assert "2192" in full.text
    assert float(full.minutes) == pytest.approx(220_741 / 2400, abs=1e-3)
    assert answer.lasts_minutes == answer.full_at_minutes == full.minutes
    assert codes(answer) == {"FULL_DURING_OUTAGE", "USAGE_MEASURE_ASSUMED", "SMDS_OVERHEAD_ASSUMED"}


def test_example_survives_its_outage_and_reports_the_longest_possible_one() -> None:
    answer = example()
    assert answer.full_at_minutes is None
    assert answer.messages_arriving == 216_000 == answer.points[-1].messages
    assert float(answer.lasts_minutes or 0) == pytest.approx(91.976, abs=1e-3)
    assert "FULL_DURING_OUTAGE" not in codes(answer)


def test_structure_without_rules_is_full_at_157_672_messages() -> None:
    answer = example(rules=())
    assert answer.capacity == 157_672
    assert answer.points[-1].offloaded == 0
    assert "rule_starts" not in kinds(answer)


def test_twice_the_rate_fills_the_structure_in_half_the_time() -> None:
    plain, fast = example(), example(rate_percent=Decimal(200))
    assert fast.capacity == plain.capacity
    assert fast.lasts_minutes == (plain.lasts_minutes or 0) / 2


def test_data_sets_fill_together_with_the_structure() -> None:
    answer = example(data_set_bytes=20 * 2**20, dsexpand=False)
    at = {moment.kind: moment for moment in answer.events}
    # 20 MiB are 5120 pages; without the queue's block of 256 KB, 5056, of which 4956 are for messages.
    # Messages of 2048 bytes, a page each, are offloaded from minute 59.127 on.
    assert float(at["data_set_full"].minutes) == pytest.approx(59.127 + 4956 / 2400, abs=1e-3)
    assert float(at["data_sets_full"].minutes) == pytest.approx(59.127 + 4 * 4956 / 2400, abs=1e-3)
    assert "reason 2192" in at["data_set_full"].text
    (found,) = (each for each in answer.findings if each.code == "DATA_SET_FULL_DURING_OUTAGE")
    assert " is full after " in found.message


def test_full_data_sets_with_dsexpand_yes_expand() -> None:
    full, answer = (example(data_set_bytes=20 * 2**20, dsexpand=each) for each in (False, True))
    when = {moment.kind: moment.minutes for moment in full.events}
    at = {moment.kind: moment for moment in answer.events}
    assert at["data_set_expands"].minutes == when["data_set_full"]
    assert at["data_sets_expand"].minutes == when["data_sets_full"]
    assert "data_set_full" not in at
    assert "must expand by its secondary space" in at["data_set_expands"].text
    assert "may fail with reason 2192 while it expands" in at["data_set_expands"].text
    (found,) = (each for each in answer.findings if each.code == "DATA_SET_FULL_DURING_OUTAGE")
    assert " must expand after " in found.message
    assert "is full" not in found.message


def test_planned_data_set_is_large_enough() -> None:
    document = structure([queue(put_rate_per_s=40)], cfcc_level=14, initsize="512M", size="512M")
    need = evaluate(document).structures[1].smds
    assert need is not None
    answer = fill_up(document, Outage(data_set_bytes=need.data_set_bytes_at_backlog))
    assert not {"data_set_full", "data_set_expands"} & set(kinds(answer))
    assert answer.offload_bytes(answer.points[-1]) == need.data_set_bytes_at_backlog


def test_depth_events_occur_at_their_depth_and_a_full_queue_stops_growing() -> None:
    queues = [
        queue("SMALL", put_rate_per_s=10, maxdepth=6_000, qdepthhi=80),
        queue("DEFAULT", put_rate_per_s=1, maxdepth=1_001),
        queue("FREE", put_rate_per_s=10),
    ]
    answer = fill_up(structure(queues, initsize="4G", size="4G"))
    at = {(moment.kind, moment.queue): moment.minutes for moment in answer.events}
    assert at["depth_high", "SMALL"] == Fraction(4800, 600)
    assert at["queue_full", "SMALL"] == 10
    assert at["depth_high", "DEFAULT"] == Fraction(801, 60)  # 800 x 100 is below 80 x 1001
    assert at["queue_full", "DEFAULT"] == Fraction(1001, 60)
    assert {each.name: each.depth_at_end for each in answer.queues} == {
        "SMALL": 6_000,
        "DEFAULT": 1_001,
        "FREE": 54_000,
    }
    assert int(answer.points[-1].messages) == 61_001
    assert "MAXDEPTH_DURING_OUTAGE" in codes(answer)


def test_queue_that_ends_at_maxdepth_has_no_rejected_put() -> None:
    answer = fill_up(structure([queue(put_rate_per_s=10, maxdepth=54_000)], initsize="4G", size="4G"))
    assert kinds(answer) == ["depth_high", "outage_ends"]
    assert "MAXDEPTH_DURING_OUTAGE" not in codes(answer)


def test_structure_is_never_full_when_all_queues_are_at_maxdepth() -> None:
    answer = fill_up(structure([queue(put_rate_per_s=10, maxdepth=10)], initsize="4G", size="4G"))
    assert (answer.lasts_minutes, answer.capacity) == (None, None)
    assert answer.as_json()["lasts_minutes"] is None


def test_queues_stop_after_their_own_outage_unless_one_is_given() -> None:
    queues = [
        queue("A", put_rate_per_s=1, outage_minutes=10),
        queue("B", put_rate_per_s=1, outage_minutes=60),
    ]
    document = structure(queues, initsize="4G", size="4G")
    own = fill_up(document)
    assert [float(point.minutes) for point in own.points] == [0, 10, 60]
    assert [int(point.messages) for point in own.points] == [0, 1_200, 4_200]
    asked = fill_up(document, Outage(outage_minutes=Decimal(30)))
    assert [int(point.messages) for point in asked.points] == [0, 3_600]


def test_backlog_without_rate_arrives_over_an_assumed_outage_that_is_reported() -> None:
    answer = fill_up(structure([queue(backlog=6_000)], initsize="1G", size="1G"))
    assert answer.outage_minutes == 60
    assert answer.queues[0].messages_per_minute == 100
    assert "OUTAGE_ASSUMED" in codes(answer)
    assert any("60 minutes" in each.what for each in answer.assumptions)


def test_backlog_without_rate_arrives_over_the_longest_outage_of_other_queues() -> None:
    queues = [queue("A", backlog=4_500), queue("B", put_rate_per_s=1, outage_minutes=45)]
    answer = fill_up(structure(queues, initsize="1G", size="1G"))
    assert [each.messages_per_minute for each in answer.queues] == [100, 60]


def test_larger_share_of_large_messages_fills_the_structure_earlier() -> None:
    queues = [
        queue("S", message_bytes=1024, put_rate_per_s=90),
        queue("L", message_bytes=30_000, put_rate_per_s=10),
    ]
    document = structure(queues, initsize="4G", size="4G")
    planned, more = fill_up(document), fill_up(document, Outage(larger_percent=Decimal(50)))
    assert [planned.mix.planned_percent, planned.mix.percent, more.mix.percent] == [10, 10, 50]
    assert more.messages_arriving == planned.messages_arriving
    assert [each.messages_per_minute for each in more.queues] == [3_000, 3_000]
    assert (more.lasts_minutes or 0) < (planned.lasts_minutes or 0)
    only = fill_up(document, Outage(larger_percent=Decimal(0)))
    assert only.queues[1].messages_per_minute == 0


def test_mix_of_equal_sizes_cannot_be_changed() -> None:
    with pytest.raises(InputInvalid, match="larger_percent"):
        example(larger_percent=Decimal(10))


def test_unknown_structure_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputInvalid, match="no application structure 'CSQ_ADMIN'; it has APP1"):
        fill_up(structure([queue()]), Outage(structure="CSQ_ADMIN"))


def test_filling_question_with_at_size_assumes_the_structure_at_size() -> None:
    document = structure([queue(put_rate_per_s=40)], initsize="512M", size="1G")
    small, large = (fill_up(document, Outage(at=at)) for at in ("initsize", "size"))
    assert (small.size_bytes, large.size_bytes) == (2**29, 2**30)
    assert (large.capacity or 0) > (small.capacity or 0)


def test_structure_below_its_base_is_full_at_once() -> None:
    answer = fill_up(structure([queue(put_rate_per_s=40)], initsize="10M", size="10M"))
    assert answer.full_at_minutes == 0
    assert answer.capacity == 0


def test_structure_without_backlog_has_no_arrivals() -> None:
    answer = fill_up(structure([], initsize="1G", size="1G"))
    assert kinds(answer) == ["outage_ends"]
    assert answer.capacity is None
    assert "EMPTY_STRUCTURE" in codes(answer)


def test_given_rules_below_cflevel_5_have_no_effect_and_are_reported() -> None:
    document = structure([queue(put_rate_per_s=40)], cflevel=4, initsize="512M", size="512M")
    answer = fill_up(document, Outage(rules=(Rule(0, 0),)))
    assert answer.points[-1].offloaded == 0
    assert "OFFLOAD_NEEDS_CFLEVEL_5" in codes(answer)


@settings(max_examples=60)
@given(documents())
def test_planned_outage_ends_with_the_planned_backlog(
    found: Document,
) -> None:
    document = read_object(found)
    planned = evaluate(document).structures[1]
    assert planned.load is not None
    answer = fill_up(document)
    assert answer.messages_arriving == planned.load.demand.messages
    if answer.full_at_minutes is None:
        assert answer.points[-1].messages == planned.load.demand.messages


@settings(max_examples=60)
@given(documents(same_outage=True))
def test_full_structure_holds_the_capacity_of_the_fill_model(found: Document) -> None:
    document = read_object(found)
    planned = evaluate(document).structures[1]
    assert planned.load is not None
    answer = fill_up(document)
    assert answer.capacity == planned.load.messages_in_initsize(offload=True)
    if answer.full_at_minutes is None:
        assert planned.at_backlog is not None
        last = answer.points[-1]
        assert answer.usage_percent(last) == planned.at_backlog.usage_percent
        assert -(-last.offloaded.numerator // last.offloaded.denominator) == planned.at_backlog.offloaded
        assert -(-last.pages.numerator // last.pages.denominator) == planned.at_backlog.pages


@settings(max_examples=60)
@given(documents(), st.sampled_from([Decimal(50), Decimal(130), Decimal("333.3")]))
def test_use_of_pools_never_falls_or_exceeds_their_total(found: Document, rate: Decimal) -> None:
    answer = fill_up(read_object(found), Outage(rate_percent=rate))
    for before, after in zip(answer.points, answer.points[1:], strict=False):
        assert before.minutes < after.minutes
        assert all(low <= high for low, high in zip(before.values, after.values, strict=True))
    assert all(answer.usage_percent(point) <= 100 for point in answer.points)
    assert [moment.minutes for moment in answer.events] == sorted(moment.minutes for moment in answer.events)


def test_fill_rate_of_pools_changes_only_when_a_queue_is_full() -> None:
    """Each queue gets one message a second; queue n is full after n minutes, with 60 n messages of 10 elements."""
    queues = [queue(f"Q{n}", put_rate_per_s=1, outage_minutes=50, maxdepth=60 * n) for n in range(1, 41)]
    answer = fill_up(structure(queues, initsize="2G", size="2G", offload={"rules": []}))
    assert [point.minutes for point in answer.points] == [*range(41), 50]
    for point in answer.points:
        held = Fraction(sum(60 * min(n, int(point.minutes)) for n in range(1, 41)))
        assert point.values[1:] == (held, 10 * held, Fraction(0), Fraction(0))
    full = [moment for moment in answer.events if moment.kind == "queue_full"]
    assert {moment.queue: moment.minutes for moment in full} == {f"Q{n}": Fraction(n) for n in range(1, 41)}
    assert answer.lasts_minutes is None


@settings(max_examples=60)
@given(documents(), st.integers(1, 99))
def test_first_half_of_an_outage_equals_an_outage_half_as_long(found: Document, percent: int) -> None:
    document = read_object(found)
    whole = fill_up(document, Outage(outage_minutes=Decimal(100)))
    part = fill_up(document, Outage(outage_minutes=Decimal(percent)))
    assert whole.at_minutes(Fraction(percent)).values == part.points[-1].values
