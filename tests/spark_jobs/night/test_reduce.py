"""Reduction of days by Spark, compared with a row-by-row reduction in Python and with expected results."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from planner_core.contracts.nightly import NightlyFacts
from spark_jobs.history.days import has_twins
from spark_jobs.history.schema import ALLOCATION, QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.history.store import History
from spark_jobs.night import reduce
from spark_jobs.night.progress import Progress
from spark_jobs.night.run import fingerprints, night
from spark_jobs.night.statistics import KINDS, POLICY, QUEUE, SMDS, STRUCTURE, kept_schema
from tests.spark_jobs.night import plainly
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIB,
    MIDNIGHT,
    Rows,
    commit,
    displayed,
    make_history,
    older_release,
    qesd,
    qest,
    qqst,
    r744,
    usual_day,
    wq,
)

pytestmark = pytest.mark.spark

SECOND = dt.timedelta(seconds=1)
Contents = dict[str, list[dict[str, Any]]]


class SharedSession:
    """The shared session of the tests, for a job that would stop its own."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def stop(self) -> None:
        pass


def contents(reduced: reduce.Reduced) -> Contents:
    return {kind: sorted(reduced.statistics[kind].to_pylist(), key=repr) for kind in KINDS}


def reduced_by(session: SparkSession, history: History, work_dir: Path) -> Contents:
    snapshot = history.snapshot()
    days = sorted(fingerprints(history, snapshot))
    return contents(reduce.reduce_days(session, history, snapshot, days, work_dir=work_dir))


def reduced_plainly(history: History) -> Contents:
    snapshot = history.snapshot()
    days = sorted(fingerprints(history, snapshot))
    return contents(plainly.reduce_days(None, history, snapshot, days, work_dir=Path()))


def mixture(folder: Path) -> History:
    """Write overlapping, repeated and forgotten files from every kind of source, with odd intervals and missing figures."""
    chance = random.Random(7)
    history = History.open(str(folder), create=True)
    for number in range(2):
        commit(history, f"day-{number}.smf", usual_day(number, structures=2, every=6))
    overlap = usual_day(1, structures=2, every=6)
    for table, rows in usual_day(1, structures=2, every=6, seed=2).items():
        overlap[table] = overlap[table][: len(overlap[table]) // 2] + rows[len(rows) // 2 :]
    commit(history, "overlap.smf", overlap)
    commit(history, "again.smf", usual_day(2, structures=1, every=6, seed=3))
    commit(history, "again.smf", usual_day(2, structures=1, every=6, seed=4))
    forgotten = commit(history, "forgotten.smf", usual_day(0, structures=4, every=6, seed=5))
    history.forget(
        next(row["file_sha256"] for row in history.files() if row["commit_id"] == forgotten.commit_id)
    )
    begin = MIDNIGHT + 3 * DAY
    odd: Rows = {STRUCTURE_USAGE: [], QUEUE_USAGE: [], SMDS_USAGE: [], ALLOCATION: []}
    for number in range(40):
        end = begin + number * 37 * dt.timedelta(minutes=7) + number * SECOND
        length = chance.choice([0, 1, 5, 30, 60, 24 * 60, 3 * 24 * 60, 8 * 24 * 60, -5]) * dt.timedelta(
            minutes=1
        )
        rest: dict[str, Any] = {
            "interval_start": end - length,
            "queue_manager": chance.choice(["MQ01", "MQ02"]),
        }
        if chance.random() < 0.2:
            rest["interval_start"] = None
        name = chance.choice(["APP1", "APP2", "CSQ_ADMIN"])
        some = [None, 0, 1, 2**20, 2**31, 2**33]
        odd[STRUCTURE_USAGE].append(
            qest(
                end, name, structure_full_count=chance.choice([None, 0, 3]), entries_in_use=chance.choice(some[:4]),
                elements_in_use=chance.choice(some[:4]), ixllste_calls=chance.choice([None, 0, 99, 100, 1000]),
                ixllste_redrives=chance.choice([None, 0, 20, 21, 200, 2**48, 2**48 + 1, 2**62]), ixllstm_redrives=0,
                ixllstm_calls=0, **rest,
            )
        )  # fmt: skip
        odd[STRUCTURE_USAGE].append(
            r744(
                end, name, coupling_facility=chance.choice([None, "CF01", "CF02"]), size_bytes=chance.choice([None, 2**29]),
                elements_total=chance.choice([None, 5]), entries_in_use_pct=chance.choice([None, 12.5]),
                allocated_at=chance.choice([None, begin]), interval_start=rest["interval_start"],
                sync_requests=chance.choice([None, 0, 99, 100]), sync_us=chance.choice([None, 3999, 4000, 6000, 6001, 2**48]),
                changed_requests=chance.choice([None, 60, 61]), queued_requests=chance.choice([None, 0, 61]), entries_written=chance.choice([None, 0, 7, 2**40]),
                elements_written=chance.choice([None, 35]), system_id=chance.choice(["SYSA", "SYSB", None]),
            )
        )  # fmt: skip
        odd[ALLOCATION].append(displayed(end, name, full_threshold_pct=chance.choice([None, 80, 85])))
        odd[ALLOCATION].append(
            displayed(
                    end, name, source="display CFSTRUCT", policy_size_bytes=None, policy_initsize_bytes=None,
                    full_threshold_pct=None, mq_offload_rules=chance.choice([None, "70:32768 90:0"]), size_bytes=None,
                    entries_total=None, elements_total=None, entries_in_use=None, elements_in_use=None,
                ) | {"qsg": "SQ03", "structure": name}
            )  # fmt: skip
        odd[SMDS_USAGE].append(
            qesd(
                end,
                name,
                messages=chance.choice([None, 7]),
                blocks_in_use_max=chance.choice([None, 5]),
                **rest,
            )
        )
        for make in (qqst, wq):
            odd[QUEUE_USAGE].append(
                make(
                    end, chance.choice(["Q1", "Q2"]), name, puts=chance.choice([None, 0, 1, 77]),
                    put_bytes=chance.choice([None, 0, 1, 256 * 77, 257 * 77, 2**40, 2**55]),
                    get_readlists=chance.choice([None, 0, 75, 76, 2**47]), get_moves=chance.choice([None, 0, 24, 25]), **rest,
                )
            )  # fmt: skip
    odd[STRUCTURE_USAGE].append(r744(begin + HOUR, "OTHER", xcf_structure="IMSXOTHER"))
    odd[STRUCTURE_USAGE].append(qest(begin + HOUR, "APP1", qsg="", xcf_structure=None))
    commit(history, "simulated-odd.smf", odd)
    return history


def test_spark_statistics_match_a_calculation_row_by_row(spark: SparkSession, tmp_path: Path) -> None:
    history = mixture(tmp_path / "history")
    snapshot = history.snapshot()
    twins = {
        has_twins(history, STRUCTURE_USAGE, day, snapshot=snapshot) for day in snapshot.days(STRUCTURE_USAGE)
    }
    assert twins == {False, True}, "both ways of reading are to be tested"
    by_spark, by_hand = reduced_by(spark, history, tmp_path), reduced_plainly(history)
    for kind in KINDS:
        assert by_spark[kind] == by_hand[kind], kind
        assert by_hand[kind]


def test_interval_counts_for_the_day_of_its_midpoint(spark: SparkSession, tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    over = MIDNIGHT + DAY + 20 * dt.timedelta(minutes=1)
    commit(
        history,
        "f",
        {
            STRUCTURE_USAGE: [
                qest(MIDNIGHT + DAY + SECOND / 100, entries_in_use=500),
                qest(over, queue_manager="MQ02", interval_start=over - HOUR, entries_in_use=700),
                qest(over + HOUR, entries_in_use=20),
            ]
        },
    )
    found = reduced_by(spark, history, tmp_path)[STRUCTURE]
    first, second = MIDNIGHT.date(), MIDNIGHT.date() + DAY
    assert [(row["filed"], row["day"], row["entries_peak"]) for row in found] == [
        (second, first, 700),
        (second, second, 20),
    ]
    assert found[0]["observations"] == 2
    assert found[0]["hours"] == 1 << 23


def test_puts_counted_by_two_sources_count_once(spark: SparkSession, tmp_path: Path) -> None:
    """Statistics and accounting count the same messages; a queue manager without statistics has only accounting."""
    at = MIDNIGHT + HOUR
    history = History.open(str(tmp_path / "history"), create=True)
    rows = [
        qqst(at, puts=10, put_bytes=10_000),
        wq(at, puts=4, put_bytes=4000),
        wq(at, puts=6, put_bytes=6000, correlation="1" * 32),
        wq(at, queue_manager="MQ02", puts=5, put_bytes=500),
    ]
    commit(history, "f", {QUEUE_USAGE: rows})
    found = reduced_by(spark, history, tmp_path)[QUEUE]
    assert [(row["puts"], row["put_bytes"], row["observations"]) for row in found] == [(15, 10_500, 2)]
    assert found[0]["put_size_squares"] == 10 * 4**2 + 5


def test_each_state_of_an_allocation_has_a_row(spark: SparkSession, tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    later = MIDNIGHT + 3 * HOUR
    rows = [r744(MIDNIGHT + hour * HOUR) for hour in (1, 2)]
    rows += [
        r744(later + HOUR, size_bytes=600 * MIB, entries_total=230_000),
        r744(later + 2 * HOUR, allocated_at=later),
    ]
    commit(history, "f", {STRUCTURE_USAGE: rows, ALLOCATION: [displayed(later)]}, qsgs=["SQ03"])
    found = reduced_by(spark, history, tmp_path)
    states = [
        (row["size_bytes"] // MIB, row["allocated_at"], row["family"], row["observations"])
        for row in found[STRUCTURE]
    ]
    old = MIDNIGHT - 30 * DAY
    assert sorted(states, key=str) == [
        (512, old, 3, 2),
        (512, old, 6, 1),
        (512, later, 3, 1),
        (600, old, 3, 1),
    ]
    assert [row["full_threshold_pct"] for row in found[POLICY]] == [85]
    assert found[SMDS] == found[QUEUE] == []


def test_copies_from_an_object_store_are_reduced_like_files(spark: SparkSession, tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(1))
    remote = SimpleNamespace(place=history.place, url=history.url, is_local=False)
    snapshot = history.snapshot()
    days = sorted(fingerprints(history, snapshot))
    copied: Any = remote
    found = reduce.reduce_days(spark, copied, snapshot, days, work_dir=tmp_path / "work")
    assert contents(found) == reduced_plainly(history)
    assert list((tmp_path / "work").rglob("*.parquet"))


def test_run_reports_the_tasks_it_waits_for(spark: SparkSession, tmp_path: Path) -> None:
    """Changed days are reduced, and the progress counts Spark's tasks."""
    with older_release():
        history = make_history(tmp_path / "history", range(3))
    lines: list[dict[str, Any]] = []
    progress = Progress(wanted=True)
    progress.say = lambda event, **values: lines.append({"event": event, **values})  # type: ignore[method-assign]
    borrowed: Any = SharedSession(spark)
    rows: list[int] = []

    def make_session(count: int) -> SparkSession:
        rows.append(count)
        return borrowed

    first = night(
        history.url,
        NightlyFacts(),
        make_session=make_session,
        work_dir=tmp_path,
        progress=progress,
        in_process_below=0,
    )
    assert first.spark
    assert first.days_reduced == first.days_total == 4
    assert (
        first.rows_read
        == rows[0]
        == sum(part.rows for part in history.snapshot().parts if part.table != "files")
    )
    reducing = [line for line in lines if line["stage"] == "reducing"]
    assert reducing[-1]["done"] == reducing[-1]["total"] > 4
    assert any("tasks" in line["sentence"] for line in reducing)
    again = night(
        history.url, NightlyFacts(), make_session=make_session, work_dir=tmp_path, progress=Progress()
    )
    assert not again.spark
    assert len(rows) == 1
    assert again.daily == ()
    assert again.forecasts == first.forecasts


def test_every_kind_selects_the_stored_columns() -> None:
    for kind in KINDS:
        query = reduce.query(kind, [(table, "SELECT 1") for table in reduce.TABLES_OF[kind]])
        assert all(name in query for name in kept_schema(kind).names)
