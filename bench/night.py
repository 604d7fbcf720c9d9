"""The nightly run: first reductions compared with Spark, DuckDB and Polars, and runs over a small, a short and a long history.

Most rows are in the short history: hourly intervals of structures, data sets and queues on each day. The long history
adds nine times as many earlier days with one interval each, so that its runs show how the cost depends on the length of
a history. Each run has one new day, the same in both histories.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from planner_core.names import cfrm_structure_name
from spark_jobs.history.days import standing_sql
from spark_jobs.history.schema import (
    ALLOCATION,
    DAY_US,
    HOUR_US,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    row_schema,
)
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, Snapshot, new_commit_id
from spark_jobs.night import reduce
from spark_jobs.night.__main__ import SPARK_CONF
from spark_jobs.night.run import FIRST_BATCH_ROWS, MERGED_DAYS, Batches, fingerprints
from spark_jobs.night.statistics import (
    ENTRIES_SHIFT,
    FAMILIES,
    HEALTH,
    KINDS,
    OTHER_FAMILIES,
    POLICY,
    QUEUE,
    SMDS,
    STRUCTURE,
    kept_schema,
)
from spark_jobs.session import build_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUP = "BEN1"
FIRST_DAY = dt.date(2024, 1, 1)
HOURS = 24
MANAGERS = ("BQ01", "BQ02")
FACILITIES = ("BENCF1", "BENCF2")
QUEUES_A_STRUCTURE = 4
WITH_DATA_SETS = 4
"""Every structure whose number is a multiple of this value offloads messages."""
HOURS_A_COMMIT = 10 * HOURS
ROWS_AN_HOUR = len(MANAGERS) + len(MANAGERS) / WITH_DATA_SETS + 2 + QUEUES_A_STRUCTURE
"""Number of rows of a structure: QEST of each queue manager, QESD if it offloads, two of 74-4, and one for each queue.
"""
TIMES_AS_LONG = 10
HISTORIES = ("small", "short", "long")
MANY_ROWS = 10_000_000
"""The number of rows from which on the aim for a large first reduction applies."""
ENGINES = ("sums", "rows", "Spark", "DuckDB", "Polars")
"""The engines of a first reduction, in the order of each round: cfplan from the sums of files or from rows, and others."""
LARGE_ENGINES, LARGE_ROUNDS = ("sums", "rows", "DuckDB"), 1
"""The engines and the number of rounds for the large history: its aim compares these only, and a round of all takes minutes."""
COMPARED = tuple(kind for kind in KINDS if kind != HEALTH)
"""The kinds of statistics that all engines calculate: DuckDB has no function like Spark's `stack`, with which health is judged."""
ROOT = Path(__file__).parents[1]

Tables = dict[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Aims:
    """The aims of the nightly run: seconds, and ratios."""

    small_s: float
    """A run over a small history."""
    long_s: float
    long_of_short: float
    """A run over ten times as many days, divided by one over the short history."""
    duckdb: float
    """The first reduction, divided by DuckDB's."""
    duckdb_many: float
    """The same for at least `MANY_ROWS` rows."""

    def times_duckdb(self, reductions: Reductions) -> float:
        """Return the aim for a first reduction."""
        return self.duckdb_many if reductions.rows >= MANY_ROWS else self.duckdb


# ---- histories -------------------------------------------------------------------------------------------------------


def make_history(
    url: str, days: range, *, structures: int, hours: Sequence[int] = range(HOURS), seed: int = 1
) -> int:
    """Store days of invented usage in a history, and return the number of rows. Day 0 is `FIRST_DAY`."""
    history = History.open(url, create=True)
    made = _Made(structures, seed)
    rows = 0
    days_a_commit = HOURS_A_COMMIT // len(hours)
    for begin in range(days.start, days.stop, days_a_commit):
        end = min(begin + days_a_commit, days.stop)
        name = f"night-{begin}-{end}.smf"
        source = Source(new_commit_id(), name, f"{begin} to {end}")
        stage = history.stage(source)
        for day in range(begin, end):
            for table, found in made.day(day, hours).items():
                stage.add(table, found)
                rows += found.num_rows
        history.commit(source, stage.finish(), FileFacts(1, "smf", {}, qsgs=[GROUP]))
    return rows


class _Made:
    """Generator of usage: growing structures with a weekly rhythm, each with its own size and level."""

    def __init__(self, structures: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self._seed = seed
        self._names = np.array([f"STRUCTURE{number:03}" for number in range(structures)])
        self._facility = np.array(FACILITIES)[np.arange(structures) % len(FACILITIES)]
        mib = np.exp(random.uniform(np.log(128), np.log(4096), structures)).astype(np.int64)
        self._size = mib * 2**20
        ratio = np.where(np.arange(structures) % 3 == 0, 12, 6)
        self._entries = (self._size - 22 * 2**20) // (540 + 275 * ratio)
        self._elements = self._entries * ratio
        self._level = random.uniform(0.2, 0.6, structures)
        self._growth = random.uniform(0, 0.5, structures)
        self._allocated = dt.datetime(2023, 12, 31, tzinfo=dt.UTC)

    def day(self, number: int, hours: Sequence[int] = range(HOURS)) -> Tables:
        """Return all rows of some hours of one day."""
        # Days before the first one have negative numbers, which numpy refuses as seeds.
        random = np.random.default_rng((self._seed, number + 100_000))
        midnight = dt.datetime.combine(FIRST_DAY, dt.time(), dt.UTC) + dt.timedelta(days=number)
        count = len(self._names)
        hour = np.repeat(np.array(hours), count)
        which = np.tile(np.arange(count), len(hours))
        share = self._level * (1 + self._growth) ** (number / 365) * (0.5 if midnight.weekday() >= 5 else 1.0)
        used = np.clip(share[which] * random.uniform(0.6, 1.0, len(which)), 0, 1)
        end = np.datetime64(midnight.replace(tzinfo=None), "us") + (hour + 1) * np.timedelta64(
            HOURS * 150_000_000, "us"
        )
        start = end - np.timedelta64(3_600_000_000, "us")
        common = {
            "origin": "binary",
            "file_offset": np.arange(len(which)) * 1000,
            "file_record": np.arange(len(which)),
            "piece": 0,
            "interval_start": start,
            "interval_end": end,
            "interval_us": 3_600_000_000,
        }
        own = {
            "qsg": GROUP,
            "structure": self._names[which],
            "xcf_structure": np.char.add(
                cfrm_structure_name(qsg_name=GROUP, cfstruct_name=""), self._names[which]
            ),
        }
        entries = (used * self._entries[which]).astype(np.int64)
        elements = (used * 0.9 * self._elements[which]).astype(np.int64)
        usage, blocks, queues = [], [], []
        for manager, name in enumerate(MANAGERS):
            written = {
                "system_id": f"SYS{manager}",
                "queue_manager": name,
                "written_at": end + np.timedelta64(10_000 * manager, "us"),
            }
            usage.append(
                _table(
                    STRUCTURE_USAGE, **common, **own, **written, source="115-2 QEST", in_use_kind="interval_maximum",
                    ixllste_calls=random.integers(1, 100_000, len(which)), ixllste_us=random.integers(1, 10**9, len(which)),
                    structure_full_count=(used > 0.98).astype(np.int64), entries_in_use=entries - manager,
                    elements_in_use=elements - manager,
                )
            )  # fmt: skip
            offloads = pa.array(which % WITH_DATA_SETS == 0)
            blocks.append(
                _table(
                    SMDS_USAGE, **common, **own, **written, source="115-2 QESD", blocks_total=4002, blocks_data=4000,
                    blocks_in_use=(used * 1000).astype(np.int64), blocks_in_use_max=(used * 2000).astype(np.int64),
                    messages_max=(used * 10_000).astype(np.int64), failed_allocates=0,
                ).filter(offloads)
            )  # fmt: skip
        for queue in range(QUEUES_A_STRUCTURE):
            puts = random.integers(0, 100_000, len(which))
            queues.append(
                _table(
                    QUEUE_USAGE, **common, **own, system_id="SYS0", queue_manager=MANAGERS[0], source="115-216 QQST",
                    written_at=end, queue=np.char.add(self._names[which], f".QUEUE{queue}"), disposition="SHARED", puts=puts,
                    put_bytes=puts * random.integers(200, 8_000, len(which)), put_size_min_bytes=100,
                    put_size_max_bytes=20_000, persistent_puts=puts // 2, gets=puts, depth_max=entries // 2,
                )
            )  # fmt: skip
        by_rmf = {
            "system_id": "SYS0", "written_at": end, "sysplex": "BENPLEX", "coupling_facility": self._facility[which],
            "xcf_structure": own["xcf_structure"], "allocated_at": np.datetime64(self._allocated.replace(tzinfo=None), "us"),
            "size_bytes": self._size[which], "entries_total": self._entries[which], "elements_total": self._elements[which],
            "entries_in_use": entries, "elements_in_use": elements, "size_max_bytes": self._size[which] * 2,
        }  # fmt: skip
        usage.append(
            _table(STRUCTURE_USAGE, **common, **by_rmf, source="74-4 R744SREQ", in_use_kind="at_end")
        )
        policy = _table(
            ALLOCATION,
            **common,
            **by_rmf,
            source="74-4 R744QSDS",
            is_active=True,
            policy_size_bytes=self._size[which] * 2,
        )
        return {
            STRUCTURE_USAGE: pa.concat_tables(usage),
            ALLOCATION: policy,
            SMDS_USAGE: pa.concat_tables(blocks),
            QUEUE_USAGE: pa.concat_tables(queues),
        }


def _table(table: str, **columns: object) -> pa.Table:
    """Return rows of a table of the history; missing columns are null, single values are repeated."""
    count = next(len(column) for column in columns.values() if isinstance(column, np.ndarray))
    schema = row_schema(table)
    arrays = []
    for one in schema:
        value = columns.get(one.name)
        if isinstance(value, np.ndarray):
            kind = pa.timestamp("us") if value.dtype.kind == "M" else None
            arrays.append(pa.array(value, kind).cast(one.type))
        else:
            arrays.append(
                pa.repeat(
                    pa.scalar(value if not isinstance(value, np.datetime64) else value.item(), one.type),
                    count,
                )
            )
    return pa.Table.from_arrays(arrays, schema=schema)


# ---- the first reduction ---------------------------------------------------------------------------------------------

Files = Mapping[str, Sequence[str]]


def by_spark(
    session: SparkSession, history: History, snapshot: Snapshot, days: Sequence[str], work_dir: Path
) -> Tables:
    """Reduce the history with Spark, as the nightly run does on a cluster and for days with very many rows."""
    found = reduce.reduce_days(session, history, snapshot, days, work_dir=work_dir, kinds=COMPARED)
    return found.statistics


def by_rows(history: History, snapshot: Snapshot, days: Sequence[str]) -> Tables:
    """Reduce the rows of the history in this process, as the nightly run does if files have no sums."""
    batches = [
        reduce.sum_days(history, snapshot, batch).statistics
        for batch in Batches(snapshot, days, batch_rows=FIRST_BATCH_ROWS)
    ]
    return {kind: pa.concat_tables([batch[kind] for batch in batches]) for kind in COMPARED}


def by_sums(history: History, snapshot: Snapshot, days: Sequence[str]) -> Tables:
    """Reduce the history by merging the sums of its files, as the nightly run does if no record was delivered twice."""
    batches = [
        reduce.merge_days(history, snapshot, days[begin : begin + MERGED_DAYS]).statistics
        for begin in range(0, len(days), MERGED_DAYS)
    ]
    return {kind: pa.concat_tables([batch[kind] for batch in batches]) for kind in COMPARED}


MACROS = """
CREATE MACRO unix_micros(t) AS epoch_us(t);
CREATE MACRO timestamp_micros(n) AS make_timestamptz(n);
CREATE MACRO date_from_unix_date(n) AS DATE '1970-01-01' + n;
CREATE MACRO shiftleft(one, bits) AS one << bits;
CREATE MACRO try_sum(n) AS CAST(sum(n) AS BIGINT);
CREATE MACRO try_add(a, b) AS a + b;
CREATE MACRO try_multiply(a, b) AS a * b;
"""


def by_duckdb(files: Files, snapshot: Snapshot) -> Tables:
    """Reduce the history in DuckDB with the queries of the nightly run, after the same search for duplicate rows."""
    con = duckdb.connect()
    # Without this, DuckDB shows times in the zone of the machine.
    con.execute("SET TimeZone = 'UTC'")
    con.execute(MACROS)
    for table, paths in files.items():
        con.execute(
            f"CREATE VIEW {table} AS SELECT * FROM read_parquet({list(paths)!r}, hive_partitioning = true)"  # noqa: S608
        )
        twins = f"SELECT day FROM {table} GROUP BY day HAVING count(*) <> count(DISTINCT key_low)"  # noqa: S608
        if con.execute(twins).fetchall():
            message = "the benchmark's rows are told once"
            raise RuntimeError(message)
    found = {}
    for kind in COMPARED:
        views = [
            (table, standing_sql(table, table, snapshot=snapshot, columns=reduce.COLUMNS[table], twins=False))
            for table in reduce.TABLES_OF[kind]
        ]
        # Spark and DuckDB differ in integer division and in quotes.
        query = re.sub(r"\bDIV\b", "//", reduce.query(kind, views)).replace("`", '"')
        found[kind] = con.sql(query).to_arrow_table()
    con.close()
    return found


def by_polars(files: Files) -> Tables:
    """Reduce the history with Polars, after the same search for duplicate rows."""
    for paths in files.values():
        told = pl.scan_parquet(list(paths), hive_partitioning=True).select("day", "key_low")
        counted = told.group_by("day").agg(pl.len().alias("rows"), pl.col("key_low").n_unique().alias("keys"))
        if counted.filter(pl.col("rows") != pl.col("keys")).collect(engine="streaming").height:
            message = "the benchmark's rows are told once"
            raise RuntimeError(message)
    day_us, hour_us = DAY_US, HOUR_US
    family = pl.lit(OTHER_FAMILIES)
    for number, name in reversed(list(enumerate(FAMILIES))):
        family = pl.when(pl.col("source").str.starts_with(name)).then(pl.lit(number)).otherwise(family)

    def rows(table: str) -> pl.LazyFrame:
        schema = row_schema(table).names
        end, start, written = (
            pl.col(name).to_physical() for name in ("interval_end", "interval_start", "written_at")
        )
        odd = (start > end) | (end - start > 7 * day_us)
        is_written = pl.any_horizontal(
            pl.col("source").str.starts_with(name) for name in ("115-2", "115-216", "116")
        )
        of_group = pl.col("qsg").is_null() & (pl.col("xcf_structure").str.slice(0, 4) == GROUP)
        found = pl.scan_parquet(list(files[table]), hive_partitioning=False).with_columns(
            structure=pl.when(of_group).then(pl.col("xcf_structure").str.slice(4)).otherwise("structure"),
            qsg=pl.when(of_group).then(pl.lit(GROUP)).otherwise("qsg"),
            filed_us=pl.when(is_written).then(written).otherwise(end),
            family=family.cast(pl.Int32),
            start_us=pl.when(odd).then(end).otherwise(pl.coalesce(start, end)),
            end_us=end,
            simulated=pl.col("file_name").str.starts_with("simulated-"),
        )
        found = found.filter((pl.col("qsg") != "") & (pl.col("structure") != ""))
        found = found.with_columns(middle_us=(pl.col("start_us") + pl.col("end_us")) // 2)
        found = found.with_columns(
            filed=(pl.col("filed_us") // day_us).cast(pl.Int32).cast(pl.Date),
            day=(pl.col("middle_us") // day_us).cast(pl.Int32).cast(pl.Date),
        )
        assert set(reduce.COLUMNS[table]) - {"file_name"} <= set(schema)
        return found

    instant = pl.Datetime("us", "UTC")
    seen = {
        "observations": pl.len().cast(pl.Int64),
        "first_at": pl.col("start_us").min().cast(instant),
        "last_at": pl.col("end_us").max().cast(instant),
        "is_simulated": pl.col("simulated").max().cast(pl.Int32),
    }
    hour = (pl.col("middle_us") // hour_us % 24).cast(pl.UInt32)
    hours = {"hours": pl.lit(2, pl.Int32).pow(hour).cast(pl.Int32).bitwise_or()}

    def known_sum(name: str) -> pl.Expr:
        return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum())

    state = ("coupling_facility", "allocated_at", "size_bytes", "entries_total", "elements_total")
    used = (
        "entries_in_use",
        "elements_in_use",
        "entries_in_use_pct",
        "elements_in_use_pct",
        "structure_full_count",
        "size_max_bytes",
        "entries_written",
        "elements_written",
    )
    keys = ("filed", "day", "qsg", "structure", "family")
    pools = (
        "family",
        "start_us",
        "end_us",
        "middle_us",
        "simulated",
        "filed",
        "day",
        "qsg",
        "structure",
        *state,
        *used,
    )
    usage = [rows(STRUCTURE_USAGE), rows(ALLOCATION).with_columns(
        pl.lit(None, pl.Float64).alias("entries_in_use_pct"), pl.lit(None, pl.Float64).alias("elements_in_use_pct"),
        pl.lit(None, pl.Int64).alias("structure_full_count"), pl.lit(None, pl.Int64).alias("entries_written"),
        pl.lit(None, pl.Int64).alias("elements_written"),
    )]  # fmt: skip
    small = (pl.col("entries_in_use") < ENTRIES_SHIFT // 2) & (pl.col("elements_in_use") < ENTRIES_SHIFT)
    structures = pl.concat([each.select(pools) for each in usage]).group_by(*keys, *state).agg(
        **seen, **hours, entries_peak=pl.col("entries_in_use").max(), elements_peak=pl.col("elements_in_use").max(),
        entries_pct_peak=pl.col("entries_in_use_pct").max(), elements_pct_peak=pl.col("elements_in_use_pct").max(),
        fullest=pl.when(small).then(pl.col("entries_in_use") * ENTRIES_SHIFT + pl.col("elements_in_use")).max(),
        full_count=known_sum("structure_full_count"), size_max_bytes=pl.col("size_max_bytes").max(),
        entries_written=known_sum("entries_written"), elements_written=known_sum("elements_written"),
    )  # fmt: skip
    policy = ("policy_size_bytes", "policy_initsize_bytes", "full_threshold_pct", "mq_offload_rules")
    policies = rows(ALLOCATION).filter(pl.any_horizontal(pl.col(name).is_not_null() for name in policy))
    policies = policies.group_by("filed", "day", "qsg", "structure", *policy).agg(**seen)
    data_sets = rows(SMDS_USAGE).filter(pl.col("queue_manager").is_not_null()).group_by(*keys, "queue_manager").agg(
        **seen, **hours, blocks_peak=pl.max_horizontal(pl.col("blocks_in_use_max").max(), pl.col("blocks_in_use").max()),
        blocks_total=pl.col("blocks_data").max(), failed_allocates=known_sum("failed_allocates"),
        messages_peak=pl.max_horizontal(pl.col("messages_max").max(), pl.col("messages").max()),
    )  # fmt: skip
    steps = pl.when(pl.col("puts") > 0).then(
        (pl.col("put_bytes") + 256 * pl.col("puts") - 1) // (256 * pl.col("puts"))
    )
    puts = (
        rows(QUEUE_USAGE)
        .filter(pl.col("queue").is_not_null())
        .with_columns(squares=pl.col("puts") * steps * steps)
    )
    sums = {
        "puts": "puts", "put_bytes": "put_bytes", "put_size_squares": "squares", "persistent_puts": "persistent_puts",
        "puts_to_waiting_getter": "puts_to_waiting_getter",
    }  # fmt: skip
    extremes = {
        "put_size_min_bytes": pl.col("put_size_min_bytes").min(), "put_size_max_bytes": pl.col("put_size_max_bytes").max(),
    }  # fmt: skip
    queue = ("filed", "day", "qsg", "structure", "queue")
    each = puts.group_by(*queue, "queue_manager", "family").agg(
        **seen,
        **{name: known_sum(source) for name, source in sums.items()},
        **extremes,
        depth_peak=pl.col("depth_max").max(),
    )
    first = pl.col("family").min().over("filed", "qsg", "structure", "queue", "queue_manager")
    queues = each.filter(pl.col("family") == first).group_by(*queue).agg(
        pl.col("observations").sum(), pl.col("first_at").min(), pl.col("last_at").max(), pl.col("is_simulated").max(),
        **{name: known_sum(name) for name in sums}, **extremes, depth_peak=pl.col("depth_peak").max(),
    )  # fmt: skip
    lazy = {STRUCTURE: structures, POLICY: policies, SMDS: data_sets, QUEUE: queues}
    return {kind: lazy[kind].collect(engine="streaming").to_arrow() for kind in COMPARED}


def same(one: Tables, other: Tables) -> bool:
    """Return whether two engines have the same result."""
    for kind in COMPARED:
        schema = kept_schema(kind)
        order = [(name, "ascending") for name in ("filed", "day", *reduce_keys(kind))]
        found = [
            table[kind].select(schema.names).cast(schema).combine_chunks().sort_by(order)
            for table in (one, other)
        ]
        if not found[0].equals(found[1]):
            return False
    return True


def reduce_keys(kind: str) -> list[str]:
    """Return the keys of a kind, without the days."""
    from spark_jobs.night.statistics import keys

    return [name for name in keys(kind) if name != "day"]


@dataclass
class Reductions:
    """The first reduction: seconds of each engine by round."""

    rows: int
    days: int
    megabytes: float
    seconds: dict[str, list[float]] = field(default_factory=dict)
    agree: bool = False
    session_s: float = 0.0

    def median(self, engine: str) -> float:
        """Return the median round of an engine, excluding the first round, in which the JVM is cold."""
        return statistics.median(self.seconds[engine][1:])

    @property
    def times_duckdb(self) -> float:
        """The duration from rows as in a nightly run on one machine, divided by the duration with DuckDB."""
        return self.median("rows") / self.median("DuckDB")


def first_reductions(url: str, *, rounds: int, engines: Sequence[str] = ENGINES) -> Reductions:
    """Reduce all days with each engine in turn; DuckDB is the one that the others are compared with."""
    history = History.open(url)
    snapshot = history.snapshot()
    days = sorted(fingerprints(history, snapshot))
    # DuckDB and Polars read exactly the files that Spark reads.
    parts = reduce.files_of_days(snapshot, days)
    files: dict[str, list[str]] = {}
    for (table, _), of_day in parts.items():
        files.setdefault(table, []).extend(f"{history.url}/{part.path}" for part in of_day)
    flat = [part for of_day in parts.values() for part in of_day]
    found = Reductions(
        sum(part.rows for part in flat), len(days), sum(part.size_bytes for part in flat) / 1e6
    )
    with tempfile.TemporaryDirectory() as folder:
        session: SparkSession | None = None
        if "Spark" in engines:
            began = time.perf_counter()
            session = build_session(
                "bench", work_dir=Path(folder), conf={**SPARK_CONF, "spark.driver.memory": "2g"}
            )
            found.session_s = time.perf_counter() - began
        reduced_by: dict[str, Callable[[], Tables]] = {
            "sums": lambda: by_sums(history, snapshot, days),
            "rows": lambda: by_rows(history, snapshot, days),
            "DuckDB": lambda: by_duckdb(files, snapshot),
            "Polars": lambda: by_polars(files),
        }
        if session is not None:
            reduced_by["Spark"] = partial(by_spark, session, history, snapshot, days, Path(folder))
        last: dict[str, Tables] = {}
        try:
            # One additional round, because the first one is left out of the medians.
            for _ in range(rounds + 1):
                for name in engines:
                    began = time.perf_counter()
                    last[name] = reduced_by[name]()
                    found.seconds.setdefault(name, []).append(time.perf_counter() - began)
        finally:
            if session is not None:
                session.stop()
    # A faster engine with a different result would prove nothing.
    found.agree = all(same(last["DuckDB"], other) for other in last.values())
    return found


# ---- nights ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Night:
    """The duration of a nightly run with one new day, and of its stages."""

    days: int
    seconds: float
    cpu_s: float
    """Processor time of all its processes."""
    stages: dict[str, float]
    forecasts: int


def one_night(url: str, folder: Path, published: Mapping[str, str]) -> tuple[Night, dict[str, str]]:
    """Run the nightly job as the application does, with known days; return the measurement and the new known days."""
    facts, out = folder / "facts.json", folder / "result.json"
    facts.write_text(json.dumps({"published": published}))
    command = [
        sys.executable,
        "-m",
        "spark_jobs.night",
        "--history",
        url,
        "--facts",
        str(facts),
        "--out",
        str(out),
    ]
    began, used = time.perf_counter(), _cpu_of_children_s()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, cpu_s = time.perf_counter() - began, _cpu_of_children_s() - used
    result = json.loads(out.read_bytes())
    night = Night(result["days_total"], seconds, cpu_s, result["seconds"], len(result["forecasts"]))
    return night, result["published"]


def _cpu_of_children_s() -> float:
    """Return the processor time of all processes that ended, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def nights(urls: Mapping[str, str], *, structures: int, next_day: int, rounds: int) -> dict[str, list[Night]]:
    """Reduce all days, then add the same new day to each history and measure its run, in turn."""
    found: dict[str, list[Night]] = {name: [] for name in urls}
    with tempfile.TemporaryDirectory() as folder:
        published = {name: one_night(url, Path(folder), {})[1] for name, url in urls.items()}
        for number in range(rounds):
            for name, url in urls.items():
                make_history(url, range(next_day + number, next_day + number + 1), structures=structures)
                # As in the application, each run is given the days of the previous run, so that it reduces only the new
                # day.
                night, published[name] = one_night(url, Path(folder), published[name])
                found[name].append(night)
    return found


def measure(
    *, rows: int, structures: int, rounds: int, folder: Path | None, large_rows: int = 0
) -> tuple[list[Reductions], dict[str, list[Night]]]:
    """Create the histories and measure all parts of the nightly run.

    Args:
        rows: rows of the short history, whose reduction is compared with the other engines'.
        structures: structures of all histories.
        rounds: number of measurements of each kind.
        folder: folder for the histories.
        large_rows: rows of one more history, of which only the first reduction is measured; 0 for none.
    """
    days = days_of(rows, structures)
    before = days * (TIMES_AS_LONG - 1)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        small, short, long, large = (str(Path(work) / name) for name in (*HISTORIES, "large"))
        make_history(short, range(days), structures=structures)
        reductions = [first_reductions(short, rounds=rounds)]
        if large_rows:
            make_history(large, range(days_of(large_rows, structures)), structures=structures)
            reductions.append(first_reductions(large, rounds=LARGE_ROUNDS, engines=LARGE_ENGINES))
            shutil.rmtree(large)
        # Copied, so that both histories have identical days at their end.
        shutil.copytree(short, long)
        make_history(long, range(-before, 0), structures=structures, hours=(11,))
        make_history(small, range(days - max(days // TIMES_AS_LONG, 1), days), structures=structures)
        urls = dict(zip(HISTORIES, (small, short, long), strict=True))
        return reductions, nights(urls, structures=structures, next_day=days, rounds=rounds)


def days_of(rows: int, structures: int) -> int:
    """Return the number of days with so many rows in total."""
    return round(rows / (structures * HOURS * ROWS_AN_HOUR))


def print_night(reductions: Sequence[Reductions], found: Mapping[str, Sequence[Night]], aims: Aims) -> None:
    """Print the tables of the nightly run, and its lines with their aims."""
    for each in reductions:
        _print_reduction(each)
    print("A nightly run with one new day, everything else reduced before; medians")
    stages = list(dict.fromkeys(stage for of in found.values() for night in of for stage in night.stages))
    print(
        f"{'history':<10}{'days':>8}{'s':>8}{'CPU s':>8}{'of short':>10}"
        + "".join(f"{stage:>13}" for stage in stages)
    )
    seconds = {name: statistics.median(night.seconds for night in of) for name, of in found.items()}
    for name, of in found.items():
        parts = [statistics.median(night.stages.get(stage, 0.0) for night in of) for stage in stages]
        cpu_s = statistics.median(night.cpu_s for night in of)
        print(
            f"{name:<10}{of[-1].days:>8}{seconds[name]:>8.1f}{cpu_s:>8.1f}{seconds[name] / seconds['short']:>10.2f}"
            + "".join(f"{part:>13.2f}" for part in parts)
        )
    print(f"{found['short'][-1].forecasts} forecasts in each\n")
    days = {name: of[-1].days for name, of in found.items()}
    lines = [
        (f"run over {days['small']} days, s", seconds["small"], aims.small_s),
        (f"run over {days['long']} days, s", seconds["long"], aims.long_s),
        (
            f"run over {days['long']} days, of one over {days['short']}",
            seconds["long"] / seconds["short"],
            aims.long_of_short,
        ),
        *(
            (f"first reduction of {each.rows:,} rows, of DuckDB", each.times_duckdb, aims.times_duckdb(each))
            for each in reductions
        ),
    ]
    print(f"{'':<50}{'measured':>10}{'aim':>8}{'of aim':>8}")
    for line, measured, aim in lines:
        print(f"{line:<50}{measured:>10.2f}{aim:>8.2f}{measured / aim:>8.2f}")
    print()


def _print_reduction(reductions: Reductions) -> None:
    print(
        f"The first reduction: {reductions.rows:,} rows of {reductions.days} days, {reductions.megabytes:,.0f} MB of Parquet; "
        f"{os.cpu_count()} cores; looking for rows told twice included"
    )
    print(f"{'':<10}{'s, median':>12}{'of DuckDB':>12}{'first round':>14}{'rows/s':>14}")
    for engine, seconds in reductions.seconds.items():
        median = reductions.median(engine)
        ratio = median / reductions.median("DuckDB")
        print(
            f"{engine:<10}{median:>12.2f}{ratio:>12.2f}{seconds[0]:>14.2f}{reductions.rows / median:>14,.0f}"
        )
    started = f"starting Spark: {reductions.session_s:.1f} s; " if "Spark" in reductions.seconds else ""
    print(f"{started}all results are equal: {'yes' if reductions.agree else 'NO'}\n")
