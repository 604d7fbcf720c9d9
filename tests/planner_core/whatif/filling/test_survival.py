"""The probability of surviving an outage: compared with single outages, with counted days, and with bounds that always hold."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.errors import InputInvalid
from planner_core.sizing.offload import Rule, default_rules
from planner_core.whatif.filling_up import Outage, fill_up
from planner_core.whatif.survival import survival
from planner_core.whatif.survival_answer import (
    MeasuredGrowth,
    MeasuredHour,
    MeasuredUsage,
    Measurements,
    Survival,
    SurvivalQuestion,
    SurvivedOutage,
    percent,
)
from planner_core.whatif.survival_model import (
    Growing,
    ObservedDay,
    Phase,
    Pools,
    Slot,
    fill_times,
    phases_of,
    weights_of,
    wilson,
)
from tests.planner_core.whatif.filling.plans import queue, structure

MONDAY = date(2026, 3, 2)
NO_GROWTH = (Growing(0.0, 1.0),)
PLAN = structure(
    [
        queue("S", message_bytes=4096, put_rate_per_s=200),
        queue("L", message_bytes={"mean": 9000, "p95": 30_000, "max": 60_000}, put_rate_per_s=20),
    ],
    initsize="4G",
    size="6G",
)
BANDS = 5


def day(number: int, *puts: float, used: float = 0.0) -> ObservedDay:
    """Return a day with these puts in each of its intervals; a message takes one entry and ten elements."""
    slots = tuple(Slot((0.0, each), (0.0, each * 10), used, used * 10) for each in puts)
    return ObservedDay(MONDAY + timedelta(days=number), slots)


def shares(days: list[ObservedDay], minutes: float, *, entries: float, growths: Any = NO_GROWTH) -> float:  # noqa: ANN401 - growths
    pools = Pools(entries, entries * 1_000)
    times = fill_times(days, (Phase(1.0, 2),), pools, growths, quarter_days=91)
    return times.probability(minutes)


def measured(
    days: int, *, puts: float = 1000.0, entries: int | None = 100, **members: object
) -> Measurements:
    """Return usage of whole days with the same puts in every hour, of messages with ten elements."""
    start = datetime(2026, 3, 2, tzinfo=UTC)
    hours = tuple(
        MeasuredHour(start + timedelta(hours=at), (0, 0, puts, 0, 0), (0, 0, puts * 10, 0, 0), entries, None)
        for at in range(days * 24)
    )
    usage = MeasuredUsage(hours, **members)  # type: ignore[arg-type]
    return lambda *_args, **_names: usage


def answer(measurements: Measurements, **asked: Any) -> Survival:  # noqa: ANN401 - any parameter
    return survival(PLAN, SurvivalQuestion(**asked), measurements=measurements)


# ---- the model -------------------------------------------------------------------------------------------------------


def test_model_with_constant_puts_fills_after_capacity_over_rate() -> None:
    days = [day(number, *[600] * 24) for number in range(7)]
    # Ten puts a minute and 1000 entries: full after 100 minutes, whenever it begins.
    assert shares(days, 99.9, entries=1000) == pytest.approx(1)
    assert shares(days, 100.1, entries=1000) == 0


def test_model_counts_the_share_of_starts_of_a_day_with_one_busy_hour() -> None:
    # 600 puts in hour 12 and none otherwise; 600 entries are never exceeded, and 300 are if half of the hour remains.
    days = [day(number, *[0] * 12, 600, *[0] * 11) for number in range(7)]
    # An outage of a day contains the hour, unless it begins within it and ends before the next one: 300 puts are needed.
    assert shares(days, 60, entries=300) == pytest.approx(1 - 1 / 24, abs=0.01)
    assert shares(days, 24 * 60, entries=300) == 0


def test_model_starts_with_the_fill_of_the_hour() -> None:
    days = [day(number, *[600] * 24, used=400) for number in range(7)]
    assert shares(days, 59.9, entries=1000) == pytest.approx(1)
    assert shares(days, 60.1, entries=1000) == 0


def test_model_gives_every_weekday_the_same_weight() -> None:
    # Two Mondays, and one of each other weekday.
    days = [day(number, *[60] * 24) for number in range(8)]
    weights = weights_of(days)
    assert weights[0] == weights[7] == pytest.approx(1 / 14)
    assert sum(weights) == pytest.approx(1)
    assert weights[3] == pytest.approx(1 / 7)


def test_model_replaces_missing_days_by_the_next_of_the_same_weekday() -> None:
    # Saturday is busy in the next week; the first one was not observed, so an outage on Friday runs into the other.
    days = [day(number, *[0] * 24) for number in range(5)]
    days += [day(number, *[6000 if number == 12 else 0] * 24) for number in range(6, 14)]
    friday = [each for each in days if each.day == MONDAY + timedelta(days=4)]
    times = fill_times(days, (Phase(1.0, 2),), Pools(1000.0, 1e9), NO_GROWTH, quarter_days=91)
    index = days.index(friday[0])
    assert max(times.by_growth[0][1][0][index]) <= 24 * 60 + 10
    assert min(times.by_growth[0][1][0][index]) < 60 + 10


def test_model_grows_puts_to_the_middles_of_the_thirds_of_the_quarter() -> None:
    days = [day(number, *[600] * 24) for number in range(7)]
    # The last observed day doubles within 45.5 days, the middle of the quarter: full after 50 minutes there.
    growth = (Growing(math.log(2) / 45.5, 1.0),)
    times = fill_times(days[6:], (Phase(1.0, 2),), Pools(1000.0, 1e9), growth, quarter_days=91)
    middles = [part[0][0] for _, parts in times.by_growth for part in parts]
    assert middles == pytest.approx([100 / 2 ** (1 / 3), 50, 100 / 2 ** (5 / 3)], rel=1e-6)


def test_model_phases_follow_thresholds_and_keep_the_smallest_size() -> None:
    edges = (0, 4096, 32_768, 64_512)
    assert phases_of(default_rules(), edges) == (
        Phase(0.7, 4), Phase(0.8, 3), Phase(0.9, 2), Phase(1.0, 1),
    )  # fmt: skip
    assert phases_of((), edges) == (Phase(1.0, 4),)
    # A rule with a larger size than an earlier one changes nothing.
    assert phases_of((Rule(50, 4096), Rule(60, 32_768)), edges)[-1] == Phase(1.0, 2)


def test_wilson_interval_has_the_published_values() -> None:
    # 81 of 263: 0.255 to 0.366 at 95 % (Newcombe 1998, method 3).
    low, high = wilson(81 / 263, 263, confidence=0.95)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    # 0 of 20: 0 to 0.1611 (the same source).
    assert round(wilson(0.0, 20, confidence=0.95)[1], 4) == 0.1611


@given(
    st.lists(st.lists(st.integers(0, 5000), min_size=24, max_size=24), min_size=3, max_size=3),
    st.integers(100, 50_000),
    st.integers(0, 500),
)
@settings(max_examples=20, deadline=None)
def test_survival_falls_with_time_and_growth_and_rises_with_size(
    puts: list[list[int]], entries: int, used: int
) -> None:
    days = [day(number, *each, used=used) for number, each in enumerate(puts)]

    def found(size: int, per_day: float) -> list[float]:
        times = fill_times(
            days, (Phase(1.0, 2),), Pools(size, size * 1_000), (Growing(per_day, 1.0),), quarter_days=91
        )
        return [times.probability(minutes) for minutes in (0, 5, 30, 90, 300, 1000, 5000)]

    before = found(entries, 0.0)
    assert all(one >= other for one, other in pairwise(before))
    assert all(0 <= each <= 1 + 1e-9 for each in before)
    assert all(one >= other - 1e-9 for one, other in zip(found(entries + 500, 0.0), before, strict=True))
    assert all(one <= other + 1e-9 for one, other in zip(found(entries, 0.002), before, strict=True))


# ---- the answer ------------------------------------------------------------------------------------------------------


def test_survival_at_the_planned_rates_agrees_with_the_simulation_of_one_outage() -> None:
    # 220 puts a second in the mix of the plan, all day.
    days = (tuple([Decimal(220 * 3600)] * 24),)
    for rules in (None, ()):
        filled = fill_up(PLAN, Outage(outage_minutes=Decimal(100_000), rules=rules))
        assert filled.lasts_minutes is not None
        lasts = float(filled.lasts_minutes)
        found = survival(PLAN, SurvivalQuestion(days=days))
        curve = found.with_offload if rules is None else found.without_offload
        assert curve is not None
        # The simulation counts a few more elements where no rule offloads anything, and both round entries down.
        assert [each.minutes for each in curve.longest] == pytest.approx([lasts] * 4, rel=0.005)


def test_survival_of_measured_usage_states_its_basis() -> None:
    found = answer(measured(21), minutes=Decimal(600), at="initsize")
    assert found.basis.source == "measured"
    assert (found.basis.days, found.basis.days_left_out, found.basis.interval_minutes) == (21, 0, 60)
    assert (found.basis.first_day, found.basis.last_day) == (MONDAY, date(2026, 3, 22))
    assert (found.basis.quarter_first_day, found.basis.quarter_last_day) == (
        date(2026, 3, 23), date(2026, 6, 21),
    )  # fmt: skip
    assert found.basis.puts_per_minute == pytest.approx(16.67)
    assert found.basis.entries_in_use == 100
    assert found.probability == 1
    # Twenty-one days without a failure do not prove that there is none.
    assert found.interval is not None
    assert 0.8 < found.interval[0] < 0.9
    assert found.interval[1] == 1


def test_survival_at_measured_limits_uses_the_entries_last_observed() -> None:
    found = answer(measured(14, entries_total=1100, elements_total=10**6), at="allocated", minutes=Decimal(1))
    assert (found.entries, found.size_kib) == (1100, None)
    assert found.without_offload is not None
    # 1000 of 1100 entries are free, and 1000 messages arrive in an hour.
    assert [each.minutes for each in found.without_offload.longest] == pytest.approx([60] * 4, abs=0.11)
    assert answer(measured(14), at="allocated").not_answered is not None


def test_survival_with_a_forecast_weights_three_growths() -> None:
    growth = MeasuredGrowth(0.0, 0.05, 0.10, MONDAY)
    found = answer(measured(14, growth=growth), explain=True, minutes=Decimal(60))
    assert found.basis.growth.source == "forecast"
    # 5 % in 30 days: 1.05 ** (365 / 30) = 1.8105
    assert found.basis.growth.p50 == pytest.approx(81.05, abs=0.01)
    assert found.explanations is not None
    why = found.explanations["/probability"]
    values = {each.name: each.value for each in why.inputs}
    assert (values["share_of_median"], values["share_of_others"]) == (Fraction(2, 5), Fraction(3, 10))
    assert float(why.value) == pytest.approx(found.probability or 0, abs=1e-4)


def test_survival_depends_on_the_order_of_growths_in_no_way() -> None:
    one = answer(measured(14, growth=MeasuredGrowth(0.0, 0.05, 0.10, MONDAY))).as_json()
    other = answer(measured(14, growth=MeasuredGrowth(0.10, 0.05, 0.0, MONDAY))).as_json()
    assert one == other


@pytest.mark.parametrize(
    ("measurements", "words"),
    [
        (measured(13), "Only 13 whole days"),
        (measured(0), "No puts"),
        (lambda *_args, **_names: None, "No puts"),
    ],
)
def test_survival_of_too_few_days_cannot_be_stated(measurements: Measurements, words: str) -> None:
    found = answer(measurements)
    assert found.not_answered is not None
    assert words in found.not_answered
    assert (found.probability, found.interval, found.with_offload, found.without_offload) == (None,) * 4
    assert [each.code for each in found.findings if each.severity == "warning"] == ["SURVIVAL_NOT_ANSWERED"]
    assert words in found.sentences[0]
    assert "probability" in "\n".join(found.lines())


def test_survival_leaves_out_days_with_more_than_two_missing_hours() -> None:
    whole = measured(16)("SQ03", "APP1", edges=(), header_bytes=0, most_days=91)
    assert whole is not None

    def without(*places: int) -> Survival:
        kept = tuple(
            each._replace(puts=None, elements=()) if at in places else each
            for at, each in enumerate(whole.hours)
        )
        return answer(lambda *_args, **_names: MeasuredUsage(kept))

    assert without(24, 30).basis.days == 16
    assert (without(24, 30, 31).basis.days, without(24, 30, 31).basis.days_left_out) == (15, 1)


def test_survival_fills_a_missing_hour_with_its_busier_neighbor() -> None:
    whole = measured(14)("SQ03", "APP1", edges=(), header_bytes=0, most_days=91)
    assert whole is not None
    hours = list(whole.hours)
    hours[5] = hours[5]._replace(puts=None, elements=())
    hours[6] = hours[6]._replace(puts=(0, 0, 9000, 0, 0), elements=(0, 0, 90_000, 0, 0))
    found = answer(lambda *_args, **_names: MeasuredUsage(tuple(hours)))
    # 334 hours with 1000, and two with 9000.
    assert found.basis.puts_per_minute == pytest.approx((334 * 1000 + 2 * 9000) / (14 * 1440), abs=0.01)


def test_survival_without_one_weekday_cannot_be_stated() -> None:
    whole = measured(21)("SQ03", "APP1", edges=(), header_bytes=0, most_days=91)
    assert whole is not None
    kept = tuple(each for each in whole.hours if each.hour.weekday() != 6)
    found = answer(lambda *_args, **_names: MeasuredUsage(kept))
    assert found.not_answered is not None
    assert "Sunday" in found.not_answered


def test_survival_below_cflevel_4_has_no_offload() -> None:
    plan = structure([queue("S", message_bytes=4096, put_rate_per_s=200)], cflevel=3)
    found = survival(plan, SurvivalQuestion(), measurements=measured(14))
    assert (found.with_offload, found.rules_of) == (None, None)
    assert found.probability is not None


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"message_bytes": "100"}, "message_bytes"),
        ({"day": ["1 " * 24, "1 " * 48]}, "day"),
        ({"day": ["1 " * 24], "at": "allocated"}, "at"),
        ({"day": ["1 " * 23]}, "day"),
        ({"day": ["x " * 24]}, "day"),
        ({"minutes": "10081"}, "minutes"),
        ({"structure": "NONE"}, "structure"),
    ],
)
def test_survival_question_with_an_error_names_the_field(asked: dict[str, Any], field: str) -> None:
    texts = {name: value if isinstance(value, list) else [value] for name, value in asked.items()}
    with pytest.raises(InputInvalid) as error:
        survival(PLAN, SurvivalQuestion.read(texts))
    assert field in {each.field for each in error.value.problems}


def test_survival_of_given_days_of_one_size_uses_that_size() -> None:
    days = (tuple([Decimal(60_000)] * 24),)
    small = survival(PLAN, SurvivalQuestion(days=days, message_bytes=100))
    large = survival(PLAN, SurvivalQuestion(days=days, message_bytes=60_000))
    assert small.without_offload is not None
    assert large.without_offload is not None
    lasts = [each.longest[0].minutes or math.inf for each in (small.without_offload, large.without_offload)]
    assert lasts[0] > lasts[1]
    # 60,000 bytes and a header of 372 take 236 elements.
    assert large.elements is not None
    assert lasts[1] == pytest.approx(large.elements / 236 / 1000, abs=0.2)


def test_survival_is_the_same_each_time() -> None:
    asked = {"minutes": Decimal(45)}
    assert answer(measured(14), **asked).json_bytes() == answer(measured(14), **asked).json_bytes()


def test_percent_is_never_rounded_to_certainty() -> None:
    assert [percent(each) for each in (0, 1, 0.9999, 0.0001, 0.5, 0.994)] == [
        "0 %", "100 %", "99.9 %", "0.1 %", "50 %", "99.4 %",
    ]  # fmt: skip


def test_answer_for_a_manager_states_what_makes_the_probability_too_high() -> None:
    whole = "\n".join(answer(measured(14)).sentences)
    assert "assumed to be empty" not in whole
    unknown = "\n".join(answer(measured(14, entries=None)).sentences)
    assert (
        "The structure is assumed to be empty when the outage begins, so the true probability may be lower."
        in unknown
    )


def test_answer_for_a_manager_names_the_space_that_offload_needs() -> None:
    # 8000 bytes are 33 elements: without offload, elements run out first.
    for size, gains in ((8000, True), (100, False)):
        puts = tuple(map(Decimal, [600_000] * 24))
        found = answer(measured(14), days=(puts,), message_bytes=size, minutes=Decimal(60))
        assert found.with_offload is not None
        assert found.without_offload is not None
        has_gained = found.with_offload.requested.probability > found.without_offload.requested.probability
        assert has_gained is gains
        assert ("or Db2, need space for this data" in "\n".join(found.sentences)) is gains


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(None, "more than seven days"), (158.8, "158 minutes"), (10.0, "10 minutes"), (9.7, "9.7 minutes")],
)
def test_survived_outage_is_shown_in_whole_minutes_rounded_down(minutes: float | None, words: str) -> None:
    assert SurvivedOutage(95, minutes).in_words == words
