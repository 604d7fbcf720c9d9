"""Files reported as stored survive a power failure; others can be ingested again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from spark_jobs.history import __main__ as commands
from spark_jobs.history.places import LOG
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.store import History
from tests.spark_jobs.history.rows import qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, contents


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(str(tmp_path / "deep" / "down" / "history"), create=True)


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths forced to disk in order, with "commit" for the log entry."""
    found: list[str] = []
    fsync = os.fsync

    def noted(handle: int) -> None:
        found.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.fixture
def at_commit(monkeypatch: pytest.MonkeyPatch, forced: list[str]) -> Callable[[], None]:
    """Record the log entry in `forced`."""
    write: Callable[..., None] = DeltaTable.create_write_transaction

    def noted(*arguments: object, **named: object) -> None:
        forced.append("commit")
        write(*arguments, **named)

    return lambda: monkeypatch.setattr(DeltaTable, "create_write_transaction", noted)


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="the test reads paths of open files from /proc"
)
def test_files_are_flushed_to_disk_before_the_commit_and_the_log_entry_after_it(
    history: History, forced: list[str], at_commit: Callable[[], None]
) -> None:
    at_commit()
    commit(history, "a", structures=structure_rows(qest(0), qest(60)), queues=queue_rows(wq(0)))
    moment = forced.index("commit")
    before, after = forced[:moment], forced[moment:]
    root = Path(history.url)
    parts = [str(path) for path in root.glob("table=*/day=*/*.parquet")]
    assert len(parts) == 4  # three of usage, one of the ledger
    assert set(parts) <= set(before)
    for part in parts:
        for folder in list(Path(part).parents)[:3]:
            assert before.index(str(folder)) > before.index(part)
    assert str(root / LOG / f"{1:020}.json") in after
    assert after[-2:] == [str(root / LOG), str(root)]


def torn(history: History, kept_bytes: int) -> Path:
    """Truncate the last log entry, as a power failure may."""
    entry = sorted((Path(history.url) / LOG).glob("*.json"))[-1]
    entry.write_bytes(entry.read_bytes()[:kept_bytes])
    return entry


@pytest.mark.parametrize("kept_bytes", [0, 1, 700, -2])
def test_torn_entry_is_moved_aside_and_its_file_ingested_again(
    history: History, tmp_path: Path, kept_bytes: int
) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    torn(history, kept_bytes)
    if kept_bytes:
        with pytest.raises(HistoryError, match="torn"):
            History.open(history.url)
    again = History.open(history.url, create=True)
    # An empty entry is ignored, because Delta does not count it as one.
    assert [path.name for path in Path(history.url).glob("*.torn")] == (
        [again.set_aside] if kept_bytes else []
    )
    assert [row["file_name"] for row in again.files()] == ["a"]
    commit(again, "b", structures=structure_rows(qest(1)))
    one = History.open(str(tmp_path / "one"), create=True)
    commit(one, "a", structures=structure_rows(qest(0)))
    commit(one, "b", structures=structure_rows(qest(1)))
    assert contents(again) == contents(one)


def test_maintain_moves_a_torn_entry_aside(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    commit(history, "b", structures=structure_rows(qest(1)))
    torn(history, 700)
    assert commands.main(["files", "--history", history.url]) == 1
    assert "maintain" in capsys.readouterr().err
    assert commands.main(["maintain", "--history", history.url]) == 0
    said = capsys.readouterr().err
    assert commands.main(["files", "--history", history.url]) == 0
    (aside,) = Path(history.url).glob("*.torn")
    assert f"has been set aside as {aside.name}" in said


def test_intact_log_is_not_changed(history: History) -> None:
    commit(history, "a", structures=structure_rows(qest(0)))
    assert History(history.url).place.repair_log() is None
    assert History.open(history.url, create=True).read("structure_usage").num_rows == 1


def test_commit_fails_if_a_folder_cannot_be_flushed_to_disk(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(HistoryError, match="Input/output error"):
            commit(history, "a", structures=structure_rows(qest(0)))
    assert history.files() == []
