"""Findings of a nightly run, and cases just below their limits."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_core.contracts.files import parsed, plain
from planner_core.contracts.forecasts import Forecast
from planner_core.contracts.nightly import NightlyFacts, PlannedOffloadRule, PlannedStructure
from planner_core.health import MEASURES, HealthFigures, Measure, StructureHealth
from spark_jobs.night.findings import FINDING_KINDS, DataSetState, Day, State, findings_of

LAST = dt.date(2026, 11, 20)
MIB = 2**20
PAGE = Path(__file__).parents[3] / "docs/operations/nightly.md"
PLAN = PlannedStructure(
    plan="SQ03", version=4, qsg="SQ03", structure="APP1", full_threshold=85,
    offload_rules=(PlannedOffloadRule(70, 32768), PlannedOffloadRule(80, 4096)),
    initsize_bytes=500 * MIB, size_bytes=750 * MIB, need_bytes=300 * MIB,
)  # fmt: skip


def days(count: int = 91, **values: int | None) -> list[Day]:
    figures: dict[str, Any] = {"entries_peak": 100_000, "elements_peak": 600_000, "full_count": 0, **values}
    return [Day(LAST - dt.timedelta(days=count - 1 - number), **figures) for number in range(count)]


USUAL = State(
    qsg="SQ03", structure="APP1", last_day=LAST, days=days(), coupling_facility="CF01", size_bytes=512 * MIB,
    entries_total=200_000, elements_total=1_200_000, initsize_bytes=400 * MIB, base_bytes=22.0 * MIB,
)  # fmt: skip


QUIET = replace(USUAL, initsize_bytes=None)
"""A structure without other findings."""


def forecast(
    level: str = "SIZE",
    kind: str = "size",
    *,
    state: str = "within",
    p50: int | None = 43,
    measure: str = "entries",
) -> Forecast:
    crossing = {
        "level": level, "state": state, "days": {"p10": 31, "p50": p50, "p90": 70},
        "sentence": f"{level} in {p50} days, 80 % interval 31 to 70",
    }  # fmt: skip
    return parsed(
        Forecast,
        {
            "qsg": "SQ03", "structure": "APP1", "measure": measure, "state": "forecast", "made_on": "2026-11-20",
            "horizon_days": 180, "total": 200_000, "crossings": [crossing],
            "levels": [{"name": level, "kind": kind, "percent": 100, "value": 1}],
        },
    )  # fmt: skip


def codes(state: State, facts: NightlyFacts | None = None) -> list[str]:
    return [one.code for one in findings_of([state], facts or NightlyFacts())]


def only(state: State, facts: NightlyFacts | None = None) -> dict[str, Any]:
    (found,) = findings_of([state], facts or NightlyFacts())
    written: dict[str, Any] = plain(found)
    return written


def test_ordinary_structure_has_no_findings() -> None:
    assert codes(replace(USUAL, plans=(PLAN,), forecasts=[forecast(p50=None, state="beyond")])) == []


def test_full_structure_is_reported_as_an_error_for_a_week() -> None:
    full = [*days(89), Day(LAST - dt.timedelta(days=6), full_count=3), Day(LAST, full_count=1)]
    found = only(replace(USUAL, days=full))
    assert (found["code"], found["severity"], found["day"]) == ("STRUCTURE_WAS_FULL", "error", "2026-11-20")
    assert found["figures"] == {"full_count": 4, "days": 2, "first_day": "2026-11-14"}
    assert "4 times on 2 days" in found["message"]
    assert "2192" in found["source"]
    once = [Day(LAST - dt.timedelta(days=1), full_count=1)]
    assert "found full once on 2026-11-19" in only(replace(USUAL, days=once))["message"]
    assert codes(replace(USUAL, days=[Day(LAST - dt.timedelta(days=7), full_count=3), *days(1)])) == []


@pytest.mark.parametrize(
    ("peak", "failed", "said"), [(990, 0, True), (989, None, False), (5, 2, True), (989, 0, False)]
)
def test_full_data_set_is_reported(peak: int, failed: int | None, said: bool) -> None:
    state = replace(USUAL, data_sets=[DataSetState("MQ01", LAST, peak, 990, failed)])
    assert codes(state) == (["SMDS_WAS_FULL"] if said else [])
    assert codes(replace(state, last_day=LAST + dt.timedelta(days=8), days=[])) == []


@pytest.mark.parametrize(("days_to", "said"), [(43, True), (60, True), (61, False), (None, False)])
def test_structure_that_fills_within_lead_time_is_reported(days_to: int | None, said: bool) -> None:
    assert codes(replace(USUAL, forecasts=[forecast(p50=days_to)])) == (
        ["FILLS_WITHIN_LEAD_TIME"] if said else []
    )
    assert codes(replace(USUAL, forecasts=[forecast(p50=days_to)]), NightlyFacts(lead_time_days=20)) == []


def test_finding_on_lead_time_names_the_most_serious_level_and_ignores_offload() -> None:
    forecasts = [
        forecast("offload at 70 %", "offload", p50=1), forecast("FULLTHRESHOLD 85 %", "full_threshold", p50=5),
        forecast("SIZE", "size", p50=50, measure="elements"), forecast("SIZE", "size", p50=51),
    ]  # fmt: skip
    found = only(replace(USUAL, forecasts=forecasts))
    assert (found["figures"]["level"], found["figures"]["measure"], found["figures"]["days"]) == (
        "SIZE",
        "elements",
        50,
    )
    assert found["message"].startswith("APP1 of SQ03, elements: SIZE in 50 days, 80 % interval 31 to 70.")
    assert codes(replace(USUAL, forecasts=forecasts[:1])) == []


def test_level_already_passed_is_0_days_away() -> None:
    found = only(
        replace(
            USUAL,
            forecasts=[forecast("FULLTHRESHOLD 85 %", "full_threshold", state="already_crossed", p50=None)],
        )
    )
    assert found["figures"]["days"] == 0


def test_offload_earlier_than_planned_is_reported() -> None:
    """The planned 300 of 500 MiB are 58 % of the storage above the base; 75 % of the elements are in use."""
    state = replace(USUAL, days=days(elements_peak=900_000), plans=(PLAN,), initsize_bytes=None)
    found = only(state)
    assert found["code"] == "OFFLOAD_EARLIER_THAN_PLANNED"
    assert found["figures"] == {
        "plan": "SQ03",
        "version": 4,
        "usage_pct": 75.0,
        "planned_pct": 58.2,
        "offload_pct": 70,
    }
    assert codes(replace(state, plans=(replace(PLAN, need_bytes=400 * MIB),))) == [], "planned to pass it"
    assert codes(replace(state, days=[*days(91, elements_peak=900_000)[:80], *days(7)])) == [], (
        "not in the last week"
    )
    assert codes(replace(state, plans=(replace(PLAN, offload_rules=()),))) == [], "no rule is known"
    assert codes(replace(state, plans=(replace(PLAN, offload_rules=()),), offload_pct=(70,))) != []


@pytest.mark.parametrize(
    ("elements", "tolerance", "said"),
    [(600_000, 0.5, False), (390_000, 0.5, True), (410_000, 0.5, False), (890_000, 0.5, False), (910_000, 0.5, True), (390_000, 1.0, False)],
)  # fmt: skip
def test_ratio_far_from_demand_is_reported(elements: int, tolerance: float, said: bool) -> None:
    state = replace(USUAL, days=days(elements_peak=elements), initsize_bytes=None)
    assert codes(state, NightlyFacts(ratio_tolerance=tolerance)) == (
        ["RATIO_FAR_FROM_DEMAND"] if said else []
    )


def test_ratio_finding_names_the_pool_that_runs_out_first() -> None:
    few, many = (
        replace(USUAL, days=days(elements_peak=number), initsize_bytes=None)
        for number in (200_000, 1_100_000)
    )
    assert "runs out of entries first" in only(few)["message"]
    assert "runs out of elements first" in only(many)["message"]
    assert codes(replace(few, days=days(20, elements_peak=200_000))) == [], "too few days"
    assert codes(replace(few, days=days(elements_peak=2_000, entries_peak=1_000))) == [], "hardly used"


@pytest.mark.parametrize(("elements", "ratio"), [(200_000, "1:2"), (250_000, "2:5"), (1_100_000, "1:11")])
def test_ratio_finding_states_the_balancing_ratio(elements: int, ratio: str) -> None:
    found = only(replace(USUAL, days=days(elements_peak=elements), initsize_bytes=None))
    assert f"With the entry-to-element ratio {ratio}, both" in found["message"]
    assert found["figures"]["balancing_ratio"] == [int(part) for part in ratio.split(":")]


def health(**figures: Any) -> StructureHealth:  # noqa: ANN401 - of any measure
    usual: dict[str, Any] = {
        "records": 700, "intervals": 672, "worst": 83.25, "worst_at": dt.datetime(2026, 11, 18, 14, 15, tzinfo=dt.UTC),
        "reporter": "SYSA",
    }  # fmt: skip
    return StructureHealth(
        qsg="SQ03",
        structure="APP1",
        first_day=LAST - dt.timedelta(days=6),
        last_day=LAST,
        measures=(HealthFigures(**usual | figures),),
    )


HEALTH_CODES = {
    "redrives": ("REDRIVES_HIGH", "warning", "Washington"),
    "structure_full": None,  # STRUCTURE_WAS_FULL reports it
    "sync_time": ("SYNC_TIME_CRITICAL", "warning", "Spreadsheet Reporter"),
    "async_time": ("ASYNC_TIME_CRITICAL", "warning", "Spreadsheet Reporter"),
    "changed": ("CHANGED_REQUESTS_HIGH", "warning", "CHNGD"),
    "delayed": ("DELAYED_REQUESTS_HIGH", "warning", "Spreadsheet Reporter"),
    "read_lists": ("READ_LISTS_HIGH", "warning", "Washington"),
    "pool_waits": ("SMDS_POOL_WAITS", "info", "docs/explanation/assumptions.md"),
    "buffer_waits": ("SMDS_BUFFER_WAITS", "info", "docs/explanation/assumptions.md"),
}


@pytest.mark.parametrize("measure", MEASURES)
def test_measure_above_its_guideline_in_three_intervals_is_reported(measure: Measure) -> None:
    facts = NightlyFacts()
    assert findings_of([QUIET], facts, [health(measure=measure, above_good=2, above_limit=2)]) == [], (
        "two intervals are not enough"
    )
    found = findings_of([QUIET], facts, [health(measure=measure, above_good=3, above_limit=3)])
    expected = HEALTH_CODES[measure]
    if expected is None:
        assert found == []
        return
    (one,) = found
    assert (one.code, one.severity) == expected[:2]
    assert expected[2] in one.source
    assert one.day == dt.date(2026, 11, 18)
    assert "in 3 of 672 intervals since 2026-11-14; the worst had 83" in one.message


@pytest.mark.parametrize(
    ("measure", "code"), [("sync_time", "SYNC_TIME_ABOVE_GOOD"), ("async_time", "ASYNC_TIME_ABOVE_GOOD")]
)
def test_service_time_that_is_not_good_is_a_remark(measure: Measure, code: str) -> None:
    (found,) = findings_of([QUIET], NightlyFacts(), [health(measure=measure, above_good=3, above_limit=2)])
    assert (found.code, found.severity, found.figures["above"]) == (code, "info", 3)
    assert findings_of([QUIET], NightlyFacts(), [health(measure=measure, above_good=2)]) == []


def test_health_finding_names_the_worst_interval() -> None:
    worst = health(
        measure="sync_time", above_good=40, above_limit=12, coupling_facility="CF01", reporter="SYSA"
    )
    (found,) = findings_of([QUIET], NightlyFacts(), [worst])
    assert found.message == (
        "APP1 of SQ03: synchronous requests took more than 60 µs on average, in 12 of 672 intervals since 2026-11-14; "
        "the worst had 83.2 µs and ended at 2026-11-18 14:15 UTC (SYSA, coupling facility CF01)."
    )
    assert found.figures["worst"] == 83.25


def test_initsize_above_need_is_reported() -> None:
    """Half of 490 MiB above the base: 267 MiB are needed; half as much again is 400.5."""
    assert codes(replace(USUAL, initsize_bytes=400 * MIB)) == []
    found = only(replace(USUAL, initsize_bytes=402 * MIB))
    assert (found["code"], found["severity"]) == ("INITSIZE_ABOVE_NEED", "info")
    assert found["figures"]["need_bytes"] == 267 * MIB
    assert found["figures"]["days"] == 91
    assert codes(replace(USUAL, initsize_bytes=402 * MIB), NightlyFacts(oversize_share=0.6)) == []
    assert codes(replace(USUAL, initsize_bytes=402 * MIB, days=days(27))) == [], "too few days"
    of_plan = only(
        replace(USUAL, initsize_bytes=None, plans=(replace(PLAN, initsize_bytes=450 * MIB, need_bytes=None),))
    )
    assert (of_plan["figures"]["plan"], of_plan["figures"]["initsize_bytes"]) == ("SQ03", 450 * MIB)


def test_findings_are_sorted_by_severity() -> None:
    states = [
        replace(USUAL, structure="B", initsize_bytes=900 * MIB),
        replace(USUAL, structure="A", initsize_bytes=900 * MIB, forecasts=[forecast()]),
        replace(USUAL, structure="C", days=[Day(LAST, full_count=1)]),
    ]
    found = [(one.severity, one.structure) for one in findings_of(states, NightlyFacts())]
    assert found == [("error", "C"), ("warning", "A"), ("info", "A"), ("info", "B")]


def test_findings_on_simulated_usage_are_marked() -> None:
    assert only(replace(USUAL, forecasts=[forecast()], is_simulated=True))["is_simulated"]


def test_every_nightly_code_is_documented_with_its_severity() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| (\w+) \|", page, re.MULTILINE))
    assert told == {kind.code: kind.severity for kind in FINDING_KINDS}
