"""Intervals are rolled up to hours without loss, and the same usage is never added twice."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs import rollup
from spark_jobs.history.hour_sums import SIZE_BUCKETS, spread_over_hours
from spark_jobs.history.hours import roll_up
from spark_jobs.history.store import History
from spark_jobs.history.summaries import PREFIX
from tests.spark_jobs.history.rows import MIDNIGHT, qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, sha256

DAY = MIDNIGHT.date()
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(str(tmp_path / "history"), create=True)


def lines(history: History, event: str, *days: dt.date) -> list[dict[str, Any]]:
    return [line for line in roll_up(history, days or None) if line["event"] == event]


def spread(start: dt.datetime, end: dt.datetime, puts: int) -> dict[int, int]:
    """Return the puts of one interval by hour, counted from midnight of the 20th."""
    rows = queue_rows(wq(interval_start=start, interval_end=end, puts=puts))
    found = {}
    out = spread_over_hours(rows, counts=["puts"])
    for hour, share in zip(out["hour"].to_pylist(), out["puts"].to_pylist(), strict=True):
        found[hour // 3_600_000_000 - int(MIDNIGHT.timestamp()) // 3600] = share
    return found


@given(
    st.integers(-1400, 1400),
    st.integers(0, 3000 * 60),
    st.integers(0, 10**12),
)
def test_hourly_shares_add_up_to_the_count(start_minute: int, seconds: int, puts: int) -> None:
    start = MIDNIGHT + start_minute * MINUTE
    assert sum(spread(start, start + dt.timedelta(seconds=seconds), puts).values()) == puts


def test_interval_that_spans_two_hours_is_split_by_time() -> None:
    start = MIDNIGHT + dt.timedelta(hours=9, minutes=45)
    assert spread(start, start + 30 * MINUTE, 100) == {9: 50, 10: 50}
    assert spread(start, start + 60 * MINUTE, 100) == {9: 25, 10: 75}


def test_milliseconds_across_an_hour_boundary_do_not_count() -> None:
    start = MIDNIGHT + dt.timedelta(hours=9, minutes=30, milliseconds=20)
    assert spread(start, start + 30 * MINUTE, 100) == {9: 100}
    early = MIDNIGHT + dt.timedelta(hours=9, minutes=59, seconds=59, milliseconds=990)
    assert spread(early, early + 30 * MINUTE, 100) == {10: 100}


def test_interval_that_spans_midnight_is_split() -> None:
    assert spread(MIDNIGHT - 15 * MINUTE, MIDNIGHT + 15 * MINUTE, 10) == {-1: 5, 0: 5}


def test_observation_counts_in_its_hour() -> None:
    at = MIDNIGHT + dt.timedelta(hours=10)
    assert spread(at, at, 7) == {10: 7}


def test_interval_longer_than_a_week_counts_in_the_hour_of_its_end() -> None:
    end = MIDNIGHT + dt.timedelta(hours=5, minutes=30)
    assert spread(end - dt.timedelta(days=8), end, 7) == {5: 7}


def test_maxima_apply_to_every_hour_of_the_interval(history: History) -> None:
    start = MIDNIGHT + dt.timedelta(hours=1, minutes=50)
    row = qest(interval_start=start, interval_end=start + 70 * MINUTE, entries_in_use=500)
    commit(history, "a", structures=structure_rows(row))
    found = {line["hour"]: line["entries_in_use_max"] for line in lines(history, "structure_hour")}
    assert found == {"2026-11-20T01:00:00Z": 500, "2026-11-20T02:00:00Z": 500}


def test_calls_of_queue_managers_are_added_and_usage_is_not(history: History) -> None:
    one = qest(0, ixllste_calls=10, entries_in_use=100, structure_full_count=1)
    other = qest(0, queue_manager="CSQ2", ixllste_calls=5, entries_in_use=120, structure_full_count=2)
    second = qest(1, ixllste_calls=1, entries_in_use=90)
    commit(history, "a", structures=structure_rows(one, other, second))
    (line,) = lines(history, "structure_hour")
    assert line["ixllste_calls"] == 16
    assert line["structure_full_count"] == 3
    assert line["entries_in_use_max"] == 120
    assert line["elements_in_use_max"] == 601
    assert (line["queue_managers"], line["observations"]) == (2, 3)
    assert line["sources"] == ["115-2 QEST"]
    assert line["entries_total"] is None


def test_requests_counted_by_two_sources_are_not_added(history: History) -> None:
    rmf = qest(
        source="74-4 R744SREQ",
        queue_manager=None,
        sysplex="PLEX1",
        xcf_structure="SQ03APPLICATION1",
        ixllste_calls=None,
        structure_full_count=None,
        sync_requests=1000,
        entries_total=5000,
    )
    cfact = {**rmf, "source": "CFACT", "origin": "report", "sync_requests": 990, "async_requests": 3}
    commit(history, "a", structures=structure_rows(qest(), rmf, cfact))
    (line,) = lines(history, "structure_hour")
    assert line["sync_requests"] == 1000
    assert line["async_requests"] == 3, "what only one of them counts is taken from it"
    assert line["ixllste_calls"] == 10
    assert line["entries_total"] == 5000


def test_queue_statistics_take_precedence_over_accounting_per_queue_manager(history: History) -> None:
    statistics = wq(source="115-216 QQST", correlation=None, puts=100, put_bytes=100_000, depth_max=50)
    accounting = [wq(correlation=f"{n:032X}", puts=40, put_bytes=4_000, depth_max=60) for n in range(2)]
    other = [wq(queue_manager="CSQ2", puts=7, put_bytes=700)]
    commit(history, "a", queues=queue_rows(statistics, *accounting, *other))
    (line,) = lines(history, "queue_hour")
    assert line["puts"] == 107
    assert line["put_bytes"] == 100_700
    assert line["depth_max"] == 60
    assert line["put_size_avg_bytes"] == 942
    assert line["queue_managers"] == 2
    assert line["source"] == "115-216 and 116"
    # Accounting tells sizes task by task: it is taken for the distribution.
    assert line["size_buckets"] == [{"up_to_bytes": 256, "puts": 87}]


def test_requests_of_mqgets_come_from_accounting_even_if_there_are_queue_statistics(history: History) -> None:
    statistics = wq(source="115-216 QQST", correlation=None, puts=100, get_readlists=None, get_moves=None)
    accounting = [wq(correlation=f"{n:032X}", puts=40, get_readlists=30 + n, get_moves=10) for n in range(2)]
    other = [wq(queue_manager="CSQ2", puts=7, get_readlists=5, get_moves=4)]
    commit(history, "a", queues=queue_rows(statistics, *accounting, *other))
    (line,) = lines(history, "queue_hour")
    assert (line["puts"], line["get_readlists"], line["get_moves"]) == (107, 66, 24)


def test_queued_requests_and_written_elements_of_systems_are_added(history: History) -> None:
    def of(system: str, *counts: int | None) -> dict[str, Any]:
        names = ("queued_requests", "queued_us", "entries_written", "elements_written")
        row = qest(
            source="74-4 R744SREQ", system_id=system, queue_manager=None, xcf_structure="SQ03APPLICATION1"
        )
        return row | dict(zip(names, counts, strict=True))

    systems = [of("SYSA", 3, 900, 1000, 4000), of("SYSB", 4, 100, 500, 5000), of("SYSC", 1, 5, None, None)]
    commit(history, "a", structures=structure_rows(*systems))
    (line,) = lines(history, "structure_hour")
    assert (line["queued_requests"], line["queued_us"]) == (8, 1005)
    assert (line["entries_written"], line["elements_written"]) == (1500, 9000)


NEW_COLUMNS = {
    "structure_usage": ("queued_requests", "queued_us", "entries_written", "elements_written"),
    "queue_usage": ("get_readlists", "get_moves"),
}


def test_files_without_the_newest_columns_and_with_sums_by_older_rules_are_rolled_up(
    history: History,
) -> None:
    structures = structure_rows(qest(0, sync_requests=7), qest(1, sync_requests=8))
    commit(history, "old", structures=structures, queues=queue_rows(wq(0), wq(1)))
    expected = list(roll_up(history))
    for part in history.snapshot().parts:
        if part.table in NEW_COLUMNS:
            path = Path(history.url) / part.path
            footer = history.place.footer(part.path)
            rows = pq.read_table(path, partitioning=None).drop_columns(NEW_COLUMNS[part.table])
            names = [name for name in footer if name.startswith(PREFIX)]
            older = {name.replace(PREFIX, "cfplan.1.1."): "sums without these columns" for name in names}
            assert "cfplan.1.1.hours" in older
            pq.write_table(rows.replace_schema_metadata(older), path)
    assert list(roll_up(History.open(history.url))) == expected


def test_sizes_are_counted_by_powers_of_two(history: History) -> None:
    tasks = [
        wq(correlation=f"{n:032X}", puts=1, put_bytes=size)
        for n, size in enumerate((0, 256, 257, 1024, 1025, SIZE_BUCKETS[-1] + 1))
    ]
    nothing_put = wq(correlation="FF" * 16, puts=0, put_bytes=0)
    commit(history, "a", queues=queue_rows(*tasks, nothing_put))
    (line,) = lines(history, "queue_hour")
    assert [(bucket["up_to_bytes"], bucket["puts"]) for bucket in line["size_buckets"]] == [
        (256, 2),
        (512, 1),
        (1024, 1),
        (2048, 1),
        (SIZE_BUCKETS[-1], 1),
    ]
    assert sum(bucket["puts"] for bucket in line["size_buckets"]) == line["puts"]


def test_unknown_values_are_null_and_not_0(history: History) -> None:
    commit(history, "a", queues=queue_rows(wq(puts=None, put_bytes=None)))
    (line,) = lines(history, "queue_hour")
    assert (line["puts"], line["put_size_avg_bytes"], line["size_buckets"]) == (None, None, [])


def test_requested_days_are_rolled_up_completely_and_no_others(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(-48, 96))))
    assert len(lines(history, "structure_hour")) == 72
    found = lines(history, "structure_hour", DAY)
    assert len(found) == 24
    assert all(line["hour"].startswith("2026-11-20T") for line in found)
    assert found == [line for line in lines(history, "structure_hour") if line["hour"][:10] == "2026-11-20"]


def test_interval_filed_under_the_next_day_counts_in_its_hours(history: History) -> None:
    row = wq(
        47, interval_start=MIDNIGHT + dt.timedelta(hours=23), interval_end=MIDNIGHT + dt.timedelta(hours=25)
    )
    commit(history, "a", queues=queue_rows({**row, "written_at": row["interval_end"], "puts": 10}))
    found = {line["hour"]: line["puts"] for line in lines(history, "queue_hour", DAY)}
    assert found == {"2026-11-20T23:00:00Z": 5}


def test_all_days_touched_by_intervals_are_rolled_up(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0), qest(47)))
    assert next(iter(roll_up(history)))["days"] == ["2026-11-20", "2026-11-21"]


def test_day_without_rows_is_listed_so_that_its_hours_are_deleted(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    history.forget(sha256("a"))
    assert list(roll_up(history, [DAY])) == [
        {"event": "days", "days": ["2026-11-20"]},
        {"event": "end", "structure_hours": 0, "smds_hours": 0, "queue_hours": 0},
    ]


def test_rows_without_a_known_group_have_no_hours(history: History) -> None:
    row = qest(source="74-4 R744SREQ", qsg=None, structure=None, xcf_structure="DSNDB0G_SCA")
    commit(history, "a", structures=structure_rows(row))
    assert lines(history, "structure_hour") == []


def test_rollup_command_prints_one_object_per_line(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(history, "a", structures=structure_rows(qest(0)), queues=queue_rows(wq(0)))
    assert rollup.main(["--history", history.url, "--days", "2026-11-20"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in found] == ["days", "structure_hour", "queue_hour", "end"]
    assert found[-1] == {"event": "end", "structure_hours": 1, "smds_hours": 0, "queue_hours": 1}


def test_rollup_command_reports_a_missing_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rollup.main(["--history", str(tmp_path / "none")]) == 1
    assert "There is no usage history" in capsys.readouterr().err
