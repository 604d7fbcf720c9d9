"""The night: the first reduction against DuckDB and Polars on the same files, and nights over a short and a long history."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa

from spark_jobs.history.schema import (
    ALLOCATION,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    row_schema,
    xcf_name,
)
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, new_commit_id

GROUP = "BEN1"
FIRST_DAY = dt.date(2024, 1, 1)
HOURS = 24
MANAGERS = ("BQ01", "BQ02")
FACILITIES = ("BENCF1", "BENCF2")
QUEUES_A_STRUCTURE = 2
DAYS_A_COMMIT = 10
ROWS_A_DAY = HOURS * (len(MANAGERS) * 2 + 2 + QUEUES_A_STRUCTURE - 1 + 1)
"""Of each structure: an hour has a row of QEST and QESD from each queue manager, two of 74-4, and one for each queue."""


def make_history(url: str, *, days: int, structures: int, seed: int = 1, first: int = 0) -> int:
    """Write a history of made-up usage; returns its rows. `first` is the number of the first day."""
    history = History.open(url, create=True)
    made = _Made(structures, seed)
    rows = 0
    for begin in range(first, first + days, DAYS_A_COMMIT):
        end = min(begin + DAYS_A_COMMIT, first + days)
        name = f"night-{begin}-{end}.smf"
        source = Source(new_commit_id(), name, f"{begin:032x}{end:032x}")
        stage = history.stage(source)
        for day in range(begin, end):
            for table, found in made.day(day).items():
                stage.add(table, found)
                rows += found.num_rows
        history.commit(source, stage.finish(), FileFacts(1, "smf", {}, qsgs=[GROUP]))
    return rows


class _Made:
    """Usage of structures that grow, with a weekly rhythm; every structure has its own size and level."""

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

    def day(self, number: int) -> dict[str, pa.Table]:
        """All rows of one day."""
        random = np.random.default_rng((self._seed, number))
        midnight = dt.datetime.combine(FIRST_DAY, dt.time(), dt.UTC) + dt.timedelta(days=number)
        count = len(self._names)
        hour = np.repeat(np.arange(HOURS), count)
        which = np.tile(np.arange(count), HOURS)
        share = self._level * (1 + self._growth * number / 365) * (0.5 if midnight.weekday() >= 5 else 1.0)
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
            "xcf_structure": np.char.add(xcf_name(GROUP, ""), self._names[which]),
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
            blocks.append(
                _table(
                    SMDS_USAGE, **common, **own, **written, source="115-2 QESD", blocks_total=4002, blocks_data=4000,
                    blocks_in_use=(used * 1000).astype(np.int64), blocks_in_use_max=(used * 2000).astype(np.int64),
                    messages_max=(used * 10_000).astype(np.int64), failed_allocates=0,
                )
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
    """Rows of a table of the history; what is not given is null, what is no array is the same in all rows."""
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


if __name__ == "__main__":
    import sys
    import time

    began = time.perf_counter()
    print(
        make_history(sys.argv[1], days=int(sys.argv[2]), structures=int(sys.argv[3])),
        time.perf_counter() - began,
    )
    print(sum(path.stat().st_size for path in Path(sys.argv[1]).rglob("*.parquet")) / 1e6, "MB")
