"""Messages, entries and elements from backlogs, growth and distributions of message sizes."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner_core.document.size_distribution import SizeDistribution
from planner_core.errors import OutOfRange
from planner_core.sizing.demand import (
    BandLimits,
    Demand,
    QueueDemand,
    Units,
    backlog_messages,
    band_edges,
    demand_of,
    grown,
    growth_factor,
    scaled_shares,
)

HEADER, ELEMENT, PAGE, PAGE_HEADER = 372, 256, 4096, 512
LARGEST = 64512
WHOLE = 2**32


def elements(size: int) -> int:
    return math.ceil(Fraction(size + HEADER, ELEMENT))


def pages(size: int) -> int:
    return math.ceil(Fraction(size + PAGE_HEADER, PAGE))


def demand(*queues: QueueDemand, edges: tuple[int, ...] = (LARGEST,)) -> Demand:
    return demand_of(queues, edges=edges, header_bytes=HEADER, page_bytes=PAGE, page_header_bytes=PAGE_HEADER)


@st.composite
def real_sizes(draw: st.DrawFn, largest: int = LARGEST) -> list[int]:
    """Return a strategy for twenty or forty sizes, whose 95th percentile lies between whole messages."""
    top = draw(st.integers(0, largest))
    count = 20 * draw(st.integers(1, 2))
    return sorted(draw(st.lists(st.integers(0, top), min_size=count, max_size=count)))


def described(sizes: list[int], *, p95: int | None = None) -> SizeDistribution:
    """Return mean, p95 and maximum of these sizes, as a planner would state them."""
    body = sizes[: len(sizes) * 19 // 20]
    return SizeDistribution(
        mean=sum(sizes), mean_of=len(sizes), p95=body[-1] if p95 is None else p95, maximum=sizes[-1]
    )


@st.composite
def distributions(draw: st.DrawFn) -> SizeDistribution:
    p95 = draw(st.integers(0, 100_000))
    maximum = p95 + draw(st.integers(0, 100_000))
    of = draw(st.integers(1, 1000))
    lowest, highest = math.ceil(Fraction(p95 * of, 20)), (19 * p95 + maximum) * of // 20
    assume(lowest <= highest)
    found = SizeDistribution(mean=draw(st.integers(lowest, highest)), mean_of=of, p95=p95, maximum=maximum)
    assert found.problem() is None
    return found


# ---- distributions ------------------------------------------------------------------------------------------


def mean_of(sizes: SizeDistribution) -> Fraction:
    return Fraction(sizes.mean, sizes.mean_of)


@given(distributions())
def test_assumed_distribution_keeps_mean_p95_and_maximum_within_the_grid(sizes: SizeDistribution) -> None:
    (at_p95, bytes_at_p95), (at_maximum, bytes_at_maximum) = sizes.up_to([sizes.p95, sizes.maximum])
    assert (at_maximum, bytes_at_maximum) == (WHOLE, math.ceil(WHOLE * mean_of(sizes)))
    if sizes.mean and sizes.p95 < sizes.maximum:
        assert at_p95 == WHOLE * 19 // 20
        assert 0 <= bytes_at_p95 <= at_p95 * sizes.p95
        assert (
            (WHOLE - at_p95) * sizes.p95 - sizes.maximum
            <= bytes_at_maximum - bytes_at_p95
            <= (WHOLE - at_p95) * sizes.maximum
        )


@given(distributions(), st.lists(st.floats(0, 1), min_size=5, max_size=40))
def test_bytes_of_a_part_lie_between_those_of_its_smallest_and_largest_messages(
    sizes: SizeDistribution, places: list[float]
) -> None:
    cuts = sorted({0, sizes.p95, sizes.maximum, *(int(place * sizes.maximum) for place in places)})
    total = math.ceil(WHOLE * mean_of(sizes))
    # Widths have nine decimals; a part may differ from the lognormal by that much of all bytes.
    slack = total // 10**7 + 10 * sizes.maximum + 10
    for (low, (messages, size)), (high, (more, larger)) in pairwise(
        zip(cuts, sizes.up_to(cuts), strict=True)
    ):
        assert more >= messages
        assert (more - messages) * low - slack <= larger - size <= (more - messages) * high + slack


@given(distributions())
def test_assumed_distribution_has_no_messages_of_size_zero(sizes: SizeDistribution) -> None:
    assume(sizes.p95 > 0)
    assume(20 * sizes.mean > sizes.p95 * sizes.mean_of)
    assert sizes.up_to([0]) == [(0, 0)]


@pytest.mark.parametrize(
    "sizes", [SizeDistribution(5, 1, 0, 200), SizeDistribution(10, 1, 0, 200), SizeDistribution(0, 1, 0, 200)]
)
def test_assumed_distribution_keeps_the_mean_if_95_percent_of_messages_are_empty(
    sizes: SizeDistribution,
) -> None:
    (_, at_zero), (half, _), (at_end, total) = sizes.up_to([0, 100, 200])
    assert (at_zero, at_end, total) == (0, WHOLE, WHOLE * sizes.mean)
    assert half >= WHOLE * 19 // 20


def lognormal_up_to(size: float, *, mean: float, sigma: float, maximum: float = math.inf) -> float:
    middle = math.log(mean) - sigma**2 / 2
    normal = NormalDist(middle, sigma)
    return normal.cdf(math.log(size)) / (1 if math.isinf(maximum) else normal.cdf(math.log(maximum)))


@pytest.mark.parametrize(
    ("sigma", "close"), [(0.1, 0.002), (0.3, 0.002), (0.7, 0.002), (1.0, 0.002), (1.4, 0.002), (1.6, 0.03)]
)
@pytest.mark.parametrize("maximum", [50_000_000, 10**8])
def test_distribution_assumed_for_a_lognormal_is_that_lognormal(
    sigma: float, close: float, maximum: int
) -> None:
    mean = 10_000
    p95 = round(math.exp(NormalDist(math.log(mean) - sigma**2 / 2, sigma).inv_cdf(0.95)))
    cuts = [1000, 4096, 10_000, 32768, 64512, 200_000]
    found = SizeDistribution(mean, 1, p95, maximum).up_to(cuts)
    for cut, (share, _) in zip(cuts, found, strict=True):
        assert share / WHOLE == pytest.approx(lognormal_up_to(cut, mean=mean, sigma=sigma), abs=close)


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0, 1.3, 1.6])
@pytest.mark.parametrize("kept", [0.7, 0.9, 0.99])
def test_distribution_assumed_for_a_truncated_lognormal_is_that_lognormal(sigma: float, kept: float) -> None:
    normal = NormalDist(math.log(20_000) - sigma**2 / 2, sigma)
    maximum = math.exp(normal.inv_cdf(kept))
    p95 = math.exp(normal.inv_cdf(0.95 * kept))
    # E[X; X <= maximum] of a lognormal.
    mean = 20_000 * NormalDist().cdf((math.log(maximum) - normal.mean) / sigma - sigma) / kept
    sizes = SizeDistribution(round(mean * 1000), 1000, round(p95), round(maximum))
    cuts = [int(maximum * part / 20) for part in range(1, 20)]
    for cut, (share, _) in zip(cuts, sizes.up_to(cuts), strict=True):
        expected = lognormal_up_to(cut, mean=20_000, sigma=sigma, maximum=maximum)
        assert share / WHOLE == pytest.approx(expected, abs=0.02)


@settings(max_examples=300)
@given(
    st.integers(10**6, 10**7),
    st.one_of(st.floats(1e-6, 1), st.floats(1, 100)),
    st.one_of(
        st.floats(0.02, 0.98),
        # p95 / mean where the shape changes from one kind to the other
        st.sampled_from([3.8, 3.868, 1.0842, 1.0843, 1.0, 0.5, 1.5, 10.0]).map(lambda ratio: -ratio),
    ),
    st.lists(st.floats(0.001, 1), min_size=1, max_size=6),
)
def test_small_change_of_mean_p95_or_maximum_changes_the_distribution_little(
    p95: int, beyond: float, place: float, places: list[float]
) -> None:
    maximum = math.ceil(p95 * (1 + beyond))
    lowest, highest = p95 / 20, (19 * p95 + maximum) / 20
    mean = lowest + place * (highest - lowest) if place > 0 else p95 / -place
    assume(lowest + 0.02 * (highest - lowest) < mean < highest - 0.02 * (highest - lowest))
    cuts = [max(1, int(part * (p95 if nth % 2 else maximum))) for nth, part in enumerate(places)]
    cuts += [p95 - 1, p95 + 1]
    if beyond < 0.01:
        # A step is not small against what lies between p95 and the maximum.
        cuts = [cut for cut in cuts if cut < p95 * 0.999]
    step = 10**-6
    base = SizeDistribution(int(mean * 1000), 1000, p95, maximum)
    here = base.up_to(cuts)
    for near in (
        base._replace(mean=base.mean + math.ceil(base.mean * step)),
        base._replace(mean=base.mean - math.ceil(base.mean * step)),
        base._replace(p95=p95 + math.ceil(p95 * step), maximum=max(maximum, p95 + math.ceil(p95 * step))),
        base._replace(p95=p95 - math.ceil(p95 * step)),
        base._replace(maximum=maximum + math.ceil(maximum * step)),
        base._replace(maximum=max(p95, maximum - math.ceil(maximum * step))),
    ):
        assert near.problem() is None
        for (share, _), (other, _) in zip(here, near.up_to(cuts), strict=True):
            assert abs(share - other) < 200 * step * WHOLE


@given(distributions(), st.integers(0, 64_511), st.integers(1, 20))
def test_share_of_small_messages_falls_as_the_mean_rises(
    sizes: SizeDistribution, edge: int, more: int
) -> None:
    higher = sizes._replace(mean=sizes.mean + max(1, sizes.mean * more // 100))
    assume(higher.problem() is None)
    assume(edge <= sizes.p95 // 2)
    # Elsewhere the 95 % become wider with the mean: the next test.
    is_wide = 1000 * higher.mean > 922 * sizes.p95 * sizes.mean_of and sizes.maximum > 9 * sizes.p95 > 0
    assume(not is_wide)
    (before, _), (after, _) = sizes.up_to([edge])[0], higher.up_to([edge])[0]
    assert after <= before + WHOLE // 10**6


@pytest.mark.parametrize(
    ("maximum", "lower", "higher", "expected"), [(2845, 8362, 9867, 1e-6), (10**6, 294 * 30, 500 * 30, 0.24)]
)
def test_share_of_small_messages_rises_as_the_mean_exceeds_p95(
    maximum: int, lower: int, higher: int, expected: float
) -> None:
    # As documented: where p95 is below 1.08 times the mean, no lognormal fits. The 95 % become wider and have a lower mean,
    # and the 5 % have the rest of the bytes. Messages are counted up to half of p95.
    (before, _), (after, _) = (
        SizeDistribution(mean=mean, mean_of=30, p95=294, maximum=maximum).up_to([147])[0]
        for mean in (lower, higher)
    )
    assert before < WHOLE * 1e-9
    assert after / WHOLE == pytest.approx(expected, rel=0.02)


@given(distributions(), st.lists(st.sampled_from([0, 4096, 32768, 64511]), max_size=3))
def test_shares_of_all_bands_add_up_to_one(sizes: SizeDistribution, rules: list[int]) -> None:
    limits = BandLimits.of(band_edges(rules), HEADER, PAGE, PAGE_HEADER)
    shares, beyond, mean_elements = scaled_shares(sizes, limits)
    assert len(shares) == len(band_edges(rules)) + 1
    assert sum(share for share, _, _ in shares) == WHOLE
    assert all(share >= 0 for share, _, _ in shares)
    assert beyond >= 0
    assert mean_elements == sum(elements for _, elements, _ in shares) + beyond


@given(distributions(), st.integers(0, 64_511))
def test_share_of_a_band_equals_that_of_the_assumed_distribution(sizes: SizeDistribution, edge: int) -> None:
    limits = BandLimits.of((edge, LARGEST), HEADER, PAGE, PAGE_HEADER)
    (low, *_), (middle, *_), (over, *_) = scaled_shares(sizes, limits).bands
    (below, _), (in_cf, _) = sizes.up_to([edge, LARGEST])
    assert (low, middle, over) == (below, in_cf - below, WHOLE - in_cf)


@given(
    st.lists(
        st.builds(
            QueueDemand,
            st.integers(0, 10**7) | st.integers(0, 10**30),
            st.one_of(st.integers(0, 90_000), distributions()),
        ),
        max_size=5,
    ),
    st.lists(st.sampled_from([0, 4096, 32768, 64511]), max_size=3),
)
def test_demand_from_units_equals_the_demand_calculated_directly(
    queues: list[QueueDemand], rules: list[int]
) -> None:
    edges = band_edges(rules)
    units = Units.of(
        [queue.message_bytes for queue in queues],
        edges=edges,
        header_bytes=HEADER,
        page_bytes=PAGE,
        page_header_bytes=PAGE_HEADER,
    )
    at_once = demand(*queues, edges=edges)
    assert units.demand([queue.messages for queue in queues]) == at_once
    for place, queue in enumerate(queues):
        one, alone = units.one(place), demand(QueueDemand(1, queue.message_bytes), edges=edges)
        assert [Fraction(band.elements, one.scale) for band in one.bands] == [
            Fraction(band.elements, alone.scale) for band in alone.bands
        ]
        assert Fraction(units.elements[place], units.scale) == Fraction(alone.taken[0], alone.scale)


@given(real_sizes(), st.integers(1, 1000))
def test_counted_elements_suffice_for_any_messages_with_that_mean(sizes: list[int], times: int) -> None:
    counted = demand(QueueDemand(times * len(sizes), described(sizes)))
    assert counted.elements >= times * sum(elements(size) for size in sizes)
    assert counted.entries == counted.messages == times * len(sizes)


@given(real_sizes(largest=300_000), st.integers(1, 1000))
def test_counted_elements_suffice_with_messages_over_63_kb(sizes: list[int], times: int) -> None:
    counted = demand(QueueDemand(times * len(sizes), described(sizes)))
    held = times * sum(elements(size) if size <= LARGEST else 2 for size in sizes)
    assert counted.elements >= held
    assert Fraction(counted.taken[0], counted.scale) >= held


def test_rare_messages_far_over_63_kb_do_not_inflate_the_others() -> None:
    # 95 % take at most ceil(2372 / 256) = 10 elements, 5 % at most 254 while they stay in the CF, 2 when they do not.
    sizes = SizeDistribution(mean=60_000, mean_of=1, p95=2000, maximum=10 * 2**20)
    counted = Fraction(demand(QueueDemand(10**6, sizes)).elements, 10**6)
    assert 20 < counted < Fraction(95, 100) * 11 + Fraction(5, 100) * 255


@given(st.integers(0, 2000), st.integers(0, 200), st.integers(0, 300), st.integers(0, 300))
def test_counted_elements_suffice_for_two_uniform_parts(
    start: int, width: int, gap: int, tail_width: int
) -> None:
    body = range(start, start + width + 1)
    tail = range(start + width + gap, start + width + gap + tail_width + 1)
    mean = (Fraction(sum(body), len(body)) * 19 + Fraction(sum(tail), len(tail))) / 20
    exact = (
        Fraction(sum(map(elements, body)), len(body)) * 19 + Fraction(sum(map(elements, tail)), len(tail))
    ) / 20
    sizes = SizeDistribution(mean=mean.numerator, mean_of=mean.denominator, p95=body[-1], maximum=tail[-1])
    assert sizes.problem() is None
    counted = Fraction(demand(QueueDemand(10**6, sizes)).elements, 10**6)
    assert exact <= counted < exact + 1 + Fraction(1, 10**5)


@given(distributions().filter(lambda sizes: sizes.maximum <= LARGEST), st.integers(1, 10**7))
def test_counted_elements_are_never_below_those_of_the_mean_size(
    sizes: SizeDistribution, messages: int
) -> None:
    mean = Fraction(sizes.mean, sizes.mean_of)
    counted = demand(QueueDemand(messages, sizes)).elements
    assert counted >= messages * elements(math.floor(mean))
    # Shares and elements are kept to one part in 2**32, rounded up in each of a few bands.
    grain = 1 + Fraction(messages * 2**12, 2**32)
    assert counted <= messages * (mean + HEADER + ELEMENT - 1) / ELEMENT + grain
    assert counted <= messages * elements(sizes.maximum) + grain


@given(st.integers(0, LARGEST), st.integers(1, 10**6))
def test_distribution_of_one_size_equals_that_size_except_for_rounding(size: int, messages: int) -> None:
    same = SizeDistribution(mean=size, mean_of=1, p95=size, maximum=size)
    spread = demand(QueueDemand(messages, same), edges=(4096, LARGEST))
    plain = demand(QueueDemand(messages, size), edges=(4096, LARGEST))
    assert 0 <= spread.elements - plain.elements <= 1
    for one, other in zip(spread.bands, plain.bands, strict=True):
        assert one.messages == other.messages * spread.scale
        assert 0 <= Fraction(one.elements, spread.scale) - other.elements < Fraction(1, 10)
        assert 0 <= Fraction(one.pages, spread.scale) - other.pages < Fraction(1, 10)


@given(real_sizes())
def test_pages_suffice_when_all_messages_are_offloaded(sizes: list[int]) -> None:
    counted = demand(QueueDemand(len(sizes), described(sizes)))
    assert Fraction(counted.bands[0].pages, counted.scale) >= sum(pages(size) for size in sizes)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        (SizeDistribution(10, 1, 20, 19), r"p95 \(20\) must not be above max \(19\)"),
        (SizeDistribution(97, 1, 95, 100), "a mean of 97 is impossible when 95 % are at most 95"),
        (
            SizeDistribution(9, 2, 100, 100),
            "a mean of 4.5 is impossible when 5 % of the messages are at least 100",
        ),
    ],
)
def test_impossible_size_distribution_is_reported(sizes: SizeDistribution, says: str) -> None:
    problem = sizes.problem()
    assert problem is not None
    assert re.match(says, problem)


def test_extreme_possible_size_distribution_is_not_reported() -> None:
    assert SizeDistribution(5, 1, 100, 100).problem() is None
    assert SizeDistribution(381, 4, 95, 100).problem() is None  # 95.25 = (19 x 95 + 100) / 20


@given(real_sizes(largest=10**6))
def test_distribution_of_real_messages_is_never_impossible(sizes: list[int]) -> None:
    assert described(sizes).problem() is None


# ---- queues of one size -------------------------------------------------------------------------------------

queues = st.lists(
    st.builds(QueueDemand, st.integers(0, 10**6), st.integers(0, 200_000)), min_size=1, max_size=5
)


@given(queues, st.lists(st.sampled_from([0, 1024, 4096, 32768, 65536]), max_size=3))
def test_demand_of_queues_is_added_band_by_band(given_queues: list[QueueDemand], rules: list[int]) -> None:
    edges = band_edges(rules)
    found = demand(*given_queues, edges=edges)
    assert found.scale == 1
    assert [band.over_bytes for band in found.bands] == [-1, *edges]
    for band, upper in zip(found.bands, (*edges, 10**9), strict=True):
        inside = [q for q in given_queues if band.over_bytes < int(str(q.message_bytes)) <= upper]
        assert band.messages == sum(q.messages for q in inside)
        assert band.pages == sum(q.messages * pages(int(str(q.message_bytes))) for q in inside)
        if band.over_bytes == LARGEST:
            assert band.elements == 2 * band.messages
        else:
            assert band.elements == sum(q.messages * elements(int(str(q.message_bytes))) for q in inside)
    assert found.elements == sum(band.elements for band in found.bands)


def test_inactive_rules_add_no_size_band() -> None:
    assert band_edges([32768, 4096, 0, 4096]) == (0, 4096, 32768, LARGEST)
    assert band_edges([65536, LARGEST]) == (LARGEST,)
    assert band_edges([]) == (LARGEST,)


def test_message_of_1164_bytes_takes_six_elements_and_one_of_1165_seven() -> None:
    assert demand(QueueDemand(1, 1164)).elements == 6
    assert demand(QueueDemand(1, 1165)).elements == 7


def test_demand_without_queues_is_zero() -> None:
    found = demand()
    assert (found.messages, found.entries, found.elements) == (0, 0, 0)


# ---- rate x outage, growth ----------------------------------------------------------------------------------


def test_backlog_is_rate_times_outage() -> None:
    # CFSizer asks for messages a minute.
    assert backlog_messages(put_rate_per_s=Decimal(10), outage_minutes=Decimal(60)) == (36_000, 1)


def test_fractions_of_messages_are_rounded_up_after_growth() -> None:
    part = backlog_messages(put_rate_per_s=Decimal("0.01"), outage_minutes=Decimal(1))
    assert Fraction(*part) == Fraction(3, 5)
    assert grown(*part, factor=Fraction(1)) == 1
    assert grown(*part, factor=Fraction(5, 3)) == 1
    assert grown(*part, factor=Fraction(2)) == 2


@pytest.mark.parametrize(
    ("percent", "years", "factor"),
    [
        ("0", "5", Fraction(1)),
        ("10", "0", Fraction(1)),
        ("10", "3", Fraction(1331, 1000)),
        ("-50", "2", Fraction(1, 4)),
        ("100", "1", Fraction(2)),
    ],
)
def test_growth_over_whole_years_is_compounded_exactly(percent: str, years: str, factor: Fraction) -> None:
    assert growth_factor(percent_per_year=Decimal(percent), years=Decimal(years)) == factor


def test_growth_of_two_half_years_is_that_of_a_year() -> None:
    half = growth_factor(percent_per_year=Decimal(21), years=Decimal("0.5"))
    assert abs(half - Fraction(11, 10)) < Fraction(1, 10**30)
    assert abs(half**2 - Fraction(121, 100)) < Fraction(1, 10**30)


@given(
    st.decimals(-99, 1000, places=2),
    st.decimals(0, 50, places=2),
    st.decimals(0, 50, places=2),
)
def test_growth_rises_or_falls_with_the_years(percent: Decimal, first: Decimal, second: Decimal) -> None:
    near, far = (growth_factor(percent_per_year=percent, years=years) for years in sorted((first, second)))
    assert near > 0
    slack = Fraction(1, 10**30)
    assert far >= near * (1 - slack) if percent >= 0 else far <= near * (1 + slack)


def test_growth_of_minus_100_percent_or_less_is_refused() -> None:
    with pytest.raises(OutOfRange, match="percent_per_year is -100"):
        growth_factor(percent_per_year=Decimal(-100), years=Decimal(1))


@given(st.integers(0, 10**12), st.integers(1, 10**6), st.fractions(min_value=Fraction(1, 100), max_value=100))
def test_backlog_at_the_horizon_is_rounded_up_once(messages: int, of: int, factor: Fraction) -> None:
    assert grown(messages, factor=factor) == math.ceil(messages * factor)
    assert grown(messages, of, factor=factor) == math.ceil(Fraction(messages, of) * factor)
