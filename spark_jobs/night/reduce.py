"""Reduce days of the history to daily statistics: from the sums that ingest stored, from rows in this process, or in Spark SQL.

Every day is reduced from its own files alone, so days may be reduced in any order, together or one by one, on one machine
or several. The statistics are the same, because they are counts, whole sums, maxima and minima.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from planner_core.simulated import FILE_PREFIX
from spark_jobs.history.days import (
    NAMED_LATER,
    day_sums,
    has_twins,
    spark_schema,
    standing_rows,
    standing_sql,
)
from spark_jobs.history.schema import (
    ALLOCATION,
    DAY_US,
    HOUR_US,
    IN_HOURS_AT_MOST,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    stored_schema,
)
from spark_jobs.history.staging import WRITTEN_AT_FAMILIES
from spark_jobs.history.store import named
from spark_jobs.history.summaries import JUDGED, POLICIES, STATES, NotSummable, check_sums, daily_sums, merged
from spark_jobs.night.measures import (
    LARGEST,
    LARGEST_WORST,
    LAST_SECOND,
    MEASURED,
    TIME_SHIFT,
    WORST_UNIT,
    columns_of,
)
from spark_jobs.night.statistics import (
    ENTRIES_SHIFT,
    FAMILIES,
    HEALTH,
    KINDS,
    OTHER_FAMILIES,
    POLICY,
    QUEUE,
    SMDS,
    STATISTICS,
    STEP_BYTES,
    STRUCTURE,
    kept_schema,
    keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark_jobs.history.staging import Part
    from spark_jobs.history.store import History, Snapshot

LOOKERS = 4
"""The number of threads that look for duplicate rows; each reads one column and sorts it."""

# Parquet reads only the named columns.
_ALWAYS = ("file_name", "source", "qsg", "structure", "written_at", "interval_start", "interval_end")
COLUMNS: dict[str, tuple[str, ...]] = {
    STRUCTURE_USAGE: (
        *_ALWAYS,
        "coupling_facility",
        "allocated_at",
        "structure_full_count",
        "entries_in_use",
        "entries_total",
        "elements_in_use",
        "elements_total",
        "entries_in_use_pct",
        "elements_in_use_pct",
        "size_bytes",
        "size_max_bytes",
        "entries_written",
        "elements_written",
        *columns_of(STRUCTURE_USAGE),
    ),
    ALLOCATION: (
        *_ALWAYS,
        "coupling_facility",
        "allocated_at",
        "entries_in_use",
        "entries_total",
        "elements_in_use",
        "elements_total",
        "size_bytes",
        "size_max_bytes",
        "policy_size_bytes",
        "policy_initsize_bytes",
        "full_threshold_pct",
        "mq_offload_rules",
    ),
    SMDS_USAGE: (
        *_ALWAYS,
        "queue_manager",
        "blocks_data",
        "blocks_in_use",
        "blocks_in_use_max",
        "messages",
        "messages_max",
        "failed_allocates",
        *columns_of(SMDS_USAGE),
    ),
    QUEUE_USAGE: (
        *_ALWAYS,
        "queue_manager",
        "queue",
        "puts",
        "put_bytes",
        "put_size_min_bytes",
        "put_size_max_bytes",
        "persistent_puts",
        "puts_to_waiting_getter",
        "depth_max",
        *columns_of(QUEUE_USAGE),
    ),
}
"""Columns that are read from each table, in addition to those that determine its valid rows."""

TABLES_OF: dict[str, tuple[str, ...]] = {
    STRUCTURE: (STRUCTURE_USAGE, ALLOCATION),
    POLICY: (ALLOCATION,),
    SMDS: (SMDS_USAGE,),
    QUEUE: (QUEUE_USAGE,),
    HEALTH: tuple(MEASURED),
}


@dataclass(frozen=True, slots=True)
class Reduced:
    """The statistics of some filed days, by kind, with the number of rows of each day."""

    statistics: dict[str, pa.Table]
    rows_read: dict[str, int]


def files_of_days(snapshot: Snapshot, days: Iterable[str]) -> dict[tuple[str, str], list[Part]]:
    """Return the files of filed days, by table and day."""
    wanted = set(days)
    found: dict[tuple[str, str], list[Part]] = {}
    for part in snapshot.parts:
        if part.day in wanted and part.table in COLUMNS:
            found.setdefault((part.table, part.day), []).append(part)
    return found


def reduce_days(
    spark: SparkSession,
    history: History,
    snapshot: Snapshot,
    days: Sequence[str],
    *,
    work_dir: Path,
    began: Callable[[str], None] = lambda kind: None,
    kinds: Sequence[str] = KINDS,
) -> Reduced:
    """Reduce filed days to daily statistics.

    Args:
        spark: the session.
        history: the history.
        snapshot: the version of the history to reduce.
        days: filed days such as `2026-11-20`.
        work_dir: the folder for temporary copies of a history in an object store.
        began: a function that is called with each kind before it is reduced.
        kinds: the kinds of statistics; fewer only to measure them.
    """
    files = files_of_days(snapshot, days)
    with ThreadPoolExecutor(LOOKERS) as pool:
        # Choosing among duplicate rows needs a sort of all rows, and few days have duplicates (decision record 0012).
        twins = dict(
            zip(files, pool.map(lambda one: has_twins(history, *one, snapshot=snapshot), files), strict=True)
        )
    paths = _readable(history, files, work_dir)
    standing = {
        table: _standing(spark, table, snapshot, {one: paths[one] for one in files if one[0] == table}, twins)
        for table in COLUMNS
    }
    statistics: dict[str, pa.Table] = {}
    for kind in kinds:
        began(kind)
        views = [view for table in TABLES_OF[kind] for view in standing[table]]
        if not views:
            statistics[kind] = kept_schema(kind).empty_table()
            continue
        found = spark.sql(query(kind, views)).toArrow()
        schema = kept_schema(kind)
        statistics[kind] = found.select(schema.names).cast(schema)
    rows = dict.fromkeys(days, 0)
    for (_, day), parts in files.items():
        rows[day] += sum(part.rows for part in parts)
    return Reduced(statistics, rows)


def merge_days(history: History, snapshot: Snapshot, days: Sequence[str]) -> Reduced:
    """Merge the sums that ingest stored with the rows to daily statistics, without reading rows.

    Days with a key that was delivered twice are not in the result, nor are days with files that have no sums: their rows
    must be reduced.
    """
    dead = snapshot.ledger.dead_commits
    return _merged(
        snapshot,
        days,
        lambda parts: day_sums(history.place, parts, (STATES, POLICIES, JUDGED), dead=dead),
    )


def sum_days(history: History, snapshot: Snapshot, days: Sequence[str]) -> Reduced:
    """Read the rows of days in this process, sum them up as ingest does, and merge the sums to daily statistics.

    Days with figures that cannot be summed up exactly are not in the result: Spark must reduce their rows.
    """
    dead = snapshot.ledger.dead_commits

    def sums(parts: Sequence[Part]) -> dict[str, pa.Table] | None:
        table = parts[0].table
        rows = standing_rows(history.place, parts, (*COLUMNS[table], "xcf_structure"), dead=dead)
        try:
            return daily_sums(table, rows)
        except NotSummable:
            return None

    return _merged(snapshot, days, sums)


def _merged(
    snapshot: Snapshot, days: Sequence[str], sums_of: Callable[[Sequence[Part]], dict[str, pa.Table] | None]
) -> Reduced:
    """Merge the sums of days to daily statistics; `sums_of` returns the sums of the files of a table's day."""
    files = files_of_days(snapshot, days)
    groups = snapshot.ledger.groups
    sums: dict[str, list[tuple[str, pa.Table]]] = {name: [] for name in (*COLUMNS, POLICIES, JUDGED)}
    merged_days = []
    for day in days:
        tables = {table: parts for (table, filed), parts in files.items() if filed == day}
        found = {table: sums_of(parts) for table, parts in tables.items()}
        if any(one is None for one in found.values()):
            continue
        merged_days.append(day)
        for table, one in found.items():
            for name, rows in (one or {}).items():
                rows = named(rows, groups) if table in NAMED_LATER else rows
                told = pc.and_(pc.not_equal(rows["qsg"], ""), pc.not_equal(rows["structure"], ""))
                sums[table if name == STATES else name].append((day, rows.filter(told)))
    try:
        statistics = {kind: merge(sums) for kind, merge in _MERGES.items()}
    except NotSummable:
        return Reduced({}, {})
    rows_of = dict.fromkeys(merged_days, 0)
    for (_, day), parts in files.items():
        if day in rows_of:
            rows_of[day] += sum(part.rows for part in parts)
    return Reduced(statistics, rows_of)


def query(kind: str, views: Sequence[tuple[str, str]]) -> str:
    """Return the SQL that reduces the valid rows: pairs of a table of the history and a query over its rows."""
    return _QUERIES[kind](views)


def _readable(
    history: History, files: Mapping[tuple[str, str], Sequence[Part]], work_dir: Path
) -> dict[tuple[str, str], list[str]]:
    """Return paths that Spark can read: for an object store, copies of the required columns."""
    if history.is_local:
        return {one: [f"{history.url}/{part.path}" for part in parts] for one, parts in files.items()}
    found: dict[tuple[str, str], list[str]] = {}
    for (table, day), parts in files.items():
        names = [word.split("`")[1] for word in spark_schema(table, COLUMNS[table]).split(", ")]
        for number, part in enumerate(parts):
            copy = work_dir / "copies" / table / f"{day}-{number}.parquet"
            copy.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(history.place.read(part.path, columns=names), copy)
            found.setdefault((table, day), []).append(str(copy))
    return found


def _standing(
    spark: SparkSession,
    table: str,
    snapshot: Snapshot,
    paths: Mapping[tuple[str, str], Sequence[str]],
    twins: Mapping[tuple[str, str], bool],
) -> list[tuple[str, str]]:
    """Return queries for the valid rows: one for the days with duplicates, one for the others."""
    found = []
    for has in (False, True):
        chosen = [path for one, of_day in paths.items() if twins[one] == has for path in of_day]
        if not chosen:
            continue
        view = f"{table}_{'twins' if has else 'plain'}"
        # Without this option, Spark expands brackets and asterisks in the history's path.
        reader = spark.read.schema(spark_schema(table, COLUMNS[table])).option("__globPaths__", "false")
        reader.parquet(*chosen).createOrReplaceTempView(view)
        found.append((table, standing_sql(table, view, snapshot=snapshot, columns=COLUMNS[table], twins=has)))
    return found


# ---- the queries -----------------------------------------------------------------------------------------------------

_SQL_TYPES = {"string": "STRING", "int64": "BIGINT", "double": "DOUBLE", "timestamp[us, tz=UTC]": "TIMESTAMP"}
_TYPE_OF = {one.name: _SQL_TYPES.get(str(one.type)) for table in COLUMNS for one in stored_schema(table)}

_END = "unix_micros(interval_end)"
_START = (
    f"CASE WHEN interval_start > interval_end OR {_END} - unix_micros(interval_start) > {IN_HOURS_AT_MOST * HOUR_US} "
    f"THEN {_END} ELSE coalesce(unix_micros(interval_start), {_END}) END"
)
_IS_WRITTEN = " OR ".join(f"source LIKE '{family}%'" for family in WRITTEN_AT_FAMILIES)
_FAMILY = " ".join(f"WHEN source LIKE '{family}%' THEN {number}" for number, family in enumerate(FAMILIES))
_SEEN = """\
  count(*) AS observations, timestamp_micros(min(start_us)) AS first_at, timestamp_micros(max(end_us)) AS last_at,
  CAST(max(simulated) AS INT) AS is_simulated"""
_HOURS = f"bit_or(shiftleft(1, CAST(middle_us DIV {HOUR_US} % 24 AS INT))) AS hours"
_DAYS = "date_from_unix_date(filed_on) AS filed, date_from_unix_date(told_of) AS day"


def _rows(views: Sequence[tuple[str, str]], *names: str) -> str:
    """Return the SQL for rows of structures in a group, with the days that they are filed under and that they are about."""
    selects = []
    for table, standing in views:
        told = ", ".join(
            name if name in COLUMNS[table] else f"CAST(NULL AS {_TYPE_OF[name]}) AS {name}" for name in names
        )
        selects.append(f"""\
  SELECT CASE WHEN {_IS_WRITTEN} THEN unix_micros(written_at) ELSE {_END} END AS filed_us,
    CASE {_FAMILY} ELSE {OTHER_FAMILIES} END AS family, {_START} AS start_us, {_END} AS end_us,
    file_name LIKE '{FILE_PREFIX}%' AS simulated, qsg, structure, {told}
  FROM ({standing})
  WHERE qsg <> '' AND structure <> ''""")  # noqa: S608 - names and numbers of ours, as everywhere below
    together = "\n  UNION ALL\n".join(selects)
    return f"""(
  SELECT *, CAST(filed_us DIV {DAY_US} AS INT) AS filed_on, CAST(middle_us DIV {DAY_US} AS INT) AS told_of FROM (
  SELECT *, (start_us + end_us) DIV 2 AS middle_us FROM (
{together}
)))"""  # noqa: S608


def _structures(views: Sequence[tuple[str, str]]) -> str:
    state = "coupling_facility, allocated_at, size_bytes, entries_total, elements_total"
    rows = _rows(
        views, *state.split(", "), "entries_in_use", "elements_in_use", "entries_in_use_pct", "elements_in_use_pct",
        "structure_full_count", "size_max_bytes", "entries_written", "elements_written",
    )  # fmt: skip
    return f"""\
SELECT {_DAYS}, qsg, structure, family, {state}, {_SEEN}, {_HOURS},
  max(entries_in_use) AS entries_peak, max(elements_in_use) AS elements_peak,
  max(entries_in_use_pct) AS entries_pct_peak, max(elements_in_use_pct) AS elements_pct_peak,
  max(CASE WHEN entries_in_use < {ENTRIES_SHIFT // 2} AND elements_in_use < {ENTRIES_SHIFT}
    THEN entries_in_use * {ENTRIES_SHIFT} + elements_in_use END) AS fullest,
  try_sum(structure_full_count) AS full_count, max(size_max_bytes) AS size_max_bytes,
  try_sum(entries_written) AS entries_written, try_sum(elements_written) AS elements_written
FROM {rows}
GROUP BY filed_on, told_of, qsg, structure, family, {state}"""  # noqa: S608


def _policies(views: Sequence[tuple[str, str]]) -> str:
    policy = "policy_size_bytes, policy_initsize_bytes, full_threshold_pct, mq_offload_rules"
    return f"""\
SELECT {_DAYS}, qsg, structure, {policy}, {_SEEN}
FROM {_rows(views, *policy.split(", "))}
WHERE coalesce(policy_size_bytes, policy_initsize_bytes, full_threshold_pct) IS NOT NULL OR mq_offload_rules IS NOT NULL
GROUP BY filed_on, told_of, qsg, structure, {policy}"""  # noqa: S608


def _data_sets(views: Sequence[tuple[str, str]]) -> str:
    rows = _rows(
        views, "queue_manager", "blocks_data", "blocks_in_use", "blocks_in_use_max", "messages", "messages_max",
        "failed_allocates",
    )  # fmt: skip
    return f"""\
SELECT {_DAYS}, qsg, structure, queue_manager, family, {_SEEN}, {_HOURS},
  greatest(max(blocks_in_use_max), max(blocks_in_use)) AS blocks_peak, max(blocks_data) AS blocks_total,
  greatest(max(messages_max), max(messages)) AS messages_peak, try_sum(failed_allocates) AS failed_allocates
FROM {rows}
WHERE queue_manager IS NOT NULL
GROUP BY filed_on, told_of, qsg, structure, queue_manager, family"""  # noqa: S608


def _queues(views: Sequence[tuple[str, str]]) -> str:
    """Return the SQL for queues; it uses either 115-216 or 116 for each, because both count the same messages."""
    rows = _rows(
        views, "queue_manager", "queue", "puts", "put_bytes", "put_size_min_bytes", "put_size_max_bytes",
        "persistent_puts", "puts_to_waiting_getter", "depth_max",
    )  # fmt: skip
    summed = (
        "observations",
        "puts",
        "put_bytes",
        "put_size_squares",
        "persistent_puts",
        "puts_to_waiting_getter",
    )
    # In ANSI mode, Spark's default, sum() ends the whole job on an overflow. try_sum() loses one figure.
    sums = ", ".join(f"try_sum({name}) AS {name}" for name in summed)
    queue = "filed_on, told_of, qsg, structure, queue"
    return f"""\
SELECT {_DAYS}, qsg, structure, queue, timestamp_micros(min(start_us)) AS first_at,
  timestamp_micros(max(end_us)) AS last_at, CAST(max(simulated) AS INT) AS is_simulated, {sums},
  min(put_size_min_bytes) AS put_size_min_bytes, max(put_size_max_bytes) AS put_size_max_bytes,
  max(depth_peak) AS depth_peak
FROM (SELECT *, min(family) OVER (PARTITION BY filed_on, qsg, structure, queue, queue_manager) AS first_family FROM (
  SELECT {queue}, queue_manager, family, count(*) AS observations, min(start_us) AS start_us, max(end_us) AS end_us,
    max(simulated) AS simulated, try_sum(puts) AS puts, try_sum(put_bytes) AS put_bytes,
    try_sum(try_multiply(puts, try_multiply(steps, steps))) AS put_size_squares,
    try_sum(persistent_puts) AS persistent_puts, try_sum(puts_to_waiting_getter) AS puts_to_waiting_getter,
    min(put_size_min_bytes) AS put_size_min_bytes, max(put_size_max_bytes) AS put_size_max_bytes,
    max(depth_max) AS depth_peak
  FROM (SELECT *, CASE WHEN puts > 0 THEN try_add(put_bytes, {STEP_BYTES} * puts - 1) DIV ({STEP_BYTES} * puts) END AS steps
    FROM {rows})
  WHERE queue IS NOT NULL
  GROUP BY {queue}, queue_manager, family
)) WHERE family = first_family
GROUP BY {queue}"""  # noqa: S608


def _health(views: Sequence[tuple[str, str]]) -> str:
    """Return the SQL for the health of structures: each row is judged by each guideline that applies to it."""
    judged = "\n  UNION ALL\n".join(
        _judged(table, [view for view in views if view[0] == table])
        for table in MEASURED
        if any(view[0] == table for view in views)
    )
    value = (
        f"least(scale * part * {WORST_UNIT} DIV greatest(whole, 1), {LARGEST_WORST}) * {TIME_SHIFT} "
        f"+ least(greatest(end_us DIV 1000000, 0), {LAST_SECOND})"
    )
    keys_of = "qsg, structure, measure, reporter, coupling_facility, queue"
    return f"""\
SELECT {_DAYS}, {keys_of}, {_SEEN},
  sum(is_judged) AS intervals, sum(is_judged * is_not_good) AS above_good, sum(is_judged * is_above) AS above_limit,
  max(CASE WHEN is_judged = 1 THEN {value} END) AS worst
FROM (
  SELECT *, CAST(whole + CASE WHEN adds_part THEN part ELSE 0 END >= least_requests AS BIGINT) AS is_judged,
    CAST(scale * part > limit_ * whole AS BIGINT) AS is_above,
    CAST(CASE WHEN good IS NULL THEN scale * part > limit_ * whole ELSE scale * part >= good * whole END AS BIGINT)
      AS is_not_good
  FROM (
{judged}
  )
  WHERE part IS NOT NULL AND whole IS NOT NULL AND reporter IS NOT NULL
)
GROUP BY filed_on, told_of, {keys_of}"""  # noqa: S608


def _judged(table: str, views: Sequence[tuple[str, str]]) -> str:
    """Return the SQL that makes a row for each measure of a row of the history, with the numbers of its guideline."""
    lines = []
    for each in MEASURED[table]:
        limits = each.limits
        of_family = f"family = {FAMILIES.index(each.family)}"
        parts, wholes = (" + ".join(map(_plausible, names)) or "1" for names in (each.parts, each.wholes))
        lines.append(
            f"'{each.measure}', {each.reporter}, CASE WHEN {of_family} THEN {parts} END, CAST({wholes} AS BIGINT), "
            f"CAST({limits.scale} AS BIGINT), CAST({limits.limit} AS BIGINT), "
            f"CAST({'NULL' if limits.good is None else limits.good} AS BIGINT), CAST({limits.least} AS BIGINT), "
            f"{str(limits.adds_part).lower()}"
        )
    names = dict.fromkeys(
        (*columns_of(table), *(name for name in ("coupling_facility", "queue") if name in COLUMNS[table]))
    )
    place = ", ".join(
        name if name in names else f"CAST(NULL AS STRING) AS {name}"
        for name in ("coupling_facility", "queue")
    )
    stacked = ", ".join(lines)
    return f"""\
    SELECT filed_on, told_of, qsg, structure, start_us, end_us, simulated, {place},
      stack({len(lines)}, {stacked})
        AS (measure, reporter, part, whole, scale, limit_, good, least_requests, adds_part)
    FROM {_rows(views, *names)}"""  # noqa: S608


def _plausible(name: str) -> str:
    return f"CASE WHEN {name} BETWEEN 0 AND {LARGEST} THEN {name} END"


_QUERIES: dict[str, Callable[[Sequence[tuple[str, str]]], str]] = {
    STRUCTURE: _structures,
    POLICY: _policies,
    SMDS: _data_sets,
    QUEUE: _queues,
    HEALTH: _health,
}


# ---- merging ---------------------------------------------------------------------------------------------------------

_Sums = Mapping[str, Sequence[tuple[str, pa.Table]]]


def _together(found: Sequence[tuple[str, pa.Table]]) -> pa.Table | None:
    """Return the sums of several days with the days that they are filed under."""
    tables = [
        rows.append_column("filed", pa.repeat(pa.scalar(dt.date.fromisoformat(day)), rows.num_rows))
        for day, rows in found
    ]
    return pa.concat_tables(tables, promote_options="default") if tables else None


def _kept(kind: str, rows: pa.Table, keys: Sequence[str], figures: Mapping[str, tuple[str, str]]) -> pa.Table:
    """Merge sums to a kind of statistics: for each figure, its name there, and how it is merged."""
    hows = {name: how for name, (_, how) in figures.items()}
    check_sums(rows, hows.items())
    found = merged(rows, ["filed", *keys], hows.items())
    found = found.rename_columns(
        [figures[name][0] if name in figures else name for name in found.column_names]
    )
    schema = kept_schema(kind)
    return found.select(schema.names).cast(schema)


def _figures(kind: str, **named_otherwise: str) -> dict[str, tuple[str, str]]:
    """Return the figures of a kind by their names in the sums: the name of the statistic and how it is merged."""
    hows = {"fullest": "max"}
    return {
        named_otherwise.get(one.name, one.name): (one.name, hows.get(one.merge, one.merge))
        for one in STATISTICS[kind]
        if one.merge not in ("key", "or")
    }


def _merge_structures(sums: _Sums) -> pa.Table:
    rows = _together([*sums[STRUCTURE_USAGE], *sums[ALLOCATION]])
    if rows is None:
        return kept_schema(STRUCTURE).empty_table()
    figures = _figures(
        STRUCTURE, entries_peak="entries_in_use", elements_peak="elements_in_use", full_count="structure_full_count",
        entries_pct_peak="entries_in_use_pct", elements_pct_peak="elements_in_use_pct",
    )  # fmt: skip
    return _kept(STRUCTURE, _with_columns(rows, kept_schema(STRUCTURE), figures), keys(STRUCTURE), figures)


def _merge_policies(sums: _Sums) -> pa.Table:
    rows = _together(sums[POLICIES])
    if rows is None:
        return kept_schema(POLICY).empty_table()
    return _kept(POLICY, rows, keys(POLICY), _figures(POLICY))


def _merge_data_sets(sums: _Sums) -> pa.Table:
    rows = _together(sums[SMDS_USAGE])
    if rows is None:
        return kept_schema(SMDS).empty_table()
    rows = rows.filter(pc.is_valid(rows["queue_manager"]))
    return _kept(SMDS, rows, keys(SMDS), _figures(SMDS, blocks_total="blocks_data"))


def _merge_queues(sums: _Sums) -> pa.Table:
    """Merge the sums of queues; either 115-216 or 116 is used for each queue manager, because both count the same messages."""
    rows = _together(sums[QUEUE_USAGE])
    if rows is None:
        return kept_schema(QUEUE).empty_table()
    rows = rows.filter(pc.is_valid(rows["queue"]))
    # A join needs values, and treats nulls as different from one another.
    rows = rows.append_column("manager", pc.fill_null(rows["queue_manager"], ""))
    rows = rows.append_column("is_manager", pc.is_valid(rows["queue_manager"]))
    whose = ["filed", "qsg", "structure", "queue", "manager", "is_manager"]
    first = rows.group_by(whose).aggregate([("family", "min")])
    rows = rows.join(first, whose, join_type="inner")
    rows = rows.filter(pc.equal(rows["family"], rows["family_min"]))
    return _kept(QUEUE, rows, keys(QUEUE), _figures(QUEUE, depth_peak="depth_max"))


def _merge_health(sums: _Sums) -> pa.Table:
    rows = _together(sums[JUDGED])
    if rows is None:
        return kept_schema(HEALTH).empty_table()
    return _kept(HEALTH, rows, keys(HEALTH), _figures(HEALTH))


def _with_columns(rows: pa.Table, schema: pa.Schema, figures: Mapping[str, tuple[str, str]]) -> pa.Table:
    """Add the figures that no file of these days has, as unknown."""
    for name, (statistic, _) in figures.items():
        if name not in rows.schema.names:
            rows = rows.append_column(name, pa.nulls(rows.num_rows, schema.field(statistic).type))
    return rows


_MERGES: dict[str, Callable[[_Sums], pa.Table]] = {
    STRUCTURE: _merge_structures,
    POLICY: _merge_policies,
    SMDS: _merge_data_sets,
    QUEUE: _merge_queues,
    HEALTH: _merge_health,
}
