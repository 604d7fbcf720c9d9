"""A nightly run on a history in an object store equals one on a folder; the store is a stand-in on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_jobs.history.schema import STRUCTURE_USAGE, row_schema
from spark_jobs.history.store import History
from spark_jobs.night.daily import FOLDER, Daily
from tests.spark_jobs.history.objects import BUCKET, serving
from tests.spark_jobs.night.nights import of_the_history, plain_night
from tests.spark_jobs.night.support import DAY, HOUR, MIDNIGHT, commit, make_history, qest


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serving() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield f"s3://{BUCKET}/site/history"


def test_run_gives_the_same_results_for_an_object_store_and_a_folder(url: str, tmp_path: Path) -> None:
    far, near = (
        History.open(url, create=True),
        make_history(tmp_path / "near", range(2), structures=1, every=12),
    )
    rows = near.read(STRUCTURE_USAGE).to_pylist()
    names = set(row_schema(STRUCTURE_USAGE).names)
    for entry in near.files():
        brought = [row for row in rows if row["file_name"] == entry["file_name"]]
        kept = [{name: row[name] for name in names} for row in brought]
        commit(far, entry["file_name"], {STRUCTURE_USAGE: kept})
    found = plain_night(url)
    assert found["days_reduced"] == found["days_total"] == 3
    peaks = [line["entries_peak"] for line in found["daily"]]
    assert peaks == [line["entries_peak"] for line in plain_night(near.url)["daily"]]
    assert Daily(far.url).url == f"{url}/{FOLDER}/2"
    assert plain_night(url)["days_reduced"] == 0
    commit(far, "late.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + DAY + HOUR, "LATE", entries_in_use=9)]})
    late = plain_night(url)
    assert (late["days_reduced"], far.vacuum()) == (1, [])
    assert 9 in [line["entries_peak"] for line in late["daily"]]
    far.retain(keep_from=(MIDNIGHT + DAY).date())
    assert plain_night(url)["days_gone"] == 1


def test_object_store_without_a_history_has_no_rows(url: str) -> None:
    assert plain_night(url)["days_total"] == 0


def test_daily_statistics_move_with_the_history(tmp_path: Path) -> None:
    history = make_history(tmp_path / "here", range(2), structures=1, every=12)
    first = plain_night(history.url)
    shutil.move(history.url, tmp_path / "there")
    second = plain_night(str(tmp_path / "there"), republish=True)
    assert second["days_reduced"] == 0
    assert of_the_history(second) == of_the_history(first)
    assert second["daily"] == first["daily"]
