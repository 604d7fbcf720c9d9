"""One nightly run: new days are reduced, then curves and forecasts are made from all daily statistics."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from planner_core.contracts.nightly import SCHEMA, NightlyFacts, NightlyResult
from spark_jobs.fit import fit_all, fit_mix
from spark_jobs.forecast import DailyPeaks, score
from spark_jobs.history.days import day_fingerprints
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.store import History, shown
from spark_jobs.night.collect import (
    EPOCH,
    Collected,
    DataSet,
    Policy,
    Series,
    collect,
    daily_of,
    date_of,
    number,
)
from spark_jobs.night.daily import Daily, DailySnapshot, Filed
from spark_jobs.night.facts import by_structure
from spark_jobs.night.findings import DEMAND_DAYS, DataSetState, Day, State, findings_of
from spark_jobs.night.forecasts import Task, forecast_all
from spark_jobs.night.health import health_of
from spark_jobs.night.levels import Limits, base_of, data_set_levels, limits_of, resizes, structure_levels
from spark_jobs.night.progress import Progress, Watch
from spark_jobs.night.reduce import Reduced, files_of_days, merge_days, reduce_days, sum_days
from spark_jobs.night.statistics import HEALTH, POLICY, QUEUE, REDUCTION, SMDS, STRUCTURE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from planner_core.contracts.fits import CurveFit
    from planner_core.contracts.forecasts import Forecast, Score
    from planner_core.contracts.nightly import PlannedStructure
    from spark_jobs.history.store import Snapshot

    Plans = Mapping[tuple[str, str], tuple[PlannedStructure, ...]]

BATCH_ROWS = 30_000_000
"""The number of rows of the history that are reduced and stored at once; a killed run loses at most these."""
FIRST_BATCH_ROWS = 2_000_000
"""The number of rows of the first batch, before the number of statistics for each row is known."""
BATCH_STATISTICS = 1_000_000
"""The estimated number of statistics of one kind that pass through the memory of Spark's driver at once."""
MERGED_DAYS = 31
"""The number of days whose sums are merged and stored at once."""
IN_PROCESS_BELOW_ROWS = 5_000_000
"""The number of rows of a day below which this process reads them itself, because starting Spark takes longer. The process
holds the rows of one table and day in memory."""
ATTEMPTS = 5
"""The number of attempts, because another run may replace days of this run with those of another version."""
WORDS = {
    STRUCTURE: "structures",
    POLICY: "policies",
    SMDS: "data sets",
    QUEUE: "queues",
    HEALTH: "health of structures",
}

MakeSession = Callable[[int], "SparkSession"]
"""A function that starts Spark for a number of rows of the history."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The daily statistics of a version of the history, and the work that brought them up to date."""

    snapshot: Snapshot | None
    kept: DailySnapshot
    days_total: int = 0
    reduced: frozenset[str] = frozenset()
    """The filed days that were reduced."""
    gone: frozenset[str] = frozenset()
    rows_read: int = 0
    started_spark: bool = False
    told_of: frozenset[str] = frozenset()
    """The UTC days whose figures may have changed."""


@dataclass
class _Work:
    """The progress of a reduction."""

    reduced: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    told_of: set[str] = field(default_factory=set)
    rows_read: int = 0
    started_spark: bool = False


def night(
    history_url: str,
    facts: NightlyFacts,
    *,
    make_session: MakeSession,
    work_dir: Path,
    progress: Progress,
    republish: bool = False,
    batch_rows: int = BATCH_ROWS,
    in_process_below: int = IN_PROCESS_BELOW_ROWS,
) -> NightlyResult:
    """Return the results of one nightly run."""
    reduction = bring_up_to_date(
        history_url,
        make_session=make_session,
        work_dir=work_dir,
        progress=progress,
        batch_rows=batch_rows,
        in_process_below=in_process_below,
    )
    kept = reduction.kept
    with progress.stage("collecting", "Collecting the daily figures"):
        collected = collect(kept, cfcc_levels=facts.cfcc_levels)
        published = digests(kept)
        days = _days_to_tell(reduction, facts, published, republish=republish)
        daily = daily_of(kept, days)
        told = sorted(day for one in kept.filed().values() for day in one.days)
    with progress.stage("fitting", "Fitting curves and message mixes"):
        curves = fit_all(collected.points)
        mixes = fit_mix(collected.queue_days, collected.structure_days)
    plans = by_structure(facts.plans)
    limits = _limits(collected, facts, plans, [*curves, *facts.current_curves])
    tasks = _tasks(collected, limits, facts)
    with progress.stage("forecasting", f"{len(tasks)} forecasts"):
        forecasts = forecast_all(
            tasks,
            told=lambda done: progress.tell(
                "forecasting", done, len(tasks), f"{done} of {len(tasks)} forecasts"
            ),
        )
    with progress.stage("scoring", f"{len(facts.past_forecasts)} past forecasts"):
        scores = _scores(collected, facts)
    states = _states(collected, limits, plans, forecasts)
    healths = health_of(kept, states, facts)
    return NightlyResult(
        schema=SCHEMA,
        history=shown(history_url),
        history_version=None if reduction.snapshot is None else reduction.snapshot.delta.version(),
        first_day=dt.date.fromisoformat(told[0]) if told else None,
        last_day=dt.date.fromisoformat(told[-1]) if told else None,
        days_total=reduction.days_total,
        days_reduced=len(reduction.reduced),
        days_gone=len(reduction.gone),
        rows_read=reduction.rows_read,
        spark=reduction.started_spark,
        seconds=progress.seconds,
        curves=tuple(curves),
        mixes=tuple(mixes),
        forecasts=tuple(forecasts),
        scores=tuple(scores),
        findings=tuple(findings_of(states, facts, healths)),
        health=tuple(healths),
        days=tuple(map(dt.date.fromisoformat, sorted(days))),
        published=published,
        daily=tuple(daily),
        simulated=tuple(collected.simulated()),
    )


# ---- reducing --------------------------------------------------------------------------------------------------------


def fingerprints(history: History, snapshot: Snapshot) -> dict[str, str]:
    """Return a fingerprint of each filed day, which changes whenever the day's statistics would change."""
    words: dict[str, list[str]] = {}
    for (table, day), fingerprint in sorted(day_fingerprints(history, snapshot=snapshot).items()):
        # New rules or columns of the statistics change every fingerprint.
        words.setdefault(day, [str(REDUCTION)]).append(f"{table} {fingerprint}")
    return {day: hashlib.sha256("\n".join(of_day).encode()).hexdigest()[:32] for day, of_day in words.items()}


def bring_up_to_date(
    history_url: str,
    *,
    make_session: MakeSession,
    work_dir: Path,
    progress: Progress,
    batch_rows: int = BATCH_ROWS,
    in_process_below: int = IN_PROCESS_BELOW_ROWS,
) -> Reduction:
    """Reduce the days whose rows have changed, and return the statistics of one version of the history."""
    daily = Daily(History(history_url).url)
    # A site without uploads has no history yet, which is not an error.
    if not _is_there(history_url):
        return Reduction(None, DailySnapshot(daily, None, ()))
    history = History.open(history_url)
    work = _Work()
    with ExitStack() as stack:
        session: SparkSession | None = None
        snapshot: Snapshot | None = None
        wanted: dict[str, str] = {}
        # Files may be stored during a reduction, but the statistics must be of one version of the history.
        for _ in range(ATTEMPTS):
            with progress.stage("looking", "Finding changed days"):
                # Reading the version is cheaper than reading a snapshot, which is needed only if another process has
                # committed.
                if snapshot is None or _version(history) != snapshot.delta.version():
                    snapshot = history.snapshot()
                    wanted = fingerprints(history, snapshot)
                kept = daily.read()
                there = kept.filed()
                changed = sorted(
                    day for day in wanted if day not in there or there[day].fingerprint != wanted[day]
                )
                gone = sorted(there.keys() - wanted.keys())
                work.told_of |= {
                    told for day in (*changed, *gone) if day in there for told in there[day].days
                }
            if not changed and not gone:
                return Reduction(
                    snapshot,
                    kept,
                    days_total=len(wanted),
                    reduced=frozenset(work.reduced),
                    gone=frozenset(work.gone),
                    rows_read=work.rows_read,
                    started_spark=work.started_spark,
                    told_of=frozenset(work.told_of),
                )
            attempt = _Attempt(history, snapshot, daily, wanted, work, progress, batch_rows)
            changed = _merge(attempt, changed)
            changed = _sum(attempt, changed, in_process_below)
            # Starting Spark takes seconds; nearly all nightly runs do not need it.
            if changed and session is None:
                with progress.stage("starting", "Starting Spark"):
                    session = make_session(sum(_rows_of(snapshot, changed).values()))
                    stack.callback(session.stop)
                work.started_spark = True
            if session is not None and changed:
                _reduce(session, attempt, changed, work_dir)
            if gone:
                daily.replace({}, [], gone=gone)
                work.gone |= set(gone)
            daily.tidy()
    message = "The history or its daily statistics change faster than they can be reduced. Try again later."
    raise HistoryError(message)


def _version(history: History) -> int:
    return DeltaTable(history.url).version()


def _rows_of(snapshot: Snapshot, days: Sequence[str]) -> dict[str, int]:
    rows = dict.fromkeys(days, 0)
    for (_, day), parts in files_of_days(snapshot, days).items():
        rows[day] += sum(part.rows for part in parts)
    return rows


def _is_there(history_url: str) -> bool:
    history = History(history_url)
    if not history.is_local:
        return DeltaTable.is_deltatable(history.url)
    folder = Path(history.url)
    return folder.is_dir() and (folder / "_delta_log").is_dir()


@dataclass(frozen=True)
class _Attempt:
    """What the reduction of the changed days of one version of the history needs."""

    history: History
    snapshot: Snapshot
    daily: Daily
    wanted: Mapping[str, str]
    """The fingerprint of each filed day."""
    work: _Work
    progress: Progress
    batch_rows: int


def _merge(attempt: _Attempt, changed: Sequence[str]) -> list[str]:
    """Store the statistics of days that can be merged from the sums of their files; return the other days."""
    left: list[str] = []
    for begin in range(0, len(changed), MERGED_DAYS):
        days = changed[begin : begin + MERGED_DAYS]
        sentence = f"Merging the sums of {len(changed)} of {len(attempt.wanted)} days"
        with attempt.progress.stage("reducing", sentence):
            reduced = merge_days(attempt.history, attempt.snapshot, days)
            if not reduced.rows_read:
                left += days
                continue
            _store(attempt, reduced, list(reduced.rows_read))
        left += [day for day in days if day not in reduced.rows_read]
    return left


def _sum(attempt: _Attempt, changed: Sequence[str], in_process_below: int) -> list[str]:
    """Reduce the rows of days in this process; return the days that Spark must reduce."""
    small = [day for day, rows in _rows_of(attempt.snapshot, changed).items() if rows < in_process_below]
    left = set(changed).difference(small)
    done = 0
    # Larger batches would only lose more work if the run is killed.
    for days in Batches(attempt.snapshot, small, batch_rows=min(attempt.batch_rows, FIRST_BATCH_ROWS)):
        sentence = _sentence(days, done=done, of=len(small), total=len(attempt.wanted))
        with attempt.progress.stage("reducing", sentence):
            reduced = sum_days(attempt.history, attempt.snapshot, days)
            left |= set(days).difference(reduced.rows_read)
            if reduced.rows_read:
                _store(attempt, reduced, list(reduced.rows_read))
        done += len(days)
    return sorted(left)


def _sentence(days: Sequence[str], *, done: int, of: int, total: int) -> str:
    part = f", {done + 1} to {done + len(days)}" if len(days) < of else ""
    return f"Reducing {of} of {total} days{part}"


def _store(attempt: _Attempt, reduced: Reduced, days: Sequence[str]) -> None:
    """Store the statistics of days in one step."""
    told_of = days_told_of(reduced.statistics)
    filed = [
        Filed(day, attempt.wanted[day], reduced.rows_read[day], tuple(sorted(told_of.get(day, ()))))
        for day in days
    ]
    attempt.daily.replace(reduced.statistics, filed)
    work = attempt.work
    work.reduced |= set(days)
    work.rows_read += sum(reduced.rows_read.values())
    work.told_of |= {day for each in filed for day in each.days}


def _reduce(session: SparkSession, attempt: _Attempt, changed: Sequence[str], work_dir: Path) -> None:
    """Reduce the rows of days with Spark."""
    batches = Batches(attempt.snapshot, changed, batch_rows=attempt.batch_rows)
    done = 0
    for days in batches:
        sentence = _sentence(days, done=done, of=len(changed), total=len(attempt.wanted))
        progress = attempt.progress
        with progress.stage("reducing", sentence), Watch(session, progress, sentence) as watch:
            reduced = reduce_days(
                session,
                attempt.history,
                attempt.snapshot,
                days,
                work_dir=work_dir,
                began=lambda kind: watch.begin(WORDS[kind]),
            )
            _store(attempt, reduced, days)
        done += len(days)
        batches.learn(max((table.num_rows for table in reduced.statistics.values()), default=0))


class Batches:
    """Batches of days, limited by rows of the history and by the statistics that fit into the driver's memory.

    The number of statistics per row is not known in advance: with one interval a day, there is nearly one for each row;
    with intervals of five minutes, one for hundreds of rows. The first batch is small, and each one sets the size of
    the next.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        days: Sequence[str],
        *,
        batch_rows: int = BATCH_ROWS,
        first_rows: int = FIRST_BATCH_ROWS,
        most_statistics: int = BATCH_STATISTICS,
    ) -> None:
        self._days = list(days)
        self._rows = _rows_of(snapshot, days)
        self._most = batch_rows
        self._room = min(batch_rows, first_rows)
        self._most_statistics = most_statistics
        self._given = 0

    def __iter__(self) -> Iterator[list[str]]:
        """Yield batches of at least one day; `learn` sets the size of later ones."""
        at = 0
        while at < len(self._days):
            batch = [self._days[at]]
            rows = self._rows[self._days[at]]
            for day in self._days[at + 1 :]:
                if rows + self._rows[day] > self._room:
                    break
                batch.append(day)
                rows += self._rows[day]
            at += len(batch)
            self._given = rows
            yield batch

    def learn(self, statistics: int) -> None:
        """Set the size of the next batch from the last one's statistics of the most frequent kind."""
        if statistics:
            self._room = min(self._most, max(self._given * self._most_statistics // statistics, 1))
        else:
            self._room = self._most


def days_told_of(statistics: Mapping[str, pa.Table]) -> dict[str, set[str]]:
    """Return the UTC days of the structures and data sets in each filed day."""
    found: dict[str, set[str]] = {}
    for kind in (STRUCTURE, SMDS):
        pairs = statistics[kind].select(["filed", "day"]).group_by(["filed", "day"]).aggregate([])
        for filed, day in zip(pairs["filed"].to_pylist(), pairs["day"].to_pylist(), strict=True):
            found.setdefault(filed.isoformat(), set()).add(day.isoformat())
    return found


def digests(kept: DailySnapshot) -> dict[str, str]:
    """Return a digest of each UTC day, which changes whenever the day's figures may have changed."""
    words: dict[str, list[str]] = {}
    for one in kept.filed().values():
        for day in one.days:
            words.setdefault(day, []).append(f"{one.filed} {one.fingerprint}")
    return {
        day: hashlib.sha256("\n".join(sorted(of_day)).encode()).hexdigest()[:16]
        for day, of_day in sorted(words.items())
    }


def _days_to_tell(
    reduction: Reduction, facts: NightlyFacts, published: Mapping[str, str], *, republish: bool
) -> set[str]:
    """Return the UTC days whose figures the application must replace."""
    if republish:
        return set(published) | set(facts.published or ())
    days = set(reduction.told_of)
    if facts.published is not None:
        before = facts.published
        # Includes days that an earlier run reduced before it was killed: their figures were never stored.
        days |= {day for day in published.keys() | before.keys() if published.get(day) != before.get(day)}
    return days


# ---- forecasts -------------------------------------------------------------------------------------------------------


def _limits(
    collected: Collected, facts: NightlyFacts, planned: Plans, curves: Sequence[CurveFit]
) -> dict[tuple[str, str], Limits]:
    found = {}
    for key, series in collected.structures.items():
        plans = planned.get(key, ())
        base = base_of(series.coupling_facility, facts.cfcc_levels, curves)
        policy = collected.policies.get(key, Policy())
        found[key] = limits_of(series, policy, plans[0] if plans else None, base_bytes=base)
    return found


def _tasks(collected: Collected, limits: Mapping[tuple[str, str], Limits], facts: NightlyFacts) -> list[Task]:
    made_on = _made_on(collected, facts)
    tasks = []
    for key, series in sorted(collected.structures.items()):
        for measure, totals in (("entries", series.entries_total), ("elements", series.elements_total)):
            total = series.last(totals)
            tasks.append(
                Task(
                    peaks=_peaks(series, measure),
                    levels=tuple(structure_levels(total, limits[key])),
                    resizes=tuple(resizes(limits[key])),
                    total=total,
                    made_on=made_on[key[0]],
                    horizon_days=facts.horizon_days,
                    is_simulated=bool(series.is_simulated.any()),
                )
            )
    for _, one in sorted(collected.data_sets.items()):
        blocks = one.blocks_total[one.blocks_total > 0]
        total = int(blocks[-1]) if len(blocks) else None
        tasks.append(
            Task(
                peaks=_blocks(one),
                levels=tuple(data_set_levels(total)),
                resizes=(),
                total=total,
                made_on=made_on[one.qsg],
                horizon_days=facts.horizon_days,
                is_simulated=bool(one.is_simulated.any()),
            )
        )
    return tasks


def _made_on(collected: Collected, facts: NightlyFacts) -> dict[str, int]:
    """Return the day that the forecasts of each group start from: yesterday or, for a simulated group, its last day."""
    found: dict[str, int] = {}
    for one in collected.series():
        whole = one.days[one.is_whole]
        last = EPOCH + int(whole[-1] if len(whole) else one.days[-1])
        found[one.qsg] = max(found.get(one.qsg, last), last)
    if facts.today is not None:
        # Today is not over, so its peak is not known yet.
        yesterday = facts.today.toordinal() - 1
        simulated = set(collected.simulated())
        found = {qsg: last if qsg in simulated else yesterday for qsg, last in found.items()}
    return found


def _peaks(series: Series, measure: str) -> DailyPeaks:
    return DailyPeaks(
        series.qsg, series.structure, measure, series.days + EPOCH, series.peaks(measure), measure
    )


def _blocks(one: DataSet) -> DailyPeaks:
    return DailyPeaks(
        one.qsg, one.structure, "smds_blocks", one.days + EPOCH, one.peaks(), "blocks", one.queue_manager
    )


def _scores(collected: Collected, facts: NightlyFacts) -> list[Score]:
    found = []
    for past in facts.past_forecasts:
        forecast = past.json
        key = (forecast.qsg, forecast.structure)
        actual: DailyPeaks | None = None
        if forecast.measure == "smds_blocks":
            data_set = collected.data_sets.get((*key, forecast.queue_manager or ""))
            actual = None if data_set is None else _blocks(data_set)
        elif key in collected.structures:
            actual = _peaks(collected.structures[key], forecast.measure)
        if actual is not None:
            found.append(score(forecast, actual, forecast_id=past.id))
    return found


# ---- findings --------------------------------------------------------------------------------------------------------


def _states(
    collected: Collected,
    limits: Mapping[tuple[str, str], Limits],
    plans: Plans,
    forecasts: Sequence[Forecast],
) -> list[State]:
    of_structure: dict[tuple[str, str], list[Forecast]] = {}
    for one in forecasts:
        of_structure.setdefault((one.qsg, one.structure), []).append(one)
    data_sets: dict[tuple[str, str], list[DataSetState]] = {}
    last_days: dict[str, int] = {}
    for series in collected.series():
        last_days[series.qsg] = max(last_days.get(series.qsg, 0), int(series.days[-1]))
    for data_set in collected.data_sets.values():
        state = _data_set_state(data_set)
        if state is not None:
            data_sets.setdefault((data_set.qsg, data_set.structure), []).append(state)
    return [
        State(
            qsg=key[0],
            structure=key[1],
            last_day=date_of(last_days[key[0]]),
            days=_recent_days(series),
            coupling_facility=series.coupling_facility,
            size_bytes=limits[key].size_bytes,
            entries_total=series.last(series.entries_total),
            elements_total=series.last(series.elements_total),
            initsize_bytes=collected.policies.get(key, Policy()).initsize_bytes,
            base_bytes=limits[key].base_bytes,
            offload_pct=limits[key].offload_pct,
            forecasts=of_structure.get(key, ()),
            data_sets=data_sets.get(key, ()),
            plans=plans.get(key, ()),
            is_simulated=bool(series.is_simulated.any()),
        )
        for key, series in sorted(collected.structures.items())
    ]


def _recent_days(series: Series) -> list[Day]:
    first = int(series.days[-1]) - DEMAND_DAYS + 1
    begin = int((series.days < first).sum())
    columns = (
        series.days,
        series.entries_peak,
        series.elements_peak,
        series.full_count,
        series.entries_total,
        series.elements_total,
    )
    return [
        Day(
            date_of(day),
            entries_peak=number(entries),
            elements_peak=number(elements),
            full_count=number(full),
            entries_total=number(all_entries),
            elements_total=number(all_elements),
        )
        for day, entries, elements, full, all_entries, all_elements in zip(
            *(one[begin:].tolist() for one in columns), strict=True
        )
    ]


def _data_set_state(one: DataSet) -> DataSetState | None:
    return DataSetState(
        one.queue_manager,
        date_of(int(one.days[-1])),
        number(one.blocks_peak[-1]) or 0,
        number(one.blocks_total[-1]) or 0,
        number(one.failed_allocates[-1]),
    )
