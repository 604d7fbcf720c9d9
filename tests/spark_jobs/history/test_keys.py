"""The same observation has the same key in all files, and rows of older releases get the keys of this release."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from spark_jobs.history import schema, staging, store
from spark_jobs.history.compare import Comparison
from spark_jobs.history.days import day_fingerprints
from spark_jobs.history.schema import ALLOCATION, QUEUE_USAGE, STRUCTURE_USAGE, NaturalKey, row_schema
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, new_commit_id
from tests.spark_jobs.history.rows import MIDNIGHT, qest, structure_rows, wq
from tests.spark_jobs.history.support import commit, contents, sha256

NOON = MIDNIGHT + dt.timedelta(hours=12)
NAMED = {"qsg": "SQ03", "structure": "APPLICATION1"}
UNNAMED: dict[str, Any] = {"qsg": None, "structure": None}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(str(tmp_path / "history"), create=True)


def bring(history: History, name: str, table: str, *rows: dict[str, Any]) -> Comparison:
    """Commit rows as a file with this name, and return their comparison."""
    source = Source(new_commit_id(), name, sha256(name))
    stage = history.stage(source)
    stage.add(table, pa.Table.from_pylist(list(rows), schema=row_schema(table)))
    return history.commit(source, stage.finish(), FileFacts(1, "text", {})).comparisons[table]


def text_row(source: str, **values: object) -> dict[str, Any]:
    """Return a row of a report or display with an XCF name and a time."""
    return {
        "source": source,
        "origin": "message" if source.startswith("message") else "display",
        "file_record": 1,
        "piece": 0,
        "xcf_structure": "SQ03APPLICATION1",
        "coupling_facility": "CF01",
        "interval_end": NOON,
        "interval_us": 0,
        "entries_in_use": 10,
        **values,
    }


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ("CFACT", STRUCTURE_USAGE),
        ("overview", STRUCTURE_USAGE),
        ("display XCF", ALLOCATION),
        ("message IXC585E", ALLOCATION),
    ],
)
@pytest.mark.parametrize("named_first", [True, False])
def test_key_does_not_depend_on_whether_the_group_is_known(
    history: History, source: str, table: str, *, named_first: bool
) -> None:
    first, second = (NAMED, UNNAMED) if named_first else (UNNAMED, NAMED)
    bring(history, "a", table, text_row(source, **first))
    found = bring(history, "b", table, text_row(source, **second))
    assert (found.new, found.duplicates, found.conflicts) == (0, 1, 0)
    rows = history.read(table)
    assert (rows["qsg"].to_pylist(), rows["structure"].to_pylist()) == (["SQ03"], ["APPLICATION1"])


def test_displays_of_different_commands_have_different_keys(history: History) -> None:
    bring(history, "a", ALLOCATION, text_row("display XCF", coupling_facility=None))
    found = bring(history, "b", ALLOCATION, text_row("display CFSTRUCT", coupling_facility=None))
    assert (found.new, found.conflicts) == (1, 0)


def test_task_without_an_opening_time_has_the_same_key(
    history: History,
) -> None:
    formatted = {"origin": "formatter", "source": "116 WQ", "opened_at": None}
    csv = [wq(0, piece=0, puts=7, **formatted), wq(0, piece=1, puts=9, **formatted)]
    bring(history, "csv", QUEUE_USAGE, *csv)
    assert sorted(history.read(QUEUE_USAGE)["puts"].to_pylist()) == [7, 9]
    later = MIDNIGHT + dt.timedelta(minutes=7)
    bring(history, "dump", QUEUE_USAGE, wq(0, puts=7), wq(0, puts=9, piece=10_001, opened_at=later))
    rows = history.read(QUEUE_USAGE)
    assert sorted(rows["puts"].to_pylist()) == [7, 9]
    assert set(rows["origin"].to_pylist()) == {"binary"}


def test_queue_openings_in_two_continuation_records_have_different_pieces(history: History) -> None:
    rows = [
        wq(0, source="116-2 WQ", piece=20_000, opened_at=MIDNIGHT + dt.timedelta(minutes=minute))
        for minute in range(20)
    ]
    bring(history, "dump", QUEUE_USAGE, *rows)
    assert history.read(QUEUE_USAGE).num_rows == 20


# ---- a history of an older release -----------------------------------------------------------------------------------

_NAME = ("structure", "xcf_structure", "qsg")
OLD_KEYS = {
    "116": ("system_id", "queue_manager", "written_at", "correlation", "queue", "open_queue", "opened_at"),
    "CFACT": ("sysplex", "coupling_facility", "system_id", "interval_end", *_NAME),
    "overview": ("sysplex", "coupling_facility", "system_id", "interval_end", *_NAME),
    "display": ("system_id", "queue_manager", "coupling_facility", "interval_end", *_NAME),
    "message": ("source", "system_id", "coupling_facility", "interval_end", *_NAME),
}


def fill(history: History) -> None:
    """Write rows of every family with changed keys, and of one without."""
    commit(history, "mq", structures=structure_rows(*map(qest, range(3))))
    bring(history, "tasks", QUEUE_USAGE, wq(0), wq(0, piece=10_001), wq(1))
    formatted = {"origin": "formatter", "source": "116 WQ"}
    bring(history, "csv", QUEUE_USAGE, wq(5, piece=0, **formatted), wq(5, piece=1, puts=8, **formatted))
    bring(history, "a", STRUCTURE_USAGE, text_row("CFACT", **NAMED))
    bring(history, "b", STRUCTURE_USAGE, text_row("CFACT", **UNNAMED))
    bring(history, "c", ALLOCATION, text_row("message IXC585E", **UNNAMED), text_row("display XCF", **NAMED))
    bring(history, "d", ALLOCATION, text_row("message IXC585E", **NAMED), text_row("display XCF", **UNNAMED))


def old_history(path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    """Return a history of an older release."""
    with monkeypatch.context() as patch:
        keys = tuple(
            NaturalKey(key.family, OLD_KEYS.get(key.family, key.columns), key.why)
            for key in schema.NATURAL_KEYS
        )
        patch.setattr(schema, "NATURAL_KEYS", keys)
        patch.setattr(staging, "with_opening", lambda pieces, _: pieces)
        patch.setattr(store, "KEY_RULES", 1)
        history = History.open(str(path), create=True)
        fill(history)
    return history


def test_history_of_an_older_release_gets_new_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = old_history(tmp_path / "old", monkeypatch)
    assert old.read(STRUCTURE_USAGE).num_rows == 5  # it can be read as it is; one row stands twice
    before = day_fingerprints(old)
    new = History.open(str(tmp_path / "new"), create=True)
    fill(new)
    assert contents(History.open(old.url)) != contents(new)
    assert contents(History.open(old.url, create=True)) == contents(new)
    assert DeltaTable(old.url).metadata().configuration[store.KEY_RULES_NAME] == str(schema.KEY_RULES)
    after = day_fingerprints(History.open(old.url))
    assert all(after[day] != before[day] for day in before)
    version = DeltaTable(old.url).version()
    History.open(old.url, create=True)
    assert DeltaTable(old.url).version() == version


def test_renewing_keys_continues_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = old_history(tmp_path / "old", monkeypatch)
    new = History.open(str(tmp_path / "new"), create=True)
    fill(new)
    write, calls = History._write, iter(range(100))

    def dies(history: History, delta: DeltaTable, actions: list[Any]) -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt
        write(history, delta, actions)

    with monkeypatch.context() as patch:
        patch.setattr(store, "MOST_RENEWED", 1)
        patch.setattr(History, "_write", dies)
        with pytest.raises(KeyboardInterrupt):
            History.open(old.url, create=True)
    assert contents(History.open(old.url)) != contents(new)
    assert contents(History.open(old.url, create=True)) == contents(new)


def test_keys_can_be_renewed_by_two_processes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = old_history(tmp_path / "old", monkeypatch)
    new = History.open(str(tmp_path / "new"), create=True)
    fill(new)
    monkeypatch.setattr(store, "MOST_RENEWED", 2)
    barrier = threading.Barrier(3)
    failures: list[BaseException] = []

    def renew() -> None:
        try:
            history = History.open(old.url)
            barrier.wait()
            history.renew_keys()
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=renew) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert contents(old) == contents(new)
    rows = sum(part.rows for part in old.snapshot().parts)
    assert rows == sum(part.rows for part in new.snapshot().parts), "no file was made anew twice"


def test_files_can_be_forgotten_after_their_keys_were_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_history(tmp_path / "old", monkeypatch)
    history = History.open(str(tmp_path / "old"), create=True)
    for name in ("mq", "tasks", "csv", "a", "b", "c", "d"):
        assert history.forget(sha256(name)) != []
    assert all(rows == [] for rows in contents(history).values())
