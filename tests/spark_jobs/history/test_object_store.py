"""A history in an object store equals one in a folder; the store is a stand-in for S3 on this machine."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_jobs import ingest
from spark_jobs.history.days import day_files, day_fingerprints
from spark_jobs.history.places import ObjectStore
from spark_jobs.history.schema import STRUCTURE_USAGE, HistoryError
from spark_jobs.history.store import FileFacts, History
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.objects import BUCKET, serving
from tests.spark_jobs.history.rows import qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, contents, sha256, staged


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    with serving() as found:
        yield found


@pytest.fixture
def url(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{request.node.name}/history"


def fill(history: History) -> None:
    """Commit two overlapping files, one of them changed, and one forgotten."""
    commit(history, "a", structures=structure_rows(*map(qest, range(60))), queues=queue_rows(wq(1)))
    commit(history, "b", structures=structure_rows(*map(qest, range(40, 80))))
    commit(history, "c", structures=structure_rows(qest(5, entries_in_use=7)))
    commit(history, "gone", structures=structure_rows(qest(90), qest(6, entries_in_use=8)))
    history.forget(sha256("gone"))
    history.compact(STRUCTURE_USAGE, "2026-11-20")


def test_history_in_an_object_store_equals_the_same_history_in_a_folder(url: str, tmp_path: Path) -> None:
    far, near = History.open(url, create=True), History.open(str(tmp_path / "near"), create=True)
    assert isinstance(far.place, ObjectStore)
    assert not far.is_local
    fill(far)
    fill(near)
    assert contents(History.open(url)) == contents(near)
    assert set(day_fingerprints(far)) == set(day_fingerprints(near))
    assert all(path.startswith(f"{url}/table=") for path in day_files(far, STRUCTURE_USAGE, "2026-11-20"))
    assert far.retain(keep_from=dt.date(2026, 11, 21)) == near.retain(keep_from=dt.date(2026, 11, 21))
    assert contents(History.open(url)) == contents(near)
    assert far.vacuum() == []


def conditional_requests(environment: dict[str, str]) -> int:
    with urlopen(f"{environment['AWS_ENDPOINT_URL']}/requests") as answer:  # noqa: S310 - this machine
        return int(json.load(answer).get("PUT if absent", 0))


def test_concurrent_ingests_are_both_stored(url: str, environment: dict[str, str], tmp_path: Path) -> None:
    """The store refuses the second entry, which is then written again."""
    history = History.open(url, create=True)
    before = conditional_requests(environment)
    files = [
        staged(history, f"f{n}", structures=structure_rows(*map(qest, range(n, n + 10)))) for n in range(4)
    ]
    barrier = threading.Barrier(len(files))
    failures: list[BaseException] = []

    def run(number: int) -> None:
        source, parts = files[number]
        try:
            barrier.wait()
            History.open(url).commit(source, parts, FileFacts(1, "smf", {}))
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(files))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    one = History.open(str(tmp_path / "one"), create=True)
    commit(one, "whole", structures=structure_rows(*map(qest, range(13))))
    assert contents(history) == contents(one)
    assert len(history.files()) == 4
    assert conditional_requests(environment) >= before + 4


def test_dump_is_ingested_into_an_object_store(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(5))
    for place in (url, str(tmp_path / "near")):
        assert ingest.main(["--history", place, str(dump), *GROUPS]) == 0
    assert contents(History.open(url)) == contents(History.open(str(tmp_path / "near")))
    assert ingest.main(["--history", url, str(dump), *GROUPS]) == 0
    assert '"already_stored"' in capsys.readouterr().out


def test_large_file_is_written_in_parts_and_read_back(url: str) -> None:
    place = History.open(url, create=True).place
    data = pa.table({"a": pa.array(range(3_000_000), pa.int64())})
    sink = pa.BufferOutputStream()
    pq.write_table(data, sink, compression="none", use_dictionary=False)
    place.write("table=x/day=2026-11-20/big.parquet", sink.getvalue())
    assert place.read("table=x/day=2026-11-20/big.parquet").equals(data)


def test_object_store_without_a_history_is_reported_as_an_error(url: str) -> None:
    with pytest.raises(HistoryError, match="There is no usage history"):
        History.open(url)


def test_unreachable_object_store_is_reported_without_secrets(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_MAX_RETRIES", "0")
    with pytest.raises(HistoryError) as told:
        History.open(url, create=True)
    assert "very-secret" not in str(told.value)
