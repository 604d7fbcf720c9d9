"""The filling of a structure by one queue alone, compared with the filling by a demand of one message."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from planner_core.document.size_distribution import SizeDistribution
from planner_core.sizing.demand import QueueDemand
from planner_core.sizing.filling import fill, two_pools
from planner_core.sizing.filling_alone import FillingsAlone
from planner_core.sizing.known_queues import units_of
from planner_core.sizing.offload import RULE_OFF_BYTES, Rule, firing
from planner_core.sizing.structure_size import published_curve

KIB = 1024
SIZES = st.one_of(
    st.integers(0, 100 * 2**20),
    st.builds(
        lambda mean, p95, longest: SizeDistribution(mean, 1, mean * p95, mean * p95 * longest),
        st.integers(1, 200_000),
        st.integers(1, 4),
        st.integers(1, 20),
    ),
)
RULES = st.lists(
    st.builds(Rule, st.integers(0, 100), st.sampled_from((0, KIB, 4 * KIB, 32 * KIB, RULE_OFF_BYTES))),
    max_size=3,
)
PARTS = st.fractions(Fraction(1, 50), 50, max_denominator=97)


@given(
    st.lists(SIZES, min_size=1, max_size=4), RULES, st.integers(1, 100), PARTS, PARTS.map(lambda n: n * 10**6)
)
def test_moments_of_a_queue_alone_equal_those_of_one_message(
    sizes: list[int | SizeDistribution], rules: list[Rule], usage: int, elements: Fraction, bundles: Fraction
) -> None:
    units = units_of([QueueDemand(1, each) for each in sizes], rules, published_curve(cfcc_level=25).curve)
    fillings = FillingsAlone(units, rules, elements, usage)
    at_usage_of, without_rules = fillings.at_usage(bundles), fillings.without_rules(bundles)
    for place in range(len(sizes)):
        one = units.one(place)
        expected = fill(one, rules=firing(rules, one), pools=two_pools(elements), levels=(usage,))
        at_usage, full = fillings.moments(place)
        assert Fraction(*at_usage) == Fraction(expected.levels[usage].share, expected.levels[usage].q)
        assert Fraction(*full) == Fraction(expected.full.share, expected.full.q)
        assert full.messages(bundles) == expected.capacity(bundles)
        assert at_usage_of[place] in (None, at_usage.messages(bundles))
        assert (at_usage_of[place] is None) == any(
            rule.threshold < usage for rule in firing(rules, one) if rule.is_on
        )
        assert without_rules[place] == fill(one, rules=(), pools=two_pools(elements)).capacity(bundles)
        assert without_rules[place] <= full.messages(bundles)


def test_rules_do_not_act_on_a_queue_with_only_messages_over_63_kb() -> None:
    sizes = SizeDistribution(90_775, 1, 85_368, 234_515)
    rules = [Rule(90, 16 * KIB)]
    units = units_of([QueueDemand(1, sizes)], rules, published_curve(cfcc_level=25).curve)
    fillings = FillingsAlone(units, rules, Fraction(6), 85)
    bundles = Fraction(10**6)
    assert fillings.at_usage(bundles) == (fillings.moments(0)[0].messages(bundles),)
