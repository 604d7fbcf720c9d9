"""The filling of a structure, compared with a simulation that puts message by message, and its properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.size_distribution import SizeDistribution
from planner_core.errors import OutOfRange
from planner_core.sizing.demand import Demand, QueueDemand, band_edges, demand_of
from planner_core.sizing.filling import Fill, altered_pool, bundles_for, fill, smallest_bytes, two_pools
from planner_core.sizing.offload import Rule, default_rules
from planner_core.sizing.structure_size import published_curve, size_for

SIX = Fraction(6)
LARGEST, OFFLOADED = 64512, 2
CURVE = published_curve(cfcc_level=25).curve


def demand(queues: Sequence[QueueDemand], rules: Sequence[Rule]) -> Demand:
    return demand_of(
        queues,
        edges=band_edges([rule.size_bytes for rule in rules]),
        header_bytes=372,
        page_bytes=4096,
        page_header_bytes=512,
    )


def filled(queues: Sequence[QueueDemand], rules: Sequence[Rule], *, per_entry: Fraction = SIX) -> Fill:
    return fill(demand(queues, rules), rules=rules, pools=two_pools(per_entry))


rules_strategy = st.lists(
    st.builds(Rule, st.integers(0, 100), st.sampled_from([0, 1024, 4096, 16384, 32768, 64512, 65536])),
    max_size=3,
)
distributions = st.sampled_from(
    [SizeDistribution(3500, 1, 12000, 60000), SizeDistribution(900, 1, 4000, 100_000)]
)
queues_strategy = st.lists(
    st.builds(
        QueueDemand,
        st.integers(1, 10_000),
        st.one_of(st.integers(0, 100_000), distributions),
    ),
    min_size=1,
    max_size=4,
)
ratios = st.fractions(min_value=Fraction(1, 10), max_value=50)
bundles_strategy = st.fractions(min_value=Fraction(1, 100), max_value=10**7)


# ---- the slow way ------------------------------------------------------------------------------------------


@dataclass
class SimulatedFill:
    messages: int = 0
    entries: int = 0
    elements: int = 0
    offloaded: int = 0
    is_full: bool = False


def put_one_by_one(
    sizes: Sequence[int], *, rules: Sequence[Rule], entries: int, elements: int
) -> SimulatedFill:
    """Put messages one by one, deciding for each as MQ does, until all are put or the structure is full."""
    held = SimulatedFill()
    for size in sizes:
        over = [
            rule.size_bytes
            for rule in rules
            if rule.size_bytes < 65536
            and (
                100 * held.entries > rule.threshold * entries
                or 100 * held.elements > rule.threshold * elements
            )
        ]
        is_offloaded = size > LARGEST or any(size > limit for limit in over)
        takes = OFFLOADED if is_offloaded else -(-(size + 372) // 256)
        if held.entries + 1 > entries or held.elements + takes > elements:
            held.is_full = True
            return held
        held.messages += 1
        held.entries += 1
        held.elements += takes
        held.offloaded += is_offloaded
    return held


small_rules = st.lists(
    st.builds(Rule, st.integers(0, 80), st.sampled_from([0, 1024, 4096, 32768, 65536])), max_size=3
)


@settings(max_examples=200)
@given(
    st.integers(0, 70_000),
    small_rules,
    st.integers(2000, 4000),
    st.integers(1, 9000),
)
def test_capacity_and_offloaded_messages_agree_with_single_puts(
    size: int, rules: list[Rule], entries: int, backlog: int
) -> None:
    one_size = filled([QueueDemand(backlog, size)], rules)
    slow = put_one_by_one([size] * (2 * entries), rules=rules, entries=entries, elements=6 * entries)
    assert slow.is_full
    # The last message that stays in the CF passes the threshold, by less than itself; so many offloaded ones have no room.
    in_place_of_one = 1 + -(-(min(size, LARGEST) + 372) // 256) // OFFLOADED
    assert abs(one_size.capacity(Fraction(entries)) - slow.messages) <= in_place_of_one

    held = put_one_by_one([size] * backlog, rules=rules, entries=entries, elements=6 * entries)
    snapshot = one_size.at_backlog(Fraction(entries))
    assert abs(snapshot.offloaded - held.offloaded) <= (in_place_of_one if held.is_full else 1)
    used = max(Fraction(held.entries, entries), Fraction(held.elements, 6 * entries)) * 100
    one_message = Fraction(100 * 254, 6 * entries)
    assert abs(snapshot.usage_percent - used) <= one_message


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 30_000)), min_size=1, max_size=3),
    small_rules,
    st.integers(2000, 3000),
)
def test_capacity_of_mixtures_agrees_with_single_puts(
    mix: list[tuple[int, int]], rules: list[Rule], entries: int
) -> None:
    in_a_round = [size for count, size in mix for _ in range(count)]
    rounds = 2 * entries // len(in_a_round) + 1
    sizes = in_a_round * rounds
    slow = put_one_by_one(sizes, rules=rules, entries=entries, elements=6 * entries)
    assert slow.is_full
    fluid = filled([QueueDemand(count * rounds, size) for count, size in mix], rules)
    # In a round the thresholds are passed a little earlier or later; each then shifts what the rest can hold.
    largest = max(-(-(size + 372) // 256) for size in in_a_round)
    slack = (len(rules) + 1) * len(in_a_round) * max(1, largest // OFFLOADED)
    assert abs(fluid.capacity(Fraction(entries)) - slow.messages) <= slack


# ---- what is published -------------------------------------------------------------------------------------


def test_capacity_of_512_mb_with_default_rules_matches_the_documented_example() -> None:
    curve = published_curve(cfcc_level=14).curve
    bundles = (512 * 2**20 - curve.base) / curve.bundle
    with_rules = filled([QueueDemand(1, 2048)], default_rules())
    without = filled([QueueDemand(1, 2048)], ())
    assert (without.capacity(bundles), with_rules.capacity(bundles)) == (157_672, 220_741)
    # 1 KB: entries bind, and an offloaded message keeps its entry.
    small = [QueueDemand(1, 1024)]
    assert filled(small, default_rules()).capacity(bundles) == filled(small, ()).capacity(bundles)


# ---- properties --------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(queues_strategy, rules_strategy, ratios, bundles_strategy)
def test_offload_never_lowers_the_capacity_of_a_structure(
    queues: list[QueueDemand], rules: list[Rule], per_entry: Fraction, bundles: Fraction
) -> None:
    plain = fill(demand(queues, rules), rules=(), pools=two_pools(per_entry))
    offloading = filled(queues, rules, per_entry=per_entry)
    assert offloading.capacity(bundles) >= plain.capacity(bundles)


@given(queues_strategy, rules_strategy, bundles_strategy, bundles_strategy)
def test_larger_structure_never_holds_fewer_messages(
    queues: list[QueueDemand], rules: list[Rule], one: Fraction, other: Fraction
) -> None:
    fluid = filled(queues, rules)
    small, large = sorted((one, other))
    assert fluid.capacity(small) <= fluid.capacity(large)
    assert fluid.pages(small) <= fluid.pages(large)
    for point in fluid.starts:
        assert fluid.messages_at(point, small) <= fluid.messages_at(point, large)


@given(queues_strategy, rules_strategy, st.integers(1, 10**6), st.integers(1, 1000))
def test_capacity_is_proportional_to_bundles(
    queues: list[QueueDemand], rules: list[Rule], bundles: int, times: int
) -> None:
    fluid = filled(queues, rules)
    one, many = fluid.capacity(Fraction(bundles)), fluid.capacity(Fraction(bundles * times))
    assert one * times <= many < (one + 1) * times


@given(queues_strategy, rules_strategy, st.randoms(use_true_random=False), bundles_strategy)
def test_filling_does_not_depend_on_the_order_of_rules_and_queues(
    queues: list[QueueDemand], rules: list[Rule], random: object, bundles: Fraction
) -> None:
    mixed_rules, mixed_queues = list(rules), list(queues)
    random.shuffle(mixed_rules)  # type: ignore[attr-defined]
    random.shuffle(mixed_queues)  # type: ignore[attr-defined]
    one, other = filled(queues, rules), filled(mixed_queues, mixed_rules)
    assert one.capacity(bundles) == other.capacity(bundles)
    assert one.at_backlog(bundles) == other.at_backlog(bundles)
    assert [one.messages_at(p, bundles) for p in one.starts] == [
        other.messages_at(p, bundles) for p in other.starts
    ]


@given(queues_strategy, rules_strategy, bundles_strategy)
def test_rules_start_in_the_order_of_thresholds_before_the_structure_is_full(
    queues: list[QueueDemand], rules: list[Rule], bundles: Fraction
) -> None:
    fluid = filled(queues, rules)
    starts = [fluid.messages_at(point, bundles) for point in fluid.starts]
    assert starts == sorted(starts)
    assert all(start <= fluid.capacity(bundles) for start in starts)
    assert [p.rule.threshold for p in fluid.starts if p.rule] == sorted(r.threshold for r in rules if r.is_on)


@given(queues_strategy, rules_strategy, bundles_strategy)
def test_usage_is_100_percent_only_if_the_backlog_does_not_fit(
    queues: list[QueueDemand], rules: list[Rule], bundles: Fraction
) -> None:
    fluid = filled(queues, rules)
    snapshot = fluid.at_backlog(bundles)
    assert 0 < snapshot.usage_percent <= 100
    assert (snapshot.usage_percent < 100) == (bundles > bundles_for(fluid))
    assert 0 <= snapshot.offloaded <= fluid.messages + 1


@given(queues_strategy, rules_strategy)
def test_bundles_for_a_backlog_are_the_fewest_that_hold_it(
    queues: list[QueueDemand], rules: list[Rule]
) -> None:
    fluid = filled(queues, rules)
    needed = bundles_for(fluid)
    assert fluid.capacity(needed) == fluid.messages
    assert fluid.capacity(needed * (1 - Fraction(1, 10**12))) < fluid.messages
    assert fluid.at_backlog(needed).usage_percent == 100


@given(
    st.lists(st.builds(QueueDemand, st.integers(1, 10**6), st.integers(0, 100_000)), min_size=1, max_size=4)
)
def test_fill_model_without_rules_gives_the_size_of_the_element_model(queues: list[QueueDemand]) -> None:
    wanted = demand(queues, ())
    fluid = filled(queues, ())
    assert smallest_bytes(bundles_for(fluid), curve=CURVE) == size_for(
        entries=wanted.entries, elements=wanted.elements, curve=CURVE
    )


def test_threshold_of_zero_offloads_from_the_first_message() -> None:
    fluid = filled([QueueDemand(1000, 40_000)], [Rule(0, 32768)])
    (start,) = fluid.starts
    assert fluid.messages_at(start, Fraction(500)) == 0
    assert fluid.at_backlog(Fraction(2000)).offloaded == 1000
    assert fluid.capacity(Fraction(500)) == 500


def test_rules_with_threshold_100_or_size_64k_never_act() -> None:
    never = [Rule(100, 0), Rule(0, 65536)]
    fluid = filled([QueueDemand(1000, 40_000)], never)
    assert fluid.starts == ()
    assert fluid.capacity(Fraction(500)) == filled([QueueDemand(1000, 40_000)], ()).capacity(Fraction(500))
    assert fluid.at_backlog(Fraction(500)).offloaded == 0


def test_rules_with_equal_thresholds_use_the_smaller_size() -> None:
    queues = [QueueDemand(100, 5000), QueueDemand(100, 40_000)]
    both, one = (filled(queues, rules) for rules in ([Rule(70, 32768), Rule(70, 4096)], [Rule(70, 4096)]))
    bundles = Fraction(3000)
    first, second = both.starts
    assert both.messages_at(first, bundles) == both.messages_at(second, bundles)
    assert both.capacity(bundles) == one.capacity(bundles)
    assert [p.rule for p in both.starts] == [Rule(70, 32768), Rule(70, 4096)]


def test_later_rule_never_reduces_offload_of_an_earlier_one() -> None:
    queues = [QueueDemand(100, 5000), QueueDemand(100, 40_000)]
    lower_first = filled(queues, [Rule(50, 4096), Rule(80, 32768)])
    assert lower_first.capacity(Fraction(3000)) == filled(queues, [Rule(50, 4096)]).capacity(Fraction(3000))


def test_messages_too_large_for_the_cf_are_offloaded_without_any_rule() -> None:
    fluid = filled([QueueDemand(100, 64_513)], ())
    assert fluid.at_backlog(Fraction(200)).offloaded == 100
    assert fluid.at_backlog(Fraction(200)).pages == 100 * 16
    assert fluid.capacity(Fraction(200)) == 200


def test_entries_and_elements_share_storage_in_an_altered_structure() -> None:
    one = demand([QueueDemand(1, 1024)], ())
    shared = fill(one, rules=(), pools=altered_pool(CURVE))
    # 6 elements and one entry are exactly a bundle.
    assert shared.capacity(Fraction(1000)) == 1000
    small = fill(demand([QueueDemand(1, 100)], ()), rules=(), pools=altered_pool(CURVE))
    assert small.capacity(Fraction(1000)) > 1000


def test_filling_without_messages_is_refused() -> None:
    with pytest.raises(OutOfRange, match="messages is 0"):
        fill(demand([QueueDemand(0, 100)], ()), rules=(), pools=two_pools(SIX))
