"""Interface for other engines: the files of a day, its fingerprint, and its valid rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_jobs.history.days import day_files, day_fingerprints, has_twins, spark_schema, standing_sql
from spark_jobs.history.schema import ORIGINS, QUEUE_USAGE, STRUCTURE_USAGE, row_schema
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, new_commit_id
from tests.spark_jobs.history.by_sql import standing
from tests.spark_jobs.history.rows import MIDNIGHT, qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, sha256

DAY, NEXT = "2026-11-20", "2026-11-21"
R744 = {
    "source": "74-4 R744SREQ",
    "queue_manager": None,
    "sysplex": "PLEX1",
    "coupling_facility": "CF01",
    "qsg": None,
    "structure": None,
    "in_use_kind": "at_end",
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(str(tmp_path / "history"), create=True)


def test_day_files_contain_the_rows_of_the_day(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(60))), queues=queue_rows(wq(3)))
    files = day_files(history, STRUCTURE_USAGE, DAY)
    assert [pq.ParquetFile(path).metadata.num_rows for path in files] == [47]
    assert len(day_files(history, QUEUE_USAGE, DAY)) == 1
    assert day_files(history, QUEUE_USAGE, NEXT) == []


def test_forgotten_file_is_not_in_any_day(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(1)))
    commit(history, "b", structures=structure_rows(qest(2)))
    before = day_files(history, STRUCTURE_USAGE, DAY)
    history.forget(sha256("a"))
    assert len(before) == 2
    assert set(day_files(history, STRUCTURE_USAGE, DAY)) < set(before)
    history.forget(sha256("b"))
    assert day_fingerprints(history) == {}


def test_commit_changes_fingerprints_of_its_days_only(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(60))))
    before = day_fingerprints(history)
    assert set(before) == {(STRUCTURE_USAGE, DAY), (STRUCTURE_USAGE, NEXT)}
    commit(history, "b", structures=structure_rows(qest(55)), queues=queue_rows(wq(1)))
    after = day_fingerprints(history)
    assert after[STRUCTURE_USAGE, DAY] == before[STRUCTURE_USAGE, DAY]
    assert after[STRUCTURE_USAGE, NEXT] != before[STRUCTURE_USAGE, NEXT]
    assert set(after) - set(before) == {(QUEUE_USAGE, DAY)}


def test_compaction_changes_no_fingerprint(history: History) -> None:
    for name in "abc":
        commit(history, name, structures=structure_rows(qest(ord(name) - 90)))
    before = day_fingerprints(history)
    assert history.compact(STRUCTURE_USAGE, DAY)
    assert len(day_files(history, STRUCTURE_USAGE, DAY)) == 1
    assert day_fingerprints(History.open(history.url)) == before


def test_forgetting_or_repeating_a_file_changes_fingerprints_of_its_days(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(1)))
    commit(history, "b", structures=structure_rows(qest(2)))
    both = day_fingerprints(history)
    commit(
        history, "b", structures=structure_rows(qest(2, qsg="SQ04")), answers={"qsg": {"SYSA:CSQ1": "SQ04"}}
    )
    again = day_fingerprints(history)
    history.forget(sha256("b"))
    assert len({tuple(found.values()) for found in (both, again, day_fingerprints(history))}) == 3


def test_new_group_changes_fingerprints_of_days_with_unnamed_rows(history: History) -> None:
    commit(history, "mq", structures=structure_rows(qest(60)))
    rows = structure_rows(qest(1, **R744, xcf_structure="SQ05APPLICATION1"))
    source = Source(new_commit_id(), "rmf", sha256("rmf"))
    stage = history.stage(source)
    stage.add(STRUCTURE_USAGE, rows)
    history.commit(source, stage.finish(), FileFacts(1, "smf", {}))
    before = day_fingerprints(history)
    source = Source(new_commit_id(), "other", sha256("other"))
    stage = history.stage(source)
    stage.add(STRUCTURE_USAGE, structure_rows(qest(150, qsg="SQ05")))
    history.commit(source, stage.finish(), FileFacts(1, "smf", {}, qsgs=["SQ05"]))
    after = day_fingerprints(history)
    assert after[STRUCTURE_USAGE, DAY] != before[STRUCTURE_USAGE, DAY]
    assert after[STRUCTURE_USAGE, NEXT] == before[STRUCTURE_USAGE, NEXT]


def test_fingerprint_changes_when_a_day_returns_after_retention(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(60))))
    before = day_fingerprints(history)
    history.retain(keep_from=dt.date(2026, 11, 21))
    assert day_fingerprints(history) == {(STRUCTURE_USAGE, NEXT): before[STRUCTURE_USAGE, NEXT]}
    commit(history, "b", structures=structure_rows(qest(1)))
    assert day_fingerprints(history)[STRUCTURE_USAGE, DAY] != before[STRUCTURE_USAGE, DAY]


def test_day_with_a_repeated_row_has_twins(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(60))))
    assert not has_twins(history, STRUCTURE_USAGE, DAY)
    commit(history, "b", structures=structure_rows(qest(3)))
    assert has_twins(history, STRUCTURE_USAGE, DAY)
    assert not has_twins(history, STRUCTURE_USAGE, NEXT)


def test_unknown_columns_are_refused(history: History) -> None:
    snapshot = history.snapshot()
    with pytest.raises(ValueError, match="has no columns blocks_total"):
        standing_sql(STRUCTURE_USAGE, "v", snapshot=snapshot, columns=["blocks_total"])
    assert "`key_low` BIGINT" in spark_schema(STRUCTURE_USAGE, ["entries_in_use"])
    assert "blocks" not in spark_schema(STRUCTURE_USAGE)


def _awkward(history: History) -> None:
    """Write a history with overlaps, origins, pieces, contradictions, gaps, replaced and forgotten files, and rows without a group."""
    commit(history, "a", structures=structure_rows(*map(qest, range(60))), queues=queue_rows(wq(0), wq(1)))
    commit(history, "b", structures=structure_rows(*(qest(n, entries_in_use=n * 7) for n in range(20, 50))))
    csv = [wq(0, origin="formatter", source="116 WQ", piece=0, puts=puts) for puts in (5, 6, 5)]
    csv += [wq(5, origin="formatter", source="116 WQ", piece=0, puts=puts, structure=None) for puts in (1, 2)]
    commit(history, "csv", queues=queue_rows(*csv, wq(0, piece=10_001)))
    for place, origin in enumerate(ORIGINS):
        commit(
            history, origin, structures=structure_rows(qest(30 + place, origin=origin, ixllste_calls=place))
        )
    holes = [qest(40, entries_in_use=None), qest(41, elements_in_use=None, entries_in_use=1), qest(42)]
    commit(history, "holes", structures=structure_rows(*holes))
    commit(history, "more holes", structures=structure_rows(qest(41, elements_in_use=5, entries_in_use=None)))
    named = ("SQ03APPLICATION1", "SQ09APPLICATION1", "O'S\\x")
    commit(
        history, "rmf", structures=structure_rows(*(qest(7, **R744, xcf_structure=name) for name in named))
    )
    commit(history, "gone", structures=structure_rows(qest(2, structure="GONE"), qest(3, entries_in_use=9)))
    commit(history, "again", structures=structure_rows(qest(4, structure="WRONG")))
    commit(history, "again", structures=structure_rows(qest(4, structure="RIGHT")), answers={"zone": "UTC"})
    history.compact(STRUCTURE_USAGE, DAY)
    history.forget(sha256("gone"))
    dead = "dead but there"
    commit(history, dead, structures=structure_rows(qest(58, entries_in_use=1_000_000)))
    history.compact(STRUCTURE_USAGE, NEXT)
    history.forget(sha256(dead))


@pytest.mark.spark
def test_spark_sql_on_day_files_returns_the_valid_rows(spark: SparkSession, tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    _awkward(history)
    later = [qest(200 + number) for number in range(5)]
    commit(history, "clean", structures=structure_rows(*later))
    found = standing(spark, history)
    assert {twins for _, twins in found.values()} == {False, True}
    compared = 0
    for table in (STRUCTURE_USAGE, QUEUE_USAGE):
        for day, rows in history.read_days(table):
            by_spark, _ = found.pop((table, day))
            expected = rows.drop_columns(["day"])
            got = by_spark.select(expected.schema.names)
            order = [(name, "ascending") for name in ("key_high", "key_low", "piece")]
            got, expected = got.sort_by(order), expected.sort_by(order)
            assert got.to_pylist() == expected.to_pylist(), (table, day)
            compared += got.num_rows
    assert not found
    assert compared > 60
    stands = {
        row["interval_end"]: row
        for row in history.read(STRUCTURE_USAGE, structure="APPLICATION1").to_pylist()
    }
    both = stands[MIDNIGHT + 42 * dt.timedelta(minutes=30)]
    assert (both["entries_in_use"], both["elements_in_use"]) == (1, 5)


def test_spark_schema_has_every_column() -> None:
    for name in row_schema(STRUCTURE_USAGE).names:
        assert f"`{name}` " in spark_schema(STRUCTURE_USAGE)
