"""Daily statistics next to the history: changed days are recalculated, removed days deleted, and writes are atomic."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from planner_core.contracts.nightly import NightlyFacts
from spark_jobs.history.schema import ALLOCATION, STRUCTURE_USAGE, HistoryError
from spark_jobs.history.store import History
from spark_jobs.night.daily import Daily, Filed, url_of
from spark_jobs.night.run import Batches, fingerprints
from spark_jobs.night.statistics import KINDS, LEDGER, POLICY, STRUCTURE, kept_schema
from tests.spark_jobs.night.nights import of_the_history, plain_night
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIDNIGHT,
    commit,
    displayed,
    history_at_once,
    make_history,
    older_release,
    qest,
    usual_day,
)

JANUARY, FEBRUARY = dt.date(2026, 1, 31), dt.date(2026, 2, 1)


def statistics(*days: dt.date, peak: int = 1) -> dict[str, pa.Table]:
    rows = [
        {"filed": day, "day": day, "qsg": "SQ03", "structure": "APP1", "entries_peak": peak} for day in days
    ]
    return {STRUCTURE: pa.Table.from_pylist(rows, schema=kept_schema(STRUCTURE))}


def filed(*days: dt.date, fingerprint: str = "f") -> list[Filed]:
    return [Filed(day.isoformat(), fingerprint, 10, (day.isoformat(),)) for day in days]


def peaks(daily: Daily) -> dict[str, int]:
    rows = daily.read().rows(STRUCTURE).to_pylist()
    assert len({row["day"] for row in rows}) == len(rows)
    return {row["day"].isoformat(): row["entries_peak"] for row in rows}


def test_daily_statistics_are_empty_before_the_first_run(tmp_path: Path) -> None:
    kept = Daily(str(tmp_path)).read()
    assert kept.filed() == {}
    assert [kept.rows(kind).num_rows for kind in (*KINDS, LEDGER)] == [0] * 6
    assert list(tmp_path.iterdir()) == []


def test_replace_changes_only_the_given_days(tmp_path: Path) -> None:
    daily = Daily(str(tmp_path))
    daily.replace(statistics(JANUARY, FEBRUARY), filed(JANUARY, FEBRUARY))
    daily.replace(statistics(FEBRUARY, peak=7), filed(FEBRUARY, fingerprint="g"))
    assert peaks(daily) == {"2026-01-31": 1, "2026-02-01": 7}
    assert {day: one.fingerprint for day, one in daily.read().filed().items()} == {
        "2026-01-31": "f",
        "2026-02-01": "g",
    }
    daily.replace({}, [], gone=["2026-01-31"])
    assert peaks(daily) == {"2026-02-01": 7}
    assert list(daily.read().filed()) == ["2026-02-01"]


def test_month_has_one_file_of_each_kind_after_many_runs(tmp_path: Path) -> None:
    daily = Daily(str(tmp_path))
    days = [dt.date(2026, 1, number) for number in range(1, 11)]
    for day in days:
        daily.replace(statistics(day), filed(day))
    assert len(daily.read().files(STRUCTURE)) == 1
    assert len(daily.read().files(LEDGER)) == 1
    assert peaks(daily) == {day.isoformat(): 1 for day in days}


def test_concurrent_first_runs_are_both_stored_once(
    tmp_path: Path,
) -> None:
    """Neither run blocks the files of the other."""
    daily, other = Daily(str(tmp_path)), Daily(str(tmp_path))
    stale, fresh = [daily.read()], other.read
    other.read = lambda: stale.pop() if stale else fresh()  # type: ignore[method-assign]
    daily.replace(statistics(JANUARY, peak=2), filed(JANUARY))
    other.replace(statistics(JANUARY, FEBRUARY, peak=3), filed(JANUARY, FEBRUARY, fingerprint="g"))
    assert stale == []
    assert peaks(daily) == {"2026-01-31": 3, "2026-02-01": 3}
    assert [len(daily.read().files(STRUCTURE, month)) for month in ("2026-01", "2026-02")] == [1, 1]


def test_replace_starts_again_if_a_month_changed_meanwhile(tmp_path: Path) -> None:
    daily, other = Daily(str(tmp_path)), Daily(str(tmp_path))
    daily.replace(statistics(JANUARY), filed(JANUARY))
    stale, fresh = [daily.read()], other.read
    other.read = lambda: stale.pop() if stale else fresh()  # type: ignore[method-assign]
    daily.replace(statistics(JANUARY, peak=5), filed(JANUARY))
    other.replace(statistics(dt.date(2026, 1, 2), peak=9), filed(dt.date(2026, 1, 2)))
    assert stale == []
    assert peaks(daily) == {"2026-01-02": 9, "2026-01-31": 5}


def test_tidy_deletes_files_of_killed_runs_and_keeps_the_history(
    tmp_path: Path,
) -> None:
    history = make_history(tmp_path / "history", range(2))
    plain_night(history.url)
    folder = Path(url_of(history.url))
    (folder / "kind=structure" / "orphan.parquet").write_bytes(b"half")
    before = set(folder.rglob("*.parquet"))
    assert history.vacuum() == []
    history._delta().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True)
    assert set(folder.rglob("*.parquet")) == before
    assert plain_night(history.url)["days_reduced"] == 0


def test_damaged_statistics_are_reported_with_their_place(tmp_path: Path) -> None:
    daily = Daily(str(tmp_path))
    daily.replace(statistics(JANUARY), filed(JANUARY))
    for path in Path(daily.url).rglob("*.parquet"):
        path.unlink()
    with pytest.raises(HistoryError, match="daily statistics"):
        daily.read().filed()


# ---- nights ----------------------------------------------------------------------------------------------------------


def anew(history: History) -> dict[str, Any]:
    """Return the results of a nightly run on the same history without statistics."""
    shutil.rmtree(Path(history.url) / "_daily", ignore_errors=True)
    return plain_night(history.url, republish=True)


def same_as_anew(history: History) -> dict[str, Any]:
    found = plain_night(history.url, republish=True)
    expected = anew(history)
    assert of_the_history(found) == of_the_history(expected)
    assert found["daily"] == expected["daily"]
    return found


def test_only_changed_days_are_reduced_again(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(5))
    first = plain_night(history.url)
    assert first["days_reduced"] == first["days_total"] == 6, "the last interval is filed under the next day"
    assert plain_night(history.url)["days_reduced"] == 0
    commit(
        history, "late.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + 2 * DAY + HOUR, "LATE", entries_in_use=9)]}
    )
    touched = plain_night(history.url)
    assert touched["days_reduced"] == 1
    assert touched["days"] == ["2026-03-03", "2026-03-04"], "what is filed under the 4th told of the 3rd too"
    assert {line["day"] for line in touched["daily"]} == {"2026-03-03", "2026-03-04"}
    assert [line["entries_peak"] for line in touched["daily"] if line["structure"] == "LATE"] == [9]
    same_as_anew(history)


def test_compaction_causes_no_reduction(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(1))
    commit(history, "more.smf", usual_day(0, seed=9))
    plain_night(history.url)
    assert any(history.compact(STRUCTURE_USAGE, day) for day in history.snapshot().days(STRUCTURE_USAGE))
    assert plain_night(history.url)["days_reduced"] == 0


def test_days_dropped_by_retention_are_removed(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(4))
    plain_night(history.url)
    history.retain(keep_from=(MIDNIGHT + 2 * DAY).date())
    found = plain_night(history.url)
    assert (found["days_gone"], found["days_reduced"], found["spark"]) == (2, 0, False)
    assert found["days"] == ["2026-03-02", "2026-03-03"]
    assert {line["day"] for line in found["daily"]} == {"2026-03-03"}, (
        "its last hours are filed under the 4th"
    )
    assert found["first_day"] == "2026-03-03"
    same_as_anew(history)


def test_days_of_a_forgotten_file_are_removed(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(3))
    plain_night(history.url)
    wrong = commit(history, "wrong.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + HOUR, entries_in_use=10**6)]})
    assert max(line["entries_peak"] for line in plain_night(history.url)["daily"]) == 10**6
    history.forget(next(row["file_sha256"] for row in history.files() if row["commit_id"] == wrong.commit_id))
    found = same_as_anew(history)
    assert max(line["entries_peak"] for line in found["daily"]) < 10**6


def test_rmf_rows_count_once_their_group_is_known(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    commit(history, "display.txt", {ALLOCATION: [displayed(MIDNIGHT + HOUR)]})
    found = plain_night(history.url)
    assert (found["days_total"], found["daily"], found["forecasts"]) == (1, [], [])
    commit(history, "f.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + 5 * DAY)]})
    named = plain_night(history.url)
    assert named["days_reduced"] == 2
    assert next((line["day"], line["size_bytes"]) for line in named["daily"]) == ("2026-03-02", 512 * 2**20)
    same_as_anew(history)


def test_history_of_displays_only_is_reduced(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    rows = [
        displayed(MIDNIGHT + number * DAY + 9 * HOUR, entries_in_use=10_000 + 20 * number)
        for number in range(60)
    ]
    commit(history, "all.txt", {ALLOCATION: rows}, qsgs=["SQ03"])
    found = same_as_anew(history)
    assert len(found["daily"]) == 60
    by_measure = {one["measure"]: one for one in found["forecasts"]}
    assert by_measure["entries"]["state"] == "forecast"
    assert by_measure["entries"]["last_day"] == "2026-04-30", "an instant a day is all there is of it"
    assert [level["name"] for level in by_measure["entries"]["levels"]] == [
        "FULLTHRESHOLD 85 %",
        "the current size",
        "SIZE",
    ]
    assert [curve["state"] for curve in found["curves"]] == ["too_little"]


def test_empty_or_missing_history_gives_no_days(tmp_path: Path) -> None:
    History.open(str(tmp_path / "empty"), create=True)
    for name in ("empty", "missing"):
        found = plain_night(str(tmp_path / name))
        assert (found["days_total"], found["first_day"], found["daily"], found["findings"]) == (
            0,
            None,
            [],
            [],
        )
        assert found["curves"] == found["forecasts"] == found["mixes"] == []
    assert not (tmp_path / "missing").exists()


def test_results_that_were_not_published_are_returned_again(tmp_path: Path) -> None:
    """The run was killed after storing the statistics, so that the application still has the previous figures."""
    history = make_history(tmp_path / "history", range(2))
    stored = plain_night(history.url)
    commit(history, "next.smf", usual_day(2))
    lost = plain_night(history.url)
    assert plain_night(history.url)["daily"] == []
    again = plain_night(history.url, NightlyFacts(published=stored["published"]))
    assert (again["days"], again["daily"]) == (lost["days"], lost["daily"])
    assert plain_night(history.url, NightlyFacts(published=again["published"]))["days"] == []


def test_removed_day_is_returned_without_figures(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(2))
    stored = plain_night(history.url)
    history.retain(keep_from=(MIDNIGHT + 10 * DAY).date())
    plain_night(history.url)
    found = plain_night(history.url, NightlyFacts(published=stored["published"]))
    assert found["days"] == ["2026-03-02", "2026-03-03"]
    assert found["daily"] == []
    assert found["published"] == {}


def test_batches_give_the_same_statistics_as_one(tmp_path: Path) -> None:
    with older_release():  # merged days are not divided by their rows
        history = make_history(tmp_path / "history", range(6))
    in_batches = plain_night(history.url, batch_rows=150, republish=True)
    assert Daily(history.url).read().delta.version() > 3  # type: ignore[union-attr]
    expected = anew(history)
    assert of_the_history(in_batches) == of_the_history(expected)
    assert in_batches["daily"] == expected["daily"]


def test_reduction_results_are_json(tmp_path: Path) -> None:
    history = history_at_once(tmp_path / "history", range(50), structures=1, every=12)
    found = plain_night(history.url)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {one["state"] for one in found["forecasts"]} == {"forecast"}


def test_simulated_group_is_forecast_from_its_last_day(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    for name, qsg in (("simulated-1.smf", "SIM1"), ("real.smf", "SQ03")):
        rows = [qest(MIDNIGHT + day * DAY + HOUR, qsg=qsg, structure=f"OF{qsg}") for day in range(5)]
        commit(history, name, {STRUCTURE_USAGE: rows})
    found = plain_night(history.url, NightlyFacts(today=dt.date(2027, 1, 1)), republish=True)
    made_on = {(one["qsg"], one["made_on"]) for one in found["forecasts"] if one["measure"] == "entries"}
    assert made_on == {("SIM1", (MIDNIGHT + 4 * DAY).date().isoformat()), ("SQ03", "2026-12-31")}


def test_statistics_of_simulated_files_are_marked(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(1))
    commit(history, "simulated-1.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + HOUR, qsg="SIM1")]})
    found = plain_night(history.url)
    assert found["simulated"] == ["SIM1"]
    assert {line["qsg"] for line in found["daily"] if line["is_simulated"]} == {"SIM1"}
    assert {one["qsg"] for one in found["forecasts"] if one["is_simulated"]} == {"SIM1"}


def test_fingerprint_depends_on_history_version_and_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = make_history(tmp_path / "history", range(1))
    before = fingerprints(history, history.snapshot())
    assert before == fingerprints(history, history.snapshot())
    monkeypatch.setattr("spark_jobs.night.run.REDUCTION", 3)
    after = fingerprints(history, history.snapshot())
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())
    assert POLICY in KINDS


def test_batch_size_depends_on_the_previous_batch(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(12))
    snapshot = history.snapshot()
    days = sorted({part.day for part in snapshot.parts if part.table != "files"})
    rows = {
        day: sum(part.rows for part in snapshot.parts if part.day == day and part.table != "files")
        for day in days
    }
    least, most = min(rows.values()), max(rows.values())
    batches = Batches(snapshot, days, batch_rows=10**6, first_rows=2 * most, most_statistics=300)
    found: list[list[str]] = []
    for batch in batches:
        found.append(batch)
        read = sum(rows[day] for day in batch)
        batches.learn(read)  # a statistic of every row: 300 rows at most come next
    assert [day for batch in found for day in batch] == days
    assert len(found[0]) <= 2 * most // least
    assert all(sum(rows[day] for day in batch) <= 300 or len(batch) == 1 for batch in found[1:])
    assert len(found) > 2


def test_all_remaining_days_form_one_batch_if_statistics_are_few(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history", range(12))
    snapshot = history.snapshot()
    days = sorted({part.day for part in snapshot.parts if part.table != "files"})
    batches = Batches(snapshot, days, first_rows=1, most_statistics=10**6)
    sizes = []
    for batch in batches:
        sizes.append(len(batch))
        batches.learn(1)
    assert sizes == [1, len(days) - 1]
    nothing = Batches(snapshot, days, first_rows=1)
    assert [len(batch) for batch in _learning(nothing, 0)] == [1, len(days) - 1]
    assert [len(batch) for batch in _learning(Batches(snapshot, days, first_rows=1, batch_rows=1), 0)] == [
        1
    ] * len(days)


def _learning(batches: Batches, statistics: int) -> Iterator[list[str]]:
    for batch in batches:
        yield batch
        batches.learn(statistics)
