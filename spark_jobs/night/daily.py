"""The daily statistics beside the history: a Delta table of their own, a file for each kind and month.

One entry of its log replaces the statistics of some days by newer ones, all kinds at once, with what the days were reduced
from: a run that is killed leaves them as they were, or has them whole. Two runs at once may both bring a day: each says
which batch it was, and the last batch of a day is the one that counts.

The folder's name begins with _, so that nothing that tidies the history's own files takes it for one of them.
"""

from __future__ import annotations

import datetime as dt
import random
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from spark_jobs.history.places import place_of
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.store import shown
from spark_jobs.night.statistics import KINDS, LEDGER, REDUCTION, kept_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = "_daily"
PARTITIONS = ("kind", "month")
ATTEMPTS = 25
LONGEST_PAUSE_S = 0.5
KEPT_HOURS = 7 * 24
"""How long replaced files stay for whoever still reads them."""


@dataclass(frozen=True, slots=True)
class Filed:
    """What is kept of one filed day."""

    filed: str
    batch: str
    fingerprint: str
    rows_read: int
    days: tuple[str, ...]
    """UTC days that it tells of."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size_bytes: int
    kind: str
    month: str


def new_batch() -> str:
    """Return a name for a batch that sorts by time."""
    return f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"


def url_of(history_url: str) -> str:
    """Return where a history's daily statistics lie; a release that reduces otherwise begins anew."""
    return f"{history_url.rstrip('/')}/{FOLDER}/{REDUCTION}"


class Daily:
    """The daily statistics of one history."""

    def __init__(self, history_url: str) -> None:
        self.place = place_of(url_of(history_url))
        self.url = self.place.url

    def read(self) -> Kept:
        """Return the statistics as they are now."""
        try:
            delta = DeltaTable(self.url)
        except TableNotFoundError:
            return Kept(self, None, ())
        except (DeltaError, OSError) as error:
            raise _unreadable(self.url, error) from error
        found = pa.table(delta.get_add_actions(flatten=True))
        names = ("path", "size_bytes", "partition.kind", "partition.month")
        rows = zip(*(found[name].to_pylist() for name in names), strict=True)
        return Kept(self, delta, tuple(_File(*row) for row in sorted(rows)))

    def replace(
        self, statistics: Mapping[str, pa.Table], filed: Sequence[Filed], *, gone: Iterable[str] = ()
    ) -> None:
        """Put these filed days in the place of what is kept of them, and take away others, in one step.

        Args:
            statistics: by kind, the rows of the days without their batch.
            filed: the days, all of one batch.
            gone: days to be taken away.
        """
        gone = set(gone)
        if not filed and not gone:
            return
        added = _with_batch(statistics, filed)
        for attempt in range(ATTEMPTS):
            if self._try_to_replace(added, {one.filed for one in filed} | gone):
                return
            time.sleep(min(LONGEST_PAUSE_S, 0.01 * 2**attempt) * random.random())  # noqa: S311 - so that two do not meet again
        message = f"The daily statistics at {shown(self.url)} are being written to by too many at once."
        raise HistoryError(message)

    def tidy(self) -> None:
        """Delete the files that no reader can need."""
        DeltaTable(self.url).vacuum(retention_hours=KEPT_HOURS, dry_run=False, full=True)

    def _try_to_replace(self, added: Mapping[str, pa.Table], days: set[str]) -> bool:
        kept = self.read()
        delta = kept.delta or self._create()
        months = {day[:7] for day in days}
        replaced = pa.array(sorted(dt.date.fromisoformat(day) for day in days), pa.date32())
        actions: list[AddAction | RemoveAction] = []
        for kind in (*KINDS, LEDGER):
            for month in sorted(months):
                files = kept.files(kind, month)
                rows = kept.rows(kind, months=(month,))
                rows = rows.filter(pc.invert(pc.is_in(rows["filed"], value_set=replaced)))
                new = added[kind].filter(pc.equal(pc.strftime(added[kind]["filed"], format="%Y-%m"), month))
                if new.num_rows or rows.num_rows:
                    actions.append(self._write(kind, month, pa.concat_tables([rows, new])))
                actions += [_removed(file) for file in files]
        try:
            delta.create_write_transaction(
                actions,
                mode="append",
                schema=_schema(),
                partition_by=list(PARTITIONS),
                commit_properties=CommitProperties(max_commit_retries=0),
            )
        except CommitFailedError:
            return False
        except (DeltaError, OSError) as error:
            message = f"The daily statistics at {shown(self.url)} cannot be written to: {error}"
            raise HistoryError(message) from error
        return True

    def _create(self) -> DeltaTable:
        try:
            return DeltaTable.create(
                self.url,
                _schema(),
                mode="ignore",
                partition_by=list(PARTITIONS),
                name="cfplan daily statistics",
                configuration={"delta.dataSkippingNumIndexedCols": "0"},
            )
        except CommitFailedError:  # another run made it at the same time
            return DeltaTable(self.url)
        except (DeltaError, OSError) as error:
            message = f"No daily statistics can be kept at {shown(self.url)}: {error}"
            raise HistoryError(message) from error

    def _write(self, kind: str, month: str, rows: pa.Table) -> AddAction:
        path = f"kind={kind}/month={month}/{new_batch()}.parquet"
        sink = pa.BufferOutputStream()
        pq.write_table(rows.sort_by([("filed", "ascending")]), sink, compression="zstd")
        data = sink.getvalue()
        self.place.write(path, data)
        values: dict[str, str | None] = {"kind": kind, "month": month}
        statistics = f'{{"numRecords":{rows.num_rows}}}'
        return AddAction(path, data.size, values, time.time_ns() // 1_000_000, True, statistics)


class Kept:
    """The daily statistics at one version."""

    def __init__(self, daily: Daily, delta: DeltaTable | None, files: tuple[_File, ...]) -> None:
        self.delta = delta
        self._daily = daily
        self._files = files
        self._batches: dict[str, str] | None = None
        self._ambiguous = False
        self._filed: dict[str, Filed] = {}

    def files(self, kind: str, month: str | None = None) -> list[_File]:
        """Return the files of a kind."""
        return [file for file in self._files if file.kind == kind and month in (None, file.month)]

    def filed(self) -> dict[str, Filed]:
        """Return the filed days that are kept, each with its last batch."""
        if self._batches is None:
            rows = self._read(LEDGER, None).to_pylist()
            for row in sorted(rows, key=lambda row: str(row["batch"])):
                day = row["filed"].isoformat()
                days = tuple(word for word in row["days"].split(" ") if word)
                self._filed[day] = Filed(day, row["batch"], row["fingerprint"], row["rows_read"], days)
            self._batches = {day: one.batch for day, one in self._filed.items()}
            self._ambiguous = len(rows) > len(self._filed)
        return self._filed

    def rows(
        self, kind: str, *, months: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the rows of a kind that count."""
        self.filed()
        if not self._ambiguous:
            return self._read(kind, months, columns)
        wanted = list(columns) if columns else kept_schema(kind).names
        rows = self._read(kind, months, list(dict.fromkeys((*wanted, "filed", "batch"))))
        last = pa.array([f"{day} {batch}" for day, batch in (self._batches or {}).items()], pa.string())
        told = pc.binary_join_element_wise(rows["filed"].cast(pa.string()), rows["batch"], " ")
        return rows.filter(pc.is_in(told, value_set=last)).select(wanted)

    def _read(
        self, kind: str, months: Sequence[str] | None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        schema = kept_schema(kind)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        files = [file for file in self.files(kind) if months is None or file.month in months]
        try:
            found = [
                self._daily.place.read(file.path, columns=schema.names).select(schema.names) for file in files
            ]
        except OSError as error:
            raise _unreadable(self._daily.url, error) from error
        return pa.concat_tables([table.cast(schema) for table in found]) if found else schema.empty_table()


def _with_batch(statistics: Mapping[str, pa.Table], filed: Sequence[Filed]) -> dict[str, pa.Table]:
    batch = filed[0].batch if filed else ""
    added = {}
    for kind in KINDS:
        schema = kept_schema(kind)
        rows = statistics.get(kind)
        if rows is None:
            added[kind] = schema.empty_table()
            continue
        batches = pa.repeat(pa.scalar(batch, pa.string()), rows.num_rows)
        added[kind] = rows.append_column("batch", batches).select(schema.names).cast(schema)
    ledger = [
        {
            "filed": dt.date.fromisoformat(one.filed),
            "batch": one.batch,
            "fingerprint": one.fingerprint,
            "rows_read": one.rows_read,
            "days": " ".join(one.days),
        }
        for one in filed
    ]
    added[LEDGER] = pa.Table.from_pylist(ledger, schema=kept_schema(LEDGER))
    return added


def _schema() -> Schema:
    """Return the columns of all kinds: those of one name have one type."""
    fields = {name: pa.field(name, pa.string()) for name in PARTITIONS}
    for kind in (*KINDS, LEDGER):
        fields |= {one.name: one for one in kept_schema(kind)}
    return Schema.from_arrow(pa.schema(list(fields.values())))


def _removed(file: _File) -> RemoveAction:
    values: dict[str, str | None] = {"kind": file.kind, "month": file.month}
    return RemoveAction(file.path, True, time.time_ns() // 1_000_000, file.size_bytes, values)


def _unreadable(url: str, error: Exception) -> HistoryError:
    return HistoryError(f"The daily statistics at {shown(url)} cannot be read: {error}")
