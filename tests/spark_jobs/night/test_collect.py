"""Daily statistics collected as the input of fits, forecasts and findings."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.contracts.files import plain
from spark_jobs.history.schema import ALLOCATION, DAY_US, HOUR_US, QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.history.store import History
from spark_jobs.night.collect import EPOCH, Collected, collect, daily_of, whole_days
from spark_jobs.night.daily import Daily
from spark_jobs.night.groups import NONE, Groups, Rows
from tests.spark_jobs.night.nights import plain_night
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIB,
    MIDNIGHT,
    commit,
    displayed,
    history_at_once,
    named,
    qesd,
    qest,
    qqst,
    r744,
)

ALL_HOURS = 2**24 - 1


def collected(tmp_path: Path, rows: dict[str, list[dict[str, Any]]], **levels: int) -> Collected:
    history = History.open(str(tmp_path / "history"), create=True)
    commit(history, "f", rows, qsgs=["SQ03"])
    plain_night(history.url)
    return collect(Daily(history.url).read(), cfcc_levels=levels)


def lines(tmp_path: Path) -> list[dict[str, Any]]:
    kept = Daily(str(tmp_path / "history")).read()
    found = daily_of(kept, {day for one in kept.filed().values() for day in one.days})
    written: list[dict[str, Any]] = plain(found)
    return written


def test_figures_of_a_day_combine_all_sources(tmp_path: Path) -> None:
    later = MIDNIGHT + 6 * HOUR
    found = collected(
        tmp_path,
        {
            STRUCTURE_USAGE: [
                qest(MIDNIGHT + HOUR, structure_full_count=2, entries_in_use=5000),
                qest(MIDNIGHT + HOUR, queue_manager="MQ02", structure_full_count=1, elements_in_use=9000),
                r744(MIDNIGHT + HOUR, entries_in_use=5001),
                r744(later, size_bytes=600 * MIB, entries_total=230_000, allocated_at=later - HOUR),
                r744(later, size_bytes=512 * MIB, entries_total=200_000, coupling_facility="CF02"),
            ],
            SMDS_USAGE: [qesd(later), qesd(later, queue_manager="MQ02", blocks_in_use_max=77)],
        },
    )
    (line,) = lines(tmp_path)
    assert line == {
        "qsg": "SQ03", "structure": "APP1", "day": "2026-03-02", "entries_peak": 5001, "elements_peak": 9000,
        "entries_total": 230_000, "elements_total": 1_200_000, "size_bytes": 600 * MIB, "full_count": 3,
        "smds": [
            {"queue_manager": "MQ01", "blocks_peak": 20, "blocks_total": 990},
            {"queue_manager": "MQ02", "blocks_peak": 77, "blocks_total": 990},
        ],
        "is_simulated": False,
    }  # fmt: skip
    assert found.structures["SQ03", "APP1"].coupling_facility == "CF01", "of the newer instance"


def test_structure_full_counts_of_two_sources_are_not_added(tmp_path: Path) -> None:
    """The template counts the same as 115-2, so the first source is used, even if the other counted more."""
    at = MIDNIGHT + HOUR
    template = qest(at + HOUR, source="template", origin="template", structure_full_count=40)
    other = qest(at + HOUR, "APP2", source="template", origin="template", structure_full_count=4)
    collected(
        tmp_path,
        {
            STRUCTURE_USAGE: [
                qest(at, structure_full_count=2),
                template,
                other,
                qest(at, "APP2", structure_full_count=None),
            ]
        },
    )
    assert [(line["structure"], line["full_count"]) for line in lines(tmp_path)] == [("APP1", 2), ("APP2", 4)]


def test_written_elements_are_summed_by_day_and_come_from_one_source(tmp_path: Path) -> None:
    at = MIDNIGHT + HOUR
    rows = [
        r744(at, system_id=system, entries_written=100 * number, elements_written=700 * number)
        for number, system in enumerate(("SYSA", "SYSB", "SYSC"), 1)
    ]
    template = qest(at, source="template", origin="template", entries_written=600, elements_written=4200)
    only_template = {**template, **named("APP2"), "entries_written": 9}
    half = {**template, **named("APP3"), "elements_written": None}
    found = collected(tmp_path, {STRUCTURE_USAGE: [*rows, template, only_template, half, qest(at)]})
    days = {day.structure: (day.entries_written, day.elements_written) for day in found.structure_days}
    assert days == {"APP1": (600, 4200), "APP2": (9, 4200), "APP3": (None, None)}


def test_percentage_of_a_known_total_becomes_a_number(tmp_path: Path) -> None:
    row = r744(
        MIDNIGHT + HOUR, source="overview", entries_in_use=None, entries_in_use_pct=12.5, elements_in_use=None
    )
    collected(tmp_path, {STRUCTURE_USAGE: [row]})
    assert [(line["entries_peak"], line["elements_peak"]) for line in lines(tmp_path)] == [(25_000, None)]


def test_points_are_one_per_day_instance_and_totals(tmp_path: Path) -> None:
    rows = [
        r744(MIDNIGHT + hour * HOUR, system_id=system) for hour in range(1, 5) for system in ("SYSA", "SYSB")
    ]
    rows += [
        r744(MIDNIGHT + 6 * HOUR, entries_total=1),
        r744(MIDNIGHT + DAY + HOUR),
        r744(MIDNIGHT + HOUR, "X", elements_total=None),
    ]
    found = collected(tmp_path, {STRUCTURE_USAGE: [*rows, qest(MIDNIGHT + HOUR)]}, CF01=25)
    told = [
        (point.day.day, point.entries_total, point.observations, point.cfcc_level) for point in found.points
    ]
    assert told == [(2, 1, 1, 25), (2, 200_000, 8, 25), (3, 200_000, 1, 25)]
    assert {(point.xcf_structure, point.coupling_facility) for point in found.points} == {
        ("SQ03APP1", "CF01")
    }


def test_policy_has_the_last_known_value_of_each_column(tmp_path: Path) -> None:
    none = dict.fromkeys(("policy_size_bytes", "policy_initsize_bytes", "full_threshold_pct"))
    rules = displayed(MIDNIGHT, source="display CFSTRUCT", mq_offload_rules="70:32768") | none
    rules |= {"qsg": "SQ03", "structure": "APP1"}
    rows = [
        displayed(MIDNIGHT + DAY, policy_size_bytes=700 * MIB, full_threshold_pct=80),
        displayed(MIDNIGHT, policy_size_bytes=900 * MIB, full_threshold_pct=70),
        displayed(
            MIDNIGHT + 2 * DAY, policy_size_bytes=None, policy_initsize_bytes=5, full_threshold_pct=None
        ),
        rules,
    ]
    policy = collected(tmp_path, {ALLOCATION: rows}).policies["SQ03", "APP1"]
    assert (policy.size_bytes, policy.initsize_bytes, policy.full_threshold_pct, policy.offload_rules) == (
        700 * MIB,
        5,
        80,
        "70:32768",
    )


def test_queue_days_and_fullest_observations_are_collected(tmp_path: Path) -> None:
    at = MIDNIGHT + HOUR
    found = collected(
        tmp_path,
        {
            STRUCTURE_USAGE: [
                qest(at, entries_in_use=9999, elements_in_use=1),
                r744(at, entries_in_use=500, elements_in_use=900),
                r744(at + HOUR, entries_in_use=400, elements_in_use=9000),
                qest(at, "APP2", entries_in_use=7, elements_in_use=8),
            ],
            QUEUE_USAGE: [
                qqst(at, puts=1, put_bytes=10),
                qqst(at + HOUR, puts=3, put_bytes=90, put_size_min_bytes=5),
                qqst(at, "IDLE", puts=0),
            ],
        },
    )
    assert [(day.entries_in_use, day.elements_in_use) for day in found.structure_days] == [(500, 900), (7, 8)]
    assert [(day.queue, day.puts, day.put_bytes, day.put_size_min_bytes) for day in found.queue_days] == [
        ("Q1", 4, 100, 5)
    ]


def test_collected_days_do_not_grow_with_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = history_at_once(tmp_path / "history", range(70), structures=1, every=24)
    monkeypatch.setattr("spark_jobs.night.run.forecast_all", lambda tasks, told: [])
    plain_night(history.url)
    whole = collect(Daily(history.url).read(), cfcc_levels={})
    monkeypatch.setattr("spark_jobs.night.collect.SERIES_DAYS", 10)
    part = collect(Daily(history.url).read(), cfcc_levels={})
    (series,), (recent,) = whole.structures.values(), part.structures.values()
    assert len(series.days) == 70
    assert recent.days.tolist() == series.days[-10:].tolist()
    assert recent.entries_peak.tolist() == series.entries_peak[-10:].tolist()


# ---- whole days ------------------------------------------------------------------------------------------------------


def whole(*days: tuple[int, int, float], last_day: int | None = None) -> list[bool]:
    """Return days by number, the bits of their hours, and the hour of the last end."""
    numbers = np.array([day for day, _, _ in days], dtype=np.int64)
    hours = np.array([bits for _, bits, _ in days], dtype=np.int64)
    ends = np.array([day * DAY_US + int(hour * HOUR_US) for day, _, hour in days], dtype=np.int64)
    return whole_days(numbers, hours, ends, last_day=days[-1][0] if last_day is None else last_day).tolist()


FULL = [(day, ALL_HOURS, 24.0) for day in range(6)]


@pytest.mark.parametrize(
    ("last", "is_whole"),
    [
        ((6, ALL_HOURS, 24.0), True),
        ((6, ALL_HOURS >> 1, 23.0), True),
        ((6, 2**20 - 1, 20.0), False),
        ((6, 2**5 - 1, 5.0), False),
        ((6, ALL_HOURS, 24.01), True),
    ],
)
def test_last_day_has_a_peak_only_when_it_is_over(last: tuple[int, int, float], is_whole: bool) -> None:
    assert whole(*FULL, last) == [True] * 6 + [is_whole]


def test_day_before_the_groups_last_day_needs_no_last_hour() -> None:
    assert whole(*FULL, (6, 2**20 - 1, 20.0), last_day=7) == [True] * 7


def test_day_with_a_large_gap_has_no_peak() -> None:
    assert whole(*FULL[:3], (3, 2**11 - 1, 24.0), *FULL[4:]) == [True, True, True, False, True, True]


def test_days_that_always_end_in_the_evening_are_complete() -> None:
    assert whole(*[(day, 2**22 - 2**6, 22.0) for day in range(6)]) == [True] * 6


def test_days_with_only_morning_displays_are_complete() -> None:
    assert whole(*[(day, 2**9, 9.0) for day in range(6)]) == [True] * 6


def test_last_day_after_few_earlier_days_needs_its_last_hour() -> None:
    assert whole((0, 2**12 - 1, 12.0)) == [False]
    assert whole((0, ALL_HOURS, 24.0), (1, ALL_HOURS, 23.5)) == [True, True]


def test_forecast_starts_from_the_day_before_an_incomplete_last_day(tmp_path: Path) -> None:
    history = history_at_once(tmp_path / "history", range(45), structures=1, every=6)
    commit(history, "part.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + 45 * DAY + 6 * HOUR, entries_in_use=1)]})
    found = plain_night(history.url, republish=True)
    entries = next(one for one in found["forecasts"] if one["measure"] == "entries")
    assert found["last_day"] == "2026-04-16"
    assert (entries["made_on"], entries["last_day"], entries["days_measured"]) == (
        "2026-04-15",
        "2026-04-15",
        45,
    )
    assert found["daily"][-1]["entries_peak"] == 1


# ---- groups ----------------------------------------------------------------------------------------------------------

VALUES = st.one_of(st.none(), st.integers(-5, 5))


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), VALUES), max_size=30))
def test_groups_match_grouping_with_a_dictionary(rows: list[tuple[str | None, int, int | None]]) -> None:
    schema = pa.schema([("text", pa.string()), ("number", pa.int64()), ("value", pa.int64())])
    table = pa.Table.from_arrays(
        [pa.array([row[place] for row in rows], schema[place].type) for place in range(3)], schema=schema
    )
    found = Rows(table)
    groups = Groups(found, ["text", "number"], then=[found["value"]])
    expected: dict[tuple[str | None, int], list[int | None]] = {}
    for text, number, value in rows:
        expected.setdefault((text, number), []).append(value)
    names = [found.text("text", int(code)) for code in groups.first("text")]
    assert list(zip(names, groups.first("number").tolist(), strict=True)) == sorted(
        expected, key=lambda key: (key[0] is not None, key[0] or "", key[1])
    )
    for place, key in enumerate(zip(names, groups.first("number").tolist(), strict=True)):
        known = [value for value in expected[key] if value is not None]
        for figures, value in (
            (groups.most("value"), max(known, default=NONE)),
            (groups.total("value"), sum(known) if known else NONE),
            (groups.last("value"), max(known, default=NONE)),
        ):
            assert figures[place] == value


def test_day_0_is_1_january_1970() -> None:
    assert dt.date.fromordinal(EPOCH) == dt.date(1970, 1, 1)
