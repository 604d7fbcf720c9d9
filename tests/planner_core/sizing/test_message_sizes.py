"""Comparison of figures for mixed message sizes with a count message by message.

The tables in docs/explanation/assumptions/ are those of `python -m bench --only sizes`, which compares a larger grid.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest

from bench import message_sizes as bench
from bench.message_sizes import RULE_SETS, Held, Mix, mix_of, put_one_by_one
from planner_core.document.reading import read_object
from planner_core.whatif.filling_up import Outage, fill_up
from tests.docs.pages import ROOT

PAGE = ROOT / "docs/explanation/assumptions/message-size-distributions.md"
CLOSE_PERCENT = 15
DEFAULTS = RULE_SETS["IBM's defaults"]
FIGURE = re.compile(r"[-+]?\d+\.\d")

# ---- the count itself ---------------------------------------------------------------------------------------


def test_message_count_without_rules_ends_when_the_first_pool_is_full() -> None:
    # 2048 + 372 bytes are ten elements.
    assert put_one_by_one([2048] * 20, rules=(), entries=10, elements=70) == Held(7, 0)
    assert put_one_by_one([2048] * 20, rules=(), entries=5, elements=70) == Held(5, 0)


def test_message_count_offloads_only_above_the_threshold() -> None:
    # Seven messages use 70 of 100 elements, which is not over 70 %; the ninth is the first to be offloaded.
    assert put_one_by_one([2048] * 9, rules=((70, 0),), entries=100, elements=100) == Held(9, 1)


def test_message_count_keeps_messages_of_exactly_the_size_of_a_rule() -> None:
    assert put_one_by_one([4097, 4096], rules=((0, 4),), entries=9, elements=99) == Held(2, 0)
    assert put_one_by_one([1, 4096, 4097], rules=((0, 4),), entries=9, elements=99) == Held(3, 1)


def test_message_count_offloads_messages_over_63_kb_without_a_rule() -> None:
    assert put_one_by_one([64512, 64513], rules=(), entries=9, elements=260) == Held(2, 1)


# ---- the planner against the count --------------------------------------------------------------------------


@pytest.mark.parametrize("cut_at", bench.CUT_AT)
@pytest.mark.parametrize("width", [0.3, 1.0, 1.6])
@pytest.mark.parametrize("mean", [1500, 60_000])
@pytest.mark.parametrize(("rules", "level"), [("IBM's defaults", 25), ("60:32K", 14), ("80:4K", 25)])
def test_capacity_of_a_structure_matches_the_count(
    mean: int, width: float, cut_at: str, rules: str, level: int
) -> None:
    found = bench.capacity(
        mix_of(mean, width, cut_at), RULE_SETS[rules], level=level, initsize=bench.initsize_for(mean)
    )
    assert abs(found.percent) < CLOSE_PERCENT


@pytest.mark.parametrize("initsize", ["64M", "2G"])
@pytest.mark.parametrize("width", [0.3, 1.6])
def test_capacity_of_any_structure_matches_the_count(width: float, initsize: str) -> None:
    found = bench.capacity(mix_of(3500, width, "largest"), DEFAULTS, level=25, initsize=initsize)
    assert abs(found.percent) < CLOSE_PERCENT


@pytest.mark.parametrize("cut_at", bench.CUT_AT)
@pytest.mark.parametrize(("mean", "width"), [(500, 1.6), (3500, 1.2), (20_000, 0.6), (60_000, 1.6)])
def test_size_with_offload_holds_its_backlog(mean: int, width: float, cut_at: str) -> None:
    found = bench.need(mix_of(mean, width, cut_at), DEFAULTS, level=25, backlog=100_000)
    assert abs(found.percent) < CLOSE_PERCENT


@pytest.mark.parametrize("share", [0.3, 0.75, 0.9, 0.97])
@pytest.mark.parametrize(("mean", "width", "cut_at"), [(3500, 1.2, "50 x largest"), (30_000, 0.8, "99 %")])
def test_usage_and_offloaded_messages_at_the_backlog_match_the_count(
    mean: int, width: float, cut_at: str, share: float
) -> None:
    mix = mix_of(mean, width, cut_at)
    found, load = bench.structure_of(mix, DEFAULTS, level=25, initsize="1G")
    backlog = int(share * load.messages_in_initsize(offload=True))
    found, load = bench.structure_of(mix, DEFAULTS, level=25, initsize="1G", backlog=backlog)
    entries, elements = bench.pools_of(found, load, found.sizes.initsize_bytes)
    counted = put_one_by_one(
        mix.messages * 20, rules=DEFAULTS, entries=entries, elements=elements, most=backlog
    )
    assert counted.messages == pytest.approx(backlog, rel=CLOSE_PERCENT / 100)
    assert abs(found.offloaded_at_backlog - counted.offloaded) < CLOSE_PERCENT / 100 * backlog


@pytest.mark.parametrize("cut_at", bench.CUT_AT)
@pytest.mark.parametrize("width", bench.WIDTHS)
@pytest.mark.parametrize("mean", [500, 10_000, 60_000])
def test_shares_over_4k_32k_and_63k_match_the_count(mean: int, width: float, cut_at: str) -> None:
    for planned, counted in bench.shares_over(mix_of(mean, width, cut_at)):
        assert planned == pytest.approx(counted, abs=0.03 if width < 1.6 else 0.06)


# ---- the tables of the page ---------------------------------------------------------------------------------


def test_documented_differences_are_within_15_percent() -> None:
    _, _, *rows = bench.tables_on(PAGE)["held"]
    assert len(rows) == len(bench.WIDTHS)
    for row in rows:
        figures = [float(each) for each in FIGURE.findall(row.split("|", 2)[2])]
        assert len(figures) == 2 * (len(RULE_SETS) + 1)
        assert all(abs(each) < CLOSE_PERCENT for each in figures)


@pytest.mark.parametrize(("mean", "width"), [(500, 0.3), (10_000, 1.0), (60_000, 1.6)])
def test_differences_are_within_the_documented_ranges(mean: int, width: float) -> None:
    rows = {row.split("|")[1].strip(): row for row in bench.tables_on(PAGE)["held"]}
    lowest, highest = (float(each) for each in FIGURE.findall(rows[str(width)].split("|")[2]))
    for cut_at in bench.CUT_AT:
        found = bench.capacity(
            mix_of(mean, width, cut_at), DEFAULTS, level=25, initsize=bench.initsize_for(mean)
        )
        assert lowest - 0.06 <= found.percent <= highest + 0.06


def test_documented_shares_match_the_code() -> None:
    assert bench.tables_on(PAGE)["shares"] == bench.share_table()


@pytest.mark.soak
def test_documented_table_covers_the_whole_grid() -> None:
    assert bench.tables_on(PAGE)["held"] == bench.held_table()


# ---- one structure, and its numbers moved -------------------------------------------------------------------

MEAN, P95 = 3500, 12_000


def capacity_of(mean: float, p95: int, maximum: int) -> int:
    mix = Mix((), mean, p95, maximum)
    _, load = bench.structure_of(mix, DEFAULTS, level=25, initsize="1G")
    return load.messages_in_initsize(offload=True)


def need_bytes(mean: float, p95: int, maximum: int) -> int:
    found, _ = bench.structure_of(
        Mix((), mean, p95, maximum), DEFAULTS, level=25, initsize=None, backlog=100_000
    )
    return found.sizes.need_bytes


@pytest.mark.parametrize("maximum", [100_000, 125_000, 128_001, 130_000, 500_000, 10**6, 10**8])
def test_long_tail_of_the_distribution_does_not_change_the_capacity(maximum: int) -> None:
    # A count message by message of a lognormal mix of these two numbers holds about 340,000.
    assert capacity_of(MEAN, P95, maximum) == pytest.approx(340_000, rel=0.05)


def test_size_with_offload_hardly_depends_on_a_maximum_beyond_the_tail() -> None:
    assert need_bytes(MEAN, P95, 10**6) == pytest.approx(need_bytes(MEAN, P95, 500_000), rel=0.01)


@pytest.mark.parametrize("what", [capacity_of, need_bytes])
def test_small_change_of_maximum_changes_figures_little(what: object) -> None:
    assert callable(what)
    maxima = [math.ceil(P95 * 1.02**step) for step in range(1, 400)]
    found = [what(MEAN, P95, maximum) for maximum in maxima]
    assert all(abs(after / before - 1) < 0.005 for before, after in pairwise(found))


@pytest.mark.parametrize("maximum", [20_000, 60_000, 10**6])
@pytest.mark.parametrize("what", [capacity_of, need_bytes])
def test_small_change_of_mean_changes_figures_little(what: object, maximum: int) -> None:
    assert callable(what)
    lowest, highest = P95 / 20, (19 * P95 + maximum) / 20
    means = [
        round(lowest + (highest - lowest) * part / 1000, 3)
        for part in ([*range(10, 1000)] if maximum < 10**5 else [*range(3, 100)])
    ]
    found = [what(mean, P95, maximum) for mean in means]
    assert all(
        abs(after / before - 1) < 2 * (there / here - 1)
        for (before, after), (here, there) in zip(pairwise(found), pairwise(means), strict=True)
    )


@pytest.mark.parametrize("maximum", [60_000, 10**6])
@pytest.mark.parametrize("what", [capacity_of, need_bytes])
def test_small_change_of_p95_changes_figures_little(what: object, maximum: int) -> None:
    assert callable(what)
    p95s = [
        math.ceil(1000 * 1.01**step) for step in range(400) if 1000 * 1.01**step < min(maximum, 19 * MEAN)
    ]
    p95s = [p95 for p95 in p95s if 19 * p95 + maximum > 20 * MEAN]
    found = [what(MEAN, p95, maximum) for p95 in p95s]
    assert all(abs(after / before - 1) < 0.03 for before, after in pairwise(found))


def test_outage_within_capacity_does_not_fill_the_structure() -> None:
    plan = {
        "schema_version": 1,
        "qsg": "SQ03",
        "queue_managers": 2,
        "cfcc_level": 25,
        "structures": [
            {
                "name": "APP1",
                "cflevel": 5,
                "initsize": "1G",
                "size": "1G",
                "queues": [
                    {
                        "name": "Q",
                        "message_bytes": {"mean": MEAN, "p95": P95, "max": 130_000},
                        "put_rate_per_s": 75,
                        "outage_minutes": 60,
                    }
                ],
            }
        ],
    }
    answer = fill_up(read_object(plan), Outage())
    assert answer.full_at_minutes is None


@pytest.mark.parametrize("maximum", [30_000, 130_000, 10**6])
def test_outage_fills_the_structure_with_its_planned_capacity(maximum: int) -> None:
    structure = {
        "name": "APP1",
        "cflevel": 5,
        "initsize": "256M",
        "size": "256M",
        "queues": [
            {
                "name": "Q",
                "message_bytes": {"mean": MEAN, "p95": P95, "max": maximum},
                "put_rate_per_s": 1000,
                "outage_minutes": 60,
            }
        ],
    }
    plan = {
        "schema_version": 1,
        "qsg": "SQ03",
        "queue_managers": 2,
        "cfcc_level": 25,
        "structures": [structure],
    }
    document = read_object(plan)
    answer = fill_up(document, Outage())
    load = answer.result.load
    assert load is not None
    assert answer.full_at_minutes is not None
    assert math.floor(answer.at_minutes(answer.full_at_minutes).messages) == pytest.approx(
        load.messages_in_initsize(offload=True), abs=1
    )


def test_rules_without_matching_messages_keep_elements_for_any_distribution() -> None:
    mix = Mix((), 60_000, 2000, 10 * 2**20)
    for rules in ((), ((100, 4),), ((80, 64),)):
        _, load = bench.structure_of(mix, rules, level=25, initsize="1G")
        assert load.messages_in_initsize(offload=True) == load.messages_in_initsize(offload=False)
        assert load.demand.exact_elements > 21 * load.demand.messages
