"""Health findings of built records, from the dump through the history to the results of a nightly run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from planner_core.contracts.files import plain
from planner_core.contracts.nightly import NightlyFacts, NightlyResult
from planner_core.health import HealthFigures, StructureHealth
from spark_jobs.history.store import History
from spark_jobs.ingest import main as ingest
from spark_jobs.night.measures import MEASURED
from spark_jobs.night.progress import Progress
from spark_jobs.night.run import night
from spark_jobs.night.statistics import REDUCTION
from spark_jobs.smf.encode import Header, dump, mq_record, plain_record, rmf_record
from tests.spark_jobs.night.nights import plain_night, result_of_night
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIDNIGHT,
    commit,
    make_history,
    older_release,
    qest,
    r744,
    wq,
)

DAYS = 30
"""Days of records, one interval each: enough for the ratio of entries and elements."""
RECENT = 3
"""The last days, in which the figures are at or just above the limits."""
REQUESTS = 1000
AT_LIMIT: dict[str, int] = {
    "redrives": 200, "full": 0, "sync_us": 60_000, "async_us": 400_000, "changed": 200, "queued": 200, "readlists": 300,
    "pool_waits": 0, "buffer_waits": 0, "elements": 40_000,
}  # fmt: skip
"""Figures of 1,000 calls, 1,000 synchronous and 1,000 asynchronous requests, 100 GETMOVEs, and 10,000 of 20,000 entries, each
at the limit of its guideline. Of 120,000 elements, 40,000 are 4 for each entry: 6 is one and a half times as many."""
ABOVE = {name: value + 1 for name, value in AT_LIMIT.items()} | {"elements": 39_999}
GOOD = AT_LIMIT | {"sync_us": 39_999, "async_us": 249_999}
NOT_GOOD = AT_LIMIT | {"sync_us": 40_000, "async_us": 250_000}
STRUCTURES = {"ATLIMIT": AT_LIMIT, "ABOVE": ABOVE, "GOOD": GOOD, "NOTGOOD": NOT_GOOD}


def header(number: int, *, hours: int = 1, manager: str = "MQ01") -> Header:
    end = MIDNIGHT + number * DAY + 12 * HOUR
    return Header(
        written_at=end, system_id="SYSA", queue_manager=manager, release="946", qsg="SQ03", interval_end=end,
        interval_us=hours * 3_600_000_000,
    )  # fmt: skip


def of_day(number: int) -> Iterator[bytes]:
    """Yield the records of one day: one interval of a queue manager, its tasks, and RMF's."""
    shown = {
        name: figures if number >= DAYS - RECENT else GOOD | {"elements": figures["elements"]}
        for name, figures in STRUCTURES.items()
    }
    yield mq_record(
        "115-2",
        header(number),
        {
            "qest": [
                {
                    "structure": name, "structure_number": slot, "section": slot, "ixllste_calls": REQUESTS - 100,
                    "ixllste_redrives": figures["redrives"], "ixllstm_calls": 100, "ixllstm_redrives": 0,
                    "structure_full_count": figures["full"], "entries_in_use_max": 10_000,
                    "elements_in_use_max": figures["elements"],
                }
                for slot, (name, figures) in enumerate(shown.items())
            ],
            "qesd": [
                {
                    "structure": name, "blocks_total": 400, "blocks_data": 390, "blocks_in_use_max": 10,
                    "pool_waits": figures["pool_waits"], "buffer_waits": figures["buffer_waits"],
                }
                for name, figures in shown.items()
            ],
        },
    )  # fmt: skip
    for task, (name, figures) in enumerate(shown.items()):
        yield mq_record(
            "116-1",
            header(number),
            {
                "wq": [
                    {
                        "queue": f"{name}.QUEUE", "object_name": f"{name}.QUEUE", "cf_structure": name, "disposition": "SHARED",
                        "correlation": f"{task:032X}", "opened_at": MIDNIGHT, "section_version": 8,
                        "cf_get_readlist_requests": figures["readlists"], "cf_get_move_requests": 100,
                    }
                ]
            },
        )  # fmt: skip
    yield from rmf_record(
        header(number, manager=""),
        {
            "r744_cf": [{"coupling_facility": "CF01", "sysplex": "PLEX1", "system_name": "SYSA"}],
            "r744_storage": [{"total_bytes": 2**36, "free_bytes": 2**35}],
            "r744_structure": [
                {
                    "xcf_structure": f"SQ03{name}", "structure_type": "SERIALIZED LIST", "allocated_at": MIDNIGHT,
                    "entries_in_use": 10_000, "entries_total": 20_000, "elements_in_use": figures["elements"],
                    "elements_total": 120_000, "size_bytes": 2**26, "size_max_bytes": 2**27, "size_min_bytes": 2**25,
                    "sync_requests": float(REQUESTS), "sync_us": figures["sync_us"], "async_requests": float(REQUESTS),
                    "async_us": figures["async_us"], "changed_requests": float(figures["changed"]),
                    "queued_requests": float(figures["queued"]),
                }
                for name, figures in shown.items()
            ],
        },
    )  # fmt: skip


def ingested(folder: Path) -> str:
    """Build a dump and read it into a new history; return the history's URL."""
    records = [plain_record(2, header(0)), *(record for number in range(DAYS) for record in of_day(number))]
    file = folder / "built.smf"
    file.write_bytes(dump([*records, plain_record(3, header(0))]))
    history = str(folder / "history")
    assert ingest(["--history", history, str(file)]) == 0
    return history


def codes(result: NightlyResult) -> dict[str, list[str]]:
    return {name: [one.code for one in result.findings if one.structure == name] for name in STRUCTURES}


EXPECTED = {
    "ATLIMIT": ["ASYNC_TIME_ABOVE_GOOD", "SYNC_TIME_ABOVE_GOOD"],
    "ABOVE": [
        "STRUCTURE_WAS_FULL",
        "ASYNC_TIME_CRITICAL",
        "CHANGED_REQUESTS_HIGH",
        "DELAYED_REQUESTS_HIGH",
        "RATIO_FAR_FROM_DEMAND",
        "READ_LISTS_HIGH",
        "REDRIVES_HIGH",
        "SYNC_TIME_CRITICAL",
        "SMDS_BUFFER_WAITS",
        "SMDS_POOL_WAITS",
    ],
    "GOOD": [],
    "NOTGOOD": ["ASYNC_TIME_ABOVE_GOOD", "SYNC_TIME_ABOVE_GOOD"],
}


def check(result: NightlyResult) -> None:
    assert codes(result) == EXPECTED
    by_code = {one.code: one for one in result.findings if one.structure == "ABOVE"}
    last = (MIDNIGHT + (DAYS - 1) * DAY).date()
    place = f"ended at {last.isoformat()} 12:00 UTC (SYSA, coupling facility CF01)"
    since = (last - dt.timedelta(days=6)).isoformat()
    assert by_code["CHANGED_REQUESTS_HIGH"].message == (
        "ABOVE of SQ03: more than 10 % of the requests were changed from synchronous to asynchronous, in 3 of 7 intervals since "
        f"{since}; the worst had 10.1 % and {place}."
    )
    assert "READLIST requests for each GETMOVE, in 3 of 7 intervals" in by_code["READ_LISTS_HIGH"].message
    assert by_code["READ_LISTS_HIGH"].figures["queue"] == "ABOVE.QUEUE"
    assert by_code["REDRIVES_HIGH"].figures["reporter"] == "MQ01"
    assert "ratio 1:4, both" in by_code["RATIO_FAR_FROM_DEMAND"].message
    health = {each.structure: each for each in result.health}
    assert {each.state for each in health["GOOD"].measures} == {"good"}
    assert [each.state for each in health["ABOVE"].measures] == ["above_limit"] * 9


@pytest.mark.spark
def test_every_health_finding_of_built_records_is_on_the_right_side_with_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    class Shared:
        def __getattr__(self, name: str) -> object:
            return getattr(spark, name)

        def stop(self) -> None:
            pass

    # Without sums in the files, Spark reads the rows.
    with older_release():
        history = ingested(tmp_path)
    shared: Any = Shared()
    result = night(
        history,
        NightlyFacts(),
        make_session=lambda rows: shared,
        work_dir=tmp_path,
        progress=Progress(),
        in_process_below=0,
    )
    assert result.spark
    check(result)


def test_every_health_finding_of_built_records_is_on_the_right_side_without_spark(tmp_path: Path) -> None:
    result = result_of_night(ingested(tmp_path))
    assert not result.spark
    check(result)


# ---- the last days ---------------------------------------------------------------------------------------------------


def health_of(folder: Path, *rows: dict[str, Any], table: str = "structure_usage") -> StructureHealth:
    history = History.open(str(folder / "history"), create=True)
    commit(history, "all.smf", {table: list(rows)})
    (found,) = result_of_night(history.url).health
    return found


def figures(found: StructureHealth, measure: str) -> HealthFigures:
    return next(each for each in found.measures if each.measure == measure)


def test_only_the_last_seven_days_count(tmp_path: Path) -> None:
    rows = [qest(MIDNIGHT + number * DAY + HOUR, ixllste_redrives=900) for number in range(10)]
    found = figures(health_of(tmp_path, *rows), "redrives")
    assert (found.records, found.intervals, found.above_limit) == (7, 7, 7)


def test_last_days_of_a_month_before_are_read(tmp_path: Path) -> None:
    begin = dt.datetime(2026, 3, 30, tzinfo=dt.UTC)
    rows = [qest(begin + number * DAY + HOUR, ixllste_redrives=900) for number in range(5)]
    assert figures(health_of(tmp_path, *rows), "redrives").above_limit == 5


def test_each_reporter_is_judged_by_itself(tmp_path: Path) -> None:
    rows = [
        qest(MIDNIGHT + HOUR, queue_manager=manager, ixllste_calls=1000, ixllste_redrives=redrives)
        for manager, redrives in (("MQ01", 0), ("MQ02", 300))
    ]
    found = figures(health_of(tmp_path, *rows), "redrives")
    assert (found.intervals, found.above_limit, found.reporter, found.worst) == (2, 1, "MQ02", 28.18)


def test_interval_with_few_requests_is_not_judged(tmp_path: Path) -> None:
    found = figures(health_of(tmp_path, qest(MIDNIGHT + HOUR, ixllste_calls=99, ixllstm_calls=0)), "redrives")
    assert (found.records, found.intervals, found.state) == (1, 0, "too_few")


def test_measures_of_other_records_are_not_measured(tmp_path: Path) -> None:
    found = health_of(tmp_path, qest(MIDNIGHT + HOUR))
    states = {each.measure: each.state for each in found.measures}
    assert [name for name, state in states.items() if state != "not_measured"] == [
        "redrives",
        "structure_full",
    ]


def test_figures_of_other_reports_are_not_judged(tmp_path: Path) -> None:
    """CFACT counts conversions of another kind as changed requests."""
    rows = (qest(MIDNIGHT + HOUR), r744(MIDNIGHT + HOUR, source="CFACT", changed_requests=1000))
    assert figures(health_of(tmp_path, *rows), "changed").state == "not_measured"


def test_implausible_figures_are_ignored(tmp_path: Path) -> None:
    rows = [qest(MIDNIGHT + HOUR, ixllste_redrives=2**60), qest(MIDNIGHT + 2 * HOUR, ixllste_redrives=None)]
    assert figures(health_of(tmp_path, *rows), "redrives").state == "not_measured"


def test_health_does_not_depend_on_how_days_were_reduced(tmp_path: Path) -> None:
    whole = plain_night(make_history(tmp_path / "new", range(3)).url)["health"]
    with older_release():
        read = plain_night(make_history(tmp_path / "old", range(3)).url)["health"]
    assert whole == read
    assert any(each["records"] for each in whole[0]["measures"])


def test_health_is_stable_between_runs(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(2))
    commit(history, "task.smf", {"queue_usage": [wq(MIDNIGHT + HOUR)]})
    assert plain(result_of_night(history.url).health) == plain(result_of_night(history.url).health)


def test_new_limits_need_a_new_version_of_the_reduction() -> None:
    """The statistics of stored days contain the counts of intervals above the limits of their version."""
    limits = {
        each.measure: (each.limits.limit, each.limits.good, each.limits.least)
        for of_table in MEASURED.values()
        for each in of_table
    }
    assert (REDUCTION, limits) == (
        2,
        {
            "redrives": (20, None, 100),
            "structure_full": (0, None, 1),
            "sync_time": (60, 40, 100),
            "async_time": (400, 250, 100),
            "changed": (10, None, 100),
            "delayed": (10, None, 100),
            "read_lists": (3, None, 100),
            "pool_waits": (0, None, 1),
            "buffer_waits": (0, None, 1),
        },
    )
