"""A file is in the history completely or not at all, and only once."""

from __future__ import annotations

import datetime as dt
import shutil
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, Schema

from planner_core.contracts.ingest import RowCounts
from spark_jobs.history import compare, staging, store
from spark_jobs.history.compare import Comparison
from spark_jobs.history.ledger import identity_of
from spark_jobs.history.places import LOG
from spark_jobs.history.schema import STRUCTURE_USAGE, HistoryError, row_schema
from spark_jobs.history.staging import FLUSH_ROWS, TOO_OLD, Part, Source, Stage
from spark_jobs.history.store import FileFacts, History, new_commit_id
from tests.spark_jobs.history.rows import MIDNIGHT, qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, contents, sha256, staged


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(str(tmp_path / "history"), create=True)


def ends(history: History) -> list[dt.datetime]:
    return history.read(STRUCTURE_USAGE)["interval_end"].to_pylist()


def test_stored_rows_are_read_back_unchanged(history: History) -> None:
    rows = structure_rows(*(qest(number) for number in range(60)))
    commit(history, "a", structures=rows)
    assert history.read(STRUCTURE_USAGE).select(row_schema(STRUCTURE_USAGE).names).equals(rows)


def test_staged_rows_are_invisible_before_the_commit(history: History) -> None:
    source, parts = staged(history, "a", structures=structure_rows(qest()), queues=queue_rows(wq()))
    assert contents(history) == contents(History.open(history.url))
    assert history.read(STRUCTURE_USAGE).num_rows == 0
    history.commit(source, parts, FileFacts(1, "smf", {}))
    assert history.read(STRUCTURE_USAGE).num_rows == 1
    assert history.read("queue_usage").num_rows == 1


def test_tables_and_ledger_appear_in_one_version(history: History) -> None:
    before = DeltaTable(history.url).version()
    commit(history, "a", structures=structure_rows(qest()), queues=queue_rows(wq()))
    assert DeltaTable(history.url).version() == before + 1
    assert [row["file_name"] for row in history.files()] == ["a"]


def test_table_is_opened_again_only_after_a_commit(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    really = History._opened_now

    def counted(one: History) -> DeltaTable:
        found = really(one)
        opened.append(found.version())
        return found

    monkeypatch.setattr(History, "_opened_now", counted)
    before = DeltaTable(history.url).version()
    again = History.open(history.url, create=True)
    commit(again, "a", structures=structure_rows(qest()))
    assert again.read(STRUCTURE_USAGE).num_rows == 1
    assert opened == [before, before + 1]
    commit(History.open(history.url), "b", structures=structure_rows(qest(1)))
    assert again.read(STRUCTURE_USAGE).num_rows == 2
    assert opened[-1] == before + 2


def test_history_in_a_replaced_folder_is_opened_again(tmp_path: Path) -> None:
    folder, backup = tmp_path / "history", tmp_path / "backup"
    history = History.open(str(folder), create=True)
    shutil.copytree(folder, backup)
    commit(history, "a", structures=structure_rows(qest()))
    shutil.rmtree(folder)
    with pytest.raises(HistoryError, match="There is no usage history"):
        history.snapshot()
    shutil.copytree(backup, folder)
    assert history.read(STRUCTURE_USAGE).num_rows == 0
    commit(history, "b", structures=structure_rows(qest()))
    assert [row["file_name"] for row in history.files()] == ["b"]


def test_kept_history_is_opened_again_if_its_folder_was_replaced(tmp_path: Path) -> None:
    folder, restored = tmp_path / "history", tmp_path / "restored"
    kept = History.open_kept(str(folder), create=True)
    commit(kept, "a", structures=structure_rows(qest()))
    shutil.copytree(folder, restored)
    assert History.open_kept(str(folder), create=True) is kept
    assert len(ends(kept)) == 1
    assert History.open_kept(str(folder)) is kept
    shutil.rmtree(folder)
    restored.rename(folder)
    # The same versions, but other files: whatever was read from the former ones is discarded.
    assert History.open_kept(str(folder), create=True) is not kept
    assert len(ends(History.open_kept(str(folder)))) == 1


def test_kept_history_is_opened_again_if_another_writer_left_a_torn_entry(tmp_path: Path) -> None:
    kept = History.open_kept(str(tmp_path), create=True)
    commit(kept, "a", structures=structure_rows(qest()))
    log = tmp_path / LOG
    torn = log / f"{len(list(log.glob('*.json'))):020}.json"
    torn.write_text('{"add":')
    assert History.open_kept(str(tmp_path), create=True).set_aside
    assert not torn.exists()
    assert not History.open_kept(str(tmp_path), create=True).set_aside


def test_rows_of_other_times_are_new_without_a_comparison_of_keys(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(history, "a", structures=structure_rows(*(qest(number) for number in range(4))))
    source, parts = staged(history, "b", structures=structure_rows(*(qest(number) for number in range(4, 7))))

    def refused(*_: object, **__: object) -> pa.Table:
        message = "keys are read"
        raise AssertionError(message)

    with monkeypatch.context() as patched:
        patched.setattr(compare, "read_parts", refused)
        found = history.commit(source, parts, FileFacts(1, "smf", {}))
        with pytest.raises(AssertionError, match="keys are read"):
            commit(history, "c", structures=structure_rows(qest(6)))
    assert found.comparisons[STRUCTURE_USAGE] == Comparison(read=3, new=3)


def test_rows_of_overlapping_times_are_compared_by_their_keys(history: History) -> None:
    commit(history, "a", structures=structure_rows(*(qest(number) for number in range(4))))
    later = [qest(number, system_id="SYSB", queue_manager="CSQ2") for number in range(4)]
    found = commit(history, "b", structures=structure_rows(qest(3), qest(4), *later))
    assert found.comparisons[STRUCTURE_USAGE] == Comparison(read=6, new=5, duplicates=1)


def test_rows_repeated_in_a_file_of_other_times_are_duplicates(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest()))
    found = commit(history, "b", structures=structure_rows(qest(1), qest(2), qest(2)))
    assert found.comparisons[STRUCTURE_USAGE] == Comparison(read=3, new=2, duplicates=1)


def test_files_of_an_older_release_are_compared_by_their_keys(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(staging, "footer_of", lambda *_: {})
        commit(history, "a", structures=structure_rows(qest()))
    found = commit(history, "b", structures=structure_rows(qest(), qest(1)))
    assert found.comparisons[STRUCTURE_USAGE] == Comparison(read=2, new=1, duplicates=1)


def test_reading_does_not_create_a_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="There is no usage history"):
        History.open(str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()


def test_foreign_delta_table_is_refused(tmp_path: Path) -> None:
    DeltaTable.create(str(tmp_path / "foreign"), Schema.from_arrow(pa.schema([("a", pa.int64())])))
    with pytest.raises(HistoryError, match="not a cfplan usage history"):
        History.open(str(tmp_path / "foreign"), create=True)


def test_history_of_an_older_release_gets_new_columns(tmp_path: Path) -> None:
    schema = store._delta_schema()
    old = pa.schema([field for field in schema if field.name != "structure_full_count"])
    DeltaTable.create(str(tmp_path / "h"), Schema.from_arrow(old), partition_by=["table", "day"])
    history = History.open(str(tmp_path / "h"), create=True)
    commit(history, "a", structures=structure_rows(qest(structure_full_count=3)))
    assert history.read(STRUCTURE_USAGE)["structure_full_count"].to_pylist() == [3]
    names = {field.name for field in DeltaTable(history.url).schema().fields}
    assert names == set(schema.names)


def test_file_url_and_path_refer_to_the_same_history(tmp_path: Path) -> None:
    history = History.open((tmp_path / "h").as_uri(), create=True)
    commit(history, "a", structures=structure_rows(qest()))
    assert contents(History.open(str(tmp_path / "h"))) == contents(history)


# ---- once ------------------------------------------------------------------------------------------------------------


def test_overlapping_files_give_the_history_of_one(history: History, tmp_path: Path) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(30))))
    again = commit(history, "b", structures=structure_rows(*map(qest, range(20, 48))))
    assert again.comparisons[STRUCTURE_USAGE].counts == RowCounts(read=28, new=18, duplicates=10)
    one = History.open(str(tmp_path / "one"), create=True)
    commit(one, "whole", structures=structure_rows(*map(qest, range(48))))
    assert contents(history) == contents(one)


def test_rows_repeated_in_one_file_count_once(history: History) -> None:
    twice = [qest(0), qest(1), qest(0, file_offset=77_000)]
    found = commit(history, "a", structures=structure_rows(*twice)).comparisons[STRUCTURE_USAGE]
    assert (found.read, found.new, found.duplicates, found.conflicts) == (3, 2, 1, 0)
    assert len(ends(history)) == 2


def test_continuation_does_not_collide_with_its_first_record(history: History) -> None:
    first, second = wq(0), wq(0, source="116-2 WQ", piece=20_000)
    found = commit(history, "a", queues=queue_rows(first, second)).comparisons["queue_usage"]
    assert (found.new, found.duplicates, found.conflicts) == (2, 0, 0)
    assert history.read("queue_usage").num_rows == 2


def test_sections_of_one_record_do_not_collide(history: History) -> None:
    commit(history, "a", queues=queue_rows(wq(0), wq(0, piece=10_001)))
    assert history.read("queue_usage").num_rows == 2


@pytest.mark.parametrize("binary_first", [True, False])
def test_binary_record_overrides_the_formatters_row(history: History, binary_first: bool) -> None:
    files = {
        "binary": structure_rows(qest(0, entries_in_use=2194)),
        "formatter": structure_rows(qest(0, entries_in_use=2194, ixllste_us=None, origin="formatter")),
    }
    for name in sorted(files, reverse=not binary_first):
        commit(history, name, structures=files[name])
    assert history.read(STRUCTURE_USAGE)["origin"].to_pylist() == ["binary"]


def test_formatters_row_after_the_binary_one_is_a_duplicate(history: History) -> None:
    commit(history, "dump", structures=structure_rows(qest(0)))
    row = qest(0, ixllste_calls=None, origin="formatter")
    found = commit(history, "csv", structures=structure_rows(row)).comparisons[STRUCTURE_USAGE]
    assert (found.new, found.duplicates, found.conflicts) == (0, 1, 0)


def test_formatter_rows_of_a_task_are_all_kept_until_binary_rows_replace_them(
    history: History,
) -> None:
    csv = [wq(0, origin="formatter", source="116 WQ", piece=0, puts=puts) for puts in (5, 6, 5)]
    commit(history, "csv", queues=queue_rows(*csv))
    assert sorted(history.read("queue_usage")["puts"].to_pylist()) == [5, 6]
    commit(history, "dump", queues=queue_rows(wq(0, puts=5), wq(0, puts=6, piece=10_001)))
    found = history.read("queue_usage")
    assert sorted(found["puts"].to_pylist()) == [5, 6]
    assert set(found["origin"].to_pylist()) == {"binary"}


def test_conflict_is_reported_with_both_places_and_the_newer_row_is_used(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(3, entries_in_use=1)))
    found = commit(history, "b", structures=structure_rows(qest(3, entries_in_use=2))).comparisons[
        STRUCTURE_USAGE
    ]
    assert (found.read, found.new, found.duplicates, found.conflicts) == (1, 0, 0, 1)
    (conflict,) = found.first_conflicts
    assert conflict["columns"] == ["entries_in_use"]
    assert (conflict["kept"]["file"], conflict["other"]["file"]) == ("b", "a")
    assert conflict["key"]["structure"] == "APPLICATION1"
    assert history.read(STRUCTURE_USAGE)["entries_in_use"].to_pylist() == [2]


def test_conflict_within_one_file_is_reported(history: History) -> None:
    rows = structure_rows(qest(3, entries_in_use=1), qest(3, entries_in_use=2, file_offset=9))
    found = commit(history, "a", structures=rows).comparisons[STRUCTURE_USAGE]
    assert (found.read, found.new, found.duplicates, found.conflicts) == (2, 1, 0, 1)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_missing_value_is_not_a_conflict_and_replaces_nothing(history: History, names: str) -> None:
    rows = {
        "a": qest(3, entries_in_use=1000, elements_in_use=None),
        "b": qest(3, entries_in_use=None, elements_in_use=6000),
    }
    for name in names:
        found = commit(history, name, structures=structure_rows(rows[name])).comparisons[STRUCTURE_USAGE]
    assert (found.new, found.duplicates, found.conflicts) == (0, 1, 0)
    stands = history.read(STRUCTURE_USAGE)
    assert stands["entries_in_use"].to_pylist() == [1000]
    assert stands["elements_in_use"].to_pylist() == [6000]
    history.forget(sha256("b"))
    assert history.read(STRUCTURE_USAGE)["elements_in_use"].to_pylist() == [None]


def test_conflict_lists_only_the_columns_that_differ(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(3, entries_in_use=1, elements_in_use=5)))
    commit(history, "b", structures=structure_rows(qest(3, entries_in_use=2, elements_in_use=None)))
    found = commit(history, "c", structures=structure_rows(qest(3, entries_in_use=None, elements_in_use=5)))
    (conflict,) = found.comparisons[STRUCTURE_USAGE].first_conflicts
    assert conflict["columns"] == ["entries_in_use"]
    stands = history.read(STRUCTURE_USAGE)
    assert (stands["entries_in_use"].to_pylist(), stands["elements_in_use"].to_pylist()) == ([2], [5])


def test_comparison_counts_add_up_with_missing_values(history: History) -> None:
    commit(history, "a", structures=structure_rows(*(qest(n) for n in range(10))))
    rows = [qest(n, entries_in_use=None) for n in range(5)]
    rows += [qest(n, entries_in_use=7) for n in range(5, 8)] + [qest(n) for n in range(8, 12)]
    found = commit(history, "b", structures=structure_rows(*rows)).comparisons[STRUCTURE_USAGE]
    assert (found.read, found.new, found.duplicates, found.conflicts) == (12, 2, 7, 3)


def test_interval_at_midnight_matches_its_duplicate_on_the_other_day(history: History) -> None:
    """The output of mq-smf-csv takes the interval's end from the record's header, some hundredths after the clock's."""
    written = MIDNIGHT + dt.timedelta(days=1)
    binary = qest(47, written_at=written, interval_end=written - dt.timedelta(microseconds=900))
    formatted = qest(47, written_at=written, interval_end=written, origin="formatter")
    commit(history, "csv", structures=structure_rows(formatted))
    found = commit(history, "dump", structures=structure_rows(binary)).comparisons[STRUCTURE_USAGE]
    assert (found.replacing, found.new, found.conflicts) == (1, 0, 0)
    again = commit(history, "csv 2", structures=structure_rows(formatted)).comparisons[STRUCTURE_USAGE]
    assert (again.new, again.duplicates) == (0, 1)
    assert history.read(STRUCTURE_USAGE)["origin"].to_pylist() == ["binary"]
    assert history.read(STRUCTURE_USAGE, start=MIDNIGHT, end=written).num_rows == 1


def test_concurrent_ingests_of_overlapping_files_give_the_history_of_one(
    history: History, tmp_path: Path
) -> None:
    """All rows are staged before any is committed, then all commits race."""
    files = [
        staged(history, f"f{n}", structures=structure_rows(*map(qest, range(n, n + 20)))) for n in range(8)
    ]
    barrier = threading.Barrier(len(files))
    failures: list[BaseException] = []

    def run(source: Source, parts: list[Part]) -> None:
        try:
            barrier.wait()
            History.open(history.url).commit(source, parts, FileFacts(1, "smf", {}))
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=file) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    one = History.open(str(tmp_path / "one"), create=True)
    commit(one, "whole", structures=structure_rows(*map(qest, range(27))))
    assert contents(history) == contents(one)
    assert len(history.files()) == 8


def test_file_ingested_twice_concurrently_counts_once(history: History) -> None:
    rows = structure_rows(qest(0), qest(1))
    first, second = staged(history, "a", structures=rows), staged(history, "a", structures=rows)
    for source, parts in (second, first):  # the one that began later is done earlier
        history.commit(source, parts, FileFacts(1, "smf", {}))
    assert len(ends(history)) == 2
    assert len(history.snapshot().ledger.dead_commits) == 1


# ---- a file again ----------------------------------------------------------------------------------------------------


def test_file_with_the_same_answers_is_already_stored(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest()), answers={"qsg": {"SYSA:CSQ1": "SQ03"}})
    ledger = history.snapshot().ledger
    for given in ({}, {"qsg": {"SYSA:CSQ1": "SQ03", "SYSZ:CSQ9": "SQ09"}}, {"zone": None}):
        assert ledger.stored(sha256("a"), given=given, keep_from=None)
    assert ledger.stored(sha256("a"), given={"qsg": {"SYSA:CSQ1": "SQ04"}}, keep_from=None) is None
    assert ledger.stored(sha256("b"), given={}, keep_from=None) is None


def test_file_with_different_answers_replaces_its_rows(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0, qsg="SQ04"), qest(1, qsg="SQ04")))
    commit(history, "b", structures=structure_rows(qest(9)))
    commit(history, "a", structures=structure_rows(qest(0)), answers={"qsg": {"SYSA:CSQ1": "SQ03"}})
    assert history.read(STRUCTURE_USAGE)["qsg"].to_pylist() == ["SQ03", "SQ03"]
    assert len(ends(history)) == 2


def test_forgetting_a_file_keeps_the_same_rows_of_other_files(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0), qest(1)))
    commit(history, "b", structures=structure_rows(qest(1), qest(2)))
    history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert history.forget(sha256("b")) == ["2026-11-20"]
    assert ends(history) == [qest(0)["interval_end"], qest(1)["interval_end"]]
    assert history.forget(sha256("b")) == []


def test_forgotten_file_can_be_ingested_again(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    history.forget(sha256("a"))
    assert history.snapshot().ledger.stored(sha256("a"), given={}, keep_from=None) is None
    commit(history, "a", structures=structure_rows(qest(0)))
    assert len(ends(history)) == 1


def test_display_repeated_at_another_time_counts_as_two_observations(history: History) -> None:
    for hour in (9, 10):
        at = MIDNIGHT + dt.timedelta(hours=hour)
        source = Source(new_commit_id(), "status", sha256("status"))
        stage = history.stage(source)
        stage.add(
            STRUCTURE_USAGE,
            structure_rows(qest(source="display CFSTATUS", origin="display", interval_end=at)),
        )
        identity = identity_of(source.file_sha256, observed_at=at)
        history.commit(source, stage.finish(), FileFacts(1, "cfstatus", {}, identity=identity))
    assert len(ends(history)) == 2
    assert history.forget(sha256("status"))
    assert len(ends(history)) == 0


# ---- upkeep ----------------------------------------------------------------------------------------------------------


def test_retention_drops_only_old_days(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(0, 48 * 3, 12))))
    assert history.retain(keep_from=dt.date(2026, 11, 21)) == ["2026-11-20"]
    assert min(ends(history)).date() == dt.date(2026, 11, 21)
    assert history.retain(keep_from=dt.date(2026, 11, 21)) == []


def test_days_before_the_retention_are_skipped(history: History) -> None:
    source = Source(new_commit_id(), "a", sha256("a"))
    stage = Stage(history.place, source, keep_from=dt.date(2026, 11, 21))
    stage.add(STRUCTURE_USAGE, structure_rows(*map(qest, range(0, 96, 12))))
    assert {part.day for part in stage.finish()} == {"2026-11-21"}
    assert stage.passed_over == {TOO_OLD: 4}


def test_file_dropped_by_retention_returns_with_a_longer_retention(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0), qest(60)))
    history.retain(keep_from=dt.date(2026, 11, 21))
    ledger = history.snapshot().ledger
    assert ledger.stored(sha256("a"), given={}, keep_from=dt.date(2026, 11, 21))
    assert ledger.stored(sha256("a"), given={}, keep_from=dt.date(2026, 11, 20)) is None
    assert ledger.stored(sha256("a"), given={}, keep_from=None) is None


def test_partly_skipped_file_is_completed_with_a_longer_retention(history: History) -> None:
    source, parts = staged(history, "a", structures=structure_rows(qest(60)))
    history.commit(source, parts, FileFacts(1, "smf", {}, kept_from=dt.date(2026, 11, 21)))
    ledger = history.snapshot().ledger
    assert ledger.stored(sha256("a"), given={}, keep_from=dt.date(2026, 11, 21))
    assert ledger.stored(sha256("a"), given={}, keep_from=dt.date(2026, 11, 22))
    assert ledger.stored(sha256("a"), given={}, keep_from=dt.date(2026, 11, 20)) is None


def test_compacting_small_files_changes_no_rows(history: History, tmp_path: Path) -> None:
    count = store.MOST_SMALL_PARTS + store.MOST_LEDGER_PARTS + 3
    for number in range(count):
        commit(history, f"f{number}", structures=structure_rows(qest(number % 40)))
    snapshot = history.snapshot()
    assert len(snapshot.of(STRUCTURE_USAGE)) <= store.MOST_SMALL_PARTS + 1
    assert len(snapshot.of("files")) <= store.MOST_LEDGER_PARTS + 1
    assert len(history.files()) == count
    one = History.open(str(tmp_path / "one"), create=True)
    commit(one, "whole", structures=structure_rows(*map(qest, range(40))))
    assert contents(history) == contents(one)


def test_compacting_removes_rows_that_no_longer_count(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    history.compact(STRUCTURE_USAGE, "2026-11-20")
    history.forget(sha256("a"))
    assert history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert [part.rows for part in history.snapshot().of(STRUCTURE_USAGE)] == [1]


def test_compacted_file_is_not_rewritten_without_need(history: History) -> None:
    for name, number in (("a", 0), ("b", 1), ("c", 2)):
        commit(history, name, structures=structure_rows(qest(number)))
    history.forget(sha256("c"))
    assert history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert not history.compact(STRUCTURE_USAGE, "2026-11-20")


def test_compacting_is_limited_by_memory(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_JOINED_ROWS", 5)
    for name, count in (("a", 4), ("b", 2), ("c", 3)):
        commit(history, name, structures=structure_rows(*map(qest, range(count))))
    assert history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert sorted(part.rows for part in history.snapshot().of(STRUCTURE_USAGE)) == [4, 5]
    assert len(ends(history)) == 4


@pytest.mark.parametrize(
    ("url", "harmless"),
    [
        ("s3://user:key@bucket/history?token=1", "s3://bucket/history"),
        ("/data/history", "/data/history"),
    ],
)
def test_shown_url_has_no_secrets(url: str, harmless: str) -> None:
    assert store.shown(url) == harmless


def test_compacting_during_a_commit_loses_nothing(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    write = history._write

    def after_another(*arguments: object) -> None:
        commit(History.open(history.url), "c", structures=structure_rows(qest(2)))
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "_write", after_another)
    history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert len(ends(history)) == 3


def test_concurrent_compactions_of_a_day_lose_nothing(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    write = history._write

    def after_another(*arguments: object) -> None:
        monkeypatch.setattr(history, "_write", write)
        assert History.open(history.url).compact(STRUCTURE_USAGE, "2026-11-20")
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "_write", after_another)
    assert not history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert len(ends(history)) == 2


def test_days_dropped_during_a_compaction_stay_dropped(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    write = history._write

    def after_retention(*arguments: object) -> None:
        History.open(history.url).retain(keep_from=dt.date(2026, 11, 21))
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "_write", after_retention)
    assert not history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert ends(history) == []


def test_file_forgotten_during_a_compaction_stays_forgotten(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    write = history._write

    def after_forgetting(*arguments: object) -> None:
        monkeypatch.setattr(history, "_write", write)
        History.open(history.url).forget(sha256("a"))
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "_write", after_forgetting)
    history.compact(STRUCTURE_USAGE, "2026-11-20")
    assert ends(history) == [qest(1)["interval_end"]]


def test_vacuum_keeps_used_and_new_files(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    staged(history, "b", structures=structure_rows(qest(1)))
    files = sorted(Path(history.url).rglob("*.parquet"))
    history.vacuum()
    assert sorted(Path(history.url).rglob("*.parquet")) == files


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_rows_with_only_an_xcf_name_get_their_group_when_it_is_known(history: History) -> None:
    row = qest(
        source="74-4 R744SREQ", qsg=None, structure=None, queue_manager=None, xcf_structure="SQ03APPLICATION1"
    )
    other = {**row, "xcf_structure": "DSNDB0G_SCA"}
    source, parts = staged(history, "rmf", structures=structure_rows(row, other))
    history.commit(source, parts, FileFacts(1, "smf", {}))
    assert history.read(STRUCTURE_USAGE)["qsg"].to_pylist() == [None, None]
    assert history.read(STRUCTURE_USAGE, qsg="SQ03")["structure"].to_pylist() == ["APPLICATION1"]
    commit(history, "mq", structures=structure_rows(qest(5)))
    assert sorted(map(str, history.read(STRUCTURE_USAGE)["qsg"].to_pylist())) == ["None", "SQ03", "SQ03"]


def test_read_returns_intervals_that_overlap_the_period(history: History) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(48))))
    start = MIDNIGHT + dt.timedelta(hours=9, minutes=15)
    found = history.read(STRUCTURE_USAGE, start=start, end=MIDNIGHT + dt.timedelta(hours=10))
    assert found["interval_start"].to_pylist() == [
        MIDNIGHT + dt.timedelta(hours=9),
        MIDNIGHT + dt.timedelta(hours=9, minutes=30),
    ]


def test_observation_at_the_start_of_the_period_is_included(history: History) -> None:
    at = MIDNIGHT + dt.timedelta(hours=9)
    row = qest(
        source="display CFSTATUS", origin="display", interval_start=None, interval_end=at, interval_us=0
    )
    commit(history, "a", structures=structure_rows(row))
    assert history.read(STRUCTURE_USAGE, start=at).num_rows == 1
    assert history.read(STRUCTURE_USAGE, end=at).num_rows == 0


def test_task_that_ran_for_several_days_is_found_on_each_day(history: History) -> None:
    long = wq(200, interval_start=MIDNIGHT)
    commit(history, "a", queues=queue_rows(long))
    assert history.read("queue_usage", start=MIDNIGHT, end=MIDNIGHT + dt.timedelta(hours=1)).num_rows == 1


def test_days_outside_the_period_are_not_read(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(history, "a", structures=structure_rows(*map(qest, range(480))))
    read: list[Part] = []
    before = staging.read_parts

    def noting(place: object, parts: list[Part], **rest: object) -> pa.Table:
        read.extend(parts)
        return before(place, parts, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "read_parts", noting)
    day = dt.datetime(2026, 11, 25, tzinfo=dt.UTC)
    history.read(STRUCTURE_USAGE, start=day, end=day + dt.timedelta(days=1))
    assert {part.day for part in read if part.table == STRUCTURE_USAGE} <= {
        "2026-11-24",
        "2026-11-25",
        "2026-11-26",
    }


def test_unknown_table_is_refused(history: History) -> None:
    with pytest.raises(HistoryError, match="no table 'queues'"):
        history.read("queues")


@pytest.mark.parametrize("lacking", ["source", "written_at"])
def test_rows_without_their_key_columns_are_refused(history: History, lacking: str) -> None:
    with pytest.raises(HistoryError, match=lacking):
        staged(history, "a", structures=structure_rows({**qest(), lacking: None}))


def test_rows_with_a_different_schema_are_refused(history: History) -> None:
    with pytest.raises(HistoryError, match="do not have its columns"):
        staged(history, "a", structures=pa.table({"qsg": ["SQ03"]}))


def test_stage_writes_rows_before_it_is_finished(history: History) -> None:
    source = Source(new_commit_id(), "a", sha256("a"))
    stage = Stage(history.place, source, flush_rows=10)
    assert FLUSH_ROWS > 10
    for number in range(25):
        stage.add(STRUCTURE_USAGE, structure_rows(qest(number % 40)))
    assert [part.rows for part in stage.finish()] == [10, 10, 5]


def test_delta_table_has_the_columns_of_all_tables(history: History) -> None:
    assert Field.from_arrow(pa.field("table", pa.string())) in DeltaTable(history.url).schema().fields
