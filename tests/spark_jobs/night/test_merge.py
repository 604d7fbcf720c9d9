"""Statistics and roll-ups merged from the sums that ingest stores, compared with those of the rows."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.history import hours, summaries
from spark_jobs.history.days import day_sums, has_twins
from spark_jobs.history.schema import QUEUE_USAGE, STRUCTURE_USAGE, row_schema
from spark_jobs.history.staging import Source
from spark_jobs.history.store import History, Snapshot, new_commit_id
from spark_jobs.history.summaries import (
    HOURS,
    PREFIX,
    SPANS,
    STATES,
    Spans,
    are_apart,
    bring_only_new_keys,
    merged,
)
from spark_jobs.night import run
from spark_jobs.night.daily import FOLDER
from spark_jobs.night.reduce import Reduced, merge_days, sum_days
from spark_jobs.night.run import fingerprints
from spark_jobs.night.statistics import KINDS
from tests.spark_jobs.history.support import sha256
from tests.spark_jobs.night import plainly
from tests.spark_jobs.night.nights import of_the_history, plain_night
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIDNIGHT,
    commit,
    displayed,
    older_release,
    qest,
    qqst,
    r744,
    usual_day,
    wq,
)

SEEDS = range(12)
FILES = 7


def random_history(folder: Path, seed: int) -> History:
    """Write files that overlap, repeat, contradict or come late, some removed, compacted, or left by a killed ingest."""
    chance = random.Random(seed)
    history = History.open(str(folder), create=True)
    for _ in range(FILES):
        day = chance.randrange(4)
        every = chance.choice([1, 4, 6])
        rows = usual_day(day, structures=2, every=every, seed=chance.choice([1, 1, 2]))
        if chance.random() < 0.5:  # a part of a day, so that files may only touch
            half = chance.choice([slice(None, 1), slice(1, None)])
            cut = MIDNIGHT + day * DAY + 12 * HOUR
            first = half.stop == 1
            rows = {
                table: [row for row in found if (row["interval_end"] <= cut) == first]
                for table, found in rows.items()
            }
        if chance.random() < 0.3:
            rows[QUEUE_USAGE].append(
                qqst(MIDNIGHT + day * DAY + HOUR, put_bytes=2**55, puts=chance.choice([1, 77, None]))
            )
        if chance.random() < 0.3:
            rows[STRUCTURE_USAGE].append(
                r744(MIDNIGHT + day * DAY + HOUR / 2, "FAR", xcf_structure="IMSXFAR")
            )
        name = chance.choice(["", "simulated-"]) + f"{chance.randrange(5)}.smf"
        if chance.random() < 0.2:
            _stage_only(history, name, rows)
        else:
            commit(history, name, rows)
        if chance.random() < 0.2 and (files := history.files()):
            history.forget(chance.choice(files)["file_sha256"] or "")
        if chance.random() < 0.2:
            for table in rows:
                history.compact(table, (MIDNIGHT + day * DAY).date().isoformat())
    if chance.random() < 0.3:
        history.retain(keep_from=(MIDNIGHT + DAY).date())
    return history


def _stage_only(history: History, name: str, rows: dict[str, list[dict[str, Any]]]) -> None:
    stage = history.stage(Source(new_commit_id(), name, sha256(name)))
    for table, found in rows.items():
        stage.add(table, pa.Table.from_pylist(found, schema=row_schema(table)))
    stage.finish()


def lines(history: History) -> list[str]:
    return [json.dumps(line) for line in hours.roll_up(history)]


def lines_of_rows(history: History) -> list[str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hours, "day_sums", lambda *_arguments, **_options: None)
        return lines(history)


def contents(statistics: dict[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    return {kind: sorted(statistics[kind].to_pylist(), key=repr) for kind in KINDS}


@pytest.fixture(scope="module")
def kinds_of_days() -> dict[int, set[bool]]:
    """Return the kinds of days in each history that a test has merged, by its seed: True for days whose rows are read."""
    return {}


@pytest.mark.parametrize("seed", SEEDS)
def test_merged_figures_are_those_of_the_rows(
    seed: int, kinds_of_days: dict[int, set[bool]], tmp_path: Path
) -> None:
    history = random_history(tmp_path / "history", seed)
    snapshot = history.snapshot()
    assert lines(history) == lines_of_rows(history)
    days = sorted(fingerprints(history, snapshot))
    merged = merge_days(history, snapshot, days)
    kinds_of_days[seed] = {day in merged.rows_read for day in days}
    of_rows = plainly.reduce_days(None, history, snapshot, sorted(merged.rows_read), work_dir=tmp_path)
    if merged.rows_read:
        assert contents(merged.statistics) == contents(of_rows.statistics)
    with_twins = {
        day
        for day in days
        for table in ("structure_usage", "allocation", "smds_usage", "queue_usage")
        if snapshot.of(table, day) and has_twins(history, table, day, snapshot=snapshot)
    }
    assert with_twins.isdisjoint(merged.rows_read)
    summed = sum_days(history, snapshot, days)
    of_all_rows = plainly.reduce_days(None, history, snapshot, days, work_dir=tmp_path)
    if days:
        assert contents(summed.statistics) == contents(of_all_rows.statistics)
        assert summed.rows_read == of_all_rows.rows_read
    result = plain_night(history.url)
    for below in (0, run.IN_PROCESS_BELOW_ROWS):
        shutil.rmtree(tmp_path / "history" / FOLDER)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(run, "merge_days", lambda *_: Reduced({}, {}))
            of_rows_alone = plain_night(history.url, in_process_below=below)
        assert of_rows_alone["spark"] is (below == 0 and bool(days))
        assert of_the_history(result) == of_the_history(of_rows_alone)


def test_random_histories_have_days_of_both_kinds(
    kinds_of_days: dict[int, set[bool]], tmp_path: Path
) -> None:
    for seed in SEEDS:
        if seed not in kinds_of_days:  # the test that merges it was not selected
            history = random_history(tmp_path / str(seed), seed)
            snapshot = history.snapshot()
            days = sorted(fingerprints(history, snapshot))
            merged = merge_days(history, snapshot, days)
            kinds_of_days[seed] = {day in merged.rows_read for day in days}
    assert set().union(*kinds_of_days.values()) == {True, False}


def test_files_of_hours_are_merged_and_start_no_session(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    for hour in range(4):
        end = MIDNIGHT + (hour + 1) * HOUR
        rows = {"structure_usage": [qest(end), r744(end)], "queue_usage": [qqst(end), wq(end)]}
        commit(history, f"{hour}.smf", {**rows, "allocation": [displayed(end, source="display XCF")]})
    found = plain_night(history.url)
    assert (found["days_reduced"], found["spark"]) == (1, False)


def test_day_with_one_file_of_an_older_release_is_read(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    commit(history, "new.smf", {"structure_usage": [qest(MIDNIGHT + HOUR)]})
    with older_release():
        commit(history, "old.smf", {"structure_usage": [qest(MIDNIGHT + 2 * HOUR)]})
    day = MIDNIGHT.date().isoformat()
    parts = history.snapshot().of("structure_usage", day)
    assert day_sums(history.place, parts, (HOURS, STATES), dead=frozenset()) is None
    found = plain_night(history.url)
    assert (found["days_reduced"], found["rows_read"], found["spark"]) == (1, 2, False)


def test_days_with_many_rows_are_reduced_by_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with older_release():
        history = History.open(str(tmp_path), create=True)
        commit(history, "short.smf", {"structure_usage": [qest(MIDNIGHT + HOUR)]})
        commit(
            history, "long.smf", {"structure_usage": [qest(MIDNIGHT + DAY + hour * HOUR) for hour in (1, 2)]}
        )
    given: list[str] = []
    by_hand = plainly.reduce_days

    def reduce_days(
        session: object,
        history: History,
        snapshot: Snapshot,
        days: list[str],
        *,
        work_dir: Path,
        began: Callable[[str], None],
    ) -> Reduced:
        given.extend(days)
        return by_hand(session, history, snapshot, days, work_dir=work_dir, began=began)

    monkeypatch.setattr(plainly, "reduce_days", reduce_days)
    found = plain_night(history.url, in_process_below=2)
    assert (found["days_reduced"], found["spark"], given) == (2, True, ["2026-03-03"])


def test_days_that_cannot_be_summed_up_are_reduced_by_spark(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    large = [qqst(MIDNIGHT + hour * HOUR, put_bytes=2**62, puts=1) for hour in (1, 2)]
    commit(history, "f.smf", {"queue_usage": [*large, qqst(MIDNIGHT + DAY + HOUR)]})
    snapshot = history.snapshot()
    days = sorted(fingerprints(history, snapshot))
    assert list(sum_days(history, snapshot, days).rows_read) == days[1:]
    assert sum_days(history, snapshot, days[:1]).rows_read == {}


def test_compacted_file_has_the_sums_of_its_rows(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    for hour in range(3):
        commit(history, f"{hour}.smf", {"structure_usage": [qest(MIDNIGHT + (hour + 1) * HOUR)]})
    before = lines(history)
    assert history.compact("structure_usage", MIDNIGHT.date().isoformat())
    (part,) = history.snapshot().of("structure_usage")
    assert f"{PREFIX}{STATES}".encode() in pq.read_metadata(tmp_path / part.path).metadata
    assert lines(history) == before


def test_sums_that_might_overflow_are_not_stored(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    rows = [qqst(MIDNIGHT + hour * HOUR, put_bytes=2**62) for hour in (1, 2)]
    commit(history, "large.smf", {"queue_usage": rows})
    (part,) = history.snapshot().of("queue_usage")
    assert history.place.footer(part.path).keys() & {PREFIX + STATES, PREFIX + HOURS} == set()


def test_sums_of_intervals_of_very_many_hours_are_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = MIDNIGHT + 160 * HOUR
    rows = [qqst(end, interval_start=MIDNIGHT, puts=1600), qqst(end, "Q2", interval_start=end - HOUR)]
    short = History.open(str(tmp_path / "short"), create=True)
    commit(short, "long.smf", {"queue_usage": rows})
    monkeypatch.setattr(summaries, "MOST_HOURS", 150)
    history = History.open(str(tmp_path / "history"), create=True)
    commit(history, "long.smf", {"queue_usage": rows})
    for each, is_stored in ((short, True), (history, False)):
        (part,) = each.snapshot().of("queue_usage")
        assert (PREFIX + HOURS in each.place.footer(part.path)) is is_stored
    assert lines(history) == lines(short)
    puts = [line["puts"] for line in hours.roll_up(history) if line["event"] == "queue_hour"]
    assert sorted(puts) == [*[10] * 16, 100]


def test_long_sums_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MOST_SUMS_BYTES", 100)
    history = History.open(str(tmp_path), create=True)
    for hour in range(3):
        commit(history, f"{hour}.smf", {"queue_usage": [qqst(MIDNIGHT + (hour + 1) * HOUR)]})
    assert history.compact("queue_usage", MIDNIGHT.date().isoformat())
    (part,) = history.snapshot().of("queue_usage")
    assert [name for name in history.place.footer(part.path) if name.startswith(PREFIX)] == [PREFIX + SPANS]
    assert len([line for line in hours.roll_up(history) if line["event"] == "queue_hour"]) == 3


def test_files_stay_if_their_compacted_file_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History.open(str(tmp_path), create=True)
    for hour in range(3):
        commit(history, f"{hour}.smf", {"structure_usage": [qest(MIDNIGHT + (hour + 1) * HOUR)]})
    before = history.snapshot().of("structure_usage")

    def broken(_place: object, path: str) -> dict[str, str]:
        raise OSError(path)

    with monkeypatch.context() as patched:
        patched.setattr(type(history.place), "footer", broken)
        with pytest.raises(OSError, match="structure_usage"):
            history.compact("structure_usage", MIDNIGHT.date().isoformat())
    assert history.snapshot().of("structure_usage") == before
    assert len(before) == 3


def test_rows_forgotten_after_compaction_do_not_count(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    for name, hour, puts in (("kept.smf", 1, 10), ("forgotten.smf", 2, 1000)):
        commit(history, name, {"queue_usage": [qqst(MIDNIGHT + hour * HOUR, puts=puts)]})
    history.compact("queue_usage", MIDNIGHT.date().isoformat())
    (forgotten,) = [each for each in history.files() if each["file_name"] == "forgotten.smf"]
    history.forget(forgotten["file_sha256"] or "")
    found = [line["puts"] for line in hours.roll_up(history) if line["event"] == "queue_hour"]
    assert found == [10]
    snapshot = history.snapshot()
    assert merge_days(history, snapshot, sorted(fingerprints(history, snapshot))).rows_read == {}


def test_days_whose_sums_might_overflow_together_are_read(tmp_path: Path) -> None:
    history = History.open(str(tmp_path), create=True)
    for hour in range(5):
        commit(
            history,
            f"{hour}.smf",
            {"queue_usage": [qqst(MIDNIGHT + (hour + 1) * HOUR, put_bytes=2**62 - 2**20, puts=1)]},
        )
    snapshot = history.snapshot()
    (part, *_) = snapshot.of("queue_usage")
    assert PREFIX + STATES in history.place.footer(part.path)
    assert merge_days(history, snapshot, sorted(fingerprints(history, snapshot))).rows_read == {}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Spans(True, {"a": (1, 5)}), Spans(True, {"a": (6, 9)}), True),
        (Spans(True, {"a": (1, 5)}), Spans(True, {"a": (5, 9)}), False),
        (Spans(True, {"a": (1, 5)}), Spans(True, {"b": (1, 5)}), True),
        (Spans(True, {"a": (1, 5)}), Spans(False, {"b": (1, 5)}), False),
        (Spans(True, {"a": (1, 5), "b": (1, 5)}), Spans(True, {"a": (6, 9), "b": (6, 9)}), True),
        (Spans(True, {"a": (1, 5), "b": (1, 5)}), Spans(True, {"a": (6, 9), "b": (5, 9)}), False),
        (Spans(True, {"a": (1, 9), "b": (1, 2)}), Spans(True, {"b": (3, 4), "c": (1, 9)}), True),
    ],
)
def test_files_whose_streams_do_not_overlap_are_apart(one: Spans, other: Spans, expected: bool) -> None:
    assert are_apart([one, other]) is expected
    assert are_apart([other, one]) is expected


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("ab"),
            st.tuples(st.integers(0, 9), st.integers(0, 3)).map(lambda span: (span[0], sum(span))),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 4),
)
def test_new_files_have_new_keys_if_no_time_is_in_two_files(
    files: list[dict[str, tuple[int, int]]], new: int
) -> None:
    spans = [Spans(True, each) for each in files]
    times = [{(stream, at) for stream, (a, b) in each.items() for at in range(a, b + 1)} for each in files]
    expected = all(
        not (one & other)
        for place, one in enumerate(times[:new])
        for other in (*times[:place], *times[place + 1 :])
    )
    assert bring_only_new_keys(spans[:new], spans[new:]) is expected


def test_repeated_keys_of_a_stored_file_do_not_make_new_ones_known() -> None:
    stored = Spans(False, {"a": (1, 5)})
    assert bring_only_new_keys([Spans(True, {"a": (6, 9)})], [stored])
    assert not bring_only_new_keys([Spans(False, {"a": (6, 9)})], [stored])


def test_hours_of_many_groups_are_their_unions() -> None:
    """Arrow returns more than 32,768 groups in several pieces."""
    chance = random.Random(7)
    rows = [(number % 40_000, chance.getrandbits(24) | 1) for number in range(90_000)]
    expected: dict[int, int] = {}
    for key, bits in rows:
        expected[key] = expected.get(key, 0) | bits
    table = pa.table(
        {"key": [key for key, _ in rows], "hours": [bits for _, bits in rows], "most": [1] * len(rows)}
    )
    found = merged(table, ["key"], [("most", "max")])
    assert found.column_names == ["key", "most", "hours"]
    assert dict(zip(found["key"].to_pylist(), found["hours"].to_pylist(), strict=True)) == expected
